"""Which places play the same role: profiles matched by rank, a graph of places, its classes.

After Bindschaedler and Shokri (S&P 2016): people visit different places in similar proportions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.engine import map_blocks
from tracecup.kernels import inlined, kernel
from tracecup.rng import Rng, generator

PSEUDOCOUNT = 0.01
FIRST_WEIGHT = 1e-8
"""Weight of a pair of places that were never matched."""
MAX_COPIES = 16
COPIED_WEIGHTS = 2**26
SWEEPS = 10
CROWDED = 1.5
"""No class holds more than this many times the mean."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Profiles:
    """How often every user was where: user u was `count[k]` times at `place[k]` for k in
    `starts[u] : starts[u + 1]`, in the order of rank (most visits first, ties by place).

    The share of place i in u's profile is (visits + 0.01) / (records + 0.01 N).
    """

    starts: Ints
    place: Places
    count: Ints
    n_locations: int

    @classmethod
    def counted(
        cls, user: NDArray[np.integer], place: Places, n_users: int, n_locations: int
    ) -> Profiles:
        """Count the visits of records; O(records log records).

        >>> profiles = Profiles.counted(np.zeros(4, dtype=int), np.array([2, 0, 2, 1]), 1, 4)
        >>> profiles.place.tolist(), profiles.count.tolist()
        ([2, 0, 1], [2, 1, 1])
        """
        key = user.astype(np.int64) * n_locations + place
        key, count = np.unique(key, return_counts=True)
        owner, where = key // n_locations, (key % n_locations).astype(np.int32)
        order = np.lexsort((where, -count, owner))
        starts = np.searchsorted(owner, np.arange(n_users + 1))
        return cls(
            starts.astype(np.int64), where[order], count[order].astype(np.int64), n_locations
        )

    @property
    def records(self) -> Ints:
        """Records of every user."""
        running = np.concatenate([[0], np.cumsum(self.count)])
        records: Ints = np.diff(running[self.starts])
        return records

    @property
    def visits(self) -> Ints:
        """All users' visits to every place."""
        return np.bincount(self.place, self.count, self.n_locations).astype(np.int64)

    def ranked(self, users: Ints, ranks: int) -> tuple[Places, Floats, Floats]:
        """Places (users, ranks) and their shares, most visited first, ties by place; the share
        of a place without a visit for each user. O(users N).
        """
        n = self.n_locations
        order = np.empty((len(users), ranks), dtype=np.int32)
        share = np.empty((len(users), ranks))
        least = PSEUDOCOUNT / (self.records[users].astype(np.float64) + PSEUDOCOUNT * n)
        for row, user in enumerate(users):
            own = slice(self.starts[user], self.starts[user + 1])
            place, count = self.place[own], self.count[own]
            seen = np.zeros(n, dtype=np.bool_)
            seen[place] = True
            order[row] = np.concatenate([place, np.flatnonzero(~seen)])[:ranks]
            visits = np.concatenate([count, np.zeros(n - len(count))])[:ranks]
            share[row] = (visits / PSEUDOCOUNT + 1.0) * least[row]
        return order, share, least


