"""Kernels: the known points that leave the fewest people, and how many choices leave one.

People who fit are bits; a search goes depth first from the rarest item on and is cut where even
all remaining items together could not leave fewer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.streams import child, uniform

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

HAIR = 1e-12
WORD = 64
M1, M2, M4 = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
)
H01 = np.uint64(0x0101010101010101)
ONE, TWO, FOUR, TOP = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@kernel
def ones(x: np.uint64) -> int:
    """Number of set bits of a word."""
    x = x - ((x >> ONE) & M1)
    x = (x & M2) + ((x >> TWO) & M2)
    x = (x + (x >> FOUR)) & M4
    return int((x * H01) >> TOP)


@kernel
def fits(value: float, want: float, tolerance: float) -> bool:
    """Whether a released value fits what is known (see `Known`)."""
    if tolerance < 0.0:
        return value >= want
    slack = value * tolerance + HAIR * value
    return value - slack <= want <= value + slack


class Held(NamedTuple):
    """What is known of users from `base` on, and who holds what of the release; see `known`."""

    base: int
    first: Ints
    group: Ints
    want: Floats
    linked: NDArray[np.bool_]
    start: Ints
    holder: NDArray[np.int32]
    value: Floats
    n_users: int
    also: Ints
    tolerance: float


@kernel
def fitting(u: int, held: Held) -> tuple[Words, NDArray[np.bool_]]:
    """Bits (items, words) of the people who fit each item of u that she fits herself, rarest
    first; and which of them are linked to the one before."""
    _, first, group, want, linked, start, holder, value, n_users, also, tolerance = held
    begin, end = first[u - held.base], first[u - held.base + 1]
    words = (n_users + WORD - 1) // WORD
    n = end - begin
    bits = np.zeros((n, words), dtype=np.uint64)
    size = np.zeros(n, dtype=np.int64)
    tied = np.zeros(n, dtype=np.bool_)
    kept = 0
    for i in range(begin, end):
        own = False
        count = 0
        for g in (group[i], also[i]):
            for e in range(start[g], start[g + 1]):
                if fits(value[e], want[i], tolerance):
                    v = holder[e]
                    bits[kept, v // WORD] |= ONE << np.uint64(v % WORD)
                    count += 1
                    own |= v == u
        if own:
            size[kept], tied[kept] = count, linked[i]
            kept += 1
        else:
            bits[kept] = np.uint64(0)
    order = rarest_first(size[:kept], tied[:kept])
    return bits[:kept][order], tied[:kept][order]


@kernel
def rarest_first(size: Ints, tied: NDArray[np.bool_]) -> Ints:
    """The order of items by how many fit; chains of linked ones stay together, in the place of
    their rarest link."""
    kept = len(size)
    key = np.empty(kept, dtype=np.int64)
    rarest = 0
    for i in range(kept - 1, -1, -1):
        if i == kept - 1 or not tied[i + 1]:
            rarest = size[i]
        key[i] = rarest * kept
    chain = 0
    for i in range(kept):
        if not tied[i]:
            chain = i
        key[i] += chain
    return np.argsort(key, kind="mergesort")


@kernel
def kinds_of_people(  # noqa: PLR0912 - two passes over the holders of one user's items
    u: int, held: Held, kind_of: NDArray[np.int32]
) -> Words:
    """Bits (items, words) as `fitting` has them, but people who fit the same items share a bit.

    Bit 0 is u herself; who fits no item has none. So a word holds 64 kinds instead of 64 people:
    O(people who fit an item) time for u, whatever the number of users. Kinds are refined item by
    item: those of a kind who fit the next item make a new one. `kind_of` is 0 for all users
    before and after.
    """
    _, first, group, want, linked, start, holder, value, _, also, tolerance = held
    begin, end = first[u - held.base], first[u - held.base + 1]
    n = end - begin
    size = np.zeros(n, dtype=np.int64)
    tied = np.zeros(n, dtype=np.bool_)
    item = np.empty(n, dtype=np.int64)
    kept, most = 0, 1
    for i in range(begin, end):
        own, count = False, 0
        for g in (group[i], also[i]):
            for e in range(start[g], start[g + 1]):
                if fits(value[e], want[i], tolerance):
                    count += 1
                    own |= holder[e] == u
        if own:
            size[kept], tied[kept], item[kept] = count, linked[i], i
            most += count
            kept += 1
    order = rarest_first(size[:kept], tied[:kept])
    parent, added = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    refined, at = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    people = np.zeros(most, dtype=np.int64)
    touched, n_touched = np.empty(most, dtype=np.int64), 0
    kinds, at[0] = 1, -1
    for row in range(kept):
        i = item[order[row]]
        for g in (group[i], also[i]):
            for e in range(start[g], start[g + 1]):
                v = holder[e]
                if v == u or not fits(value[e], want[i], tolerance):
                    continue
                old = kind_of[v]
                if at[old] != row:
                    parent[kinds], added[kinds], at[kinds] = old, row, -1
                    refined[old], at[old] = kinds, row
                    kinds += 1
                if old == 0:
                    touched[n_touched] = v
                    n_touched += 1
                else:
                    people[old] -= 1
                kind_of[v] = refined[old]
                people[refined[old]] += 1
    for t in range(n_touched):
        kind_of[touched[t]] = 0
    alive = 1
    for kind in range(1, kinds):
        alive += people[kind] > 0
    bits = np.zeros((kept, (alive + WORD - 1) // WORD), dtype=np.uint64)
    for row in range(kept):
        bits[row, 0] = ONE
    bit = 1
    for kind in range(1, kinds):
        if people[kind] > 0:
            up = kind
            while up > 0:
                bits[added[up], bit // WORD] |= ONE << np.uint64(bit % WORD)
                up = parent[up]
            bit += 1
    return bits


@kernel
def worst_of_users(
    low: int,
    high: int,
    held: Held,
    points: int,
    budget: int,
    fewest: Ints,
    bound: Ints,
) -> None:
    """fewest[u]: least number of people that at most `points` items of u leave, as found within
    `budget` steps; bound[u]: a number it cannot be below, equal where the search came to its end.
    0 in both where no item of u fits herself."""
    for u in range(low, high):
        bits, tied = fitting(u, held)
        fewest[u], bound[u] = _worst(bits, tied, points, budget)


@kernel
def _worst(bits: Words, tied: NDArray[np.bool_], points: int, budget: int) -> tuple[int, int]:
    n, words = bits.shape
    if n == 0:
        return 0, 0
    # rest[i]: who fits all items from i on.
    rest = bits.copy()
    for i in range(n - 2, -1, -1):
        for w in range(words):
            rest[i, w] &= rest[i + 1, w]
    floor = 0
    for w in range(words):
        floor += ones(rest[0, w])
    depth_end = min(points, n)
    left = np.empty((depth_end + 1, words), dtype=np.uint64)
    left[0] = ~np.uint64(0)
    at = np.zeros(depth_end + 1, dtype=np.int64)
    best = n_bits = words * WORD
    depth, steps = 0, 0
    while depth >= 0 and best > floor:
        i = at[depth]
        if i >= n:
            depth -= 1
            continue
        at[depth] = i + 1
        if tied[i] and (depth == 0 or at[depth - 1] != i):
            continue
        steps += 1
        if steps > budget and best < n_bits:
            return best, floor
        count = 0
        for w in range(words):
            left[depth + 1, w] = left[depth, w] & bits[i, w]
            count += ones(left[depth + 1, w])
        best = min(best, count)
        if depth + 1 < depth_end and i + 1 < n:
            could = 0
            for w in range(words):
                could += ones(left[depth + 1, w] & rest[i + 1, w])
            if could < best:
                depth += 1
                at[depth] = i + 1
    return best, best


@kernel
def choose(n: int, k: int) -> float:
    """Number of choices of k from n, as a float."""
    if k > n:
        return 0.0
    found = 1.0
    for j in range(k):
        found = found * (n - j) / (j + 1)
    return round(found)


@kernel
def unique_choices(
    low: int,
    high: int,
    held: Held,
    points: int,
    most: int,
    samples: int,
    key0: np.uint64,
    key1: np.uint64,
    share: Floats,
    drawn: Ints,
) -> None:
    """share[u]: the share of the choices of `points` items of u that leave her alone.

    All choices where there are at most `most`, then drawn[u] is 0; otherwise drawn[u] = `samples`
    random ones of the user's own stream."""
    kind_of = np.zeros(held.n_users, dtype=np.int32)
    for u in range(low, high):
        known = held.first[u - held.base + 1] - held.first[u - held.base]
        if known == 0:
            share[u], drawn[u] = np.nan, 0
            continue
        size = min(points, known)
        total = choose(known, size)
        bits = kinds_of_people(u, held, kind_of)
        if total <= most:
            share[u], drawn[u] = _count_unique(bits, size) / total, 0
            continue
        mine0, mine1 = child(key0, key1, np.uint64(u))
        found = 0
        chosen = np.empty(size, dtype=np.int64)
        n = np.uint64(0)
        for _ in range(samples):
            for j in range(size):
                fresh = False
                while not fresh:
                    chosen[j] = int(uniform(mine0, mine1, n) * known)
                    n += ONE
                    fresh = True
                    for other in range(j):
                        fresh &= chosen[other] != chosen[j]
            found += _alone(bits, chosen)
        share[u], drawn[u] = found / samples, samples


