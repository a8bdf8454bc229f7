"""Membership of a release: can somebody tell who is in it and who is not?

Half of the users are left out at random; the likelihood-ratio attack tells the halves apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from tracecup.attack.membership import membership, transition_profiles
from tracecup.city import City
from tracecup.errors import InvalidTraces
from tracecup.rng import Rng, generator
from tracecup.score.intervals import CONFIDENCE, Interval, check_confidence
from tracecup.traces import SetTraces, Traces

FEWEST = 4


@dataclass(frozen=True, eq=False)
class Presence:
    """How well members of a release are told from people who are not in it.

    `auc` is the chance that a member's score is higher than an outsider's (0.5: guessing, ties
    half), `interval` that of DeLong et al. (1988); `scores` (m,) and `member` (m,) are behind it.
    """

    auc: float
    interval: Interval
    scores: NDArray[np.float64]
    member: NDArray[np.bool_]


def presence(
    city: City,
    reference: Traces,
    released: SetTraces,
    rng: Rng = None,
    *,
    confidence: float = CONFIDENCE,
) -> Presence:
    """Leave a random half of the users out of the release and attack the rest.

    `released` is in user order. The score of a user is the mean over days of the best
    log-likelihood ratio (`attack.membership`) of her reference transitions on any released day;
    of a generalised cell its first region counts, gaps and deleted cells count nothing.
    """
    m = reference.n_users
    if m < FEWEST:
        raise InvalidTraces(f"membership needs at least {FEWEST} users, got {m}")
    if released.n_users != m:
        raise InvalidTraces(f"{m} users of the reference, {released.n_users} of the release")
    check_confidence(confidence)
    member = np.zeros(m, dtype=np.bool_)
    member[generator(rng).permutation(m)[: m // 2]] = True
    full = released.offsets[:-1] < released.offsets[1:]
    regions = np.full(len(full), -1, dtype=np.int32)
    regions[full] = released.regions[released.offsets[:-1][full]]
    days = regions.reshape(m, released.clock.days, released.clock.slots)[member]
    inside, outside = (_profiles(city, reference.regions[rows]) for rows in (member, ~member))
    found = membership(days, inside, outside).scores.mean(axis=1)
    scores = np.empty(m)
    scores[member], scores[~member] = found[: m // 2], found[m // 2 :]
    auc, interval = _auc(scores[member], scores[~member], confidence)
    return Presence(auc, interval, scores, member)


def _profiles(city: City, regions: NDArray[np.int32]) -> sparse.csr_array:
    user, time = np.nonzero(regions >= 0)
    return transition_profiles(user, regions[user, time], len(regions), city.n_regions)


def _auc(
    inside: NDArray[np.float64], outside: NDArray[np.float64], confidence: float
) -> tuple[float, Interval]:
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([inside, outside]))
    n, k = len(inside), len(outside)
    # Share of the other side below each score, ties half.
    below = (ranks[:n] - rankdata(inside)) / k
    above = 1 - (ranks[n:] - rankdata(outside)) / n
    auc = float(below.mean())
    spread = float(below.var(ddof=1) / n + above.var(ddof=1) / k)
    half = float(special.ndtri(0.5 + confidence / 2)) * spread**0.5
    return auc, Interval(max(0.0, auc - half), min(1.0, auc + half), confidence, "DeLong")
