"""A trained network at work, without JAX: p(y | references of u, slot t) for every user.

The pointwise part runs in numba and uses that a user visits few regions; the low-rank part is two
matrix products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.attack.learned.shape import BLURS_KM, COUNT_SCALE, FEATURES, NetworkShape
from tracecup.attack.steady import steady_product
from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.kernels import inlined, kernel
from tracecup.traces import Traces, slot_counts

Floats = NDArray[np.float32]

EPSILON = np.array([eps for _, eps in FEATURES], dtype=np.float32)
CHUNK = 256
"""Regions that are taken through the hidden layers at once, so that they stay in the cache."""

USERS_AT_ONCE = 64
LEAST_LOG = math.log(1e-12)
"""Logarithms of probabilities end here: what a network takes for impossible happens at times."""


@dataclass(frozen=True, eq=False)
class Network:
    """Arrays of a trained network, by the names of `NetworkShape.arrays`, float32.

    logits(u, t, y) = out . g(second g(first . F + slot_t) + second_bias) + skip . F
                    + regions_y . (mix g(day_embedding' d_u + slot_embedding' n_ut + slot_shift_t))
                    + bias_ty

    with g(x) = x clip(x/6 + 1/2, 0, 1), F the nine features of the cell, d_u and n_ut the
    log1p(20 x visits a day) of the whole day and of near slots; p is the softmax over y.
    """

    shape: NetworkShape
    arrays: Mapping[str, Floats]

    def probabilities(self, city: City, reference: Traces) -> Floats:
        """p(y | u, t), shape (users, slots, regions), from reference traces; gaps are skipped.

        Time O(users slots regions hidden^2), memory of one block of users and of the answer, 4
        bytes an entry, which lies in a file where it is large.
        """
        crowd = Crowd.of(city, reference)
        start = self._start(crowd)
        answer = scratch.empty((reference.n_users, *crowd.seen.shape), np.float32)

        def fill(low: int, high: int) -> None:
            self._logits(crowd.features(reference.regions[low:high]), start, answer[low:high])
            _softmax(answer[low:high].reshape(-1, city.n_regions))

        users = reference.n_users
        map_blocks(fill, users, blocks=max(1, math.ceil(users / USERS_AT_ONCE)))
        return answer

    def _start(self, crowd: Crowd) -> Floats:
        """What hidden cells get from slot, crowd and empty counts, (slots, hidden + 1, regions).

        The last row is the same for the skip and the bias.
        """
        held, hidden = self.arrays, self.shape.hidden
        slots, regions = crowd.seen.shape
        if (regions, slots) != (self.shape.regions, self.shape.slots):
            raise InvalidTraces(
                f"the model knows {self.shape.regions} regions and {self.shape.slots} slots a day, "
                f"the case has {regions} and {slots}"
            )
        first, skip, empty = held["first"], held["skip"], np.log(EPSILON[:2])
        start = np.empty((slots, hidden + 1, regions), dtype=np.float32)
        for t in range(slots):
            start[t, :hidden] = first[8][:, None] * crowd.seen[t] + (
                held["slot"][t] + empty @ first[:2]
            ).reshape(-1, 1)
            start[t, hidden] = skip[8] * crowd.seen[t] + empty @ skip[:2] + held["bias"][t]
        return start

    def _logits(self, features: CellFeatures, start: Floats, logits: Floats) -> None:
        """Write the logits of some users, (users, slots, regions)."""
        held = {name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        users, slots = logits.shape[:2]
        pattern = np.empty((users, slots, self.shape.embedding), dtype=np.float32)
        _pointwise(
            features.reference, features.around, features.close, features.wide, features.spread,
            start, held["first"], held["second"], held["second_bias"], held["out"], held["skip"],
            held["day_embedding"], held["slot_embedding"], held["slot_shift"], EPSILON, logits,
            pattern,
        )  # fmt: skip
        mixed = steady_product(pattern.reshape(users * slots, -1), held["mix"])
        logits += steady_product(mixed, held["regions"].T).reshape(logits.shape)


def log_probabilities(
    city: City, reference: Traces, networks: Sequence[Network]
) -> Callable[[NDArray[np.int64]], Floats]:
    """A function of users that gives log p(y | u, t) by every network, (networks, users, T, N).

    What the networks see of the users is made once for all of them. No logarithm is below
    `LEAST_LOG`.
    """
    crowd = Crowd.of(city, reference)
    starts = [net._start(crowd) for net in networks]

    def of(users: NDArray[np.int64]) -> Floats:
        features = crowd.features(reference.regions[users])
        answer = np.empty((len(networks), len(users), *crowd.seen.shape), dtype=np.float32)
        for net, start, logits in zip(networks, starts, answer, strict=True):
            net._logits(features, start, logits)
        _log_softmax(answer.reshape(-1, city.n_regions))
        return answer

    return of


@dataclass(frozen=True, eq=False)
class Crowd:
    """What all users of a case have in common, whichever network looks at them.

    `near` (T, T) and `blurs` (3, N, N) are kernels over slots and space, rows summing to 1; `seen`
    (T, N) are the logarithms of all users' visits at near slots.
    """

    near: Floats
    blurs: Floats
    seen: Floats

    @classmethod
    def of(cls, city: City, reference: Traces) -> Crowd:
        """The crowd of the reference traces."""
        slots = reference.clock.slots
        near = np.exp(-np.abs(np.subtract.outer(np.arange(slots), np.arange(slots))))
        near /= near.sum(axis=1, keepdims=True)
        km = city.grid.distances
        blurs = np.stack([np.exp(-km / reach) for reach in BLURS_KM])
        blurs /= blurs.sum(axis=2, keepdims=True)
        visits = slot_counts(reference, city.n_regions) / reference.clock.days / reference.n_users
        seen = np.log(near @ visits + EPSILON[8])
        return cls(*(np.asarray(held, dtype=np.float32) for held in (near, blurs, seen)))

    def features(self, reference: NDArray[np.int32]) -> CellFeatures:
        """What is known of some users from their reference regions (users, events)."""
        users, (slots, regions) = len(reference), self.seen.shape
        around, close, wide = np.zeros((3, users, slots, regions), dtype=np.float32)
        spread = np.zeros((users, 3, regions), dtype=np.float32)
        _look(reference, self.near, self.blurs, EPSILON, around, close, wide, spread)
        return CellFeatures(reference, around, close, wide, spread)


@dataclass(frozen=True, eq=False)
class CellFeatures:
    """Features of some users' cells that need more than a look at a count.

    `around` are visits a day at near slots, `close` and `wide` the logarithms of their blurs, all
    (users, T, N); `spread` those of the whole day's blurs, (users, 3, N).
    """

    reference: NDArray[np.int32]
    around: Floats
    close: Floats
    wide: Floats
    spread: Floats


@inlined
def _bend(x: np.float32) -> np.float32:
    """x clip(x / 6 + 1/2, 0, 1)."""
    return x * min(max(x * np.float32(1 / 6) + np.float32(0.5), np.float32(0)), np.float32(1))


@kernel
def _look(
    reference: NDArray[np.int32],
    near: Floats,
    blurs: Floats,
    eps: Floats,
    around: Floats,
    close: Floats,
    wide: Floats,
    spread: Floats,
) -> None:
    """Fill `CellFeatures` from zeros; sums run over a user's regions as they first came."""
    users, slots, regions = around.shape
    times = reference.shape[1]
    one_visit = np.float32(slots / times)
    seen = np.empty(min(times, regions), dtype=np.int64)
    day = np.zeros(regions, dtype=np.float32)
    amounts = np.empty((slots, len(seen)), dtype=np.float32)
    for u in range(users):
        n = _count_visits(reference[u], one_visit / np.float32(slots), day, seen)
        for j in range(times):
            r = reference[u, j]
            if r >= 0:
                for t in range(slots):
                    around[u, t, r] += near[t, j % slots] * one_visit
        for t in range(slots):
            for d in range(n):
                amounts[t, d] = around[u, t, seen[d]]
        for t in range(slots):
            _blur(blurs[0], seen[:n], amounts[t], close[u, t])
            _blur(blurs[1], seen[:n], amounts[t], wide[u, t])
            for y in range(regions):
                close[u, t, y] = math.log(close[u, t, y] + eps[2])
                wide[u, t, y] = math.log(wide[u, t, y] + eps[3])
        for d in range(n):
            amounts[0, d] = day[seen[d]]
        for b in range(3):
            _blur(blurs[b], seen[:n], amounts[0], spread[u, b])
            for y in range(regions):
                spread[u, b, y] = math.log(spread[u, b, y] + eps[5 + b])
        for d in range(n):
            day[seen[d]] = 0.0


