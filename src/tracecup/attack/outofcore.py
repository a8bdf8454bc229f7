"""Attacks straight from large Parquet files: visits are kept, or traces in files of this process.

The same answers as in memory, for releases that no memory holds.
"""

from __future__ import annotations

import math
from os import PathLike

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup.attack.base import ReidAttack, arrays_of
from tracecup.attack.case import Case
from tracecup.attack.match import match_table
from tracecup.attack.models.bags import bags_of_counts
from tracecup.attack.models.cellwise import FLOOR
from tracecup.attack.models.fuzzy import FuzzyR
from tracecup.attack.models.inverted import visit_entries
from tracecup.attack.models.products import MAX_TABLE_ENTRIES, product_scores
from tracecup.attack.models.visitprob import HomeProbR, VisitProbR
from tracecup.attack.scores import Scores
from tracecup.city import City, ContestClock
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.rng import Rng
from tracecup.traces import IdTable
from tracecup.traces.largefiles import largest_cell, read_large_cells, read_large_traces
from tracecup.traces.visitfiles import VisitCounts, read_visit_counts

Path = str | PathLike[str]


def identify_files(
    attack: ReidAttack,
    city: City,
    clock: ContestClock,
    reference: Path,
    released: Path,
    device: str = "cpu",
    rng: Rng = None,
) -> IdTable:
    """The table of an attack from two Parquet files of any length, as it would be in memory.

    VisitProb-R, HomeProb-R and Fuzzy-R keep nothing but visits where cells are single regions or
    deleted: O(distinct visits) memory, at most 384 MiB for tables beside that. Everything else
    works on `read_case`, in the memory of the attack itself.
    """
    attack.check()
    arrays = arrays_of(device, attack)
    if attack.match == "soft" or not reads_counts(attack) or largest_cell(released) > 1:
        case = read_case(city, clock, reference, released)
        return attack.identify_on(device, case, rng)
    slots = None
    if isinstance(attack, HomeProbR):
        slots = range(min(attack.slots, clock.original.slots))
    theirs = read_visit_counts(released, "released", city.n_regions, clock.original, slots=slots)
    m = theirs.n_users
    known = read_visit_counts(
        reference, "reference", city.n_regions, clock.reference, users=m, slots=slots
    )
    if isinstance(attack, FuzzyR):
        scores = attack.scores_of_counts(city, known, theirs)
    else:
        scores = count_scores(known, theirs, city.n_regions)
    if arrays is None:
        return match_table(scores, attack.match)
    return IdTable(scores.best_on(arrays))


def read_case(city: City, clock: ContestClock, reference: Path, released: Path) -> Case:
    """The case of two Parquet files of any length; reference traces may have gaps.

    Read row group by row group; traces lie in files of this process where they are large.
    """
    target = read_large_cells(released, "released", n_regions=city.n_regions, clock=clock.original)
    known = read_large_traces(
        reference, "reference", n_regions=city.n_regions, clock=clock.reference,
        users=target.n_users,
    )  # fmt: skip
    return Case(city, known, target)


def reads_counts(attack: ReidAttack) -> bool:
    """Whether who was where how often is all that an attack looks at.

    >>> reads_counts(VisitProbR()), reads_counts(VisitProbR(members=3))
    (True, False)
    """
    if isinstance(attack, (VisitProbR, HomeProbR)):
        return (attack.cells, attack.members) == (1, 0)
    return isinstance(attack, FuzzyR)


def count_scores(
    known: VisitCounts,
    theirs: VisitCounts,
    n_regions: int,
    max_table_entries: int = MAX_TABLE_ENTRIES,
) -> Scores:
    """The scores of VisitProb-R from visits alone; see `visit_scores`.

    They lack the term log(1e-8) per cell of a pseudonym, which is the same for all users.
    """

    def columns(low: int, high: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        table = np.zeros((n_regions, high - low))
        map_blocks(
            lambda begin, end: _fill_counted(
                known.offsets[low + begin : low + end + 1], known.regions, known.counts,
                table[:, begin:end],
            ),
            high - low,
        )  # fmt: skip
        return table, np.zeros(high - low)

    def entries() -> sparse.csr_array:
        counts = known.counts.astype(np.float32)
        shape = (known.n_users, n_regions)
        return visit_entries(sparse.csr_array((counts, known.regions, known.offsets), shape), FLOOR)

    bags = bags_of_counts(theirs, n_regions)
    nothing = np.zeros(len(bags.lengths))
    return product_scores(bags, columns, nothing, max_table_entries, entries)


@kernel
def _fill_counted(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    counts: NDArray[np.int32],
    table: NDArray[np.float64],
) -> None:
    """table[r, u] = log(V[u, r] / 1e-8) where user u was, 0 elsewhere."""
    for u in range(len(offsets) - 1):
        total = 0
        for i in range(offsets[u], offsets[u + 1]):
            total += counts[i]
        scale = 1.0 / (max(total, 1) * FLOOR)
        for i in range(offsets[u], offsets[u + 1]):
            table[regions[i], u] = math.log(counts[i] * scale)
