"""A set of results as a board: awards with ties, releases, both matrices, the correlation.

The facts come from the tables of the set and from nothing else (`tracecup.facts.board`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ninja import Schema

from tracecup.contest.correlation import Correlation
from tracecup.contest.results.from_sheets import SCORES_ONLY
from tracecup.facts.board import AwardFacts, BoardFacts, MatrixFacts, ReleaseFacts
from tracecup.facts.tables import board_facts
from tracecup.server.models import ResultSet
from tracecup.server.resultsets import award_rows, table_rows

TABLES = ("releases", "cells", "sums", "awards")


class Board(Schema):
    """The published results of a round.

    `scores_only`: they come from published score sheets, without releases and answers.
    """

    number: int
    scorer: str
    inputs_sha256: str
    computed_at: datetime
    published_at: datetime | None
    reason: str
    awards: list[AwardFacts]
    releases: list[ReleaseFacts]
    matrices: list[MatrixFacts]
    correlation: Correlation
    tables: list[str]
    scores_only: bool

    @property
    def charted(self) -> BoardFacts:
        """What charts show: methods are in a table where their team agreed, but in no chart."""
        releases = (replace(one, method="") for one in self.releases)
        return BoardFacts(
            tuple(self.awards), tuple(releases), tuple(self.matrices), self.correlation
        )


def board(found: ResultSet, names: Mapping[str, str]) -> Board:
    """A result set as a board; methods are in it only where the team agreed.

    `names` are those of teams and of sample attacks.
    """
    facts = facts_of(found, names)
    return Board(
        number=found.number,
        scorer=found.scorer,
        inputs_sha256=found.inputs_sha256,
        computed_at=found.created_at,
        published_at=found.published_at,
        reason=found.reason,
        awards=list(facts.awards),
        releases=list(facts.releases),
        matrices=list(facts.matrices),
        correlation=facts.correlation,
        tables=sorted(found.tables),
        scores_only=bool(found.summary.get(SCORES_ONLY)),
    )


def facts_of(found: ResultSet, names: Mapping[str, str]) -> BoardFacts:
    """The facts of a result set."""
    tables = {name: table_rows(found, name) for name in TABLES} | {"awards": award_rows(found)}
    correlation = Correlation(**found.summary["correlation"])
    return board_facts(found.round.contest.rules, tables, correlation, names)