@inlined
def _count_visits(
    row: NDArray[np.int32], share: np.float32, day: Floats, seen: NDArray[np.int64]
) -> int:
    """Add `share` to `day` for every visit; new regions go to `seen`. How many they are."""
    n = 0
    for j in range(len(row)):
        r = row[j]
        if r >= 0:
            if day[r] == 0.0:
                seen[n] = r
                n += 1
            day[r] += share
    return n


@inlined
def _blur(kernel: Floats, seen: NDArray[np.int64], amounts: Floats, out: Floats) -> None:
    """out[y] += the sum over the seen regions of amount x kernel[region, y]."""
    n = len(seen)
    for d in range(0, n - n % 4, 4):  # four at a time: the sum is loaded and stored once
        i, j, k, m = amounts[d], amounts[d + 1], amounts[d + 2], amounts[d + 3]
        row0, row1 = kernel[seen[d]], kernel[seen[d + 1]]
        row2, row3 = kernel[seen[d + 2]], kernel[seen[d + 3]]
        for y in range(len(out)):
            out[y] += (i * row0[y] + j * row1[y]) + (k * row2[y] + m * row3[y])
    for d in range(n - n % 4, n):
        _add_scaled(out, kernel[seen[d]], amounts[d])


@kernel
def _pointwise(
    reference: NDArray[np.int32],
    around: Floats,
    close: Floats,
    wide: Floats,
    spread: Floats,
    start: Floats,
    first: Floats,
    second: Floats,
    second_bias: Floats,
    out: Floats,
    skip: Floats,
    day_embedding: Floats,
    slot_embedding: Floats,
    slot_shift: Floats,
    eps: Floats,
    logits: Floats,
    pattern: Floats,
) -> None:
    """Logits without the low-rank term, and the bent embeddings that it is made of."""
    users, slots, regions = logits.shape
    hidden, embedding, times = len(out), slot_shift.shape[1], reference.shape[1]
    one_visit = np.float32(slots / times)
    own = np.zeros((slots, regions), dtype=np.float32)
    day = np.zeros(regions, dtype=np.float32)
    seen = np.empty(min(times, regions), dtype=np.int64)
    of_day = np.empty((hidden + 1, regions), dtype=np.float32)
    day_pattern = np.empty(embedding, dtype=np.float32)
    for u in range(users):
        n = _count_visits(reference[u], one_visit / np.float32(slots), day, seen)
        for j in range(times):
            r = reference[u, j]
            if r >= 0:
                own[j % slots, r] += one_visit
        empty_day = np.float32(math.log(eps[4]))
        for k in range(hidden + 1):
            for y in range(regions):
                of_day[k, y] = (skip[4] if k == hidden else first[4, k]) * empty_day
            for b in range(3):
                _add_scaled(
                    of_day[k], spread[u, b], skip[5 + b] if k == hidden else first[5 + b, k]
                )
            for d in range(n):
                gain = np.float32(math.log(day[seen[d]] + eps[4])) - empty_day
                of_day[k, seen[d]] += (skip[4] if k == hidden else first[4, k]) * gain
        day_pattern[:] = 0.0
        for d in range(n):
            amount = np.float32(math.log1p(np.float32(COUNT_SCALE) * day[seen[d]]))
            _add_scaled(day_pattern, day_embedding[seen[d]], amount)
        for t in range(slots):
            _one_slot(
                own[t],
                around[u, t],
                close[u, t],
                wide[u, t],
                seen[:n],
                start[t],
                first,
                second,
                second_bias,
                out,
                skip,
                of_day,
                day_pattern,
                slot_embedding,
                slot_shift[t],
                eps,
                logits[u, t],
                pattern[u, t],
            )
        for d in range(n):
            day[seen[d]] = 0.0
            for t in range(slots):
                own[t, seen[d]] = 0.0


