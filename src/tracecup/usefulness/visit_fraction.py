"""How much of their time people spend at a location: visit fractions and VF-TV.

Per location a histogram over users of the share of their records that lie there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.records import Records
from tracecup.usefulness.daytraces import DayTraces
from tracecup.usefulness.metric import Measurement, total_variation_metric

BINS = 24
MIN_RECORDS = 5

VF_TV = total_variation_metric(
    "VF-TV", "total variation of the distribution of visit fractions, mean over locations"
)

Counts = NDArray[np.int64]


def visit_fractions(
    events: Records | DayTraces, bins: int = BINS, min_records: int = MIN_RECORDS
) -> Counts:
    """Number of users per location and bin of visit fractions, shape (days, locations, bins).

    A user with c of her n >= `min_records` records at a location has the fraction f = c/n there
    and falls into bin ceil(bins f) - 1 (computed in whole numbers); f = 0 and f = 1 are skipped.
    Records are one "day" as a whole, synthetic traces are taken day by day. O(records).

    >>> from tracecup.records import Timetable
    >>> day = Timetable(0, 60, 6, 6)
    >>> records = Records.of([0] * 6, [0, 0, 0, 1, 1, 1], range(6), n_locations=2, timetable=day)
    >>> visit_fractions(records, bins=4)[0].tolist()
    [[0, 1, 0, 0], [0, 1, 0, 0]]
    """
    if bins < 1 or min_records < 1:
        raise InvalidTraces(f"bins and min_records must be >= 1, got {bins} and {min_records}")
    if isinstance(events, Records):
        groups = [(events.offsets, events.location.astype(np.int64))]
    else:
        offsets = np.arange(events.n_users + 1) * events.instants
        groups = [
            (offsets, events.locations[:, d].ravel().astype(np.int64)) for d in range(events.days)
        ]
    histogram = np.zeros((len(groups), events.n_locations, bins), dtype=np.int64)
    for day, (offsets, locations) in enumerate(groups):
        _add_fractions(offsets, locations, min_records, histogram[day])
    return histogram


def uniform_fractions(n_locations: int, bins: int = BINS) -> Counts:
    """Everybody spends 1/N of the time everywhere: all mass in bin ceil(bins/N) - 1."""
    histogram = np.zeros((1, n_locations, bins), dtype=np.int64)
    histogram[:, :, -(-bins // n_locations) - 1] = 1
    return histogram


def comparable_locations(training: Counts, testing: Counts) -> NDArray[np.bool_]:
    """Locations with at least one entry in both training and testing data, shape (N,)."""
    return np.asarray((training[0].sum(axis=1) > 0) & (testing[0].sum(axis=1) > 0))


def vf_tv(training: Counts, testing: Counts, other: Counts) -> Measurement:
    """VF-TV of `other` (days, N, bins) against training, over the comparable locations.

    Each histogram is normalised over its bins; a location without any entry in `other` has all
    its mass in bin 0. TV per location, mean over locations, per day, averaged.
    """
    if training.shape != testing.shape or training.shape[1:] != other.shape[1:]:
        raise InvalidTraces(
            f"histograms differ in shape: {training.shape}, {testing.shape}, {other.shape}"
        )
    chosen = comparable_locations(training, testing)
    if not chosen.any():
        raise InvalidTraces("no location has visit fractions in both training and testing data")
    p, q = _distribution(training[:, chosen]), _distribution(other[:, chosen])
    return VF_TV.measured(0.5 * np.abs(p - q).sum(axis=2).mean(axis=1))


def _distribution(histogram: Counts) -> NDArray[np.float64]:
    filled = histogram.astype(np.float64)
    filled[:, :, 0] += filled.sum(axis=2) == 0
    return np.asarray(filled / filled.sum(axis=2, keepdims=True))


@kernel
def _add_fractions(
    offsets: NDArray[np.int64],
    locations: NDArray[np.int64],
    min_records: int,
    histogram: Counts,
) -> None:
    """Add every user's fractions; -1 is not a record."""
    bins = histogram.shape[1]
    visits = np.zeros(histogram.shape[0], dtype=np.int64)
    for user in range(len(offsets) - 1):
        total = 0
        for e in range(offsets[user], offsets[user + 1]):
            if locations[e] >= 0:
                visits[locations[e]] += 1
                total += 1
        for e in range(offsets[user], offsets[user + 1]):
            here = locations[e]
            if here < 0:
                continue
            count = visits[here]
            if 0 < count < total and total >= min_records:
                histogram[here, (bins * count + total - 1) // total - 1] += 1
            visits[here] = 0
