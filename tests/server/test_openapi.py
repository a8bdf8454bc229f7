"""The OpenAPI document: current, the same everywhere, complete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.urls import get_resolver
from django.utils import translation

from tracecup.server.api import (
    api,
    document_text,
)

CHECKED_IN = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"
COMMAND = (
    "DJANGO_SETTINGS_MODULE=tracecup.server.settings "
    "python -m django openapi docs/reference/openapi.json"
)
PROMISED = Path(__file__).with_name("openapi_operations.txt")
METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def document() -> dict:
    return json.loads(document_text())


def operations(document: dict) -> list[tuple[str, str, dict]]:
    return [
        (path, method, held[method])
        for path, held in document["paths"].items()
        for method in METHODS
        if method in held
    ]


class TestDocument:
    def test_the_checked_in_one_is_current(self):
        assert CHECKED_IN.read_text(encoding="utf-8") == document_text(), f"run: {COMMAND}"

    def test_is_what_the_server_hands_out(self, client, document):
        assert client.get("/api/v1/openapi.json").json() == document

    def test_making_it_twice_gives_the_same_in_every_language(self):
        first = document_text()
        with translation.override("ja"):
            assert document_text() == first

    def test_every_address_is_in_it(self, document):
        """Ninja's own addresses (document, root, "nothing here") are no operations."""
        routes = {
            str(pattern.pattern)
            for resolver in get_resolver().url_patterns
            if getattr(resolver, "namespace", None) == "api"
            for pattern in resolver.url_patterns
            if pattern.name not in ("openapi-json", "api-root", "nothing-here")
        }
        assert len(routes) == len(document["paths"])

    def test_operations_have_names_of_their_own_and_say_what_they_do(self, document):
        held = [operation for _, _, operation in operations(document)]
        names = [operation["operationId"] for operation in held]
        assert len(set(names)) == len(names)
        assert [one["operationId"] for one in held if not one.get("description")] == []

    def test_errors_are_in_it(self, document):
        for _, _, operation in operations(document):
            assert operation["responses"]["4XX"]["content"]["application/json"]["schema"] == {
                "$ref": "#/components/schemas/Error"
            }

    def test_references_lead_somewhere(self, document):
        known = document["components"]["schemas"]
        text = json.dumps(document)
        used = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
        assert used <= set(known)

    def test_operations_say_who_may_ask(self, document):
        assert [
            one["operationId"] for _, _, one in operations(document) if "security" not in one
        ] == []


class TestPromise:
    def test_no_operation_is_ever_removed(self, document):
        """Programs of teams use them; a new one is added to the list when it is released."""
        there = {f"{method.upper()} {path}" for path, method, _ in operations(document)}
        assert [one for one in PROMISED.read_text("utf-8").splitlines() if one not in there] == []


class TestSchemas:
    def test_no_two_of_the_same_name(self):
        """The document has one list of schemas: a second `Receipt` would hide the first."""
        found: dict[str, set[type]] = {}

        def collect(model: type) -> None:
            if model in found.setdefault(model.__name__, set()):
                return
            found[model.__name__].add(model)
            for field in model.model_fields.values():
                walk(field.annotation)

        def walk(kind: object) -> None:
            if isinstance(kind, type) and hasattr(kind, "model_fields"):
                collect(kind)
            for part in getattr(kind, "__args__", ()):
                walk(part)

        for router in api._get_bound_routers():
            for view in router.path_operations.values():
                for operation in view.operations:
                    for model in (*operation.models, *operation.response_models.values()):
                        for field in getattr(model, "model_fields", {}).values():
                            walk(field.annotation)
        assert {name for name, kinds in found.items() if len(kinds) > 1} == set()
