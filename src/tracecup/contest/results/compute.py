"""The results of a contest: score board, awards, correlation, and all tables of it.

Computed from the scored cells and from nothing else, so that a verification can do it again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES, AttackKind
from tracecup.contest.correlation import Correlation
from tracecup.contest.entries import Entry
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.contest.judging.release_scores import ReleaseScores
from tracecup.contest.results.tables import ResultTable, Value
from tracecup.contest.results.users import USERS, user_table
from tracecup.contest.rules import Rules
from tracecup.contest.sheets import FILE_COLUMN, MINIMUM_COLUMN, Sheet, column_of, write_sheet
from tracecup.contest.smallfiles import write_json
from tracecup.contest.standing.awards import Award, give_awards
from tracecup.contest.standing.bootstrap import RankInterval
from tracecup.contest.standing.rank_intervals import award_ranks
from tracecup.contest.standing.scoreboard import AttackBoard, BoardRow, Scoreboard, State, Targets

SUMMARY_FILE = "summary.json"
CELL_COLUMNS = (
    "kind", "pubtraces", "attacker", "attack", "score", "low", "high",
    "expected_error_km", "error_low_km", "error_high_km",
)  # fmt: skip
KNEW_COLUMN = "knew"
"""What a sample attack knew; only in tables where one of them tells it."""
RELEASE_COLUMNS = (
    "pubtraces", "team", "challenge", "role", "valid", "hors_concours", "reason", "method",
    "utility", "utility_low", "utility_high",
    *(column for one in CHALLENGES.values() for column in (one.minimum, one.strongest)),
    "s_T_ceiling", "expected_error_km",
)  # fmt: skip
AWARD_COLUMNS = (
    "award", "title", "rank", "rank_low", "rank_high", "team", "value", "better", "excluded",
)  # fmt: skip
UNIT_COLUMNS = frozenset(
    {"score", "low", "high", "utility", "utility_low", "utility_high", "s_T_ceiling", "s_T"}
    | {one.minimum for one in CHALLENGES.values()}
)
"""Columns of any table whose numbers are scores or utilities, 0 to 1: a worker's are checked."""


@dataclass(frozen=True, eq=False)
class Results:
    """What a contest ends with. `tables` are written as CSV and Parquet, `sheets` as in 2019."""

    board: Scoreboard
    awards: Mapping[str, Award]
    ranks: Mapping[str, Mapping[str, RankInterval]]
    correlation: Correlation
    tables: Mapping[str, ResultTable]
    sheets: Mapping[AttackKind, Sheet]
    summary: Mapping[str, Any]


def compute_results(
    rules: Rules,
    submissions: Mapping[Entry, JudgedRelease],
    targets: Sequence[ReleaseScores],
    attackers: Sequence[str],
    attacks: Mapping[tuple[AttackKind, str], str],
    withdrawn: Collection[str] = (),
    knew: Mapping[tuple[str, str], str] | None = None,
) -> Results:
    """Everything from the scored cells.

    `attacks` names the attack behind a column (team or sample attack) of a kind; it is told by
    the teams and only shown. `withdrawn` are teams (`003`) that left or were disqualified after
    their releases were judged: what is published of them plays hors concours. `knew` tells by
    release and column what sample attacks knew.
    """
    submissions = {
        entry: given.apart() if entry.number in withdrawn else given
        for entry, given in submissions.items()
    }
    releases = [BoardRow.of(entry, given) for entry, given in submissions.items()]
    board = Scoreboard.of(lambda kind: _board(kind, rules, releases, targets, attackers), withdrawn)
    awards = give_awards(board, rules.awards)
    counted: Targets = rules.awards.attack_targets
    ranks = award_ranks(board, awards, targets, counted)
    over: Targets = counted if "trace" in rules.challenges_played else "all"
    correlation = board.correlation(over)
    tables = {
        "releases": release_table(board, _known(board, submissions, targets)),
        "cells": cell_table(_cells(targets, attacks), knew),
        "sums": sum_table(board, counted),
        "awards": award_table(awards, ranks),
        USERS: user_table(targets, board),
        "utility": _utility_table(submissions),
    }
    sheets = {kind: Sheet.of(_competing(board.board(kind))) for kind in ATTACK_KINDS}
    summary = summary_of(board, awards, correlation, tables["cells"])
    return Results(board, awards, ranks, correlation, tables, sheets, summary)


