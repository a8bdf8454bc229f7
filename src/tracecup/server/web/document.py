"""The OpenAPI document of the API, the same bytes wherever it is made.

`python -m django openapi FILE` writes it; a test keeps the checked-in one current.
"""

from __future__ import annotations

from typing import Any

from ninja.openapi.schema import OpenAPISchema

ERROR: dict[str, Any] = {
    "title": "Error",
    "description": "Why a request was not carried out.",
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "problems", "details"],
            "properties": {
                "code": {"type": "string", "description": "For programs; never changes."},
                "message": {"type": "string", "description": "For people, in their language."},
                "problems": {
                    "type": "array",
                    "description": "The first bad places of a file or form.",
                    "items": {"type": "object", "additionalProperties": True},
                },
                "details": {"type": "object", "additionalProperties": True},
            },
        }
    },
}
REFUSED = {
    "description": "Refused",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
FAILED = {**REFUSED, "description": "The server failed"}


class Document(OpenAPISchema):
    """Ninja's document with the errors in it and without what depends on the way of import."""

    def methods(self, operations: list[Any]) -> dict[str, Any]:
        """The methods of an address; HEAD beside GET has a name of its own."""
        found: dict[str, Any] = super().methods(operations)
        if "head" in found and "get" in found:
            found["head"] = {**found["head"], "operationId": f"{found['get']['operationId']}_head"}
        return found

    def operation_details(self, operation: Any) -> dict[str, Any]:
        """One operation; those that welcome visitors say so."""
        details: dict[str, Any] = super().operation_details(operation)
        details["responses"] = {
            str(status): told for status, told in details["responses"].items()
        } | {"4XX": REFUSED, "5XX": FAILED}
        ways = [one for one in operation.auth_callbacks if hasattr(one, "openapi_type")]
        if any(one.openapi_type == "none" for one in ways):
            details["security"] = [*details.get("security", []), {}]
        return details

    def get_components(self) -> dict[str, Any]:
        """Schemas by name, and the ways to log in."""
        found: dict[str, Any] = super().get_components()
        found["schemas"] = dict(sorted({**found["schemas"], "Error": ERROR}.items()))
        return found
