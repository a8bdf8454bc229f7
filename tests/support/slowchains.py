"""The obvious programs: dense matrices, one user and one cell at a time, from the formulas."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tracecup.traces import SetTraces, Traces

Matrix = NDArray[np.float64]


def day_moves(row: list[int], slots: int) -> list[tuple[int, int]]:
    """Moves of one trace within a day between observed events."""
    pairs = [(row[t], row[t + 1]) for t in range(len(row) - 1) if (t + 1) % slots]
    return [(a, b) for a, b in pairs if a >= 0 and b >= 0]


def counts_of(traces: Traces, n_regions: int) -> list[Matrix]:
    """Moves of every user as a dense matrix."""
    every = []
    for row in traces.regions.tolist():
        counts = np.zeros((n_regions, n_regions))
        for a, b in day_moves(row, traces.clock.slots):
            counts[a, b] += 1
        every.append(counts)
    return every


def matrices(traces: Traces, n_regions: int, estimator: str, b: float) -> list[Matrix]:
    """P_u of every user by the formulas of the three estimators."""
    counts = counts_of(traces, n_regions)
    pool = sum(counts)
    tiny = 0.01 / n_regions
    pooled = (pool + tiny) / (pool.sum(axis=1, keepdims=True) + tiny * n_regions)
    result = []
    for c in counts:
        leaves = c.sum(axis=1, keepdims=True)
        if estimator == "floor":
            result.append(np.where(c > 0, c / np.maximum(leaves, 1), 1e-8))
        elif estimator == "lpm":
            result.append((c + tiny) / (leaves + tiny * n_regions))
        else:
            result.append((c + b * pooled) / (leaves + b))
    return result


def move_scores(released: SetTraces, chains: list[Matrix], starts: Matrix | None = None) -> Matrix:
    """Sum of log(mean of P over the members of two consecutive cells), cell by cell."""
    m, slots = released.n_users, released.clock.slots
    out = np.zeros((m, len(chains)))
    for k in range(m):
        cells = [released.cell(k, t).tolist() for t in range(released.times)]
        for u, chain in enumerate(chains):
            for t, after in enumerate(cells):
                if t % slots == 0:
                    if starts is not None and after:
                        out[k, u] += math.log(np.mean([starts[u, i] for i in after]))
                    continue
                before = cells[t - 1]
                if before and after:
                    out[k, u] += math.log(np.mean([chain[i, j] for i in before for j in after]))
    return out


def cell_scores(released: SetTraces, beliefs: Matrix) -> Matrix:
    """Sum of log(mean of the beliefs over the members of a cell), cell by cell."""
    m = released.n_users
    out = np.zeros((m, len(beliefs)))
    for k in range(m):
        for t in range(released.times):
            cell = released.cell(k, t).tolist()
            if cell:
                out[k] += np.log([np.mean([row[i] for i in cell]) for row in beliefs])
    return out
