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


def emission(members: list[int], distances: Matrix, eta: float, spread: float, z: float) -> Matrix:
    """f(o | x) of one cell for all regions; eta = 0 is the member emission."""
    n = len(distances)
    if not members:
        return np.ones(n)
    kappa = np.where(distances <= 2.0, eta * np.exp(-distances / spread) / z, 0.0)
    kappa += (1 - eta) * np.eye(n)
    return kappa[:, members].mean(axis=1)


def posterior(chain: Matrix, start: Matrix, cells: list[Matrix]) -> tuple[float, Matrix]:
    """Log-likelihood and posterior of one day by summing over dense forward, backward masses."""
    alpha = [start * cells[0]]
    for f in cells[1:]:
        alpha.append(f * (alpha[-1] @ chain))
    beta = [np.ones(len(start))]
    for f in cells[:0:-1]:
        beta.insert(0, chain @ (f * beta[0]))
    gamma = np.array(alpha) * np.array(beta)
    return math.log(alpha[-1].sum()), gamma / gamma.sum(axis=1, keepdims=True)


def likeliest_way(chain: Matrix, start: Matrix, cells: list[Matrix]) -> list[int]:
    """Viterbi by dense tables."""
    with np.errstate(divide="ignore"):
        best, came = np.log(start * cells[0]), []
        for f in cells[1:]:
            table = best[:, None] + np.log(chain)
            came.append(table.argmax(axis=0))
            best = table.max(axis=0) + np.log(f)
    way = [int(best.argmax())]
    for back in reversed(came):
        way.insert(0, int(back[way[0]]))
    return way
