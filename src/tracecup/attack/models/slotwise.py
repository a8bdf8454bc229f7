"""Log-likelihoods that know the slot: every pseudonym under every user's release probabilities.

One table per slot, a row for each distinct cell that was released at it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.models.bags import Bags, bag_cells
from tracecup.attack.scores import MatrixScores
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.traces import SetTraces

FLOOR = 1e-12
MAX_ENTRIES = 1 << 25
"""Rows times users of the largest table of one slot: 128 MiB."""


def slot_likelihoods(expected: NDArray[np.float32], released: SetTraces) -> MatrixScores:
    """S[k, u] = sum over cells of log(sum over members y of O[u, t, y]), deleted cells left out.

    `expected` is O (users, slots, regions): how likely user u is released as y at slot t; at
    least 1e-12. Equal cells of a slot share a row of the table, and rows are made for so many
    pseudonyms at a time that a table stays within 128 MiB. O(cells users) time for single
    regions, and O(members users) more for each distinct set of a slot.
    """
    users, slots, regions = expected.shape
    totals = np.zeros((users, users))
    everywhere = np.ones(regions, dtype=np.bool_)
    step = max(1, MAX_ENTRIES // (users * released.clock.days))
    for slot in range(slots):
        here = np.ascontiguousarray(expected[:, slot].T)
        cells = released.take_slots([slot])
        for low in range(0, users, step):
            high = min(low + step, users)
            bags = bag_cells(cells.take_users(slice(low, high)), regions, everywhere, high * users)
            assert bags is not None  # no more sets than cells
            table = _table(bags, here)
            _add(bags, table, totals[low:high])
    return MatrixScores(totals)


def _table(bags: Bags, expected: NDArray[np.float32]) -> NDArray[np.float32]:
    """table[d, u] = log sum over the regions of row d of `expected` (regions, users)."""
    table = np.empty((bags.n_rows, expected.shape[1]), dtype=np.float32)
    map_blocks(
        lambda low, high: _fill_table(
            bags.row_offsets[low : high + 1], bags.row_regions, expected, table[low:high]
        ),
        bags.n_rows,
    )
    return table


def _add(bags: Bags, table: NDArray[np.float32], totals: NDArray[np.float64]) -> None:
    map_blocks(
        lambda low, high: _add_rows(
            bags.ids[low:high], bags.weights[low:high], bags.lengths[low:high], table,
            totals[low:high],
        ),
        len(totals),
    )  # fmt: skip


@kernel
def _fill_table(
    offsets: NDArray[np.int64],
    members: NDArray[np.int32],
    expected: NDArray[np.float32],
    table: NDArray[np.float32],
) -> None:
    for d in range(len(table)):
        row = table[d]
        row[:] = 0.0
        for at in range(offsets[d], offsets[d + 1]):
            source = expected[members[at]]
            for u in range(len(row)):
                row[u] += source[u]
        for u in range(len(row)):
            row[u] = math.log(max(row[u], FLOOR))


@kernel
def _add_rows(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    lengths: NDArray[np.int64],
    table: NDArray[np.float32],
    totals: NDArray[np.float64],
) -> None:
    """totals[k] += sum of weights[k, j] * table[ids[k, j]]."""
    for k in range(len(totals)):
        out = totals[k]
        for j in range(lengths[k]):
            weight, row = weights[k, j], table[ids[k, j]]
            for u in range(len(out)):
                out[u] += weight * row[u]
