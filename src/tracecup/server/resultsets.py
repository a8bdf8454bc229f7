"""Reading sets of results: the one of a round that is published, and its tables row by row.

Who may see them is decided in `results`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracecup.server.models import ResultSet, Round

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


def newest(round: Round) -> ResultSet | None:
    """The newest results that are computed, published or not."""
    ready = round.result_sets.filter(state__in=("published", *READY))
    found: ResultSet | None = ready.order_by("-number").first()
    return found
