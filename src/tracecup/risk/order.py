"""Kernels for knowledge that is no set of items: the order of visits, and their proportions.

Both search like `tracecup.risk.search`, depth first from the rarest place on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.kernels import kernel
from tracecup.risk.known import Holders, Sides
from tracecup.risk.search import WORD, fits

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def times_of_holders(sides: Sides, holders: Holders) -> tuple[Ints, NDArray[np.int32]]:
    """(begin, times) of the released visits of every entry of `holders`, whose groups are places.

    In files where they are large; O(visits).
    """
    entries = len(holders.value)
    begin = scratch.filled(entries + 1, 0, np.int64)
    for low, high in scratch.parts(entries, 16):
        begin[low + 1 : high + 1] = begin[low] + np.cumsum(holders.value[low:high]).astype(np.int64)
    times = scratch.empty(begin[-1], np.int32)
    entry = holders.start[:-1] - 1
    last, done = np.full(len(entry), -1), np.zeros(len(entry), dtype=np.int64)
    for visits in sides.released():
        user = visits.user + visits.low
        _place_times(user, visits.place, visits.time, begin, entry, last, done, times)
    return begin, times


@kernel
def _place_times(
    user: Ints,
    place: Ints,
    time: Ints,
    begin: Ints,
    entry: Ints,
    last: Ints,
    done: Ints,
    times: NDArray[np.int32],
) -> None:
    """Put every visit to those of its user and place; `entry`, `last` and `done` are those of the
    last user of each place."""
    for k in range(len(user)):
        p = place[k]
        if last[p] != user[k]:
            last[p] = user[k]
            entry[p] += 1
            done[p] = 0
        times[begin[entry[p]] + done[p]] = time[k]
        done[p] += 1


@kernel
def after(times: NDArray[np.integer], low: int, high: int, moment: int) -> int:
    """The first of times[low:high], ascending, that is later than `moment`; -1 if none is."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if times[middle] > moment:
            high = middle
        else:
            low = middle + 1
    return int(times[low]) if low < end else -1


@kernel
def _followers(
    who: Ints,
    when: Ints,
    depth: int,
    size: int,
    holder: NDArray[np.int32],
    begin: Ints,
    times: NDArray[np.int32],
) -> int:
    """Those of row `depth` who came to a place later on, written to the next row with the time.

    Returns their number; both lists of people ascend."""
    count, e = 0, 0
    for j in range(size):
        v = who[depth, j]
        while e < len(holder) and holder[e] < v:
            e += 1
        if e == len(holder):
            break
        if holder[e] == v:
            later = after(times, begin[e], begin[e + 1], when[depth, j])
            if later >= 0:
                who[depth + 1, count], when[depth + 1, count] = v, later
                count += 1
    return count


@kernel
def _fewer(who: Ints, when: Ints, size: int, last: NDArray[np.int32], best: int) -> tuple[int, int]:
    """How many of some people came to a place after their time, given when each was last there.

    Counts up to `best` only. Also returns how many people were looked at."""
    count = 0
    for j in range(size):
        count += last[who[j]] > when[j]
        if count == best:
            return count, j + 1
    return count, size


