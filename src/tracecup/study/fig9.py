"""Figure 9: both privacy scores of every team of a round, and how they go together.

From the published score sheets of the final and of the preliminary round, and a season of bots.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation
from tempfile import TemporaryDirectory

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.results.compute import SUMMARY_FILE
from tracecup.contest.results.tables import read_table
from tracecup.contest.rules import ROUND_WEIGHTS
from tracecup.contest.season import Season, play, season_rules
from tracecup.contest.sheets import team_of
from tracecup.contest.sheets.rounds import Round, combine
from tracecup.contest.sheets.standings import Standings
from tracecup.contest.sheets.totals import read_totals
from tracecup.study.context import Context, Need
from tracecup.study.reproduce import study
from tracecup.study.results import (
    BUILT_IN,
    FINAL_SHEETS,
    SHEETS,
    Comparison,
    Source,
    StudyResult,
    Table,
)
from tracecup.study.sheetrounds import PublishedRound, RoundName, published_round

USERS, QUICK_USERS = 1000, 200
TEAMS, QUICK_TEAMS = 21, 8
COLUMNS = (
    "file", "team", "challenge", "in the paper's selection", "s_U", "s_R,min", "s_T,min",
    "strongest re-identification", "strongest trace inference",
)  # fmt: skip
PAPER_CORRELATION = 0.895
OBFUSCATED = "correlation, trace-inference files that are obfuscated"
OBFUSCATED_FINAL = "correlation, final round, trace-inference files without the benchmark"
HALF_A_DIGIT, SHOWN_PLACES = 0.0005, 3
ROUNDS: tuple[tuple[RoundName, Need, Source], ...] = (
    ("final", "final", FINAL_SHEETS),
    ("preliminary", "sheets", SHEETS),
)
ROUND_NAMES: tuple[RoundName, ...] = ("preliminary", "final")
# The organisers' list of winners, preliminary + 9 x final.
PUBLISHED_WINNERS = {
    "overall": ("001", "009", "016"),
    "best_anonymization_reid": ("001",),
    "best_anonymization_trace": ("009",),
    "best_reidentification": ("004",),
    "best_trace_inference": ("002",),
}


@study(
    "fig9",
    "Privacy scores of the teams",
    "Figure 9",
    "In the final round the two minimum scores of the 17 valid teams and the benchmark are "
    "strongly correlated (0.895), and merely pseudonymized traces are broken completely.",
    needs=("sheets", "final", "built-in"),
)
def run(context: Context) -> StudyResult:
    """Both rounds from their sheets, and a season of 21 bots on 20-day traces."""
    tables: dict[str, Table] = {}
    sources: dict[str, Source] = {}
    numbers: dict[str, float] = {}
    sizes: dict[str, int] = {}
    comparisons: list[Comparison] = []
    for name, need, source in ROUNDS:
        if context.has(need):
            found = _sheets(context, name)
            parts = {"": found.table, "_totals": found.totals, "_awards": found.awards}
            tables |= {name + ending: table for ending, table in parts.items()}
            sources |= {name + ending: source for ending in parts}
            numbers |= found.numbers
            comparisons += found.comparisons
            sizes |= {f"files ({name})": len(found.table)}
    if context.has("sheets"):
        comparisons.append(_published_totals(context, tables["preliminary_totals"]))
        if context.has("final"):
            comparisons += _winners(context)
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
            "Final round: 34 files of 17 teams and the benchmark; the paper's correlation is that "
            "of the 17 trace-inference files and the benchmark.",
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
    """What the published sheets of a round say, and what follows from their cells."""

    table: Table
    totals: Table
    awards: Table
    numbers: dict[str, float]
    comparisons: tuple[Comparison, ...]


def _sheets(context: Context, name: RoundName) -> _Sheets:
    """Minima of every file from its row of scores, against the minima the sheets state."""
    held = published_round(context, name)
    found, words = held.standings, f"{name} round"
    minima = {kind: held.minima(kind) for kind in ATTACK_KINDS}
    chosen = {row.name for row in held.paper.board.releases}
    rows = [
        (
            row.name,
            row.team,
            "benchmark" if row.benchmark else row.challenge,
            row.name in chosen,
            held.utility[row.name],
            minima["reid"][row.name],
            minima["trace"][row.name],
            " ".join(found.board.reid.strongest(row.name)),
            " ".join(found.board.trace.strongest(row.name)),
        )
        for row in found.board.releases
    ]
    table = Table.of(COLUMNS, rows)
    comparisons = [
        Comparison.equal(
            f"largest difference of a minimum, {sheet.kind} ({words}, {len(table)} files)",
            0.0,
            max(
                abs(minima[sheet.kind][file] - stated)
                for file, stated in zip(sheet.files, sheet.minimum or (), strict=True)
            ),
        )
        for sheet in held.sheets
    ]
    comparisons += [
        Comparison.equal(
            f"largest difference of an attacker's sum, {sheet.kind} ({words})",
            0.0,
            max(
                abs(ours - stated)
                for ours, stated in zip(
                    found.sums[sheet.kind].values(), sheet.sums or (), strict=True
                )
            ),
        )
        for sheet in held.sheets
    ]
    r = held.paper.correlation
    comparisons.append(
        Comparison.equal(
            f"correlation of the two minima, final round, {r.pairs} files",
            PAPER_CORRELATION,
            r.value or math.nan,
            HALF_A_DIGIT,
        )
        if name == "final"
        else Comparison(
            "correlation of the two minima, preliminary round",
            PAPER_CORRELATION,
            r.value or math.nan,
            why="the paper's is the final round's; trace-inference files and benchmark in both",
        )
    )
    return _Sheets(table, _totals(found), _awards(found), _numbers(held, name), tuple(comparisons))


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


def _totals(found: Standings) -> Table:
    """Totals of the teams with place and remark, first to last."""
    rows = [
        (team_of(team), row["reid"], row["trace"], row["total"], row["place"], row["remark"])
        for team, row in found.as_dict()["total"].items()
    ]
    rows.sort(key=lambda row: -float(row[3]))
    return Table.of(("team", "s_R,min", "s_T,min", "total", "place", "remark"), rows)


def _published_totals(context: Context, totals: Table) -> Comparison:
    """The preliminary round's totals beside those of its sheet of totals."""
    (published,) = read_totals(context.path("results/preliminary_total.csv"))
    stated = {team_of(team): row["Total"] for team, row in published.rows.items()}
    worst = max(abs(row["total"] - stated[row["team"]]) for row in totals.records())
    return Comparison.equal("largest difference of a team's total (preliminary round)", 0.0, worst)


