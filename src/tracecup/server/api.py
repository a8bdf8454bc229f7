"""The API under /api/v1: every page's data and action as JSON.

Each feature brings routers whose paths are whole (`/contests/{slug}/...`); the first word of an
operation's name and its tag are the router's. Errors have one format, see `web.answers`; who asks
is in `people.auth`.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, URLResolver, path, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI

from tracecup.server.errors import not_found
from tracecup.server.judging import api as judging_api
from tracecup.server.lessons import api as lessons_api
from tracecup.server.organising import api as organising_api
from tracecup.server.organising import api_rounds as organising_rounds_api
from tracecup.server.people import api as people_api
from tracecup.server.people import auth
from tracecup.server.results import api as results_files_api
from tracecup.server.results import api_results as results_api
from tracecup.server.site import api as site_api
from tracecup.server.submissions import api as submissions_api
from tracecup.server.teams import api as teams_api
from tracecup.server.teams import api_pages as teams_pages_api
from tracecup.server.web import (
    answers,
)
from tracecup.server.web.document import Document

ROUTERS = (
    ("contests", site_api),
    ("contests", results_api),
    ("contests", teams_pages_api),
    ("files", results_files_api),
    ("lessons", lessons_api),
    ("organiser", organising_api),
    ("organiser_rounds", organising_rounds_api),
    ("people", people_api),
    ("submissions", submissions_api),
    ("teams", teams_api),
    ("workers", judging_api),
)
"""Names in the API's document, each with a module that has a router."""
_NAMES = {module.__name__: name for name, module in ROUTERS}


class ContestApi(NinjaAPI):
    """Ninja's API with our document, our errors, and an answer to every address below it."""

    def get_openapi_operation_id(self, operation: Any) -> str:
        """`contests_show`: the router's name and the function."""
        return f"{_NAMES[operation.view_func.__module__]}_{operation.view_func.__name__}"

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> Document:
        """The document of the API; what is served is made once, since that takes a second."""
        if path_prefix is not None:
            return Document(self, path_prefix)
        return _served(self.get_root_path(path_params or {}))

    def _get_urls(self) -> list[URLPattern | URLResolver]:
        found = [one for one in super()._get_urls() if one.name != "api-root"]
        for one in found:
            one.callback = answers.in_our_format(one.callback)
        return [
            *found,
            path("", answers.in_our_format(_root), name="api-root"),
            re_path(r"^.*$", _nothing_here, name="nothing-here"),
        ]


@lru_cache(maxsize=1)
def _served(prefix: str) -> Document:
    return Document(api, prefix)


def _root(request: HttpRequest) -> HttpResponse:
    """What this is."""
    return JsonResponse({"name": api.title, "version": api.version, "document": "openapi.json"})


@csrf_exempt
def _nothing_here(request: HttpRequest, *args: Any, **parts: Any) -> HttpResponse:
    """An address that does not exist."""
    return answers.answer(not_found("address"))


api = ContestApi(
    title="tracecup",
    version="1",
    description="Contests of location-trace anonymization: data, submissions, results.",
    urls_namespace="api",
    docs_url=None,  # the viewer would be fetched from elsewhere
    auth=auth.signed_in,
    parser=answers.StrictParser(),
)
answers.install(api)
for _name, _module in ROUTERS:
    api.add_router("", _module.router, tags=[_name])


def document_text() -> str:
    """The document as it is checked in."""
    held = dict(api.get_openapi_schema(path_prefix="/api/v1/"))
    held["paths"] = dict(sorted(held["paths"].items()))
    return json.dumps(held, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
