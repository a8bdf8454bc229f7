"""The results of a contest: score board, awards, correlation, and all tables of it.

Computed from the scored cells and from nothing else, so that a verification can do it again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
RELEASE_COLUMNS = (
    "pubtraces", "team", "challenge", "role", "valid", "hors_concours", "reason", "method",
    "utility", "utility_low", "utility_high",
    *(column for one in CHALLENGES.values() for column in (one.minimum, one.strongest)),
    "s_T_ceiling", "expected_error_km",
)  # fmt: skip
AWARD_COLUMNS = (
    "award", "title", "rank", "rank_low", "rank_high", "team", "value", "better", "excluded",
)  # fmt: skip


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
) -> Results:
    """Everything from the scored cells.

    `attacks` names the attack behind a column (team or sample attack) of a kind; it is told by
    the teams and only shown. `withdrawn` are teams (`003`) that left or were disqualified after
    their releases were judged: what is published of them plays hors concours.
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
        "releases": _release_table(board, submissions, targets),
        "cells": _cell_table(targets, attacks),
        "sums": sum_table(board, counted),
        "awards": award_table(awards, ranks),
        USERS: user_table(targets, board),
        "utility": _utility_table(submissions),
    }
    sheets = {kind: Sheet.of(_competing(board.board(kind))) for kind in ATTACK_KINDS}
    summary = {
        "awards": {
            key: {"title": award.title, "winners": list(award.winners), "tie": award.tied,
                  "value": award.places[0].value if award.places else None}
            for key, award in awards.items()
        },
        "correlation": vars(correlation),
        "releases": len(releases),
        "published": len(targets),
        "valid": sum(row.valid and not row.benchmark for row in releases),
        "attacks": sum(len(target.of(kind)) for target in targets for kind in ATTACK_KINDS),
    }  # fmt: skip
    return Results(board, awards, ranks, correlation, tables, sheets, summary)


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


def _release_table(
    board: Scoreboard, submissions: Mapping[Entry, JudgedRelease], targets: Sequence[ReleaseScores]
) -> ResultTable:
    scored = {target.entry: target for target in targets}
    minima = {kind: board.board(kind).minimum() for kind in ATTACK_KINDS}
    rows: list[list[Value]] = []
    for entry, given in submissions.items():
        name, target = entry.release, scored.get(entry)
        strongest = {kind: board.board(kind).strongest(name) for kind in ATTACK_KINDS}
        error = (
            target.of("error").get(strongest["trace"][0]) if target and strongest["trace"] else None
        )
        rows.append([
            name, entry.number, entry.challenge,
            "benchmark" if entry.is_benchmark else "team",
            given.valid, given.hors_concours, given.reason, given.method,
            given.utility, given.utility_low, given.utility_high,
            *(v for k in ATTACK_KINDS for v in (minima[k][name], " ".join(strongest[k]))),
            target.ceiling if target else None,
            error.value if error else None,
        ])  # fmt: skip
    return ResultTable.of_rows(RELEASE_COLUMNS, rows)


def _cell_table(
    targets: Sequence[ReleaseScores], attacks: Mapping[tuple[AttackKind, str], str]
) -> ResultTable:
    rows: list[list[Value]] = []
    for kind in ATTACK_KINDS:
        for target in targets:
            errors = target.of("error") if kind == "trace" else {}
            for attacker, score in target.of(kind).items():
                row: list[Value] = [
                    kind, target.entry.release, column_of(attacker),
                    attacks.get((kind, attacker), ""),
                    score.value, score.interval.low, score.interval.high,
                ]  # fmt: skip
                error = errors.get(attacker)
                row += (
                    [error.value, error.interval.low, error.interval.high]
                    if error
                    else [None, None, None]
                )
                rows.append(row)
    return ResultTable.of_rows(CELL_COLUMNS, rows)


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
