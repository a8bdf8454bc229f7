"""Inner loops of PPMTF training: draw the rows of one factor matrix given the others.

Users stream by in chunks, so memory grows with the non-zero counts and not with the zeros.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.streams import child, fill_normals
from tracecup.synth.lanes import add_outer_products, multiply_rows
from tracecup.synth.zeros import draw_absent, table_size

Floats = NDArray[np.float64]
Elements = tuple[
    NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint8]
]
# rho, most counts of a user, locations, slots, users whose observations are sorted together, key
Zeros = tuple[int, int, int, int, int, np.uint64, np.uint64]
Stored = tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint16]]

BATCH = 64  # vectors gathered before they are multiplied: 8 KiB at z = 16, well within L1


@kernel
def user_pass(
    low: int,
    high: int,
    elements: Elements,
    zeros: Zeros,
    stored: Stored,
    weights: Floats,
    rates: Floats,
    B: Floats,
    CD: Floats,
    common: Floats,
    prior: Floats,
    shift: Floats,
    alpha: float,
    z: int,
    key0: np.uint64,
    key1: np.uint64,
    A: Floats,
    precision: Floats,
    shifts: Floats,
) -> None:
    """Draw rows low..high-1 of A, and add what these users say about every row of B.

    Section 4, steps 2 and half of 3: with p = b_i * cd_k over the observations (i, k) of user u,
    P_u = prior + alpha * sum p p^T, h_u = shift + alpha * sum r p, a_u ~ N(P_u^-1 h_u, P_u^-1).
    Then precision[i] += sum q q^T and shifts[i] += sum r q with q = a_u * cd_k.
    `weights` (n, 2) scale the transitions' and the visits' share, `rates` (n, 2) that of the two
    `common` matrices (zeros in expectation); ones and zeros when zeros are sampled.
    """
    offsets, _, origin, context, value = elements
    row, column, ends, table = _scratch(zeros)
    zp, chunk = B.shape[1], zeros[4]
    vectors = np.zeros((BATCH, zp))
    sums = np.empty((2, zp, zp))
    P, h, noise = np.empty((zp, zp)), np.empty(zp), np.empty(z)
    scaled = np.empty((2 * chunk, zp))
    precision[:] = 0.0
    shifts[:] = 0.0
    for first in range(low, high, chunk):
        last = min(first + chunk, high)
        end = 0
        for u in range(first, last):
            begin = end
            middle, end = _observations(u, elements, zeros, stored, table, row, column, begin)
            ends[2 * (u - first)], ends[2 * (u - first) + 1] = middle, end
            sums[:] = 0.0
            _add_products(row[begin:middle], column[begin:middle], B, CD, vectors, sums, 0)
            _add_products(row[middle:end], column[middle:end], B, CD, vectors, sums, 1)
            h[:] = 0.0
            for e in range(offsets[u], offsets[u + 1]):
                r = float(value[e])
                b, cd = B[origin[e]], CD[context[e]]
                for f in range(z):
                    h[f] += r * b[f] * cd[f]
            for f in range(z):
                h[f] = shift[f] + alpha * h[f]
                for g in range(f + 1):
                    P[f, g] = prior[f, g] + alpha * (
                        weights[u, 0] * sums[0, f, g]
                        + weights[u, 1] * sums[1, f, g]
                        + rates[u, 0] * common[0, f, g]
                        + rates[u, 1] * common[1, f, g]
                    )
            user0, user1 = child(key0, key1, np.uint64(u))
            fill_normals(user0, user1, noise)
            draw_gaussian(P, h, noise, A[u])
        _spread(first, last, row, column, ends, weights, A, CD, scaled, vectors, precision)
        for u in range(first, last):
            for e in range(offsets[u], offsets[u + 1]):
                r = float(value[e])
                i, k = origin[e], context[e]
                for f in range(z):
                    shifts[i, f] += r * A[u, f] * CD[k, f]


@kernel
def context_pass(
    low: int,
    high: int,
    elements: Elements,
    zeros: Zeros,
    stored: Stored,
    weights: Floats,
    A: Floats,
    B: Floats,
    precision: Floats,
    shifts: Floats,
) -> None:
    """Add what users low..high-1 say about every row of C and D (section 4, steps 4 and 5).

    precision[k] = sum q q^T and shifts[k] = sum r q with q = a_u * b_i over observations (i, k).
    """
    offsets, _, origin, context, value = elements
    row, column, ends, table = _scratch(zeros)
    zp, chunk = B.shape[1], zeros[4]
    vectors = np.zeros((BATCH, zp))
    scaled = np.empty((2 * chunk, zp))
    precision[:] = 0.0
    shifts[:] = 0.0
    for first in range(low, high, chunk):
        last = min(first + chunk, high)
        end = 0
        for u in range(first, last):
            middle, end = _observations(u, elements, zeros, stored, table, row, column, end)
            ends[2 * (u - first)], ends[2 * (u - first) + 1] = middle, end
            for e in range(offsets[u], offsets[u + 1]):
                r = float(value[e])
                i, k = origin[e], context[e]
                for f in range(zp):
                    shifts[k, f] += r * A[u, f] * B[i, f]
        _spread(first, last, column, row, ends, weights, A, B, scaled, vectors, precision)


@kernel
def draw_rows(
    low: int,
    high: int,
    precision: Floats,
    shifts: Floats,
    common: Floats,
    prior: Floats,
    shift: Floats,
    alpha: float,
    z: int,
    key0: np.uint64,
    key1: np.uint64,
    X: Floats,
) -> None:
    """Draw rows low..high-1 of X: x_r ~ N(P^-1 h, P^-1) with P = prior + alpha * (common + sum of
    the blocks' precision[:, r]), h = shift + alpha * (sum of the blocks' shifts[:, r]).

    Blocks are added in their order, whatever thread filled them.
    """
    zp = X.shape[1]
    P, h, noise = np.empty((zp, zp)), np.empty(zp), np.empty(z)
    for r in range(low, high):
        P[:] = common
        h[:] = 0.0
        for block in range(precision.shape[0]):
            for f in range(z):
                h[f] += shifts[block, r, f]
                for g in range(f + 1):
                    P[f, g] += precision[block, r, f, g]
        for f in range(z):
            h[f] = shift[f] + alpha * h[f]
            for g in range(f + 1):
                P[f, g] = prior[f, g] + alpha * P[f, g]
        row0, row1 = child(key0, key1, np.uint64(r))
        fill_normals(row0, row1, noise)
        draw_gaussian(P, h, noise, X[r])


@kernel
def draw_gaussian(P: Floats, h: Floats, noise: Floats, out: Floats) -> None:
    """out[:z] = P^-1 h + L^-T noise with P = L L^T, z = len(noise): a draw from N(P^-1 h, P^-1).

    One factorisation, two triangular solves; P (lower triangle) and h are used up.
    """
    z = len(noise)
    column = np.empty(z)
    for k in range(z):
        pivot = math.sqrt(P[k, k])
        P[k, k] = pivot
        h[k] /= pivot
        for i in range(k + 1, z):
            column[i] = P[i, k] / pivot
            P[i, k] = column[i]
            h[i] -= column[i] * h[k]
        for i in range(k + 1, z):
            factor = column[i]
            for j in range(k + 1, i + 1):
                P[i, j] -= factor * column[j]
    for k in range(z - 1, -1, -1):
        total = h[k] + noise[k]
        for i in range(k + 1, z):
            total -= P[i, k] * out[i]
        out[k] = total / P[k, k]


@kernel
def add_scatter(X: Floats, scale: Floats, totals: Floats) -> None:
    """totals[0] += sum over rows of scale[r] * x_r x_r^T, lower triangle; one fixed order."""
    zp = X.shape[1]
    vectors = np.zeros((BATCH, zp))
    for first in range(0, X.shape[0], BATCH):
        count = min(BATCH, X.shape[0] - first)
        for e in range(count):
            root = math.sqrt(scale[first + e])
            for f in range(zp):
                vectors[e, f] = root * X[first + e, f]
        add_outer_products(vectors, count, totals, 0)


@kernel
def store_observations(
    low: int, high: int, elements: Elements, zeros: Zeros, nothing: Stored, stored: Stored
) -> None:
    """Fill `stored` for users low..high-1; its first array tells where each one's part ends."""
    row, column, _, table = _scratch(zeros)
    ends, stored_row, stored_column = stored
    for u in range(low, high):
        _, end = _observations(u, elements, zeros, nothing, table, row, column, 0)
        stored_row[ends[2 * u] : ends[2 * u + 2]] = row[:end]
        stored_column[ends[2 * u] : ends[2 * u + 2]] = column[:end]


