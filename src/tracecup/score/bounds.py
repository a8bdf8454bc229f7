"""What bounds a score, whatever the attack: guessing, groups, the true link, prior knowledge.

A privacy score says what the attacks tried could not do; these bounds say how much of it is no
merit of the defence, because an attacker gets below it without any skill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracecup.city import City
from tracecup.errors import InvalidParameter
from tracecup.score.inference import HOSPITAL_WEIGHT
from tracecup.score.utility import REACH_KM
from tracecup.traces import Traces


@dataclass(frozen=True)
class Bounds:
    """The bounds of one release's scores; None where something is not known.

    `guessing` and `group` bound s_R, `prior` bounds s_T, and `true_link` bounds the s_T of an
    attacker who knows which pseudonym is whose.
    """

    guessing: float | None = None
    group: float | None = None
    prior: float | None = None
    true_link: float | None = None

    @property
    def reid(self) -> float | None:
        """The lowest known bound of s_R."""
        known = [value for value in (self.guessing, self.group) if value is not None]
        return min(known, default=None)


def guessing_bound(users: int) -> float:
    """1 - 1/m: the expected s_R of an attacker who hands out m names at random, O(1).

    Proof: a random one-to-one table names each pseudonym rightly with probability 1/m, so by
    linearity one of m names is right on average. No release makes that attacker weaker.

    >>> guessing_bound(4)
    0.75
    """
    if users < 1:
        raise InvalidParameter(f"a release has at least one user, got {users}")
    return 1 - 1 / users


def group_bound(sizes: int | Sequence[int]) -> float:
    """(g - 1)/g: the expected s_R left by groups of g users, even if all inside look the same.

    `sizes` is g, or the sizes of all groups. Proof: an attacker who sees the groups and guesses
    inside them is right for g * 1/g = 1 user of each group on average, so of m users in k groups
    for k, and s_R = 1 - k/m; with k = m/g that is (g - 1)/g. O(k).

    >>> group_bound(25)
    0.96
    >>> group_bound([2, 2, 4])  # three of eight are found
    0.625
    """
    groups = np.atleast_1d(np.asarray(sizes))
    if groups.size == 0 or int(groups.min()) < 1:
        raise InvalidParameter(f"groups have at least one user each, got {sizes}")
    return 1 - groups.size / int(groups.sum())


def hospital_share(city: City, traces: Traces) -> float:
    """The share of the observed events that lie in hospital regions, O(m l); 0 if none is observed.

    >>> from tracecup.city import Grid
    >>> grid = Grid.from_metres(2, 1, width_m=1000, height_m=1000)
    >>> hospital_share(City(grid, hospitals=[1]), Traces.of([[0, 1, 1, -1]]))
    0.6666666666666666
    """
    seen = traces.regions[traces.regions >= 0]
    return float(city.is_hospital[seen].mean()) if seen.size else 0.0


def true_link_bound(
    utility: float,
    *,
    hospital_share: float = 0.0,
    hospital_weight: float = HOSPITAL_WEIGHT,
    utility_reach_km: float = REACH_KM,
    inference_reach_km: float = REACH_KM,
) -> float:
    """The s_T of an attacker who knows the link and answers the released cell is at most this.

    With equal weights and reaches it is 1 - s_U. Proof: let u be the utility of an event and t
    the loss of an answer, min(1, d/reach). An attacker who names a random member of the released
    cell loses E[min(1, d/reach)] <= min(1, E[d]/reach) = 1 - u on average, because min(1, .) is
    concave (Jensen); for a deleted cell u = 0 and no loss exceeds 1. The mean over all events is
    s_T <= 1 - s_U. A better attacker is below it.

    Hospital version: with a share h of the events in hospital regions and their weight w,

        s_T <= (L + (w - 1) min(h, L)) / (1 + (w - 1) h),  L = 1 - s_U,

    because s_T = (sum of losses + (w - 1) sum over hospital events) / (n (1 + (w - 1) h)), the
    losses sum to at most n L, and those of hospital events to at most n min(h, L). Where w < 1
    the other events are the heavy ones. Where the reach of s_T is shorter than that of s_U, a
    loss is at most the ratio of the two times 1 - u, and L grows by that ratio. O(1).

    >>> round(true_link_bound(0.7), 6)
    0.3
    >>> round(true_link_bound(0.7, hospital_share=0.04), 6)
    0.485294
    """
    for name, value in (("utility", utility), ("hospital_share", hospital_share)):
        if not 0 <= value <= 1:
            raise InvalidParameter(f"{name} must lie within 0..1, got {value}")
    for name, value in (
        ("hospital_weight", hospital_weight),
        ("utility_reach_km", utility_reach_km),
        ("inference_reach_km", inference_reach_km),
    ):
        if not 0 < value < float("inf"):
            raise InvalidParameter(f"{name} must be a finite number > 0, got {value}")
    loss = min(1.0, (1 - utility) * max(1.0, utility_reach_km / inference_reach_km))
    # Losses count most where they lie on the heavier of the two kinds of events.
    heavy = hospital_share if hospital_weight >= 1 else 1 - hospital_share
    on_heavy = min(heavy, loss)
    more, less = max(hospital_weight, 1.0), min(hospital_weight, 1.0)
    weights = hospital_weight * hospital_share + (1 - hospital_share)
    return (more * on_heavy + less * (loss - on_heavy)) / weights
