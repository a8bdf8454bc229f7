"""Soft linking: how likely each user is behind each pseudonym when links are one to one.

Sinkhorn's scaling of exp(S / tau), in the log domain; a decision can then use several candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup import scratch
from tracecup.attack.match.shortlists import offer_rows
from tracecup.attack.scores import MatrixScores, Scores
from tracecup.engine import map_blocks, threads
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.kernels import kernel

SWEEPS = 60
SMALL = 1 << 14
"""Scores for which waking threads takes longer than the work."""
NEGLIGIBLE = 40.0
"""Terms below exp(-40) of the largest one do not change a float64 sum and are not computed."""


def log_sinkhorn(
    scores: Scores | ArrayLike, tau: float = 1.0, sweeps: int = SWEEPS
) -> NDArray[np.float64]:
    """log M, where M = diag(a) exp(S / tau) diag(b) has rows and columns that sum to 1.

    `scores` are (pseudonyms, users) and finite, higher = more likely; tau > 0 in their unit: large
    values spread a pseudonym over many users, tau -> 0 is the optimal assignment. A sweep makes
    all rows sum to 1, then all columns; after the last one columns are exact and rows nearly so.
    O(sweeps m^2) time, 8 m^2 bytes, beyond 512 MiB in a file of which 64 MiB are worked on at a
    time; nothing under- or overflows, and neither threads nor blocks change a bit.

    >>> np.exp(log_sinkhorn([[0.0, 900.0], [0.0, 902.0]])).round(3).tolist()
    [[0.731, 0.269], [0.269, 0.731]]
    """
    if not (0 < tau < math.inf and sweeps >= 1):
        raise InvalidParameter(
            f"soft linking needs tau > 0 and at least one sweep, got {tau} and {sweeps}"
        )
    held = scores if isinstance(scores, Scores) else MatrixScores(scores)
    m = held.n_users
    scaled = _scaled(held, tau)
    row, column = np.zeros(m), np.zeros(m)
    blocks = scratch.parts(m, 8 * m)
    with threads() as pool:  # one for all sweeps: starting threads costs more than a small one
        for _ in scratch.stepped([(sweep, sweep + 1) for sweep in range(sweeps)]):
            tops, totals = np.full(m, -np.inf), np.zeros(m)
            for low, high in blocks:
                here, rows = scaled[low:high], row[low:high]
                _scale(_scale_rows, pool, (here, rows), (column,))
                _scale(_raise_tops, pool, (here.T, tops), (rows,))
            for low, high in blocks:
                _scale(_add_columns, pool, (scaled[low:high].T, tops, totals), (row[low:high],))
            column = -(tops + np.log(totals))
    for low, high in blocks:
        scaled[low:high] += row[low:high, None]
        scaled[low:high] += column
    return scaled


def _scaled(scores: Scores, tau: float) -> NDArray[np.float64]:
    """All scores over tau, in a file where they are large."""
    scaled = scratch.empty((scores.n_users, scores.n_users))
    for low, high in scores.row_blocks():
        np.divide(scores.rows(low, high), tau, out=scaled[low:high])
        if not np.isfinite(scaled[low:high]).all():
            raise InvalidTraces("soft linking needs finite scores")
    return scaled


def _scale(
    work: Callable[..., None],
    pool: Executor,
    cut: tuple[NDArray[np.float64], ...],
    whole: tuple[NDArray[np.float64], ...],
) -> None:
    """Call a kernel on blocks of the arrays in `cut`, with all of those in `whole`."""

    def part(low: int, high: int) -> None:
        work(*(one[low:high] for one in cut), *whole)

    blocks = 1 if cut[0].size < SMALL else None
    map_blocks(part, len(cut[0]), blocks=blocks, executor=pool)


def soft_links(
    scores: Scores | ArrayLike, tau: float = 1.0, sweeps: int = SWEEPS
) -> NDArray[np.float64]:
    """M of `log_sinkhorn`: M[k, u] is how much of pseudonym k belongs to user u.

    >>> soft_links([[0.0, 0.0], [0.0, 0.0]]).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    links = log_sinkhorn(scores, tau, sweeps)
    for low, high in scratch.parts(len(links), 8 * len(links)):
        np.exp(links[low:high], out=links[low:high])
    return links


def heaviest(
    links: NDArray[np.float64], most: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The `most` pseudonyms with the heaviest links of each user, and these links, (users, most).

    In descending order, of equal ones the smallest first; `links` is read once, row by row.

    >>> heaviest(np.array([[0.75, 0.0], [0.25, 1.0]]), 1)[0].tolist()
    [[0], [1]]
    """
    m, users = links.shape
    pseudonyms = np.zeros((users, min(most, m)), dtype=np.int32)
    weights = np.full(pseudonyms.shape, -np.inf)
    for first, last in scratch.parts(m, 8 * users):
        here = links[first:last]

        def work(low: int, high: int, first: int = first, here: NDArray[np.float64] = here) -> None:
            offer_rows(first, here[:, low:high], pseudonyms[low:high], weights[low:high])

        map_blocks(work, users)
    return pseudonyms, weights


@kernel
def _scale_rows(
    scaled: NDArray[np.float64], row: NDArray[np.float64], column: NDArray[np.float64]
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
def _raise_tops(
    columns: NDArray[np.float64], tops: NDArray[np.float64], row: NDArray[np.float64]
) -> None:
    """tops[u] = the largest of itself and scaled[k, u] + row[k], for `columns` = scaled.T."""
    for k in range(columns.shape[1]):
        for u in range(columns.shape[0]):
            tops[u] = max(tops[u], columns[u, k] + row[k])


@kernel
def _add_columns(
    columns: NDArray[np.float64],
    tops: NDArray[np.float64],
    totals: NDArray[np.float64],
    row: NDArray[np.float64],
) -> None:
    """totals[u] += sum_k exp(scaled[k, u] + row[k] - tops[u]), for `columns` = scaled.T."""
    for k in range(columns.shape[1]):
        for u in range(columns.shape[0]):
            below = columns[u, k] + row[k] - tops[u]
            if below > -NEGLIGIBLE:
                totals[u] += math.exp(below)
