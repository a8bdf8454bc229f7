"""Figure 9: both privacy scores of every team of a round, and how they go together.

From the published score sheets of the preliminary round, and from a season of bots; the final
round's sheets are not in our hands.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation
from tempfile import TemporaryDirectory

from tracecup.contest.results.compute import SUMMARY_FILE
from tracecup.contest.results.tables import read_table
from tracecup.contest.season import Season, play, season_rules
from tracecup.contest.sheets import read_sheet, read_utilities
from tracecup.contest.sheets.standings import Standings, standings
from tracecup.safeio import read_lines
from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, SHEETS, Comparison, Source, StudyResult, Table

USERS, QUICK_USERS = 1000, 200
TEAMS, QUICK_TEAMS = 21, 8
COLUMNS = (
    "file", "team", "challenge", "in the paper's selection", "s_U", "s_R,min", "s_T,min",
    "strongest re-identification", "strongest trace inference",
)  # fmt: skip
PAPER_CORRELATION = 0.895
OBFUSCATED = "correlation, trace-inference files that are obfuscated"
# The trace-inference files and the benchmark, as in the paper.
ONLY = ("*_TRP.csv", "pubtraces_team000_*")


@study(
    "fig9",
    "Privacy scores of the teams",
    "Figure 9",
    "In the final round the two minimum scores of the 17 valid teams and the benchmark are "
    "strongly correlated (0.895), and merely pseudonymized traces are broken completely.",
    needs=("sheets", "built-in"),
)
def run(context: Context) -> StudyResult:
    """The preliminary round from its sheets, and a season of 21 bots on 20-day traces."""
    tables: dict[str, Table] = {}
    sources: dict[str, Source] = {}
    numbers: dict[str, float] = {}
    sizes: dict[str, int] = {}
    comparisons: list[Comparison] = []
    if context.has("sheets"):
        found = _sheets(context)
        tables |= {"preliminary": found.table, "totals": found.totals}
        sources |= {"preliminary": SHEETS, "totals": SHEETS}
        numbers |= found.numbers
        comparisons += found.comparisons
        sizes |= {"files (preliminary)": len(found.table)}
    if context.has("built-in"):
        users, teams = (QUICK_USERS, QUICK_TEAMS) if context.quick else (USERS, TEAMS)
        season, r = _season(context, users, teams)
        tables["season"], sources["season"] = season, BUILT_IN
        sizes |= {"teams (season)": teams, "users (season)": users, "events (season)": 400}
        honest = honest_correlation(season)
        if honest is not None:
            numbers["correlation, season, without the bots that cheat"] = honest
        if r is not None:
            numbers["correlation, season"] = r
            comparisons.append(
                Comparison(
                    "correlation of the two minima, season of bots",
                    PAPER_CORRELATION,
                    r,
                    None if context.quick else 0.7,
                    None if context.quick else 1.0,
                    "the paper's teams were people; the band says strongly correlated",
                )
            )
    return StudyResult(
        next(iter(sources.values())),
        tables,
        numbers,
        tuple(comparisons),
        sizes,
        (
            "Preliminary round: with two reference days the reference replay sets almost every "
            "minimum of s_T, so all obfuscated files lie near 0.825 whatever their s_R. Their "
            "correlation with the two unobfuscated files is that of two groups.",
            "Season: bots with different obfuscations and attacks on the built-in city; Cheat(1) "
            "plays hors concours and is not in the correlation. Another bot cheats as much as the "
            "utility floor allows, and is: no team of the final round did.",
        ),
        sources,
    )


@dataclass(frozen=True)
class _Sheets:
    """What the published sheets say, and what follows from their cells."""

    table: Table
    totals: Table
    numbers: dict[str, float]
    comparisons: tuple[Comparison, ...]


def _sheets(context: Context) -> _Sheets:
    """Minima of every file from its row of scores, against the minima the sheets state."""
    reid = read_sheet(context.path("results/preliminary_reidentification.csv"), "reid")
    trace = read_sheet(context.path("results/preliminary_traceinference.csv"), "trace")
    utility = read_utilities(context.path("results/preliminary_utility.csv"))
    found = standings(reid, trace, utility)
    paper = standings(reid, trace, utility, only=ONLY)
    chosen = {row.name for row in paper.board.releases}
    minima = {"reid": found.board.reid.minimum(), "trace": found.board.trace.minimum()}
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
    table, totals = Table.of(COLUMNS, rows), _totals(context, found)
    comparisons = [
        Comparison.equal(
            f"largest difference of a minimum, {sheet.kind} ({len(table)} files)",
            0.0,
            max(
                abs(minima[sheet.kind][name] - stated)
                for name, stated in zip(sheet.files, sheet.minimum or (), strict=True)
            ),
        )
        for sheet in (reid, trace)
    ]
    comparisons.append(
        Comparison.equal(
            "largest difference of a team's total", 0.0, max(totals.column("difference"))
        )
    )
    comparisons += [
        Comparison.equal(
            f"largest difference of an attacker's sum, {sheet.kind}",
            0.0,
            max(abs(ours - stated) for ours, stated in zip(sums, sheet.sums or (), strict=True)),
        )
        for sheet, sums in (
            (reid, found.board.reid.sums().values()),
            (trace, found.board.trace.sums().values()),
        )
    ]
    comparisons.append(
        Comparison(
            "correlation of the two minima, preliminary round",
            PAPER_CORRELATION,
            paper.correlation.value or math.nan,
            why="the paper's is the final round's, whose sheets are not in our hands; "
            "trace-inference files and benchmark in both",
        )
    )
    numbers = _numbers(paper, found)
    changed = [row for row in table.records() if row[COLUMNS[3]] and row["s_U"] < 1]
    if len(changed) > 2:
        scores = ([row[score] for row in changed] for score in ("s_R,min", "s_T,min"))
        numbers[OBFUSCATED] = correlation(*scores)
    return _Sheets(table, totals, numbers, tuple(comparisons))


def _season(context: Context, users: int, teams: int) -> tuple[Table, float | None]:
    """Both minima of every release of a season of bots, and their correlation."""
    season = Season(season_rules(users=users), teams, context.seed_of("season"))
    with TemporaryDirectory() as folder:
        archive = play(Path(folder) / "season", season, context.world)
        releases = read_table(archive.results / "releases.parquet").rows()
        summary = json.loads((archive.results / SUMMARY_FILE).read_text("utf-8"))
    names = {
        "pubtraces": "file",
        "team": "team",
        "role": "role",
        "hors_concours": "hors concours",
        "valid": "valid",
        "method": "obfuscation",
        "utility": "s_U",
        "s_R_min": "s_R,min",
        "s_T_min": "s_T,min",
    }
    table = Table.of(tuple(names.values()), [[row[name] for name in names] for row in releases])
    return table, summary["correlation"]["value"]


def honest_correlation(season: Table) -> float | None:
    """Correlation of the two minima over valid releases that do not exchange whole traces.

    None where it is not defined: fewer than three releases, or all alike in one score.
    """
    rows = [
        row
        for row in season.records()
        if row["valid"] and not row["hors concours"] and not row["obfuscation"].startswith("Cheat")
    ]
    reid, trace = ([row[score] for row in rows] for score in ("s_R,min", "s_T,min"))
    if len(rows) < 3 or min(len(set(reid)), len(set(trace))) < 2:
        return None
    return correlation(reid, trace)


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
