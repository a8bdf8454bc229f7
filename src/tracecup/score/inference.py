"""The trace-inference privacy score s_T, and the expected error it is made from.

Paper, Section 3.4: a distance of two kilometres or more counts as a full miss, and hospital
regions weigh ten times as much as others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.city import City
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.score.intervals import CONFIDENCE, mean_interval, ratio_interval
from tracecup.score.result import Score
from tracecup.score.utility import REACH_KM, check_originals
from tracecup.traces import Traces

HOSPITAL_WEIGHT = 10.0
EVENT_BYTES = 64
"""What an event costs while its block is scored."""


def inference_score(
    city: City,
    original: Traces,
    inferred: Traces,
    *,
    hospital_weight: float = HOSPITAL_WEIGHT,
    reach_km: float = REACH_KM,
    confidence: float = CONFIDENCE,
) -> Score:
    """s_T = sum(w g(beta)) / sum(w), g(beta) = min(1, beta / reach_km), O(m l).

    beta[i, j] is the distance (km) between original and inferred region; the weight w is
    `hospital_weight` where the original region is a hospital region, else 1.

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875), hospitals=[1])
    >>> score = inference_score(city, Traces.of([[0, 2, 1, 0]]), Traces.of([[0, 0, 1, 3]]))
    >>> round(score.value * 13, 6)
    0.853125
    """
    if not 0 < hospital_weight < float("inf"):
        raise InvalidParameter(f"hospital_weight must be a finite number > 0: {hospital_weight}")
    if not 0 < reach_km < float("inf"):
        raise InvalidParameter(f"reach_km must be a finite number > 0, got {reach_km}")
    _check(city, original, inferred)
    weight_of = np.where(city.is_hospital, hospital_weight, 1.0)
    sums, weights = np.empty(original.n_users), np.empty(original.n_users)
    for users in user_blocks(original):
        weight = weight_of[original.regions[users]]
        miss = np.minimum(1.0, _distances(city, original, inferred, users) / reach_km)
        sums[users], weights[users] = (weight * miss).sum(axis=1), weight.sum(axis=1)
    return Score(
        "s_T",
        float(sums.sum() / weights.sum()),
        sums / weights,
        ratio_interval(sums, weights, confidence),
    )


def expected_error_score(
    city: City, original: Traces, inferred: Traces, confidence: float = CONFIDENCE
) -> Score:
    """Expected error: the plain mean of the distances beta, in km (Shokri et al., 2011)."""
    _check(city, original, inferred)
    per_user = np.empty(original.n_users)
    for users in user_blocks(original):
        per_user[users] = _distances(city, original, inferred, users).mean(axis=1)
    interval = mean_interval(per_user, confidence, upper=None)
    return Score("expected error", float(per_user.mean()), per_user, interval, unit="km")


def user_blocks(traces: Traces) -> list[slice]:
    """Blocks of users whose events take about 64 MiB of work."""
    parts = scratch.parts(traces.n_users, EVENT_BYTES * traces.times)
    return [slice(low, high) for low, high in parts]


def _check(city: City, original: Traces, inferred: Traces) -> None:
    check_originals(city, original)
    if original.shape != inferred.shape:
        raise InvalidTraces(f"original traces are {original.shape}, inferred {inferred.shape}")
    if inferred.has_gaps:
        raise InvalidTraces("inferred traces name a region for every event, but some have none")
    if int(inferred.regions.max()) >= city.n_regions:
        raise InvalidTraces(f"inferred region {int(inferred.regions.max())} is not in the city")


def _distances(city: City, original: Traces, inferred: Traces, users: slice) -> NDArray[np.float64]:
    """Distance in km at every event of a block of users."""
    return city.grid.distance(original.regions[users], inferred.regions[users])