@kernel
def worst_sequences(
    low: int,
    high: int,
    base: int,
    first: Ints,
    group: Ints,
    start: Ints,
    holder: NDArray[np.int32],
    known_begin: Ints,
    known_times: Ints,
    held_begin: Ints,
    held_times: NDArray[np.int32],
    n_users: int,
    points: int,
    budget: int,
    fewest: Ints,
    bound: Ints,
) -> None:
    """Least number of people in whose visits some `points` visits of u occur in the same order.

    Item i of u (one of her places) has the times known_begin[i] : known_begin[i + 1]; entry e of
    the holders of a place has held_begin[e] : held_begin[e + 1]. Sequences are told apart by
    their places: each is followed at the earliest times that it can have, except that for its
    end it is enough when everybody was there last. A step of the budget is to look at 1/64 of
    the people, as it is where they are bits."""
    who = np.empty((points + 1, n_users), dtype=np.int64)
    when = np.empty((points + 1, n_users), dtype=np.int64)
    size = np.zeros(points + 1, dtype=np.int64)
    own = np.empty(points + 1, dtype=np.int64)
    shown = np.empty(points + 1, dtype=np.int64)
    at = np.zeros(points + 1, dtype=np.int64)
    most = budget * ((n_users + WORD - 1) // WORD)
    last = np.full((most_items(first[low - base : high - base + 1]), n_users), -1, dtype=np.int32)
    for u in range(low, high):
        mine = group[first[u - base] : first[u - base + 1]]
        n = len(mine)
        places = first[u - base] + np.argsort(start[mine + 1] - start[mine], kind="mergesort")
        for k in range(n):
            g = group[places[k]]
            for e in range(start[g], start[g + 1]):
                last[k, holder[e]] = held_times[held_begin[e + 1] - 1]
        best = n_users + 1
        who[0], when[0] = np.arange(n_users), -1
        size[0], own[0], shown[0], at[0] = n_users, -1, -1, 0
        depth, steps = 0, 0
        done = True
        while depth >= 0 and best > 1:
            if at[depth] >= n:
                depth -= 1
                continue
            k = at[depth]
            i = places[k]
            at[depth] += 1
            moment = after(known_times, known_begin[i], known_begin[i + 1], own[depth])
            if moment < 0 or last[k, u] <= shown[depth]:
                continue
            if steps > most and best <= n_users:
                done = False
                break
            count, looked = _fewer(who[depth], when[depth], size[depth], last[k], best)
            steps += looked
            best = min(best, count)
            if depth + 1 < points:
                e, end = start[group[i]], start[group[i] + 1]
                steps += end - e
                size[depth + 1] = _followers(
                    who,
                    when,
                    depth,
                    size[depth],
                    holder[e:end],
                    held_begin[e : end + 1],
                    held_times,
                )
                depth += 1
                own[depth], at[depth] = moment, 0
                shown[depth] = when[depth, np.searchsorted(who[depth, : size[depth]], u)]
        fewest[u] = best if best <= n_users else 0
        bound[u] = fewest[u] if done else 1
        for k in range(n):
            g = group[places[k]]
            for e in range(start[g], start[g + 1]):
                last[k, holder[e]] = -1


@kernel
def _alike(
    u: int,
    chosen: Ints,
    want: Floats,
    counts: Floats,
    holder: NDArray[np.int32],
    tolerance: float,
) -> tuple[int, bool]:
    """How many people visited the chosen places in the known proportion, and whether u did."""
    most, total, mine = 0.0, 0, False
    for i in chosen:
        most = max(most, want[i])
    for v in holder:
        top = 0.0
        for i in chosen:
            top = max(top, counts[i, v])
        here = True
        for i in chosen:
            here &= counts[i, v] > 0 and fits(counts[i, v] / top, want[i] / most, tolerance)
        if here:
            total += 1
            mine |= v == u
    return total, mine


@kernel
def worst_proportions(
    low: int,
    high: int,
    base: int,
    first: Ints,
    group: Ints,
    want: Floats,
    start: Ints,
    holder: NDArray[np.int32],
    value: Floats,
    n_users: int,
    tolerance: float,
    points: int,
    budget: int,
    fewest: Ints,
    bound: Ints,
) -> None:
    """Least number of people in whom `points` places of u stand in the same proportion.

    `value` and `want` are numbers of visits; proportions are those to the most
    visited of the chosen places, equal within the share `tolerance`."""
    chosen = np.empty(points, dtype=np.int64)
    at = np.zeros(points + 1, dtype=np.int64)
    counts = np.zeros((most_items(first[low - base : high - base + 1]), n_users))
    for u in range(low, high):
        rows = np.arange(first[u - base], first[u - base + 1])
        size = np.zeros(len(rows), dtype=np.int64)
        for i in range(len(rows)):
            for e in range(start[group[rows[i]]], start[group[rows[i]] + 1]):
                counts[i, holder[e]] = value[e]
                size[i] += 1
        order = np.argsort(size, kind="mergesort")
        kept = np.empty(len(order), dtype=np.bool_)
        for k in range(len(order)):
            kept[k] = counts[order[k], u] > 0
        order = order[kept]
        n, best, end = len(order), n_users + 1, min(points, len(order))
        depth, steps, done = 0, 0, True
        at[0] = 0
        while depth >= 0 and best > 1 and n > 0:
            if at[depth] >= n:
                depth -= 1
                continue
            chosen[depth] = order[at[depth]]
            at[depth] += 1
            if depth + 1 < end:
                depth += 1
                at[depth] = at[depth - 1]
                continue
            if steps > budget and best <= n_users:
                done = False
                break
            e, last = start[group[rows[chosen[0]]]], start[group[rows[chosen[0]]] + 1]
            steps += last - e
            count, mine = _alike(u, chosen[:end], want[rows], counts, holder[e:last], tolerance)
            if mine:
                best = min(best, count)
        fewest[u] = best if best <= n_users else 0
        bound[u] = fewest[u] if done else 1
        for i in range(len(rows)):
            for e in range(start[group[rows[i]]], start[group[rows[i]] + 1]):
                counts[i, holder[e]] = 0.0


@kernel
def most_items(first: Ints) -> int:
    """The largest number of items of a user."""
    most = 0
    for k in range(len(first) - 1):
        most = max(most, first[k + 1] - first[k])
    return most