@kernel
def _alone(bits: Words, chosen: Ints) -> int:
    """1 if the chosen items leave one person; items beyond the rows do not fit their own user."""
    for i in chosen:
        if i >= len(bits):
            return 0
    count = 0
    for w in range(bits.shape[1]):
        x = bits[chosen[0], w]
        for j in range(1, len(chosen)):
            x &= bits[chosen[j], w]
        count += ones(x)
        if count > 1:
            return 0
    return 1


@kernel
def _count_unique(bits: Words, size: int) -> float:
    """Number of sets of `size` rows whose common bits are one alone."""
    n, words = bits.shape
    left = np.empty((size + 1, words), dtype=np.uint64)
    left[0] = ~np.uint64(0)
    at = np.zeros(size + 1, dtype=np.int64)
    found, depth = 0.0, 0
    while depth >= 0:
        i = at[depth]
        if i >= n:
            depth -= 1
            continue
        at[depth] = i + 1
        count = 0
        for w in range(words):
            left[depth + 1, w] = left[depth, w] & bits[i, w]
            count += ones(left[depth + 1, w])
        if count == 1:
            # Whatever else is chosen behind i, she stays alone.
            found += choose(n - i - 1, size - depth - 1)
        elif depth + 1 < size:
            depth += 1
            at[depth] = i + 1
    return found
