"""Reading sets of results: the one of a round that is published, and its tables row by row.

Who may see them is decided in `results`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracecup.contest.sheets import team_of
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
    out = {(row["award"], row["rank"]) for row in rows if _is_out(row, gone) and row["rank"]}
    for row in rows:
        if _is_out(row, gone):
            row |= {"rank": None, "rank_low": None, "rank_high": None}
            row["excluded"] = gone[team_of(row["team"])]
        elif row["rank"] is not None:
            ahead = sum(rank < row["rank"] for award, rank in out if award == row["award"])
            if any(award == row["award"] for award, _rank in out):
                row |= {"rank": row["rank"] - ahead, "rank_low": None, "rank_high": None}
    return rows


def _is_out(row: Mapping[str, Any], gone: Mapping[str, str]) -> bool:
    return team_of(row["team"]) in gone


def newest(round: Round) -> ResultSet | None:
    """The newest results that are computed, published or not."""
    ready = round.result_sets.filter(state__in=("published", *READY))
    found: ResultSet | None = ready.order_by("-number").first()
    return found
