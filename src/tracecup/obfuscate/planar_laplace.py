"""PL: the planar Laplace mechanism, geo-indistinguishable for each event.

Paper, Section 4.1; the contest's sample algorithm A4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tracecup.city import City, Grid
from tracecup.errors import InvalidParameter
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.obfuscate.replay import legacy_generator, replay_parameter
from tracecup.registry import parameter, register, spell
from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces, Traces


@register(
    "obfuscator",
    "PL",
    "planar Laplace noise of l/r per km, then the region under the point",
    "M. Andrés et al., Geo-Indistinguishability: Differential Privacy for Location-Based "
    "Systems, CCS 2013",
)
@dataclass(frozen=True)
class PlanarLaplace(Obfuscator):
    """Add planar Laplace noise with eps = l/r per km to the centre of the region.

    The release is the region that contains the point; outside the grid each coordinate is
    clamped to the border (the paper is silent, the organisers' program does so). Taking a region
    is post-processing, so eps-geo-indistinguishability between centres stays. The same seed
    gives the same directions and radii proportional to r/l. O(m l).

    >>> PlanarLaplace(4.0, 1.0).guarantee(400)
    '4-geo-indistinguishable per km, per event; 400 events compose to 1600'
    """

    l: float = parameter(0.1, "privacy level within r km", low=1e-9, high=1e9)  # noqa: E741 - the paper's name
    r: float = parameter(1.0, "radius in km", low=1e-9, high=1e9)
    replay: bool = replay_parameter()

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob("l", weak=1e4, strong=1e-4),
        Knob("r", weak=1e-4, strong=1e4),
    )

    def guarantee(self, events: int = 400) -> str:
        """eps-geo-indistinguishability of an event, eps = l/r; basic composition over a trace."""
        eps = round(self.l / self.r, 9)
        return (
            f"{spell(eps)}-geo-indistinguishable per km, per event; "
            f"{events} events compose to {spell(round(eps * events, 9))}"
        )

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        epsilon, cells = self.l / self.r, original.regions.size
        if self.replay:
            draws = legacy_generator(rng).random_sample((cells, 2))
            angle, radius = 2 * np.pi * draws[:, 0], _radius_of_quantile(draws[:, 1], epsilon)
        else:
            radius, angle = planar_laplace_noise(epsilon, cells, rng)
        moved = _region_of_shifted(city.grid, original.regions.ravel(), radius, angle)
        return single_cells(moved, original)


def planar_laplace_noise(
    epsilon: float, n: int, rng: Rng = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Radii (km) and angles of `n` planar Laplace vectors with density eps^2/(2 pi) e^(-eps |v|).

    The angle is uniform on [0, 2 pi); the radius has density eps^2 rho e^(-eps rho), a gamma
    distribution of shape 2, which is what the inverse by Lambert's W_{-1} samples too.

    >>> radius, angle = planar_laplace_noise(2.0, 100_000, rng=1)
    >>> round(float(radius.mean()), 1)
    1.0
    """
    if not 0 < epsilon < float("inf"):
        raise InvalidParameter(f"epsilon must be a finite number > 0, got {epsilon}")
    gen = generator(rng)
    angle = gen.random(n)
    angle *= 2 * np.pi
    radius = gen.standard_gamma(2.0, n)
    radius /= epsilon
    return radius, angle


def _radius_of_quantile(p: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """rho = -(W_{-1}((p-1)/e) + 1)/eps, the inverse of the radius' distribution function."""
    return np.asarray(-(special.lambertw((p - 1) / np.e, -1).real + 1) / epsilon)


def _region_of_shifted(
    grid: Grid,
    regions: NDArray[np.int32],
    radius: NDArray[np.float64],
    angle: NDArray[np.float64],
) -> NDArray[np.int32]:
    """Region under centre + radius (cos, sin); coordinates outside are clamped to the border."""
    x = grid.x[regions] + 0.5 + radius * np.cos(angle) / grid.km_x
    y = grid.y[regions] + 0.5 + radius * np.sin(angle) / grid.km_y
    column = np.clip(x, 0, grid.nx - 1).astype(np.int32)
    row = np.clip(y, 0, grid.ny - 1).astype(np.int32)
    return row * np.int32(grid.nx) + column