def summary_of(
    board: Scoreboard, awards: Mapping[str, Award], correlation: Correlation, cells: ResultTable
) -> dict[str, Any]:
    """What results come to: winners, the correlation, how much there was of everything."""
    return {
        "awards": {
            key: {
                "title": award.title,
                "winners": list(award.winners),
                "tie": award.tied,
                "value": award.places[0].value if award.places else None,
            }
            for key, award in awards.items()
        },
        "correlation": vars(correlation),
        "releases": len(board.releases),
        "published": sum(row.attacked for row in board.releases),
        "valid": sum(row.valid and not row.benchmark for row in board.releases),
        "attacks": len(cells.columns["score"]),
    }


def write_results(folder: Path, results: Results) -> list[Path]:
    """Write all tables and sheets; the paths written."""
    folder.mkdir(exist_ok=True)
    paths = [path for name, table in results.tables.items() for path in table.write(folder, name)]
    for kind, sheet in results.sheets.items():
        write_sheet(folder / f"{kind}.csv", sheet)
        paths.append(folder / f"{kind}.csv")
        paths.append(sheet_table(sheet).write_parquet(folder, kind))
    paths.append(write_json(folder / SUMMARY_FILE, results.summary))
    return paths


def sheet_table(sheet: Sheet) -> ResultTable:
    """A score sheet as a table: nothing where the file is the attacker's own, no row of sums."""
    columns: dict[str, Sequence[Value]] = {FILE_COLUMN: list(sheet.files)}
    for j, name in enumerate(sheet.columns):
        column = sheet.scores[:, j].tolist()
        columns[name] = [None if np.isnan(value) else value for value in column]
    columns[MINIMUM_COLUMN[sheet.kind]] = list(sheet.minimum or ())
    return ResultTable(columns)


def _board(
    kind: AttackKind,
    rules: Rules,
    releases: Sequence[BoardRow],
    targets: Sequence[ReleaseScores],
    attackers: Sequence[str],
) -> AttackBoard:
    tries = {
        (target.entry.release, attacker): [score.value]
        for target in targets
        for attacker, score in target.of(kind).items()
    }
    return AttackBoard.of(kind, releases, attackers, rules.samples.columns(kind), tries)


def _competing(board: AttackBoard) -> AttackBoard:
    """The board without releases that were never published or play hors concours."""
    rows = [i for i, row in enumerate(board.releases) if row.valid and not row.hors_concours]
    return AttackBoard(
        board.kind,
        tuple(board.releases[i] for i in rows),
        board.attackers,
        board.samples,
        board.values[rows],
        board.states[rows],
    )


def release_table(board: Scoreboard, known: Mapping[str, Mapping[str, Value]]) -> ResultTable:
    """Every release with its lowest scores; `known` says by its name what no board tells."""
    minima = {kind: board.board(kind).minimum() for kind in ATTACK_KINDS}
    records: list[dict[str, Value]] = []
    for row in board.releases:
        record: dict[str, Value] = {
            "pubtraces": row.name,
            "team": row.team,
            "challenge": row.challenge,
            "role": "benchmark" if row.benchmark else "team",
            "valid": row.valid,
            "hors_concours": row.hors_concours,
        }
        for kind, challenge in CHALLENGES.items():
            record[challenge.minimum] = minima[kind][row.name]
            record[challenge.strongest] = " ".join(board.board(kind).strongest(row.name))
        records.append({**record, **known[row.name]})
    return ResultTable.of_records(RELEASE_COLUMNS, records)


