"""Kernels for knowledge that is no set of items: the order of visits, and their proportions.

Both search like `tracecup.risk.search`, depth first from the rarest place on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.risk.search import WORD, fits

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def after(times: Ints, low: int, high: int, moment: int) -> int:
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
    holder: Ints,
    begin: Ints,
    times: Ints,
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
def _fewer(who: Ints, when: Ints, size: int, last: Ints, best: int) -> tuple[int, int]:
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
    first: Ints,
    group: Ints,
    start: Ints,
    holder: Ints,
    known_begin: Ints,
    known_times: Ints,
    held_begin: Ints,
    held_times: Ints,
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
    for u in range(low, high):
        n = first[u + 1] - first[u]
        places = first[u] + np.argsort(
            start[group[first[u] : first[u + 1]] + 1] - start[group[first[u] : first[u + 1]]],
            kind="mergesort",
        )
        last = np.full((n, n_users), -1, dtype=np.int64)
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


@kernel
def _alike(
    u: int, chosen: Ints, want: Floats, counts: Floats, holder: Ints, tolerance: float
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
    first: Ints,
    group: Ints,
    want: Floats,
    start: Ints,
    holder: Ints,
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
    for u in range(low, high):
        rows = np.arange(first[u], first[u + 1])
        counts = np.zeros((len(rows), n_users))
        size = np.zeros(len(rows), dtype=np.int64)
        for i in range(len(rows)):
            for e in range(start[group[rows[i]]], start[group[rows[i]] + 1]):
                counts[i, holder[e]] = value[e]
                size[i] += 1
        order = np.argsort(size, kind="mergesort")
        order = order[counts[order, u] > 0]
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
