"""Visit likelihoods cell by cell: for releases whose cells are nearly all different.

Works in blocks of users, so that memory stays bounded whatever the release looks like.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.models.running import Running, enter, threshold
from tracecup.attack.scores import Scores, best_of_rows
from tracecup.device import Arrays
from tracecup.engine import map_blocks
from tracecup.errors import InvalidParameter
from tracecup.kernels import kernel
from tracecup.traces import SetTraces, Traces

FLOOR = 1e-8
"""Visit probability of a region that the user never visited in the reference traces."""

LOG_FLOOR = math.log(FLOOR)
USERS_PER_BLOCK = 64
CELLS_PER_LOGARITHM = 32


class CellwiseScores(Scores):
    """S[k, u] = sum over the cells of pseudonym k of log(mean over members r of V[u, r]).

    For a block of 64 users the table V^T / 1e-8 (regions x 64, every entry >= 1) stays in the
    second-level cache. The means of 32 cells are multiplied before a logarithm is taken: each
    factor is within 1..1e8, so the product of 32 is at most 1e256 and nothing overflows or
    vanishes. O(regions in the release x users) time, O(regions x 64) memory per thread beside
    the rows asked for.
    """

    def __init__(self, reference: Traces, released: SetTraces, n_regions: int) -> None:
        self.n_users = reference.n_users
        self._reference, self._released, self._n_regions = reference, released, n_regions

    def rows(self, low: int, high: int) -> NDArray[np.float64]:
        """Log-likelihoods of pseudonyms low..high-1."""
        out = np.empty((high - low, self.n_users))
        released = self._released

        def work(begin: int, end: int) -> None:
            cells = released.offsets[(low + begin) * released.times :]
            _score_cells(
                self._reference.regions, cells, released.regions, released.times,
                self._n_regions, out[begin:end],
            )  # fmt: skip

        map_blocks(work, high - low)
        return out

    def best_on(self, arrays: Arrays) -> NDArray[np.int32]:
        """An error: what a device multiplies is not there for such a release."""
        raise InvalidParameter(
            "this release is attacked on the cpu only: nearly all of its cells are different sets "
            "of regions, so that they are scored one by one; a device multiplies counts of cells"
        )

    def best(self) -> NDArray[np.int32]:
        """The best user of every pseudonym, ties to the smallest; every block is made once."""
        m, released = self.n_users, self._released
        running = Running.of(m)

        def work(low: int, high: int) -> None:
            at = slice(low, high)
            _offer_cells(
                self._reference.regions, released.offsets[low * released.times :],
                released.regions, released.times, self._n_regions,
                running.users[at], running.scores[at], running.counts[at],
            )  # fmt: skip

        map_blocks(work, m)
        best = running.best()
        for k in running.undecided():
            best_of_rows(self.rows(k, k + 1), best[k : k + 1])
        return best


@kernel
def _score_cells(
    reference: NDArray[np.int32],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    times: int,
    n_regions: int,
    out: NDArray[np.float64],
) -> None:
    users = reference.shape[0]
    table = np.empty((n_regions, USERS_PER_BLOCK))
    work = np.empty((3, USERS_PER_BLOCK))
    for first in range(0, users, USERS_PER_BLOCK):
        width = min(USERS_PER_BLOCK, users - first)
        _relative_probabilities(reference[first : first + width], table)
        for k in range(out.shape[0]):
            _likelihoods(table, offsets[k * times : (k + 1) * times + 1], regions, work)
            for u in range(width):
                out[k, first + u] = work[0, u]


@kernel
def _offer_cells(
    reference: NDArray[np.int32],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    times: int,
    n_regions: int,
    users: NDArray[np.int32],
    scores: NDArray[np.float64],
    counts: NDArray[np.int8],
) -> None:
    """Show every user to every pseudonym, a block of users after the other; see `Running`."""
    table = np.empty((n_regions, USERS_PER_BLOCK))
    work = np.empty((3, USERS_PER_BLOCK))
    for first in range(0, reference.shape[0], USERS_PER_BLOCK):
        width = min(USERS_PER_BLOCK, reference.shape[0] - first)
        _relative_probabilities(reference[first : first + width], table)
        for k in range(len(counts)):
            _likelihoods(table, offsets[k * times : (k + 1) * times + 1], regions, work)
            needed = threshold(scores[k], counts, k, 1.0)
            for u in range(width):
                if work[0, u] >= needed:
                    enter(users[k], scores[k], counts, k, first + u, work[0, u])


@kernel
def _likelihoods(
    table: NDArray[np.float64],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    work: NDArray[np.float64],
) -> None:
    """work[0] = the scores of a block of users for the cells of one pseudonym."""
    logs, product, total = work[0], work[1], work[2]
    kept, pending = 0, 0
    product[:] = 1.0
    logs[:] = 0.0
    for cell in range(len(offsets) - 1):
        begin, end = offsets[cell], offsets[cell + 1]
        if begin == end:
            continue
        kept += 1
        _sum_members(table, regions, begin, end, total)
        share = 1.0 / (end - begin)
        for u in range(USERS_PER_BLOCK):
            product[u] *= total[u] * share
        pending += 1
        if pending == CELLS_PER_LOGARITHM:
            for u in range(USERS_PER_BLOCK):
                logs[u] += math.log(product[u])
            product[:] = 1.0
            pending = 0
    for u in range(USERS_PER_BLOCK):
        logs[u] += math.log(product[u]) + kept * LOG_FLOOR


@kernel
def _sum_members(
    table: NDArray[np.float64],
    regions: NDArray[np.int32],
    begin: int,
    end: int,
    total: NDArray[np.float64],
) -> None:
    """total = sum of the rows of the members; two at a time, since `total` is the bottleneck."""
    row = table[regions[begin]]
    for u in range(USERS_PER_BLOCK):
        total[u] = row[u]
    k = begin + 1
    while k + 1 < end:
        row, other = table[regions[k]], table[regions[k + 1]]
        for u in range(USERS_PER_BLOCK):
            total[u] += row[u] + other[u]
        k += 2
    if k < end:
        row = table[regions[k]]
        for u in range(USERS_PER_BLOCK):
            total[u] += row[u]


@kernel
def _relative_probabilities(reference: NDArray[np.int32], table: NDArray[np.float64]) -> None:
    """table[r, u] = V[u, r] / FLOOR for the users of one block, 1 where never visited."""
    table[:] = 0.0
    for u in range(reference.shape[0]):
        observed = 0
        for j in range(reference.shape[1]):
            if reference[u, j] >= 0:
                table[reference[u, j], u] += 1.0
                observed += 1
        for j in range(reference.shape[1]):
            r = reference[u, j]
            if r >= 0 and table[r, u] >= 1.0:
                # negative marks a region that is done, since it may come again
                table[r, u] = -table[r, u] / (observed * FLOOR)
    for r in range(table.shape[0]):
        for u in range(table.shape[1]):
            table[r, u] = 1.0 if table[r, u] == 0.0 else abs(table[r, u])
