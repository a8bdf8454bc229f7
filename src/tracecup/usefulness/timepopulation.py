"""Where people are at each time of day: TP-TV, TP-TV-Top50 and TP-SWD.

Distributions have the shape (days, slots, locations); every day is evaluated on its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tracecup.errors import InvalidTraces
from tracecup.records import Records
from tracecup.usefulness.daytraces import DayTraces
from tracecup.usefulness.metric import Measurement, distance_metric, total_variation_metric
from tracecup.usefulness.sliced import sliced_wasserstein

TOP = 50

TP_TV = total_variation_metric(
    "TP-TV", "total variation of the time-dependent population distribution"
)
TP_TV_TOP50 = total_variation_metric(
    "TP-TV-Top50", "the same over the 50 locations of each slot most frequent in the truth"
)
TP_SWD = distance_metric(
    "TP-SWD", "sliced Wasserstein distance of the time-dependent population distribution"
)

Floats = NDArray[np.float64]


def population(events: Records | DayTraces) -> Floats:
    """Share of each location among the records of each slot, shape (days, slots, locations).

    Records are one "day" as a whole. A slot without any record is uniform. O(records + result).

    >>> from tracecup.records import Timetable
    >>> day = Timetable(0, 60, 2, 2)
    >>> records = Records.of([0, 1], [0, 1], [0, 0], n_locations=2, timetable=day)
    >>> population(records).tolist()
    [[[0.5, 0.5], [0.5, 0.5]]]
    """
    slots, n = events.slots, events.n_locations
    if isinstance(events, Records):
        keys = [events.slot.astype(np.int64) * n + events.location]
    else:
        slot = np.repeat(np.arange(slots), events.instants_per_slot)
        every = slot * n + events.locations
        if int(events.locations.min()) < 0:
            keys = [every[:, d][events.locations[:, d] >= 0] for d in range(events.days)]
        else:
            keys = [every[:, d].ravel() for d in range(events.days)]
    counts = np.stack([np.bincount(key, minlength=slots * n) for key in keys])
    return normalised(counts.reshape(len(keys), slots, n))


def uniform_population(slots: int, n_locations: int) -> Floats:
    """The same share for every location at every time, shape (1, slots, locations)."""
    return np.full((1, slots, n_locations), 1.0 / n_locations)


def normalised(counts: NDArray[np.integer] | Floats) -> Floats:
    """Counts divided by their sum along the last axis; uniform where there is nothing."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), 1.0 / counts.shape[-1])


def tp_tv(truth: ArrayLike, other: ArrayLike) -> Measurement:
    """TP-TV: mean over slots of 1/2 sum_i |truth[t, i] - other[d, t, i]|, per day d, averaged.

    `truth` is (1, slots, locations) or (slots, locations); `other` may have several days.

    >>> tp_tv([[1.0, 0.0]], [[0.5, 0.5]]).value
    0.5
    """
    p, q = _aligned(truth, other)
    return TP_TV.measured(0.5 * np.abs(p - q).sum(axis=2).mean(axis=1))


def tp_tv_top50(truth: ArrayLike, other: ArrayLike, top: int = TOP) -> Measurement:
    """TP-TV restricted per slot to the `top` locations most frequent in `truth`.

    Nothing is renormalised. Locations tied at the last rank enter with the probability that a
    random order of the tied ones would admit them, which is the exact expectation over ties:
    with s places left for g tied locations, each weighs s/g.

    >>> tp_tv_top50([[0.4, 0.3, 0.3]], [[0.4, 0.6, 0.0]], top=2).value
    0.15
    """
    if top < 1:
        raise InvalidTraces(f"top must be >= 1, got {top}")
    p, q = _aligned(truth, other)
    weight = top_weights(p[0], top)
    return TP_TV_TOP50.measured(0.5 * (np.abs(p - q) * weight).sum(axis=2).mean(axis=1))


def top_weights(truth: Floats, top: int) -> Floats:
    """Probability that each location is among the `top` of its slot, ties in random order."""
    n = truth.shape[1]
    if top >= n:
        return np.ones_like(truth)
    bar = np.partition(truth, n - top, axis=1)[:, n - top, None]
    above, tied = truth > bar, truth == bar
    places = top - above.sum(axis=1, keepdims=True)
    return np.asarray(above + tied * (places / tied.sum(axis=1, keepdims=True)))


def tp_swd(
    truth: ArrayLike, other: ArrayLike, coordinates: ArrayLike, directions: ArrayLike | None = None
) -> Measurement:
    """TP-SWD: mean over slots of the sliced 1-Wasserstein distance, per day, averaged."""
    p, q = _aligned(truth, other)
    days, slots, n = q.shape
    rows = sparse.csr_array((p - q).reshape(days * slots, n))
    distance = sliced_wasserstein(rows, coordinates, directions)
    return TP_SWD.measured(distance.reshape(days, slots).mean(axis=1))


def _aligned(truth: ArrayLike, other: ArrayLike) -> tuple[Floats, Floats]:
    p, q = (np.asarray(a, dtype=np.float64) for a in (truth, other))
    p, q = (a[None] if a.ndim == 2 else a for a in (p, q))
    if p.ndim != 3 or p.shape[0] != 1:
        raise InvalidTraces(f"the truth needs the shape (1, slots, locations), got {p.shape}")
    if q.ndim != 3 or q.shape[1:] != p.shape[1:]:
        raise InvalidTraces(f"the truth has the shape {p.shape}, the other {q.shape}")
    return p, q
