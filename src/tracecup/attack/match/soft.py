"""Soft linking: how likely each user is behind each pseudonym when links are one to one.

Sinkhorn's scaling of exp(S / tau), in the log domain; a decision can then use several candidates.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.attack.scores import MatrixScores, Scores
from tracecup.engine import map_blocks, threads
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.kernels import kernel

SWEEPS = 60
NEGLIGIBLE = 40.0
"""Terms below exp(-40) of the largest one do not change a float64 sum and are not computed."""


def log_sinkhorn(
    scores: Scores | ArrayLike, tau: float = 1.0, sweeps: int = SWEEPS
) -> NDArray[np.float64]:
    """log M, where M = diag(a) exp(S / tau) diag(b) has rows and columns that sum to 1.

    `scores` are (pseudonyms, users) and finite, higher = more likely; tau > 0 in their unit: large
    values spread a pseudonym over many users, tau -> 0 is the optimal assignment. A sweep makes
    all rows sum to 1, then all columns; after the last one columns are exact and rows nearly so.
    O(sweeps m^2) time, m^2 memory; nothing under- or overflows, and threads change no bit.

    >>> np.exp(log_sinkhorn([[0.0, 900.0], [0.0, 902.0]])).round(3).tolist()
    [[0.731, 0.269], [0.269, 0.731]]
    """
    if not (0 < tau < math.inf and sweeps >= 1):
        raise InvalidParameter(
            f"soft linking needs tau > 0 and at least one sweep, got {tau} and {sweeps}"
        )
    held = scores if isinstance(scores, Scores) else MatrixScores(scores)
    scaled = held.rows(0, held.n_users) / tau
    if not np.isfinite(scaled).all():
        raise InvalidTraces("soft linking needs finite scores")
    m = len(scaled)
    row, column = np.zeros(m), np.zeros(m)

    def scale_rows(low: int, high: int) -> None:
        _scale_rows(scaled[low:high], column, row[low:high])

    def scale_columns(low: int, high: int) -> None:
        _scale_columns(scaled[:, low:high], row, column[low:high])

    with threads() as pool:  # one for all sweeps: starting threads costs more than a small one
        for _ in range(sweeps):
            map_blocks(scale_rows, m, executor=pool)
            map_blocks(scale_columns, m, executor=pool)
    scaled += row[:, None]
    scaled += column
    return scaled


def soft_links(
    scores: Scores | ArrayLike, tau: float = 1.0, sweeps: int = SWEEPS
) -> NDArray[np.float64]:
    """M of `log_sinkhorn`: M[k, u] is how much of pseudonym k belongs to user u.

    >>> soft_links([[0.0, 0.0], [0.0, 0.0]]).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    links = log_sinkhorn(scores, tau, sweeps)
    return np.exp(links, out=links)


@kernel
def _scale_rows(
    scaled: NDArray[np.float64], column: NDArray[np.float64], row: NDArray[np.float64]
) -> None:
    """row[k] = -log sum_u exp(scaled[k, u] + column[u])."""
    for k in range(scaled.shape[0]):
        top = -np.inf
        for u in range(scaled.shape[1]):
            top = max(top, scaled[k, u] + column[u])
        total = 0.0
        for u in range(scaled.shape[1]):
            below = scaled[k, u] + column[u] - top
            if below > -NEGLIGIBLE:
                total += math.exp(below)
        row[k] = -(top + math.log(total))


@kernel
def _scale_columns(
    scaled: NDArray[np.float64], row: NDArray[np.float64], column: NDArray[np.float64]
) -> None:
    """column[u] = -log sum_k exp(scaled[k, u] + row[k]), reading row by row."""
    top = np.full(scaled.shape[1], -np.inf)
    for k in range(scaled.shape[0]):
        for u in range(scaled.shape[1]):
            top[u] = max(top[u], scaled[k, u] + row[k])
    total = np.zeros(scaled.shape[1])
    for k in range(scaled.shape[0]):
        for u in range(scaled.shape[1]):
            below = scaled[k, u] + row[k] - top[u]
            if below > -NEGLIGIBLE:
                total[u] += math.exp(below)
    for u in range(scaled.shape[1]):
        column[u] = -(top[u] + math.log(total[u]))
