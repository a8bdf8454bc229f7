"""Figure 9: both privacy scores of every team of a round, and how they go together.

From the published score sheets; the final round's sheets are not public.
"""

from __future__ import annotations

import csv

from tracecup.contest.sheets import read_sheet, read_utilities
from tracecup.contest.standings import Standings, standings
from tracecup.safeio import read_lines
from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import SHEETS, Comparison, StudyResult, Table

PAPER_CORRELATION = 0.895
# The trace-inference files and the benchmark, as in the paper.
ONLY = ("*_TRP.csv", "pubtraces_team000_*")


@study(
    "fig9",
    "Privacy scores of the teams",
    "Figure 9",
    "In the final round the two minimum scores of the 17 valid teams and the benchmark are "
    "strongly correlated (0.895), and merely pseudonymized traces are broken completely.",
    needs=("sheets",),
)
def run(context: Context) -> StudyResult:
    """Minima of every file from its row of scores, against the minima the sheets state."""
    sheets = {
        "reid": read_sheet(context.path("results/preliminary_reidentification.csv"), "reid"),
        "trace": read_sheet(context.path("results/preliminary_traceinference.csv"), "trace"),
    }
    utility = read_utilities(context.path("results/preliminary_utility.csv"))
    found = standings(sheets["reid"], sheets["trace"], utility)
    paper = standings(sheets["reid"], sheets["trace"], utility, only=ONLY)
    chosen = {row.name for row in paper.board.releases}
    minima = {"reid": found.board.reid.minimum(), "trace": found.board.trace.minimum()}
    stated = {
        kind: dict(zip(sheet.files, sheet.minimum or (), strict=True))
        for kind, sheet in sheets.items()
    }
    rows = [
        (
            row.name,
            row.team,
            "benchmark" if row.benchmark else row.challenge,
            row.name in chosen,
            utility[row.name],
            minima["reid"][row.name],
            minima["trace"][row.name],
            " ".join(found.board.reid.strongest(row.name)),
            " ".join(found.board.trace.strongest(row.name)),
        )
        for row in found.board.releases
    ]
    columns = (
        "file", "team", "challenge", "in the paper's selection", "s_U", "s_R,min", "s_T,min",
        "strongest re-identification", "strongest trace inference",
    )  # fmt: skip
    table = Table.of(columns, rows)
    return StudyResult(
        SHEETS,
        {"preliminary": table, "totals": _totals(context, found)},
        _numbers(paper, found),
        (
            *(
                Comparison.equal(
                    f"largest difference of a minimum, {kind} ({len(table)} files)",
                    0.0,
                    max(abs(minima[kind][name] - stated[kind][name]) for name in stated[kind]),
                )
                for kind in ("reid", "trace")
            ),
            Comparison.equal(
                "largest difference of a team's total",
                0.0,
                max(_totals(context, found).column("difference")),
            ),
            Comparison(
                "correlation of the two minima",
                PAPER_CORRELATION,
                paper.correlation.value or float("nan"),
                why="the paper's is the final round's, whose sheets are not public; ours is the "
                "preliminary round's, trace-inference files and benchmark",
            ),
        ),
        {"files": len(table), "attackers": len(sheets["reid"].attackers)},
        (
            "Two-day traces: with two reference days the reference replay sets almost every "
            "minimum of s_T, so all files lie near 0.825 whatever their s_R.",
        ),
    )


def _totals(context: Context, found: Standings) -> Table:
    """Totals of the teams, ours beside the published ones."""
    lines = read_lines(context.path("results/preliminary_total.csv"))
    published = {row["team no."]: row for row in csv.DictReader(lines)}
    rows = []
    for team, (reid, trace) in found.board.total().items():
        stated = float(published[team]["Total"])
        rows.append((team, reid, trace, reid + trace, stated, abs(reid + trace - stated)))
    rows.sort(key=lambda row: -float(row[3]))
    return Table.of(("team", "s_R,min", "s_T,min", "total", "published", "difference"), rows)


def _numbers(paper: Standings, found: Standings) -> dict[str, float]:
    numbers = {}
    for name, one in (("trace-inference files and benchmark", paper), ("all files", found)):
        r = one.correlation
        if r.value is not None:
            numbers[f"correlation, {name}"] = r.value
        if r.low is not None and r.high is not None:
            numbers[f"correlation, {name}, 95% low"] = r.low
            numbers[f"correlation, {name}, 95% high"] = r.high
    return numbers
