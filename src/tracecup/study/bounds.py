"""Beyond the paper: every score between what bounds it, and RQ1 and RQ2 under strong attacks.

From the cells of the study `strength`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracecup.contest.correlation import Correlation, correlate
from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, StudyResult, Table
from tracecup.study.strength import cells_of
from tracecup.study.strengthgoals import EQUALISED
from tracecup.study.strengthtables import strongest

ATTACKS = {"the paper's attacks": ", paper", "all attacks": ""}
CHEATS = ("Cheat", "Cheat(1)")
WITH_EQUALISE, ORDINARY = "without Cheat and None", "without Cheat, None and Equalise"
FIELDS = {
    "all": (),
    "without Cheat": CHEATS,
    WITH_EQUALISE: (*CHEATS, "None"),
    ORDINARY: (*CHEATS, "None", EQUALISED),
}
CORRELATIONS = ("attacks", "defences", "pairs", "r", "low", "high", "reason")
SAFE = 0.5
"""RQ1 asks of defences under which more than half of the users stay unnamed."""


@study(
    "bounds",
    "Scores between their bounds, and the paper's two questions under strong attacks",
    "RQ1 and RQ2, and beyond Section 5",
    "RQ1: is what resists re-identification also secure against trace inference? Not always: "
    "cheating. RQ2: is what resists trace inference also secure against re-identification? In the "
    "final round it was; the two minima had a correlation of 0.895.",
    needs=("built-in",),
    hands_out=True,
)
def run(context: Context) -> StudyResult:
    """Bounds of every defence, and correlations under the paper's attacks and under all."""
    found = cells_of(context)
    bounds = strongest(found)
    correlations = Table.of(CORRELATIONS, _correlations(bounds))
    numbers = {}
    for said, suffix in ATTACKS.items():
        safe = [row for row in bounds.records() if row[f"s_R{suffix}"] > SAFE]
        numbers[f"defences with s_R above {SAFE}, {said}"] = float(len(safe))
        read = [row for row in safe if row[f"s_T{suffix}"] <= row["true link"]]
        numbers[f"of them with s_T at most 1 - s_U, {said}"] = float(len(read))
    above = [row for row in bounds.records() if row["s_T, paper"] > row["prior only"]]
    numbers["defences with s_T above prior only, the paper's attacks"] = float(len(above))
    return StudyResult(
        BUILT_IN,
        {"bounds": bounds, "correlations": correlations},
        numbers,
        (),
        {
            "teams": len({one.team for one in found}),
            "users": found[0].users,
            "events": found[0].events,
        },
        (
            "Prior only: the best attack that never looks at the release. True link: 1 - s_U, the "
            "most that is left against who knows who is who and answers the released place; with "
            "hospitals it is somewhat more, because they weigh ten times.",
            "Group: (g - 1)/g, the most that is left if all users of a group of g look the same.",
            "Correlations are Pearson's r of the two minima over defences, each a mean over teams, "
            "with Fisher's interval (95 %). There are few defences, and they were chosen, not "
            "drawn.",
        ),
    )


def _correlations(bounds: Table) -> Iterator[tuple[Any, ...]]:
    for said, suffix in ATTACKS.items():
        for name, left_out in FIELDS.items():
            rows = [row for row in bounds.records() if row["defence"] not in left_out]
            r = _correlated(rows, suffix)
            yield said, name, r.pairs, r.value, r.low, r.high, r.reason


def _correlated(rows: Sequence[Mapping[str, Any]], suffix: str) -> Correlation:
    return correlate([row[f"s_R{suffix}"] for row in rows], [row[f"s_T{suffix}"] for row in rows])
