"""A trained network at work, without JAX: p(y | references of u, slot t) for every user.

The pointwise part runs in numba and uses that most features are zero almost everywhere; the
low-rank part is two matrix products.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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
        wanted = (city.n_regions, reference.clock.slots)
        if wanted != (self.shape.regions, self.shape.slots):
            raise InvalidTraces(
                f"the model knows {self.shape.regions} regions and {self.shape.slots} slots a day, "
                f"the case has {wanted[0]} and {wanted[1]}"
            )
        answer = scratch.empty((reference.n_users, *reversed(wanted)), np.float32)
        setting = self._setting(city, reference)
        users = reference.n_users
        map_blocks(
            lambda low, high: self._fill(setting, reference, low, high, answer),
            users,
            blocks=max(1, math.ceil(users / USERS_AT_ONCE)),
        )
        return answer

    def _setting(self, city: City, reference: Traces) -> _Setting:
        """What is the same for all users of a case."""
        slots = self.shape.slots
        near = np.exp(-np.abs(np.subtract.outer(np.arange(slots), np.arange(slots))))
        near /= near.sum(axis=1, keepdims=True)
        km = city.grid.distances
        blurs = np.stack([np.exp(-km / reach) for reach in BLURS_KM])
        blurs /= blurs.sum(axis=2, keepdims=True)
        visits = slot_counts(reference, city.n_regions) / reference.clock.days / reference.n_users
        crowd = np.log(near @ visits + EPSILON[8]).astype(np.float32)
        weights = {name: np.ascontiguousarray(held) for name, held in self.arrays.items()}
        first, skip, hidden = weights["first"], weights["skip"], self.shape.hidden
        start = np.empty((slots, hidden + 1, city.n_regions), dtype=np.float32)
        empty = np.log(EPSILON[:2])
        for t in range(slots):
            start[t, :hidden] = first[8][:, None] * crowd[t] + (
                weights["slot"][t] + empty @ first[:2]
            ).reshape(-1, 1)
            start[t, hidden] = skip[8] * crowd[t] + empty @ skip[:2] + weights["bias"][t]
        return _Setting(near.astype(np.float32), blurs.astype(np.float32), start, weights)

    def _fill(
        self, setting: _Setting, reference: Traces, low: int, high: int, answer: Floats
    ) -> None:
        """The probabilities of users low..high-1."""
        block, weights = answer[low:high], setting.weights
        users, slots, regions = block.shape
        pattern = np.empty((users, slots, self.shape.embedding), dtype=np.float32)
        around = np.zeros_like(block)
        _near_visits(reference.regions[low:high], setting.near, around)
        flat = around.reshape(-1, regions)
        blurred = np.stack(
            [steady_product(flat, blur).reshape(block.shape) for blur in setting.blurs[:2]]
        )
        _pointwise(
            reference.regions[low:high], around, blurred, setting.blurs, setting.start,
            weights["first"], weights["second"], weights["second_bias"], weights["out"],
            weights["skip"], weights["day_embedding"], weights["slot_embedding"],
            weights["slot_shift"], EPSILON, block, pattern,
        )  # fmt: skip
        mixed = steady_product(pattern.reshape(users * slots, -1), weights["mix"])
        block += steady_product(mixed, weights["regions"].T).reshape(block.shape)
        _softmax(block.reshape(-1, regions))


@dataclass(frozen=True, eq=False)
class _Setting:
    """Kernels over slots (T, T) and space (3, N, N), the start of the logits, all weights.

    `start[t, k]` is what the hidden cell k gets from the slot, the crowd and empty counts; the
    last row is the same for the skip and the bias.
    """

    near: Floats
    blurs: Floats
    start: Floats
    weights: Mapping[str, Floats]


@inlined
def _bend(x: np.float32) -> np.float32:
    """x clip(x / 6 + 1/2, 0, 1)."""
    return x * min(max(x * np.float32(1 / 6) + np.float32(0.5), np.float32(0)), np.float32(1))


@kernel
def _near_visits(reference: NDArray[np.int32], near: Floats, around: Floats) -> None:
    """around[u, t, y] += visits a day of u to y, at the slots near t; from zeros."""
    slots, times = near.shape[0], reference.shape[1]
    one_visit = np.float32(slots / times)
    for u in range(len(around)):
        for j in range(times):
            r = reference[u, j]
            if r >= 0:
                for t in range(slots):
                    around[u, t, r] += near[t, j % slots] * one_visit


@kernel
def _pointwise(  # noqa: PLR0912 - one pass over a user's cells, so that they stay in the cache
    reference: NDArray[np.int32],
    around: Floats,
    blurred: Floats,
    blurs: Floats,
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
    spread = np.empty((3, regions), dtype=np.float32)
    of_day = np.empty((hidden + 1, regions), dtype=np.float32)
    day_pattern = np.empty(embedding, dtype=np.float32)
    for u in range(users):
        n = 0
        for j in range(times):
            r = reference[u, j]
            if r >= 0:
                if day[r] == 0.0:
                    seen[n] = r
                    n += 1
                own[j % slots, r] += one_visit
                day[r] += one_visit / np.float32(slots)
        # Features of the whole day: the visits themselves, then three blurs.
        spread[:] = 0.0
        for d in range(n):
            for b in range(3):
                _add_scaled(spread[b], blurs[b, seen[d]], day[seen[d]])
        for b in range(3):
            for y in range(regions):
                spread[b, y] = math.log(spread[b, y] + eps[5 + b])
        empty_day = np.float32(math.log(eps[4]))
        for k in range(hidden + 1):
            for y in range(regions):
                of_day[k, y] = (skip[4] if k == hidden else first[4, k]) * empty_day
            for b in range(3):
                _add_scaled(of_day[k], spread[b], skip[5 + b] if k == hidden else first[5 + b, k])
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
                blurred[0, u, t],
                blurred[1, u, t],
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
    """One user at one slot: visits at it and around it, two blurs (which become logarithms)."""
    regions, hidden = len(logits), len(out)
    for e in range(len(pattern)):
        pattern[e] = day_pattern[e] + slot_shift[e]
    for r in seen:
        amount = np.float32(math.log1p(np.float32(COUNT_SCALE) * around[r]))
        _add_scaled(pattern, slot_embedding[r], amount)
    for e in range(len(pattern)):
        pattern[e] = _bend(pattern[e])
    for y in range(regions):
        close[y] = math.log(close[y] + eps[2])
        wide[y] = math.log(wide[y] + eps[3])
    for y in range(regions):
        logits[y] = start[hidden, y] + of_day[hidden, y] + skip[2] * close[y] + skip[3] * wide[y]
    layer = np.empty((hidden, CHUNK), dtype=np.float32)
    after = np.empty(CHUNK, dtype=np.float32)
    for low in range(0, regions, CHUNK):
        width = min(CHUNK, regions - low)
        for k in range(hidden):
            row = layer[k]
            for y in range(width):
                row[y] = (
                    start[k, low + y] + of_day[k, low + y]
                    + first[2, k] * close[low + y] + first[3, k] * wide[low + y]
                )  # fmt: skip
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
            for y in range(width):
                logits[low + y] += out[k] * _bend(after[y])


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