@kernel
def _scratch(
    zeros: Zeros,
) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.int64], NDArray[np.uint32]]:
    """Arrays for the observations of one chunk of users."""
    rho, most, _, _, chunk, _, _ = zeros
    room = chunk * (most + 2 * rho)
    table = np.empty(table_size(most, rho), np.uint32)
    return (
        np.empty(room, np.uint16),
        np.empty(room, np.uint16),
        np.empty(2 * chunk, np.int64),
        table,
    )


@kernel
def _observations(
    u: int,
    elements: Elements,
    zeros: Zeros,
    stored: Stored,
    table: NDArray[np.uint32],
    row: NDArray[np.uint16],
    column: NDArray[np.uint16],
    begin: int,
) -> tuple[int, int]:
    """Write user u's observed positions (counts, then sampled zeros) from `begin` on: first the
    transitions, up to the first number returned, then the visits, up to the second.

    Copied from `stored` where that is not empty.
    """
    ends, stored_row, stored_column = stored
    if len(ends) > 1:
        first, middle, last = ends[2 * u], ends[2 * u + 1], ends[2 * u + 2]
        row[begin : begin + last - first] = stored_row[first:last]
        column[begin : begin + last - first] = stored_column[first:last]
        return begin + middle - first, begin + last - first
    offsets, transitions, origin, context, _ = elements
    rho, _, locations, slots, _, key0, key1 = zeros
    end = begin
    for kind in range(2):
        if kind == 0:
            first, last = offsets[u], offsets[u] + transitions[u]
            columns, start = locations, 0
        else:
            first, last = offsets[u] + transitions[u], offsets[u + 1]
            columns, start = slots, locations
        taken = end
        for e in range(first, last):
            row[end], column[end] = origin[e], context[e]
            end += 1
        if rho > 0:
            zero0, zero1 = child(key0, key1, np.uint64(2 * u + kind))
            end = draw_absent(
                zero0, zero1, rho, locations, columns, row, column, taken, end, end, start, table
            )
        if kind == 0:
            middle = end
    return middle, end


