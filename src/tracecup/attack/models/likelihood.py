"""Visit likelihoods of every pseudonym under every user, by the cheapest exact way.

Releases with few distinct cells go through a table of distinct cells, others cell by cell.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup.attack.models.bags import Bags, bag_cells, visited_regions
from tracecup.attack.models.cellwise import FLOOR, LOG_FLOOR, CellwiseScores
from tracecup.attack.models.inverted import visit_entries
from tracecup.attack.models.products import MAX_TABLE_ENTRIES, TILE, product_scores
from tracecup.attack.scores import Scores
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.traces import SetTraces, Traces, sparse_visit_counts


def visit_scores(
    reference: Traces,
    released: SetTraces,
    n_regions: int,
    max_table_entries: int = MAX_TABLE_ENTRIES,
) -> Scores:
    """S[k, u] = sum over the cells of pseudonym k of log(mean over members r of V[u, r]).

    V[u, r] = c[u, r] / sum_r c[u, r] from the reference counts c, and 1e-8 where c = 0 (paper,
    Section 4.2). Deleted cells contribute nothing; a region that stands twice in a cell counts
    twice. With D distinct cells, a (D, m) table of log(mean / 1e-8) is multiplied with the
    pseudonyms' counts of distinct cells, made in blocks of users with at most
    `max_table_entries` entries. Where nearly all cells are different, or so many that 512 users
    exceed that, cells are evaluated one by one in bounded memory. Both agree to rounding.
    """
    m, times = released.shape
    keep = visited_regions(reference, n_regions)
    whole, few = max_table_entries // m, min(max_table_entries // TILE, m * times // 8)
    bags = bag_cells(released, n_regions, keep, max_sets=max(whole, few))
    if bags is None or bags.n_rows > max(whole, max_table_entries // TILE):
        return CellwiseScores(reference, released, n_regions)

    def columns(low: int, high: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return _likelihood_table(reference, bags, n_regions, low, high), np.zeros(high - low)

    def entries() -> sparse.csr_array:
        visits = visit_entries(sparse_visit_counts(reference, n_regions), FLOOR)
        return visits[:, bags.row_regions]

    constant = bags.cells.astype(np.float64) * LOG_FLOOR
    single = len(bags.row_regions) == bags.n_rows
    return product_scores(bags, columns, constant, max_table_entries, entries if single else None)


def _likelihood_table(
    reference: Traces, bags: Bags, n_regions: int, low: int, high: int
) -> NDArray[np.float64]:
    """table[d, u] = log(mean over the regions r of row d of V[low + u, r] / 1e-8), >= 0."""
    table = np.zeros((bags.n_rows, high - low))

    def work(begin: int, end: int) -> None:
        _fill_table(
            reference.regions[low + begin : low + end], bags.row_offsets, bags.row_regions,
            n_regions, table[:, begin:end],
        )  # fmt: skip

    map_blocks(work, high - low)
    return table


@kernel
def _fill_table(
    reference: NDArray[np.int32],
    row_offsets: NDArray[np.int64],
    row_regions: NDArray[np.int32],
    n_regions: int,
    table: NDArray[np.float64],
) -> None:
    counts = np.zeros(n_regions, dtype=np.int32)
    for u in range(reference.shape[0]):
        observed = 0
        for j in range(reference.shape[1]):
            if reference[u, j] >= 0:
                counts[reference[u, j]] += 1
                observed += 1
        scale = 1.0 / (max(observed, 1) * FLOOR)
        for d in range(len(row_offsets) - 1):
            visits, never = 0, 0
            for k in range(row_offsets[d], row_offsets[d + 1]):
                visits += counts[row_regions[k]]
                never += counts[row_regions[k]] == 0
            if visits > 0:
                size = row_offsets[d + 1] - row_offsets[d]
                table[d, u] = math.log((visits * scale + never) / size)
        for j in range(reference.shape[1]):
            if reference[u, j] >= 0:
                counts[reference[u, j]] = 0
