"""The sampled zeros of PPMTF training: positions of a user's tensor slice that hold nothing.

They come from a counter-based stream, so that they can be made again instead of being stored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import inlined, kernel
from tracecup.streams import GOLDEN, LOW_32, ONE, SHIFT_32, word

WORD_BITS = 64
REFUSED, NOTHING = np.uint64(0xFFFF), np.uint64(0)


@kernel
def table_size(taken: int, draws: int) -> int:
    """Entries of the scratch table for `taken` positions and `draws` more: a power of two of
    which at most a quarter gets used.

    >>> table_size(100, 1000)
    8192
    """
    size = 16
    while size < 4 * (taken + draws):
        size *= 2
    return size


@kernel
def draw_absent(
    key0: np.uint64,
    key1: np.uint64,
    wanted: int,
    rows: int,
    columns: int,
    row: NDArray[np.uint16],
    column: NDArray[np.uint16],
    taken_first: int,
    taken_last: int,
    out_first: int,
    column_shift: int,
    table: NDArray[np.uint32],
) -> int:
    """Draw `wanted` positions of a rows x columns slice uniformly without replacement among
    those not taken; all of them where fewer are left. Returns the end of the result.

    `row[taken_first:taken_last]` and `column` (which counts from `column_shift`) hold the taken
    positions, distinct; the drawn ones are written to the same arrays from `out_first` on.
    Rejection sampling, exactly uniform: expected O(wanted), except where more than half of the
    absent positions are wanted, when those to leave out are drawn and all others listed.
    """
    absent = rows * columns - (taken_last - taken_first)
    wanted = min(wanted, absent)
    leave_out = 2 * wanted > absent
    draws = absent - wanted if leave_out else wanted
    rows64, columns64 = np.uint64(rows), np.uint64(columns)
    shift = np.uint64(WORD_BITS)
    while (1 << np.int64(np.uint64(WORD_BITS) - shift)) < len(table):
        shift -= ONE
    table[:] = 0
    for e in range(taken_first, taken_last):
        position = np.uint64(row[e]) * columns64 + np.uint64(column[e] - column_shift)
        table[_place(position, table, shift)] = position + ONE
    end, missing = out_first, draws
    n = np.uint64(0)
    while missing > 0:
        i, j = row[end : end + missing], column[end : end + missing]
        _candidates(key0, key1, n, rows64, columns64, i, j)
        n += np.uint64(missing)
        fresh = _keep_fresh(i, j, columns64, column_shift, table, shift)
        end += fresh
        missing -= fresh
    if leave_out:
        end = out_first
        for k in range(rows * columns):
            if table[_place(np.uint64(k), table, shift)] == 0:
                row[end] = k // columns
                column[end] = k % columns + column_shift
                end += 1
    return end


@kernel
def _candidates(
    key0: np.uint64,
    key1: np.uint64,
    n: np.uint64,
    rows: np.uint64,
    columns: np.uint64,
    row: NDArray[np.uint16],
    column: NDArray[np.uint16],
) -> None:
    """Fill row and column with uniform positions, draws n, n + 1, ...; refused draws are marked.

    Lemire's bounded draw: a word that would favour small numbers is refused, so that the rest is
    exactly uniform. Apart from the check that follows because this loop vectorises.
    """
    refuse_row, refuse_column = (ONE << SHIFT_32) % rows, (ONE << SHIFT_32) % columns
    for e in range(len(row)):
        bits = word(key0, key1, n + np.uint64(e))
        i, j = (bits >> SHIFT_32) * rows, (bits & LOW_32) * columns
        refused = ((i & LOW_32) < refuse_row) | ((j & LOW_32) < refuse_column)
        row[e] = (i >> SHIFT_32) | (REFUSED if refused else NOTHING)
        column[e] = j >> SHIFT_32


@kernel
def _keep_fresh(
    row: NDArray[np.uint16],
    column: NDArray[np.uint16],
    columns: np.uint64,
    column_shift: int,
    table: NDArray[np.uint32],
    shift: np.uint64,
) -> int:
    """Keep the candidates that are not in the table yet, put them in; returns how many."""
    fresh = 0
    for e in range(len(row)):
        i, j = np.uint64(row[e]), np.uint64(column[e])
        if i == REFUSED:
            continue
        position = i * columns + j
        place = _place(position, table, shift)
        new = table[place] == 0
        table[place] = position + ONE
        row[fresh] = i
        column[fresh] = np.int64(j) + column_shift
        fresh += new
    return fresh


@inlined
def _place(position: np.uint64, table: NDArray[np.uint32], shift: np.uint64) -> np.uint64:
    """Where a position stands in the open-addressing table, or the free entry it would take."""
    entry = np.uint32(position + ONE)
    place = (position * GOLDEN) >> shift
    while table[place] != 0 and table[place] != entry:
        place = (place + ONE) & np.uint64(len(table) - 1)
    return place
