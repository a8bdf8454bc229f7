"""The slot-aware prior: how likely each user is in each region at each time of day.

A mixture of seven habit models; what each is worth at a slot is learnt on days held out.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.attack.prior.topics import STEPS, Topics, fit_topics
from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.traces import Traces, slot_counts, sparse_visit_counts

COMPONENTS = (
    "her visits at the slot",
    "her visits around the slot",
    "the same, blurred in space",
    "all her visits",
    "the same, blurred in space",
    "topics of places, times what the slot is like",
    "everybody at the slot",
)
BLUR_KM = 0.35
BLUR_REACH = 5.0
"""A blurred visit ends where exp(-d / 0.35 km) falls below exp(-5)."""
HELD_OUT = 0.25
USUAL_WEIGHTS = (0.03, 0.06, 0.05, 0.12, 0.01, 0.64, 0.09)
USUAL_COUNT = 20.0
"""The usual weights count like so many held-out locations of the slot."""
WEIGHT_STEPS = 60
MORE_STEPS = 30
BLOCK = 64
MAX_ENTRIES = 1 << 29
"""P as a whole takes 2 GiB at most; blocks of users have no such limit."""
HELD_ENTRIES = 1 << 27
"""Up to so many entries, 512 MiB, P is made once and kept; beyond it is made where it is needed."""
SUM_ROWS = 1 << 16
"""Held-out locations whose shares are added up before they join the sum of all: never another
number, since floating-point sums depend on it."""


@dataclass(frozen=True, eq=False)
class SlotPrior:
    """P[u, t, x], shape (users, slots, regions), float32: user u is in x at slot t.

    `weights` (slots, 7) of the components of `habits`; `log_likelihood` is the mean log-probability
    (natural logarithm) of a held-out reference location, NaN where no day could be held out. The
    nearer to 0, the better this prior knows the users, and the lower a prior-only attack gets s_T.
    """

    habits: Habits
    weights: NDArray[np.float64]
    log_likelihood: float

    @property
    def shape(self) -> tuple[int, int, int]:
        return (len(self.habits.regions), *self.habits.crowd.shape)

    def block(self, low: int, high: int) -> NDArray[np.float32]:
        """P of users low..high-1, the same bytes however users are cut into blocks."""
        if math.prod(self.shape) <= HELD_ENTRIES:
            return self.probabilities[low:high]
        return self.habits.mixed(self.weights, low, high)

    @cached_property
    def probabilities(self) -> NDArray[np.float32]:
        """P as a whole, up to 2 GiB."""
        users, slots, regions = self.shape
        entries = users * slots * regions
        if entries > MAX_ENTRIES:
            raise InvalidTraces(
                f"a prior of {users} users, {slots} slots and {regions} regions takes "
                f"{4 * entries / 2**30:.0f} GiB, more than {4 * MAX_ENTRIES // 2**30}; use fewer "
                "users, slots or regions, or blocks of users"
            )
        return self.habits.mixed(self.weights)


_latest: list[tuple[weakref.ref[Traces], weakref.ref[City], SlotPrior]] = []


def slot_prior(city: City, reference: Traces) -> SlotPrior:
    """The prior of all users from their reference traces, as `fit_prior` makes it.

    The latest one is kept as long as the traces live: attacks on the same users ask again.
    """
    for traces, place, prior in tuple(_latest):
        if traces() is reference and place() is city:
            return prior
    prior = fit_prior(city, reference)
    kept = weakref.ref(reference, lambda _: _latest.clear())
    _latest[:] = [(kept, weakref.ref(city), prior)]
    return prior


def fit_prior(city: City, reference: Traces) -> SlotPrior:
    """The prior of all users from their reference traces.

    Components are built on the first three quarters of the days, their weights at each slot
    maximise the likelihood of the remaining days (EM, 60 steps, from the usual weights, which
    also count like 20 locations), then the components are built again on all days. With one day
    the usual weights stand. Unobserved events are skipped; a user who was never observed gets what
    everybody does. O(users (slots regions + topics' steps x visited regions)) time; what it keeps
    of a user are her topics and visited regions, in files where that is large.
    """
    clock, regions = reference.clock, city.n_regions
    weights = np.tile(USUAL_WEIGHTS, (clock.slots, 1))
    held_out = int(np.ceil(clock.days * HELD_OUT))
    likelihood, topics = float("nan"), None
    if clock.days > 1:
        known = reference.take_days(0, clock.days - held_out)
        topics = fit_topics(sparse_visit_counts(known, regions))
        test = reference.take_days(clock.days - held_out, clock.days)
        weights, likelihood = _fit_weights(Habits.of(city, known, topics), test, weights)
    steps = MORE_STEPS if topics else STEPS
    topics = fit_topics(sparse_visit_counts(reference, regions), steps, topics)
    return SlotPrior(Habits.of(city, reference, topics), weights, likelihood)


class Common(NamedTuple):
    """What the components of all users share; see `Habits` and `Topics`."""

    phi: NDArray[np.float64]
    ratio: NDArray[np.float64]
    crowd: NDArray[np.float64]
    blur: NDArray[np.float64]
    nx: int


@dataclass(frozen=True, eq=False)
class Habits:
    """The seven components before they are mixed, as tables small enough to keep.

    `regions` (users, times) are those of the reference traces; `ratio` (slots, regions) is the
    share of everybody's visits to x at slot t over the share at all slots, `crowd`
    (slots, regions) the visits of everybody at the slot, smoothed over slots.
    """

    regions: NDArray[np.int32]
    topics: Topics
    ratio: NDArray[np.float64]
    crowd: NDArray[np.float64]
    blur: NDArray[np.float64]
    nx: int

    @classmethod
    def of(cls, city: City, reference: Traces, topics: Topics) -> Habits:
        """The habits that reference traces show."""
        counts = slot_counts(reference, city.n_regions) + 1.0 / city.n_regions
        apart = np.abs(np.subtract.outer(np.arange(len(counts)), np.arange(len(counts))))
        crowd = np.exp(-apart.astype(np.float64)) @ counts
        crowd /= crowd.sum(axis=1, keepdims=True)
        ratio = crowd / crowd.mean(axis=0)
        km = city.grid.offset_km
        near = km <= BLUR_REACH * BLUR_KM
        blur = np.exp(-km / BLUR_KM)[: near[:, 0].sum(), : near[0].sum()]
        return cls(
            reference.regions, topics, ratio, crowd, np.ascontiguousarray(blur), city.grid.nx
        )

    @property
    def _common(self) -> Common:
        return Common(self.topics.phi, self.ratio, self.crowd, self.blur, self.nx)

    def mixed(
        self, weights: NDArray[np.float64], low: int = 0, high: int | None = None
    ) -> NDArray[np.float32]:
        """P[u, t, x] for the weights (slots, 7) of the components, of users low..high-1 or all."""
        reference, theta = self.regions[low:high], self.topics.theta[low:high]
        users, common = len(reference), self._common
        out = np.empty((users, *self.crowd.shape), dtype=np.float32)

        def work(begin: int, end: int) -> None:
            _mix(reference[begin:end], theta[begin:end], common, weights, out[begin:end])

        map_blocks(work, users, blocks=max(1, users // BLOCK))
        return out

    def values_at(self, events: Traces) -> NDArray[np.float64]:
        """The components' probabilities of some events, (users, times, 7); 0 where unobserved."""
        out = scratch.filled((*events.shape, len(COMPONENTS)), 0.0, np.float64)
        common = self._common

        def work(low: int, high: int) -> None:
            _values_at(
                self.regions[low:high], self.topics.theta[low:high], common,
                events.regions[low:high], out[low:high],
            )  # fmt: skip

        map_blocks(work, events.n_users, blocks=max(1, events.n_users // BLOCK))
        return out


def _fit_weights(
    habits: Habits, test: Traces, usual: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Weights (slots, 7) of greatest likelihood on `test`, and its mean log-likelihood."""
    values, slots = habits.values_at(test), len(usual)
    weights, total, seen = np.empty_like(usual), 0.0, 0
    for slot in range(slots):
        here = _seen_at(values, test, slot)
        chunks = [here[low : low + SUM_ROWS] for low in range(0, len(here), SUM_ROWS)]
        found = usual[slot]
        for _ in range(WEIGHT_STEPS):
            sums = USUAL_COUNT * usual[slot]
            for chunk in chunks:
                share = chunk * found
                share /= share.sum(axis=1, keepdims=True)
                sums += share.sum(axis=0)
            found = sums / sums.sum()
        weights[slot] = found
        total += sum(float(np.log(chunk @ found).sum()) for chunk in chunks)
        seen += len(here)
    return weights, total / seen if seen else float("nan")


def _seen_at(values: NDArray[np.float64], test: Traces, slot: int) -> NDArray[np.float64]:
    """The values at the observed events of a slot, shape (events, 7)."""
    slots, at = test.clock.slots, 0
    users = scratch.parts(test.n_users, values[:1].nbytes)
    seen = sum(int((test.regions[a:b, slot::slots] >= 0).sum()) for a, b in users)
    here = scratch.empty((seen, values.shape[2]))
    for low, high in users:
        found = values[low:high, slot::slots][test.regions[low:high, slot::slots] >= 0]
        here[at : at + len(found)] = found
        at += len(found)
    return here


@kernel
def _spread_visit(
    region: int, blur: NDArray[np.float64], nx: int, amount: float, out: NDArray[np.float64]
) -> None:
    """Add `amount` around a region, in proportion to `blur` and all of it inside the city."""
    x, y, ny = region % nx, region // nx, len(out) // nx
    low_y, high_y = max(0, y - blur.shape[0] + 1), min(ny, y + blur.shape[0])
    low_x, high_x = max(0, x - blur.shape[1] + 1), min(nx, x + blur.shape[1])
    total = 0.0
    for qy in range(low_y, high_y):
        for qx in range(low_x, high_x):
            total += blur[abs(qy - y), abs(qx - x)]
    for qy in range(low_y, high_y):
        for qx in range(low_x, high_x):
            out[qy * nx + qx] += amount / total * blur[abs(qy - y), abs(qx - x)]


@kernel
def _smooth_slots(table: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """out[t] = sum over slots t' of exp(-|t - t'|) table[t'], by a pass forth and one back."""
    slots, decay = len(table), math.exp(-1.0)
    out[0] = table[0]
    for t in range(1, slots):
        for x in range(table.shape[1]):
            out[t, x] = table[t, x] + decay * out[t - 1, x]
    back = np.zeros(table.shape[1])
    for t in range(slots - 2, -1, -1):
        for x in range(table.shape[1]):
            back[x] = decay * (back[x] + table[t + 1, x])
            out[t, x] += back[x]


@kernel
def _scale(row: NDArray[np.float64], instead: NDArray[np.float64]) -> None:
    """Make a row sum to 1; a row of zeros becomes `instead`."""
    total = row.sum()
    if total > 0.0:
        for x in range(len(row)):
            row[x] /= total
    else:
        row[:] = instead


@kernel
def _components(
    events: NDArray[np.int32],
    theta: NDArray[np.float64],
    common: Common,
    work: NDArray[np.float64],
    parts: NDArray[np.float64],
) -> None:
    """parts[c, t, x] of one user; `work` is room for one slot table."""
    phi, ratio, crowd, blur, nx = common
    slots, regions = crowd.shape
    parts[:] = 0.0
    work[:] = 0.0
    for j in range(len(events)):
        r = events[j]
        if r >= 0:
            parts[0, j % slots, r] += 1.0
            parts[3, 0, r] += 1.0
    for r in range(regions):
        if parts[3, 0, r] > 0.0:
            _spread_visit(r, blur, nx, parts[3, 0, r], parts[4, 0])
            for t in range(slots):
                if parts[0, t, r] > 0.0:
                    _spread_visit(r, blur, nx, parts[0, t, r], work[t])
    _smooth_slots(parts[0], parts[1])
    _smooth_slots(work, parts[2])
    topic = np.zeros(regions)
    for x in range(regions):
        for k in range(len(theta)):
            topic[x] += theta[k] * phi[x, k]
    for t in range(1, slots):
        parts[3, t] = parts[3, 0]
        parts[4, t] = parts[4, 0]
    for t in range(slots):
        parts[6, t] = crowd[t]
        for x in range(regions):
            parts[5, t, x] = topic[x] * ratio[t, x]
        for c in range(6):
            _scale(parts[c, t], crowd[t])


@kernel
def _mix(
    reference: NDArray[np.int32],
    theta: NDArray[np.float64],
    common: Common,
    weights: NDArray[np.float64],
    out: NDArray[np.float32],
) -> None:
    slots, regions = common.crowd.shape
    parts, work = np.empty((7, slots, regions)), np.empty((slots, regions))
    mixed = np.empty(regions)
    for u in range(len(reference)):
        _components(reference[u], theta[u], common, work, parts)
        for t in range(slots):
            mixed[:] = 0.0
            for c in range(7):
                for x in range(regions):
                    mixed[x] += weights[t, c] * parts[c, t, x]
            for x in range(regions):
                out[u, t, x] = mixed[x]


@kernel
def _values_at(
    reference: NDArray[np.int32],
    theta: NDArray[np.float64],
    common: Common,
    events: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    slots, regions = common.crowd.shape
    parts, work = np.empty((7, slots, regions)), np.empty((slots, regions))
    for u in range(len(reference)):
        _components(reference[u], theta[u], common, work, parts)
        for j in range(events.shape[1]):
            if events[u, j] >= 0:
                for c in range(7):
                    out[u, j, c] = parts[c, j % slots, events[u, j]]