def _known(
    board: Scoreboard, submissions: Mapping[Entry, JudgedRelease], targets: Sequence[ReleaseScores]
) -> dict[str, dict[str, Value]]:
    """What the judge knows about releases besides the board."""
    scored = {target.entry: target for target in targets}
    known: dict[str, dict[str, Value]] = {}
    for entry, given in submissions.items():
        told: dict[str, Value] = {
            name: getattr(given, name)
            for name in ("reason", "method", "utility", "utility_low", "utility_high")
        }
        if target := scored.get(entry):
            told["s_T_ceiling"] = target.ceiling
            for attacker in board.trace.strongest(entry.release)[:1]:
                error = target.of("error").get(attacker)
                told["expected_error_km"] = error.value if error else None
        known[entry.release] = told
    return known


def cell_table(
    cells: Iterable[dict[str, Value]], knew: Mapping[tuple[str, str], str] | None
) -> ResultTable:
    """Every score with its attack, and beside it what a sample attack knew, if any tells it."""
    if not knew:
        return ResultTable.of_records(CELL_COLUMNS, cells)
    told = (
        {**cell, KNEW_COLUMN: knew.get((str(cell["pubtraces"]), str(cell["attacker"])))}
        for cell in cells
    )
    return ResultTable.of_records((*CELL_COLUMNS, KNEW_COLUMN), told)


def _cells(
    targets: Sequence[ReleaseScores], attacks: Mapping[tuple[AttackKind, str], str]
) -> Iterator[dict[str, Value]]:
    for kind in ATTACK_KINDS:
        for target in targets:
            errors = target.of("error") if kind == "trace" else {}
            for attacker, score in target.of(kind).items():
                cell: dict[str, Value] = {
                    "kind": kind,
                    "pubtraces": target.entry.release,
                    "attacker": column_of(attacker),
                    "attack": attacks.get((kind, attacker), ""),
                    "score": score.value,
                    "low": score.interval.low,
                    "high": score.interval.high,
                }
                if error := errors.get(attacker):
                    cell["expected_error_km"] = error.value
                    cell["error_low_km"] = error.interval.low
                    cell["error_high_km"] = error.interval.high
                yield cell


def sum_table(board: Scoreboard, counted: Targets) -> ResultTable:
    """Every attacker's sum over the counted targets, and how many of them it did not attack."""
    rows: list[list[Value]] = []
    for kind in ATTACK_KINDS:
        one = board.board(kind)
        missing = (one.states[one.counted(counted)] == State.MISSING).sum(axis=0)
        for k, (attacker, value) in enumerate(one.sums(counted).items()):
            rows.append([kind, column_of(attacker), value, int(missing[k])])
    return ResultTable.of_rows(("kind", "attacker", "sum", "not_attacked"), rows)


def award_table(
    awards: Mapping[str, Award], ranks: Mapping[str, Mapping[str, RankInterval]]
) -> ResultTable:
    """All places of all awards, with the intervals of ranks where there are any."""
    rows: list[list[Value]] = []
    for key, award in awards.items():
        for place in award.places:
            sure = ranks.get(key, {}).get(place.team)
            low, high = (sure.low, sure.high) if sure else (None, None)
            rows.append([
                key, award.title, place.rank, low, high, column_of(place.team),
                place.value, award.better, None,
            ])  # fmt: skip
        for team, reason in award.excluded.items():
            rows.append(
                [key, award.title, None, None, None, column_of(team), None, award.better, reason]
            )
    return ResultTable.of_rows(AWARD_COLUMNS, rows)


def _utility_table(submissions: Mapping[Entry, JudgedRelease]) -> ResultTable:
    """In the published format: released files and their utility."""
    rows: list[list[Value]] = [
        [entry.release, given.utility]
        for entry, given in submissions.items()
        if given.utility is not None and not given.hors_concours
    ]
    return ResultTable.of_rows((FILE_COLUMN, "utility"), rows)
