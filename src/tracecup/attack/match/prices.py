"""Optimal assignment on a sparse set of pairs, with a price for every user.

Shortest augmenting paths; prices stay between calls, so more pairs cost only what they change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel

SLACK = 1e-10
"""A pseudonym keeps its user while nobody on its list is better by more than this."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pseudonym k may have users `users[offsets[k] : offsets[k + 1]]`, with these scores."""

    offsets: NDArray[np.int64]
    users: NDArray[np.int32]
    scores: NDArray[np.float64]

    @classmethod
    def of(
        cls, m: int, rows: NDArray[np.int64], users: NDArray[np.int32], scores: NDArray[np.float64]
    ) -> Pairs:
        """Pairs in any order, each kept once; O(pairs log pairs).

        >>> Pairs.of(2, np.array([1, 0, 1]), np.array([0, 1, 0]), np.ones(3)).offsets.tolist()
        [0, 1, 2]
        """
        keys, first = np.unique(rows * m + users, return_index=True)
        counts = np.bincount(keys // m, minlength=m)
        return cls(np.concatenate([[0], np.cumsum(counts)]), users[first], scores[first])

    def joined(self, other: Pairs) -> Pairs:
        """The pairs of both."""
        m = len(self.offsets) - 1
        return Pairs.of(
            m,
            np.concatenate([self.rows(), other.rows()]),
            np.concatenate([self.users, other.users]),
            np.concatenate([self.scores, other.scores]),
        )

    def rows(self) -> NDArray[np.int64]:
        """The pseudonym of every pair."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


@dataclass(frozen=True, eq=False)
class Prices:
    """Users' prices v and who has whom; `assign` changes all three in place.

    At the optimum no pseudonym k has a user u on its list with S[k, u] - v[u] above that of its
    own user. Prices prove more than that: for every permutation pi, whatever pairs it uses,
    sum_k S[k, pi(k)] <= sum_k max_u (S[k, u] - v[u]) + sum_u v[u].
    """

    of_user: NDArray[np.float64]
    user_of: NDArray[np.int32]
    row_of: NDArray[np.int32]

    @classmethod
    def zero(cls, m: int) -> Prices:
        """Nothing costs anything, and nobody has anybody."""
        return cls(np.zeros(m), np.full(m, -1, np.int32), np.full(m, -1, np.int32))

    def assign(self, pairs: Pairs) -> None:
        """Give every pseudonym a user of its list with the largest sum of scores.

        Dijkstra's search from each pseudonym without a user, over reduced costs
        max_u' (S[k, u'] - v[u']) - (S[k, u] - v[u]) >= 0. O(m (pairs + m log m)) at worst; mostly
        searches end after a few pseudonyms.

        >>> pairs = Pairs.of(2, np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([5.0, 4, 5]))
        >>> prices = Prices.zero(2)
        >>> prices.assign(pairs)
        >>> prices.user_of.tolist(), prices.of_user.tolist()
        ([1, 0], [1.0, 0.0])
        """
        offsets, users, scores = pairs.offsets, pairs.users, pairs.scores
        _keep_best(offsets, users, scores, self.of_user, self.user_of, self.row_of)
        if not _augment(offsets, users, scores, self.of_user, self.user_of, self.row_of):
            raise InvalidTraces("no assignment gives every pseudonym a user of its list")


@kernel
def _keep_best(
    offsets: NDArray[np.int64],
    users: NDArray[np.int32],
    scores: NDArray[np.float64],
    prices: NDArray[np.float64],
    user_of: NDArray[np.int32],
    row_of: NDArray[np.int32],
) -> None:
    """Take users from pseudonyms that now see a better one; give out best users that are free."""
    m = len(user_of)
    best = np.empty(m, dtype=np.int32)
    for k in range(m):
        top, own = -np.inf, -np.inf
        for i in range(offsets[k], offsets[k + 1]):
            gain = scores[i] - prices[users[i]]
            if users[i] == user_of[k]:
                own = gain
            if gain > top:
                top = gain
                best[k] = users[i]
        if user_of[k] >= 0 and own < top - SLACK:
            row_of[user_of[k]] = -1
            user_of[k] = -1
    for k in range(m):
        if user_of[k] < 0 and offsets[k] < offsets[k + 1] and row_of[best[k]] < 0:
            user_of[k] = best[k]
            row_of[best[k]] = k


@kernel
def _augment(  # noqa: PLR0912, PLR0915 - a search in one loop, whose lists it shares
    offsets: NDArray[np.int64],
    users: NDArray[np.int32],
    scores: NDArray[np.float64],
    prices: NDArray[np.float64],
    user_of: NDArray[np.int32],
    row_of: NDArray[np.int32],
) -> bool:
    """Find a user for every pseudonym that has none; False if one cannot have any."""
    m = len(user_of)
    far = np.full(m, np.inf)
    came_from = np.empty(m, dtype=np.int32)
    heap = np.empty(m, dtype=np.int32)
    place = np.full(m, -1, dtype=np.int32)
    seen = np.empty(m, dtype=np.int32)
    for start in range(m):
        if user_of[start] >= 0:
            continue
        size, n_seen, end, length = 0, 0, -1, 0.0
        row = start
        while True:
            top = -np.inf
            if row == start:
                for i in range(offsets[row], offsets[row + 1]):
                    top = max(top, scores[i] - prices[users[i]])
            else:
                for i in range(offsets[row], offsets[row + 1]):
                    if users[i] == user_of[row]:
                        top = scores[i] - prices[users[i]]
            for i in range(offsets[row], offsets[row + 1]):
                u = users[i]
                reached = length + max(0.0, top - (scores[i] - prices[u]))
                if reached < far[u]:
                    if far[u] == np.inf:
                        seen[n_seen] = u
                        n_seen += 1
                        heap[size] = u
                        place[u] = size
                        size += 1
                    far[u] = reached
                    came_from[u] = row
                    _rise(heap, place, far, place[u])
            if size == 0:
                break
            nearest = heap[0]
            size -= 1
            if size > 0:
                heap[0] = heap[size]
                place[heap[0]] = 0
                _sink(heap, place, far, size)
            length = far[nearest]
            if row_of[nearest] < 0:
                end = nearest
                break
            row = row_of[nearest]
        if end < 0:
            return False
        for s in range(n_seen):
            u = seen[s]
            if far[u] < length:
                prices[u] += length - far[u]
            far[u] = np.inf
        while True:
            row = came_from[end]
            before = user_of[row]
            user_of[row], row_of[end] = end, row
            end = before
            if row == start:
                break
    return True


@kernel
def _rise(
    heap: NDArray[np.int32], place: NDArray[np.int32], far: NDArray[np.float64], at: int
) -> None:
    """Move the user at this place of the heap up to where it belongs."""
    u = heap[at]
    while at > 0:
        above = (at - 1) // 2
        if far[heap[above]] <= far[u]:
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = u
    place[u] = at


@kernel
def _sink(
    heap: NDArray[np.int32], place: NDArray[np.int32], far: NDArray[np.float64], size: int
) -> None:
    """Move the user at the top of the heap down to where it belongs."""
    u, at = heap[0], 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and far[heap[below + 1]] < far[heap[below]]:
            below += 1
        if far[heap[below]] >= far[u]:
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = u
    place[u] = at
