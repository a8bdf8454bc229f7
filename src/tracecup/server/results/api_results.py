"""Results as JSON: the twins of their page.

Files are in `api`.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from tracecup.server.people.asking import RoundName, at_round
from tracecup.server.people.auth import anyone
from tracecup.server.results import data as results

router = Router()


@router.get("/contests/{slug}/results", auth=anyone, response=results.ResultsPage)
def results_of(request: HttpRequest, slug: str, round: RoundName = None) -> results.ResultsPage:
    """Awards, boards, matrices, commitments; `board` is null until they are published."""
    return results.results_page(*at_round(request, slug, round))


@router.get("/contests/{slug}/results/{name}", auth=anyone, response=list[dict[str, Any]])
def result_table(
    request: HttpRequest, slug: str, name: str, round: RoundName = None
) -> list[dict[str, Any]]:
    """The rows of a published table; the results list the tables that there are."""
    return results.table(*at_round(request, slug, round), name).rows()