@kernel
def _add_products(
    row: NDArray[np.uint16],
    column: NDArray[np.uint16],
    left: Floats,
    right: Floats,
    vectors: Floats,
    totals: Floats,
    k: int,
) -> None:
    """totals[k] += sum of p p^T, p = left[row[e]] * right[column[e]]."""
    for first in range(0, len(row), BATCH):
        count = min(BATCH, len(row) - first)
        for e in range(count):
            multiply_rows(left, row[first + e], right, column[first + e], vectors, e)
        add_outer_products(vectors, count, totals, k)


@kernel
def _spread(
    first: int,
    last: int,
    bucket: NDArray[np.uint16],
    partner: NDArray[np.uint16],
    ends: NDArray[np.int64],
    weights: Floats,
    A: Floats,
    partners: Floats,
    scaled: Floats,
    vectors: Floats,
    precision: Floats,
) -> None:
    """precision[bucket[e]] += q q^T with q = a_u * partners[partner[e]] over a chunk of users.

    Observations are sorted by bucket first (counting sort), so that each matrix is brought into
    registers once per chunk.
    """
    buckets, zp = precision.shape[0], precision.shape[1]
    for u in range(first, last):
        for kind in range(2):
            root = math.sqrt(weights[u, kind])
            for f in range(zp):
                scaled[2 * (u - first) + kind, f] = root * A[u, f]
    groups = 2 * (last - first)
    total = ends[groups - 1]
    starts = np.zeros(buckets + 1, np.int64)
    for e in range(total):
        starts[bucket[e] + 1] += 1
    for k in range(buckets):
        starts[k + 1] += starts[k]
    order = np.empty(total, np.uint32)
    e = 0
    for group in range(groups):
        while e < ends[group]:
            k = bucket[e]
            order[starts[k]] = np.uint32(group) << np.uint32(16) | partner[e]
            starts[k] += 1
            e += 1
    begin = 0
    for k in range(buckets):
        end = starts[k]
        while begin < end:
            count = min(BATCH, end - begin)
            for e in range(count):
                packed = order[begin + e]
                multiply_rows(
                    scaled,
                    packed >> np.uint32(16),
                    partners,
                    packed & np.uint32(0xFFFF),
                    vectors,
                    e,
                )
            add_outer_products(vectors, count, precision, k)
            begin += count
