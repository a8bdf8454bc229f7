"""Beyond the paper: what its remarks leave open, run.

Four parts of their own: aggregates, maximum knowledge, communication cost, seconds.
"""

from __future__ import annotations

from tracecup.study.aggregate_cheating import cheating
from tracecup.study.context import Context
from tracecup.study.markov_speed import speed
from tracecup.study.maximum_knowledge import knowledge
from tracecup.study.poi_cost import radius
from tracecup.study.reproduce import study
from tracecup.study.results import StudyResult

PARTS = {"cheating": cheating, "knowledge": knowledge, "POI": radius, "speed": speed}


@study(
    "beyond3",
    "What the remarks leave open",
    "Remarks of Sections 3.2, 5.1, 5.3 and 5.5",
    "In passing the paper says that cheating would not help under an aggregate utility either, "
    "that a maximum-knowledge attacker is too pessimistic, that a larger radius r2 buys POI "
    "accuracy with communication, and that fuzzy counting is much cheaper than Markov attacks.",
    needs=("built-in",),
)
def run(context: Context) -> StudyResult:
    """All parts, one after the other."""
    found = {name: part(context) for name, part in PARTS.items()}
    return StudyResult(
        found["cheating"].source,
        {name: table for one in found.values() for name, table in one.tables.items()},
        {name: value for one in found.values() for name, value in one.numbers.items()},
        tuple(compared for one in found.values() for compared in one.comparisons),
        {f"{what}: {part}": n for part, one in found.items() for what, n in one.sizes.items()},
        tuple(note for one in found.values() for note in one.notes),
        {name: one.source_of(name) for one in found.values() for name in one.tables},
    )
