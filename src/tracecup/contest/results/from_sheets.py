"""Results from score boards alone, such as those of score sheets: the same tables, fewer columns.

No intervals, no expected errors, no single users: these need traces and answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.entries import BENCHMARK
from tracecup.contest.filenames import parse_file_name
from tracecup.contest.judging.reasons import Reason
from tracecup.contest.results.compute import (
    award_table,
    cell_table,
    release_table,
    sum_table,
    summary_of,
)
from tracecup.contest.results.tables import ResultTable, Value
from tracecup.contest.rules import Rules
from tracecup.contest.sheets import FILE_COLUMN, Sheet, column_of
from tracecup.contest.sheets.standings import Standings
from tracecup.contest.standing.awards import give_awards
from tracecup.contest.standing.scoreboard import Scoreboard, State
from tracecup.errors import InvalidTraces
from tracecup.score import is_valid

SCORES_ONLY = "scores_only"
"""Key of a summary that says so."""


@dataclass(frozen=True, eq=False)
class SheetResults:
    """Tables and summary as `compute_results` gives them, from sheets alone."""

    tables: Mapping[str, ResultTable]
    summary: Mapping[str, Any]
    sheets: Mapping[str, Sheet]


def results_of_sheets(rules: Rules, found: Standings) -> SheetResults:
    """Tables of releases, cells, sums, awards and utilities of a round.

    Awards are given by `rules`; a file must have a name of the contest (`pubtraces_team003_...`),
    and every sample attack of the sheets a name in the rules.
    """
    board, counted = found.board, rules.awards.attack_targets
    for row in board.releases:
        said = parse_file_name(row.name)
        if said is None or (row.benchmark and row.name != BENCHMARK.release):
            raise InvalidTraces(
                f"{row.name} is no name of a released file; expected one such as "
                f"pubtraces_team003_data02_TRP.csv, the benchmark {BENCHMARK.release}"
            )
    for kind in ATTACK_KINDS:
        known = rules.samples.columns(kind)
        strange = [name for name in board.board(kind).samples if name not in known]
        if strange:
            raise InvalidTraces(
                f"the rules name no sample attack {strange[0]} (known: {', '.join(known)})"
            )
    awards = give_awards(board, rules.awards)
    correlation = board.correlation(counted if "trace" in board.challenges else "all")
    tables = board_tables(rules, board, _reasons(rules, found), found.utility)
    tables["awards"] = award_table(awards, {})
    if found.utility is not None:
        rows: list[list[Value]] = [[name, value] for name, value in found.utility.items()]
        tables["utility"] = ResultTable.of_rows((FILE_COLUMN, "utility"), rows)
    summary = {SCORES_ONLY: True, **summary_of(board, awards, correlation, tables["cells"])}
    return SheetResults(
        tables, summary, {kind: Sheet.of(board.board(kind)) for kind in ATTACK_KINDS}
    )


def board_tables(
    rules: Rules,
    board: Scoreboard,
    reasons: Mapping[str, str],
    utility: Mapping[str, float] | None = None,
    knew: Mapping[tuple[str, str], str] | None = None,
) -> dict[str, ResultTable]:
    """Tables of releases, cells and sums of a board.

    `reasons` says by the names of releases why they do not count, "" for those that do; `knew`
    by release and column what sample attacks knew.

    >>> from tracecup.contest.standing.scoreboard import AttackBoard, BoardRow
    >>> row = BoardRow("b.csv", "002")
    >>> board = Scoreboard.of(
    ...     lambda kind: AttackBoard.of(kind, [row], ["001"], [], {("b.csv", "001"): [0.5]})
    ... )
    >>> board_tables(Rules(), board, {"b.csv": ""})["sums"].rows()[0]
    {'kind': 'reid', 'attacker': 'team001', 'sum': 0.5, 'not_attacked': 0}
    """
    known = {
        name: {"reason": reason, "method": "", "utility": (utility or {}).get(name)}
        for name, reason in reasons.items()
    }
    return {
        "releases": release_table(board, known),
        "cells": cell_table(_cells(rules, board), knew),
        "sums": sum_table(board, rules.awards.attack_targets),
    }


def _reasons(rules: Rules, found: Standings) -> dict[str, str]:
    utility = found.utility or {}
    return {
        row.name: reason_of(rules, row.valid, utility.get(row.name)) for row in found.board.releases
    }


def reason_of(rules: Rules, valid: bool, utility: float | None) -> str:
    """Why a release does not count, in the judge's words; "" for one that does."""
    if valid:
        return ""
    floor = rules.scores.utility_floor
    if utility is None or is_valid(utility, floor):
        return Reason.of("invalid-in-sheet")
    return Reason.of("below-floor", value=f"{utility:.6f}", floor=f"{floor:g}")


def _cells(rules: Rules, scores: Scoreboard) -> Iterator[dict[str, Value]]:
    for kind in ATTACK_KINDS:
        board, attacks = scores.board(kind), rules.samples.columns(kind)
        for i, row in enumerate(board.releases):
            for j, name in enumerate(board.columns):
                if board.states[i, j] == State.SCORED:
                    yield {
                        "kind": kind,
                        "pubtraces": row.name,
                        "attacker": column_of(name),
                        "attack": attacks.get(name, ""),
                        "score": float(board.values[i, j]),
                    }
