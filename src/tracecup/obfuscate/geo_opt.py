"""GeoOpt: the geo-indistinguishable mechanism with the least mean distance, tile by tile.

After Bordenabe, Chatzikokolakis and Palamidessi (CCS 2014); tiles keep the programmes small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.obfuscate.cloak import block_numbers
from tracecup.obfuscate.optimal import drawn
from tracecup.obfuscate.prior import PRIORS, prior_parameter, region_shares
from tracecup.obfuscate.programmes import least_loss
from tracecup.registry import parameter, register, spell
from tracecup.rng import Rng, generator
from tracecup.score.utility import REACH_KM
from tracecup.traces import SetTraces, Traces

Floats = NDArray[np.float64]


@register(
    "obfuscator",
    "GeoOpt",
    "geo-indistinguishable within tiles with the least mean distance",
    "N. Bordenabe, K. Chatzikokolakis, C. Palamidessi, Optimal Geo-Indistinguishable Mechanisms "
    "for Location Privacy, CCS 2014",
)
@dataclass(frozen=True)
class GeoOpt(Obfuscator):
    """For each tile of `tile` x `tile` regions minimise sum_x,z pi(x) f(z|x) min(d, 2 km) with
    f(z|x) <= exp(eps d(x, x')) f(z|x') for all x, x', z of the tile.

    The inequality is demanded between neighbours (eight of them) with eps divided by the
    dilation of that graph. Reports stay in the tile, so the tile is public. A tile of 8 x 8 is a
    programme of 4096 variables: seconds; tiles with the same prior are solved once.

    >>> GeoOpt(2.0, prior="uniform").guarantee(10)
    '2-geo-indistinguishable per km, per event, within a public tile; 10 events compose to 20'
    """

    eps: float = parameter(4.0, "budget per km and event", low=0, low_open=True, high=50)
    tile: int = parameter(8, "width and height of a tile in regions", low=1, high=10)
    prior: str = prior_parameter()

    knobs: ClassVar[tuple[Knob, ...]] = (Knob("eps", weak=16.0, strong=0.25),)

    def guarantee(self, events: int = 400) -> str:
        """eps-geo-indistinguishability between regions of one tile."""
        promise = (
            f"{spell(self.eps)}-geo-indistinguishable per km, per event, within a public tile; "
            f"{events} events compose to {spell(round(self.eps * events, 9))}"
        )
        return promise if self.prior == "uniform" else f"{promise}; {PRIORS}"

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        draws = generator(rng).random(original.shape)
        shares = region_shares(original, city.n_regions, self.prior)
        number = block_numbers(city.grid, self.tile, self.tile)
        released = np.array(original.regions)
        solved: dict[tuple[int, bytes], Floats] = {}
        for tile in range(int(number.max()) + 1):
            members = np.flatnonzero(number == tile)
            visited = shares[members]
            if visited.sum() == 0:
                continue
            prior = visited / visited.sum()
            # Shape and prior decide the programme.
            key = (int(city.grid.x[members].max() - city.grid.x[members].min()), prior.tobytes())
            if key not in solved:
                solved[key] = tile_mechanism(city, members, prior, self.eps)
            inside = number[original.regions] == tile
            at = np.searchsorted(members, original.regions[inside]).astype(np.int32)
            released[inside] = members[drawn(solved[key], at[None], draws[inside][None])[0]]
        return single_cells(released, original)


def tile_mechanism(city: City, members: NDArray[np.int64], prior: Floats, epsilon: float) -> Floats:
    """f[x, z] of one tile, over its members in ascending order."""
    grid = city.grid
    distance = grid.distance(members[:, None], members[None, :])
    columns = np.abs(grid.x[members][:, None] - grid.x[members])
    rows = np.abs(grid.y[members][:, None] - grid.y[members])
    near = (np.maximum(columns, rows) == 1) & (distance > 0)
    return least_loss(prior, np.minimum(distance, REACH_KM), distance, epsilon, near).f
