"""Figure 12: the trace inference score beside the expected error, and the hospital weight.

A weight of 10 protects hospitals and still agrees with the plain error; 1000 would not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from tracecup.contest.correlation import correlate
from tracecup.score import HOSPITAL_WEIGHT
from tracecup.study.context import Context
from tracecup.study.field import CHEAT, WEIGHTS, Defence, attacked_field
from tracecup.study.reproduce import study
from tracecup.study.results import FINAL_SHEETS, Comparison, StudyResult, Table
from tracecup.study.sheetrounds import PublishedRound, published_round

FILES, NORMAL_95 = 18, 1.96
PUBLISHED = {10.0: 0.937, 100.0: 0.846, 1000.0: 0.811}


@study(
    "fig12",
    "Trace inference score against expected error",
    "Figure 12",
    "With hospital weight 10 the score is highly correlated with the expected error (0.937); with "
    "100 and 1000 the correlation falls to 0.846 and 0.811.",
    needs=("sample", "built-in"),
)
def run(context: Context) -> StudyResult:
    """Seventeen tuned defences and the benchmark, under the attacks that use the release."""
    tables: dict[str, Table] = {}
    comparisons: list[Comparison] = []
    for name in context.stages:
        defences = [one for one in attacked_field(context, name) if one.name != CHEAT]
        points, weights = _tables(defences)
        tables |= {name: points, f"{name}_weights": weights}
        comparisons += _compared(name, weights, banded=name == "long" and not context.quick)
    sources = context.sources("{}", "{}_weights")
    if context.has("final"):
        final = published_round(context, "final")
        tables["teams"], sources["teams"] = _teams(final), FINAL_SHEETS
        theirs = median(tables["teams"].column("s_T,min"))
        # The first row of ours is the benchmark.
        why = "how private the field is: 17 teams there, 17 tuned defences here"
        comparisons += [
            Comparison(
                f"median s_T,min of valid releases ({name})",
                theirs,
                median(tables[name].column("s_T,min")[1:]),
                why=why,
            )
            for name in context.stages
        ]
    return StudyResult(
        next(iter(sources.values())),
        tables,
        {},
        tuple(comparisons),
        context.sizes,
        (
            "For each weight the strongest attack under that weight counts, and for the expected "
            "error the attack with the smallest error; the paper does not say which it took.",
            "Attacks that ignore the release (Replay-T, Prior-T) are left out: their scores are "
            "the same for every defence.",
            "Sheets of the final round give s_T of the 17 teams at weight 10, but neither expected "
            "errors nor other weights, which need traces: teams are drawn as marks on the axis.",
        ),
        sources,
    )


def _teams(final: PublishedRound) -> Table:
    """What the sheets know of the paper's points: utility and s_T,min of every valid team."""
    lowest = final.minima("trace")
    rows = [(name, final.utility[name], lowest[name]) for name in final.valid_teams]
    return Table.of(("file", "s_U", "s_T,min"), rows)


def _compared(name: str, weights: Table, *, banded: bool) -> Iterator[Comparison]:
    """Ours beside the published; the band is the interval that 18 files give the latter."""
    for weight, value in PUBLISHED.items():
        what = f"correlation at hospital weight {weight:g} ({name})"
        ours = weights.row(weight=weight)["R"]
        if banded:
            half = NORMAL_95 / math.sqrt(FILES - 3)
            low, high = (math.tanh(math.atanh(value) + sign * half) for sign in (-1, 1))
            why = "tuned defences for teams; band: 95% interval of the published R over 18 files"
            yield Comparison(what, value, ours, low, high, why)
        else:
            yield Comparison(what, value, ours, why="the paper's traces have 20 days, 2000 users")


def _tables(defences: Sequence[Defence]) -> tuple[Table, Table]:
    errors = [min(one.outcome.error_km.values()) for one in defences]
    points = [
        (one.name, one.utility, min(one.outcome.weighted[HOSPITAL_WEIGHT].values()), error)
        for one, error in zip(defences, errors, strict=True)
    ]
    curve = []
    for weight in WEIGHTS:
        r = correlate([min(one.outcome.weighted[weight].values()) for one in defences], errors)
        curve.append((weight, r.value, r.low, r.high))
    return (
        Table.of(("defence", "s_U", "s_T,min", "expected error (km)"), points),
        Table.of(("weight", "R", "low", "high"), curve),
    )
