"""Optimal and OptimalUser: the mechanism that leaves the best guess the largest error.

After Shokri et al. (CCS 2012): privacy against an attacker who knows the prior and the mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.obfuscate.prior import region_shares
from tracecup.obfuscate.programmes import NEVER, least_error, most_private
from tracecup.registry import parameter, register, spell
from tracecup.rng import Rng, generator
from tracecup.score.utility import REACH_KM
from tracecup.traces import SetTraces, Traces
from tracecup.traces.counts import visit_counts

SHOKRI = (
    "R. Shokri et al., Protecting Location Privacy: Optimal Strategy against Localization Attacks, "
    "CCS 2012"
)
MOST_KM = 2.0

Floats = NDArray[np.float64]
Regions = NDArray[np.int32]


def _weight() -> float:
    weight: float = parameter(
        1.0,
        "how many times a wrong guess at a hospital counts; above 1 by linear programme",
        low=1,
        high=1e6,
        positional=False,
    )
    return weight


@dataclass(frozen=True)
class _Bounded(Obfuscator):
    """What both forms share: the bound Q and what they promise."""

    Q: float = parameter(0.6, "largest mean distance to the truth in km", low=0, high=MOST_KM)
    weight: float = _weight()

    knobs: ClassVar[tuple[Knob, ...]] = (Knob("Q", weak=0.0, strong=MOST_KM),)

    def guarantee(self, events: int = 400) -> str:
        """The error of one event's best guess, for whoever knows prior and mechanism."""
        if self.Q == 0:
            return ""
        hospitals = "" if self.weight == 1 else f" (hospitals {spell(self.weight)} times)"
        return (
            f"whoever knows the prior and sees one event errs{hospitals} as far as a mean distance "
            f"of {spell(self.Q)} km allows; not for traces"
        )


@register(
    "obfuscator",
    "Optimal",
    "one mechanism for all: the best guess errs as far as the mean distance Q allows",
    SHOKRI,
)
@dataclass(frozen=True)
class Optimal(_Bounded):
    """The prior is the share of all visits; distances are min(d, 2 km), so Q = 0.6 keeps 0.7.

    Without `weight` and `reach` the closed form holds: with probability min(1, Q/E0) report y0,
    the region with the least expected distance E0, otherwise the truth. A `reach` in km limits
    reports and guesses to regions that near; then, and with a `weight` of hospitals, a linear
    programme is solved (1024 regions within 0.75 km: seconds, within 1.05 km: half a minute).
    Every cell is drawn on its own.

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(3, 1, width_m=1000, height_m=1000))
    >>> Optimal(2.0).obfuscate(city, Traces.of([[0, 1, 1, 2]]), rng=1).regions.tolist()
    [1, 1, 1, 1]
    """

    reach: float = parameter(
        0.0, "farthest report in km, by linear programme; 0: any", low=0, positional=False
    )

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        shares = region_shares(original, city.n_regions, "visits")
        draws = generator(rng).random(original.shape)
        distance = np.minimum(city.grid.distances, REACH_KM)
        if self.weight == 1 and self.reach == 0:
            centre, alone = least_error(shares, distance)
            moved = draws < _share(np.array([alone]), self.Q)
            return single_cells(np.where(moved, np.int32(centre), original.regions), original)
        allowed = city.grid.distances <= self.reach if self.reach else None
        weighted = distance * np.where(city.is_hospital, self.weight, 1.0)
        f = most_private(shares, weighted, distance, self.Q, allowed).f
        return single_cells(drawn(f, original.regions, draws), original)


@register(
    "obfuscator",
    "OptimalUser",
    "a mechanism for each user: the best guess errs as far as the mean distance Q allows",
    SHOKRI,
)
@dataclass(frozen=True)
class OptimalUser(_Bounded):
    """As `Optimal`, with each user's own visits as the prior.

    By the closed form each user reports her own middle y0 with probability min(1, Q/E0). With a
    `weight` of hospitals a linear programme is solved for each user over her `states` most
    visited regions; visits to others stay as they are (0.1 to 1 s for each user).

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(3, 1, width_m=1000, height_m=1000))
    >>> OptimalUser(2.0).obfuscate(city, Traces.of([[0, 1, 1], [2, 2, 1]]), 1).regions.tolist()
    [1, 1, 1, 2, 2, 2]
    """

    states: int = parameter(
        64, "regions of a user in her linear programme", low=1, high=200, positional=False
    )

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        draws = generator(rng).random(original.shape)
        distance = np.minimum(city.grid.distances, REACH_KM)
        visits = visit_counts(original, city.n_regions).astype(np.float64) / original.times
        if self.weight == 1:
            expected = visits @ distance
            alone = expected.min(axis=1)
            centre = np.argmax(expected <= alone[:, None] + NEVER, axis=1).astype(np.int32)
            moved = draws < _share(alone, self.Q)[:, None]
            return single_cells(np.where(moved, centre[:, None], original.regions), original)
        released = np.array(original.regions)
        weighted = distance * np.where(city.is_hospital, self.weight, 1.0)
        for user in range(original.n_users):
            own = np.lexsort((np.arange(city.n_regions), -visits[user]))[: self.states]
            own = np.sort(own[visits[user, own] > 0])
            shares = visits[user, own] / visits[user, own].sum()
            near = distance[np.ix_(own, own)]
            f = most_private(shares, weighted[np.ix_(own, own)], near, self.Q).f
            at = np.searchsorted(own, original.regions[user])
            inside = own[np.minimum(at, len(own) - 1)] == original.regions[user]
            seen = at[inside].astype(np.int32)[None]
            released[user, inside] = own[drawn(f, seen, draws[user, inside][None])[0]]
        return single_cells(released, original)


def _share(alone: Floats, quality: float) -> Floats:
    """min(1, Q / E0): how often the middle is reported."""
    return np.where(alone <= quality, 1.0, quality / np.maximum(alone, NEVER))


def drawn(f: Floats, regions: Regions, draws: Floats) -> Regions:
    """A report for every event: z with probability f[region, z], by the inverse of its sum.

    >>> drawn(np.array([[0.25, 0.75]]), np.array([[0, 0]], dtype=np.int32), np.array([[0.2, 0.3]]))
    array([[0, 1]], dtype=int32)
    """
    n = len(f)
    cumulated = np.cumsum(f, axis=1)
    cumulated /= cumulated[:, -1:]
    # One ascending array for all rows: row x lies in x .. x + 1.
    flat = (cumulated + np.arange(n)[:, None]).ravel()
    at = np.searchsorted(flat, draws + regions, side="right")
    reports: Regions = np.minimum(at - regions * f.shape[1], f.shape[1] - 1).astype(np.int32)
    return reports