def location_graph(profiles: Profiles, users: Ints, ranks: int = 0) -> Floats:
    """How much each two places correspond over all ordered pairs of `users`, shape (N, N).

    For users u, v let s match the places of their profiles p, q rank by rank, which maximises
    sum_i log min(p_i, q_s(i)) since min is supermodular. Then L[i, s(i)] grows by
    sim(u, v) min(p_i, q_s(i)) with sim(u, v) = sum_i min(p_i, q_s(i)). Only as many ranks make
    links as any user has places, unless more `ranks` are asked for: further ones hold what was
    not visited, and would tie places to those of the next ids. O(users^2 ranks).
    """
    n = profiles.n_locations
    visited = int(np.diff(profiles.starts)[users].max())
    order, share, least = profiles.ranked(users, min(max(ranks, visited), n))
    # The number of partial sums must not follow the threads, or the last digits would.
    copies = max(1, min(MAX_COPIES, COPIED_WEIGHTS // n**2, len(users)))
    parts = map_blocks(
        lambda low, _: _links(order, share, least, n, low, copies), copies, blocks=copies
    )
    graph = np.full((n, n), FIRST_WEIGHT)
    for part in parts:
        graph += part
        graph += part.T
    return graph


@kernel
def _links(order: Places, share: Floats, least: Floats, n: int, first: int, step: int) -> Floats:
    """Links of users first, first + step, ... with later ones, and half of those with themselves:
    the sum with its transpose is that over all ordered pairs.
    """
    links = np.zeros((n, n))
    users, ranks = order.shape
    for u in range(first, users, step):
        for v in range(u, users):
            alike = (n - ranks) * min(least[u], least[v])
            for r in range(ranks):
                alike += min(share[u, r], share[v, r])
            if u == v:
                alike *= 0.5
            for r in range(ranks):
                links[order[u, r], order[v, r]] += alike * min(share[u, r], share[v, r])
    return links


def place_classes(graph: Floats, visits: Ints, classes: int, rng: Rng = None) -> Places:
    """Cut places into `classes` classes that hold together; class of every place, shape (N,).

    Minimises sum over classes S of |S|^2 cut(S, rest) / internal(S) over the symmetric graph
    without its diagonal, by moving single places (the published program called a closed one for
    this). It starts from places of equal popularity; no class grows beyond 1.5 times the mean
    size, none is emptied. At most 10 sweeps of O(N (N + moves)).
    """
    n = len(graph)
    classes = min(classes, n)
    weights = (graph + graph.T) / 2
    np.fill_diagonal(weights, 0.0)
    label = np.empty(n, dtype=np.int32)
    popular = np.lexsort((np.arange(n), -visits))
    for number, chunk in enumerate(np.array_split(popular, classes)):
        label[chunk] = number
    random = generator(rng)
    most = math.ceil(CROWDED * n / classes)
    for _ in range(SWEEPS):
        if not _sweep(weights, random.permutation(n), label, classes, most):
            break
    return label


@kernel
def _sweep(weights: Floats, places: Ints, label: Places, classes: int, most: int) -> int:
    """Move each place to where the sum falls most; returns the number of moves."""
    n = len(label)
    links = np.zeros((n, classes))
    degree = np.zeros(n)
    size = np.zeros(classes, dtype=np.int64)
    inside, total = np.zeros(classes), np.zeros(classes)
    for i in range(n):
        for j in range(n):
            links[i, label[j]] += weights[i, j]
        for s in range(classes):
            degree[i] += links[i, s]
        size[label[i]] += 1
        inside[label[i]] += links[i, label[i]]
        total[label[i]] += degree[i]
    moves = 0
    for i in places:
        a = label[i]
        if size[a] == 1:
            continue
        gain = _loose(size[a], total[a], inside[a]) - _loose(
            size[a] - 1, total[a] - degree[i], inside[a] - 2 * links[i, a]
        )
        best, to = 0.0, -1
        for b in range(classes):
            if b == a or size[b] >= most:
                continue
            change = gain + _loose(size[b], total[b], inside[b])
            change -= _loose(size[b] + 1, total[b] + degree[i], inside[b] + 2 * links[i, b])
            if change > best:
                best, to = change, b
        if to < 0:
            continue
        size[a] -= 1
        size[to] += 1
        total[a] -= degree[i]
        total[to] += degree[i]
        inside[a] -= 2 * links[i, a]
        inside[to] += 2 * links[i, to]
        for j in range(n):
            links[j, a] -= weights[i, j]
            links[j, to] += weights[i, j]
        label[i] = to
        moves += 1
    return moves


@inlined
def _loose(size: int, total: float, inside: float) -> float:
    """What a class adds to the sum; a single place counts as if linked to itself once."""
    return size * size * (total - inside) / max(inside, FIRST_WEIGHT)