@inlined
def _add_scaled(target: Floats, source: Floats, amount: np.float32) -> None:
    for y in range(len(target)):
        target[y] += amount * source[y]


@kernel
def _one_slot(  # noqa: PLR0912 - one pass over a slot's cells, so that they stay in the cache
    own: Floats,
    around: Floats,
    close: Floats,
    wide: Floats,
    seen: NDArray[np.int64],
    start: Floats,
    first: Floats,
    second: Floats,
    second_bias: Floats,
    out: Floats,
    skip: Floats,
    of_day: Floats,
    day_pattern: Floats,
    slot_embedding: Floats,
    slot_shift: Floats,
    eps: Floats,
    logits: Floats,
    pattern: Floats,
) -> None:
    """One user at one slot: visits at it and around it, logarithms of two blurs."""
    regions, hidden = len(logits), len(out)
    for e in range(len(pattern)):
        pattern[e] = day_pattern[e] + slot_shift[e]
    for r in seen:
        amount = np.float32(math.log1p(np.float32(COUNT_SCALE) * around[r]))
        _add_scaled(pattern, slot_embedding[r], amount)
    for e in range(len(pattern)):
        pattern[e] = _bend(pattern[e])
    for y in range(regions):
        logits[y] = start[hidden, y] + of_day[hidden, y] + skip[2] * close[y] + skip[3] * wide[y]
    layer = np.empty((hidden, CHUNK), dtype=np.float32)
    after = np.empty(CHUNK, dtype=np.float32)
    for low in range(0, regions, CHUNK):
        # Pieces, not offsets: an index that might be negative keeps a loop from being vectorized.
        high = min(low + CHUNK, regions)
        width = high - low
        near, far, answer = close[low:high], wide[low:high], logits[low:high]
        for k in range(hidden):
            row, begun, daily = layer[k], start[k, low:high], of_day[k, low:high]
            a, b = first[2, k], first[3, k]
            for y in range(width):
                row[y] = begun[y] + daily[y] + a * near[y] + b * far[y]
        for r in seen:
            y = r - low
            if 0 <= y < width:
                once = math.log(own[r] + eps[0]) - math.log(eps[0])
                nearly = math.log(around[r] + eps[1]) - math.log(eps[1])
                for k in range(hidden):
                    layer[k, y] += np.float32(first[0, k] * once + first[1, k] * nearly)
                logits[r] += np.float32(skip[0] * once + skip[1] * nearly)
        for k in range(hidden):
            row = layer[k]
            for y in range(width):
                row[y] = _bend(row[y])
        for k in range(hidden):
            after[:] = second_bias[k]
            for i in range(0, hidden, 4):  # four at a time: the sum is loaded and stored once
                a, b, c, d = second[i, k], second[i + 1, k], second[i + 2, k], second[i + 3, k]
                row0, row1, row2, row3 = layer[i], layer[i + 1], layer[i + 2], layer[i + 3]
                for y in range(width):
                    after[y] += a * row0[y] + b * row1[y] + c * row2[y] + d * row3[y]
            weight = out[k]
            for y in range(width):
                answer[y] += weight * _bend(after[y])


@kernel
def _softmax(logits: Floats) -> None:
    """Each row becomes its softmax."""
    for k in range(logits.shape[0]):
        row = logits[k]
        top = row.max()
        total = 0.0
        for y in range(len(row)):
            row[y] = math.exp(row[y] - top)
            total += row[y]
        scale = np.float32(1.0 / total)
        for y in range(len(row)):
            row[y] *= scale


@kernel
def _log_softmax(logits: Floats) -> None:
    """Each row becomes the logarithms of its softmax, none below `LEAST_LOG`."""
    least = np.float32(LEAST_LOG)
    for k in range(logits.shape[0]):
        row = logits[k]
        top = row.max()
        total = 0.0
        for y in range(len(row)):
            total += math.exp(row[y] - top)
        shift = np.float32(top + math.log(total))
        for y in range(len(row)):
            row[y] = max(row[y] - shift, least)
