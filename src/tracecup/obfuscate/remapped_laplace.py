"""PLR: planar Laplace noise, then the best guess of where somebody with that report is.

Bayesian remapping is post-processing: the noise's promise stays, the mean distance falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Grid
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.obfuscate.planar_laplace import PlanarLaplace
from tracecup.obfuscate.prior import PRIORS, prior_parameter, region_shares
from tracecup.registry import parameter, register
from tracecup.rng import Rng
from tracecup.score.utility import REACH_KM
from tracecup.traces import SetTraces, Traces

FINE = 8
"""A region's probability is a mean over FINE x FINE points of it."""

Floats = NDArray[np.float64]


@register(
    "obfuscator",
    "PLR",
    "planar Laplace noise, then the region with the least expected distance",
    "K. Chatzikokolakis, E. ElSalamouny, C. Palamidessi, Efficient Utility Improvement for "
    "Location Privacy, PoPETs 2017",
)
@dataclass(frozen=True)
class RemappedLaplace(Obfuscator):
    """PL(l,r), then each reported region z becomes argmin_y sum_x pi(x) f(z|x) min(d(x,y), 2 km).

    f(z|x) is the probability that PL reports z from x (noise beyond the border included), pi
    the share of visits of the traces that are protected, or uniform. Ties: the smallest region.
    O(m l + X^3).

    >>> RemappedLaplace(4.0, 1.0, prior="uniform").guarantee(400)
    '4-geo-indistinguishable per km, per event; 400 events compose to 1600'
    """

    l: float = parameter(0.1, "privacy level within r km", low=1e-9, high=1e9)  # noqa: E741 - the paper's name
    r: float = parameter(1.0, "radius in km", low=1e-9, high=1e9)
    prior: str = prior_parameter()

    knobs: ClassVar[tuple[Knob, ...]] = PlanarLaplace.knobs

    def guarantee(self, events: int = 400) -> str:
        """That of the noise; visit shares are taken as public."""
        noise = PlanarLaplace(self.l, self.r).guarantee(events)
        return noise if self.prior == "uniform" else f"{noise}; {PRIORS}"

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        noisy = PlanarLaplace(self.l, self.r).obfuscate(city, original, rng).as_traces().regions
        shares = region_shares(original, city.n_regions, self.prior)
        return single_cells(remapping(city.grid, self.l / self.r, shares)[noisy], original)


def remapping(grid: Grid, epsilon: float, shares: Floats) -> NDArray[np.int32]:
    """The region that each reported region becomes, shape (regions,); O(X^3).

    A report that is impossible under the prior (or has underflowed) stays as it is.
    """
    joint = report_probabilities(grid, epsilon) * shares[:, None]  # (x, z)
    expected = joint.T @ np.minimum(grid.distances, REACH_KM)  # (z, y)
    weight = joint.sum(axis=0)
    least = expected.min(axis=1, keepdims=True)
    best = np.argmax(expected <= least + 1e-12 * weight[:, None], axis=1)
    return np.where(weight > 0, best, np.arange(grid.n_regions)).astype(np.int32)


def report_probabilities(grid: Grid, epsilon: float) -> Floats:
    """f[x, z]: how likely PL with eps reports region z from x, shape (regions, regions).

    The density is averaged over points of each cell of a plane that reaches as far beyond the
    grid as the grid is wide; border regions take what falls beyond them. Rows sum to 1.
    """
    nx, ny = grid.nx, grid.ny
    density = _offset_density(grid, epsilon, 2 * nx - 1, 2 * ny - 1)
    columns = np.clip(np.arange(-nx + 1, 2 * nx - 1), 0, nx - 1)
    rows = np.clip(np.arange(-ny + 1, 2 * ny - 1), 0, ny - 1)
    fold_x = (columns == np.arange(nx)[:, None]).astype(np.float64)
    fold_y = (rows == np.arange(ny)[:, None]).astype(np.float64)
    found = np.empty((grid.n_regions, grid.n_regions))
    for x in range(grid.n_regions):
        dy = np.abs(np.arange(-ny + 1, 2 * ny - 1) - grid.y[x])
        dx = np.abs(np.arange(-nx + 1, 2 * nx - 1) - grid.x[x])
        found[x] = (fold_y @ density[np.ix_(dy, dx)] @ fold_x.T).ravel()
    found /= found.sum(axis=1, keepdims=True)
    return found


def _offset_density(grid: Grid, epsilon: float, columns: int, rows: int) -> Floats:
    """Mean of exp(-eps |v|) over the cell `dx` columns and `dy` rows away, shape (rows, columns).

    Scaled so that nothing underflows near by; only ratios matter.
    """
    part = (np.arange(FINE) + 0.5) / FINE - 0.5
    x = (np.arange(columns)[:, None] + part).ravel() * grid.km_x
    y = (np.arange(rows)[:, None] + part).ravel() * grid.km_y
    near = np.hypot(part[FINE // 2] * grid.km_x, part[FINE // 2] * grid.km_y)
    fine = np.exp(-epsilon * (np.hypot(y[:, None], x[None, :]) - near))
    mean: Floats = fine.reshape(rows, FINE, columns, FINE).mean(axis=(1, 3))
    return mean
