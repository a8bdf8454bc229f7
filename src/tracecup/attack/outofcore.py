"""Re-identification straight from large Parquet files: visits are kept, traces are not.

The same tables as in memory, for releases that no memory holds.
"""

from __future__ import annotations

import math
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.base import ReidAttack
from tracecup.attack.match import match_table
from tracecup.attack.models.bags import bags_of_counts
from tracecup.attack.models.cellwise import FLOOR
from tracecup.attack.models.fuzzy import FuzzyR
from tracecup.attack.models.products import MAX_TABLE_ENTRIES, product_scores
from tracecup.attack.models.visitprob import HomeProbR, VisitProbR
from tracecup.attack.scores import Scores
from tracecup.city import City, ContestClock
from tracecup.device import device_arrays
from tracecup.engine import map_blocks
from tracecup.errors import InvalidParameter
from tracecup.kernels import kernel
from tracecup.traces import IdTable
from tracecup.traces.visitfiles import VisitCounts, read_visit_counts

Path = str | PathLike[str]


def identify_files(
    attack: ReidAttack,
    city: City,
    clock: ContestClock,
    reference: Path,
    released: Path,
    device: str = "cpu",
) -> IdTable:
    """The table of VisitProb-R, HomeProb-R or Fuzzy-R from two Parquet files of any length.

    Cells must be single regions or deleted. Files are read batch by batch; O(distinct visits)
    memory, at most 384 MiB for tables beside that, and the time of the attack in memory.
    """
    attack.check()
    if not reads_counts(attack):
        raise InvalidParameter(
            f"{attack} needs the whole traces in memory, and these files are too large for that; "
            "Fuzzy-R, and VisitProb-R and HomeProb-R with all cells and members, read them in parts"
        )
    if attack.match == "soft" or (attack.match != "argmax" and device != "cpu"):
        raise InvalidParameter(
            f"match={attack.match} needs all scores in memory; files too large for that take "
            "argmax, and on the cpu greedy and assignment"
        )
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
    if device == "cpu":
        return match_table(scores, attack.match)
    return IdTable(scores.best_on(device_arrays(device)))


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

    bags = bags_of_counts(theirs, n_regions)
    return product_scores(bags, columns, np.zeros(len(bags.lengths)), max_table_entries)


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
