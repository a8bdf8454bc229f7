"""The page of results, and its tables as CSV, JSON and Parquet.

Only what is published; drafts are on the organisers' pages.
"""

from __future__ import annotations

import io
import json

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from tracecup.charts.matrices import heat_map
from tracecup.charts.scores import scatter, utility
from tracecup.contest.results.tables import ResultTable
from tracecup.server.errors import not_found
from tracecup.server.results import certificates
from tracecup.server.results import data as results_data
from tracecup.server.results.lessons import lessons
from tracecup.server.web.context import place

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}


@require_safe
def results(request: HttpRequest, slug: str) -> HttpResponse:
    """Who won, and what did we learn?"""
    here = place(request, slug)
    page = results_data.results_page(here.role, here.require_round())
    charts = []
    if page.board is not None:
        charts = [
            scatter(page.board.charted, _),
            utility(page.board.charted, page.floor, _),
            *(heat_map(matrix, _) for matrix in page.board.matrices),
        ]
    team = here.role.team
    context = here.context(
        page=page,
        charts=charts,
        lessons=lessons(page.board.charted, page.floor) if page.board else [],
        won=certificates.won_by(team) if team is not None and page.board else [],
    )
    return render(request, "results/results.html", context)


@require_safe
def result_table(request: HttpRequest, slug: str, name: str, form: str) -> HttpResponse:
    """A table of the published results."""
    here = place(request, slug)
    held = results_data.table(here.role, here.require_round(), name)
    if form not in TYPES:
        raise not_found("format")
    answer = HttpResponse(_spelled(held, form), content_type=TYPES[form])
    answer["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return answer


def _spelled(table: ResultTable, form: str) -> bytes:
    if form == "csv":
        return table.csv().encode()
    if form == "json":
        return json.dumps(table.rows(), indent=1).encode()
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(table.arrow(), out, compression="zstd")
    return out.getvalue()


urlpatterns = [
    path("c/<slug:slug>/results/", results, name="results"),
    path("c/<slug:slug>/results/<str:name>.<str:form>", result_table, name="result-table"),
]
