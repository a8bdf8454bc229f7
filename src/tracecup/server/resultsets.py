"""Reading sets of results: the one of a round that is published, and its tables row by row.

Who may see them is decided in `results`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from tracecup.contest.challenges import ATTACK_KINDS, AttackKind
from tracecup.contest.sheets import team_of
from tracecup.contest.standing.awards import Award, Exclusion, give_awards, ranks_among
from tracecup.contest.standing.scoreboard import AttackBoard, BoardRow, Scoreboard
from tracecup.server.models import Contest, ResultSet, Round

READY = ("draft", "superseded")
"""States of a set that is computed and not published."""


def published(round: Round) -> ResultSet | None:
    """The published results of a round."""
    found: ResultSet | None = round.result_sets.filter(state="published").first()
    return found


def table_rows(result_set: ResultSet, name: str) -> list[dict[str, Any]]:
    """A table of a set of results, row by row."""
    columns: Mapping[str, list[Any]] = result_set.tables.get(name, {})
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def gone_teams(contest: Contest) -> dict[str, str]:
    """Teams that win nothing any more, by number as files write it, each with its status."""
    left = contest.teams.exclude(status="active").values_list("number", "status")
    return {f"{number:03d}": status for number, status in left}


def award_rows(result_set: ResultSet) -> list[dict[str, Any]]:
    """The places in awards as they hold now: a team that is out leaves them at once.

    Those behind it move up; a new set of results tells the same with its own intervals.
    """
    rows = table_rows(result_set, "awards")
    gone = gone_teams(result_set.round.contest)
    for award in {row["award"] for row in rows if row["rank"] and _is_out(row, gone)}:
        placed = [row for row in rows if row["award"] == award and row["rank"]]
        left = [row for row in placed if not _is_out(row, gone)]
        now = ranks_among(row["rank"] for row in left)
        for row in left:
            row |= {"rank": now[row["rank"]], "rank_low": None, "rank_high": None}
    for row in rows:
        if _is_out(row, gone):
            row |= {"rank": None, "rank_low": None, "rank_high": None}
            row["excluded"] = gone[team_of(row["team"])]
    return rows


def _is_out(row: Mapping[str, Any], gone: Mapping[str, str]) -> bool:
    return team_of(row["team"]) in gone


def newest(round: Round) -> ResultSet | None:
    """The newest results that are computed, published or not."""
    ready = round.result_sets.filter(state__in=("published", *READY))
    found: ResultSet | None = ready.order_by("-number").first()
    return found


def overall(contest: Contest) -> dict[str, Award]:
    """All awards over the published rounds, added with their weights; empty without any."""
    weighted = []
    for round in contest.rounds.all():
        found = published(round)
        if found is not None:
            weighted.append((round.rules.weight, scoreboard_of(found)))
    if not weighted:
        return {}
    gone = gone_teams(contest)
    given = give_awards(weighted, contest.rules.awards)
    return {key: award.without(gone) if gone else award for key, award in given.items()}


def scoreboard_of(result_set: ResultSet) -> Scoreboard:
    """The boards of a set of results, from its tables."""
    rules = result_set.round.contest.rules
    rows = [
        BoardRow(
            row["pubtraces"],
            row["team"],
            row["challenge"],
            row["valid"],
            benchmark=row["role"] == "benchmark",
            hors_concours=row["hors_concours"],
        )
        for row in table_rows(result_set, "releases")
    ]
    cells, sums = table_rows(result_set, "cells"), table_rows(result_set, "sums")
    samples = {kind: rules.samples.columns(kind) for kind in ATTACK_KINDS}

    def board(kind: AttackKind) -> AttackBoard:
        columns = [team_of(row["attacker"]) for row in sums if row["kind"] == kind]
        tries = {
            (cell["pubtraces"], team_of(cell["attacker"])): [cell["score"]]
            for cell in cells
            if cell["kind"] == kind
        }
        teams = [name for name in columns if name.isdigit()]
        return AttackBoard.of(kind, rows, teams, [n for n in columns if n in samples[kind]], tries)

    gone = {
        team_of(row["team"])
        for row in table_rows(result_set, "awards")
        if row["excluded"] == Exclusion.HORS_CONCOURS
    }
    return Scoreboard.of(board, gone)


def team_names(contest: Contest) -> dict[str, str]:
    """Names of teams by their number as files write it; who was disqualified is called so."""
    found = {}
    for number, name, status in contest.teams.values_list("number", "name", "status"):
        out = f" ({_('disqualified')})" if status == "disqualified" else ""
        found[f"{number:03d}"] = name + out
    return found
