"""The contest's scores for traces with gaps: only events whose true region is known count.

Contest traces are complete and have scores of their own; an audit's traces are often not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.errors import InvalidTraces
from tracecup.score import (
    FLOOR,
    HOSPITAL_WEIGHT,
    REACH_KM,
    Interval,
    Score,
    UtilityScore,
    expected_error_score,
    inference_score,
    ratio_interval,
    utility_score,
)
from tracecup.score.inference import user_blocks
from tracecup.score.intervals import CONFIDENCE
from tracecup.traces import SetTraces, Traces


def observed_utility(
    city: City,
    original: Traces,
    obfuscated: SetTraces,
    *,
    floor: float = FLOOR,
    confidence: float = CONFIDENCE,
) -> UtilityScore:
    """s_U over observed events: sum of g(alpha) over them, divided by their number.

    `obfuscated` is in user order. What it says about an event whose true region is not known
    does not count, neither for nor against it. `per_user[i]` is the same over the events of
    user i, NaN for a user of whom nothing was observed; the interval linearises the ratio of
    sums over users (`ratio_interval`). Complete traces give `utility_score`. O(cells).

    >>> from tracecup.city import Grid
    >>> city = City(Grid.from_metres(5, 1, width_m=1000, height_m=1000))
    >>> cells = SetTraces.of_cells([[[0], [1], [4]], [[2], [], []]])
    >>> score = observed_utility(city, Traces.of([[0, 0, -1], [2, 2, -1]]), cells)
    >>> round(score.value, 6)
    0.625
    """
    if not original.has_gaps:
        return utility_score(city, original, obfuscated, floor=floor, confidence=confidence)
    _check_seen(original)
    if obfuscated.shape != original.shape:
        raise InvalidTraces(
            f"original traces are {original.shape}, obfuscated ones {obfuscated.shape}"
        )
    sums, events = np.empty(original.n_users), np.empty(original.n_users)
    for users in user_blocks(original):
        true = original.take_users(users)
        seen = true.regions >= 0
        # A deleted cell is worth 0 whatever the truth: unobserved events add nothing to the sums.
        kept = _without(obfuscated.take_users(users), ~seen)
        filled = Traces(np.where(seen, true.regions, 0), true.users, true.clock)
        sums[users] = utility_score(city, filled, kept).per_user * original.times
        events[users] = seen.sum(axis=1)
    value, per_user, interval = _ratio(sums, events, confidence)
    return UtilityScore("s_U", value, per_user, interval, floor=floor)


def observed_inference(
    city: City, original: Traces, inferred: Traces, *, confidence: float = CONFIDENCE
) -> Score:
    """s_T over observed events: sum(w g(beta)) / sum(w), both over them only.

    Weights and g are those of `inference_score`, which complete traces give. Shapes, NaN and
    interval as in `observed_utility`. O(m l).
    """
    if not original.has_gaps:
        return inference_score(city, original, inferred, confidence=confidence)
    _check(city, original, inferred)
    sums, weights = np.empty(original.n_users), event_weights(city, original)
    for users in user_blocks(original):
        miss = np.minimum(1.0, _distances(city, original, inferred, users) / REACH_KM)
        sums[users] = (_weight(city, original, users) * miss).sum(axis=1)
    value, per_user, interval = _ratio(sums, weights, confidence)
    return Score("s_T", value, per_user, interval)


def observed_error(
    city: City, original: Traces, inferred: Traces, *, confidence: float = CONFIDENCE
) -> Score:
    """Expected error (km) over observed events: the mean of their distances beta."""
    if not original.has_gaps:
        return expected_error_score(city, original, inferred, confidence)
    _check(city, original, inferred)
    sums, events = np.empty(original.n_users), np.empty(original.n_users)
    for users in user_blocks(original):
        sums[users] = _distances(city, original, inferred, users).sum(axis=1)
        events[users] = (original.regions[users] >= 0).sum(axis=1)
    value, per_user, interval = _ratio(sums, events, confidence, upper=None)
    return Score("expected error", value, per_user, interval, unit="km")


def event_weights(city: City, original: Traces) -> NDArray[np.float64]:
    """Sum of the weights of each user's observed events, shape (m,): 10 in hospitals, else 1."""
    _check_seen(original)
    weights = np.empty(original.n_users)
    for users in user_blocks(original):
        weights[users] = _weight(city, original, users).sum(axis=1)
    return weights


def difference(
    higher: Score, lower: Score, weights: NDArray[np.float64], confidence: float = CONFIDENCE
) -> tuple[float, Interval]:
    """higher - lower of two scores of the same users, with an interval for the difference.

    Both are ratios over the same `weights` per user, so that users are compared with themselves:
    the interval is that of sum(weights (higher_i - lower_i)) / sum(weights), from -1 to 1.
    """
    known = weights > 0
    gap = (higher.per_user - lower.per_user)[known]
    # Shifted by one, because intervals of ratios are cut at zero.
    found = ratio_interval((gap + 1) * weights[known], weights[known], confidence, upper=2.0)
    high = None if found.high is None else found.high - 1
    return higher.value - lower.value, Interval(found.low - 1, high, confidence, found.method)


def _check_seen(original: Traces) -> None:
    if int(original.regions.max(initial=-1)) < 0:
        raise InvalidTraces("original traces without any observed event have no score")


def _check(city: City, original: Traces, inferred: Traces) -> None:
    _check_seen(original)
    if original.shape != inferred.shape:
        raise InvalidTraces(f"original traces are {original.shape}, inferred {inferred.shape}")
    for name, traces in (("original", original), ("inferred", inferred)):
        if int(traces.regions.max()) >= city.n_regions:
            raise InvalidTraces(f"{name} region {int(traces.regions.max())} is not in the city")


def _weight(city: City, original: Traces, users: slice) -> NDArray[np.float64]:
    weight, regions = np.where(city.is_hospital, HOSPITAL_WEIGHT, 1.0), original.regions[users]
    return np.where(regions >= 0, weight[regions], 0.0)


def _distances(city: City, original: Traces, inferred: Traces, users: slice) -> NDArray[np.float64]:
    """Distance in km at observed events of a block of users, 0 elsewhere."""
    here, there = original.regions[users], inferred.regions[users]
    seen = here >= 0
    if bool((there[seen] < 0).any()):
        raise InvalidTraces("inferred traces name a region for every event, but some have none")
    return np.where(seen, city.grid.distance(here, there), 0.0)


def _without(cells: SetTraces, gone: NDArray[np.bool_]) -> SetTraces:
    """The same cells, some of them deleted."""
    sizes, flags = np.diff(cells.offsets), gone.ravel()
    regions = cells.regions[~np.repeat(flags, sizes)]
    offsets = np.concatenate([[0], np.cumsum(np.where(flags, 0, sizes))])
    return SetTraces(offsets, regions, cells.users, cells.clock)


def _ratio(
    sums: NDArray[np.float64],
    weights: NDArray[np.float64],
    confidence: float,
    upper: float | None = 1.0,
) -> tuple[float, NDArray[np.float64], Interval]:
    """sum(sums)/sum(weights), each user's own ratio (NaN without weight), and the interval."""
    known = weights > 0
    per_user = np.full(len(sums), np.nan)
    per_user[known] = sums[known] / weights[known]
    interval = ratio_interval(sums[known], weights[known], confidence, upper)
    return float(sums.sum() / weights.sum()), per_user, interval
