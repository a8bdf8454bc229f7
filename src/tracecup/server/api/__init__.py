"""The API under /api/v1: every page's data and action as JSON.

Every module of this room that has a `router` is in; its paths are whole (`/contests/{slug}/...`).
Errors have one format, see `answers`; who asks is in `auth`.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, URLResolver, path, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI

from tracecup.server.api import answers, auth
from tracecup.server.api.document import Document
from tracecup.server.errors import not_found


class ContestApi(NinjaAPI):
    """Ninja's API with our document, our errors, and an answer to every address below it."""

    def get_openapi_operation_id(self, operation: Any) -> str:
        """`contests_show`: the module and the function."""
        module = operation.view_func.__module__.rpartition(".")[2]
        return f"{module}_{operation.view_func.__name__}"

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> Document:
        """The document of the API."""
        return Document(self, path_prefix or self.get_root_path(path_params or {}))

    def _get_urls(self) -> list[URLPattern | URLResolver]:
        found = [one for one in super()._get_urls() if one.name != "api-root"]
        for one in found:
            one.callback = answers.in_our_format(one.callback)
        return [
            *found,
            path("", answers.in_our_format(_root), name="api-root"),
            re_path(r"^.*$", _nothing_here, name="nothing-here"),
        ]


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
for _found in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    _router = getattr(importlib.import_module(f"{__name__}.{_found}"), "router", None)
    if _router is not None:
        api.add_router("", _router, tags=[_found])