def _awards(found: Standings) -> Table:
    rows = [
        (award.title, place.rank, place.team, place.value)
        for award in found.awards.values()
        for place in award.places
        if place.rank <= SHOWN_PLACES
    ]
    return Table.of(("award", "place", "team", "value"), rows)


def _winners(context: Context) -> Iterator[Comparison]:
    """Who won by the published list, as numbers of teams; the awards are over both rounds."""
    rounds = [
        Round(name, ROUND_WEIGHTS[name], published_round(context, name).standings)
        for name in ROUND_NAMES
    ]
    given = combine(rounds).awards
    for key, teams in PUBLISHED_WINNERS.items():
        places = {place.rank: place.team for place in given[key].places}
        for rank, team in enumerate(teams, start=1):
            what = f"{given[key].title}, place {rank}, number of the team (both rounds)"
            yield Comparison.equal(what, float(team), float(places.get(rank, "nan")), 0.0)


def _numbers(held: PublishedRound, name: RoundName) -> dict[str, float]:
    numbers = {}
    prefix = "correlation, final round" if name == "final" else "correlation"
    for words, one in (
        ("trace-inference files and benchmark", held.paper),
        ("all files", held.standings),
    ):
        r = one.correlation
        if r.value is not None:
            numbers[f"{prefix}, {words}"] = r.value
        if r.low is not None and r.high is not None:
            numbers[f"{prefix}, {words}, 95% low"] = r.low
            numbers[f"{prefix}, {words}, 95% high"] = r.high
    board = held.paper.board
    changed = [row.name for row in board.releases if held.utility[row.name] < 1]
    if len(changed) > 2:
        scores = ([held.minima(kind)[file] for file in changed] for kind in ATTACK_KINDS)
        obfuscated = OBFUSCATED_FINAL if name == "final" else OBFUSCATED
        numbers[obfuscated] = correlation(*scores)
    return numbers
