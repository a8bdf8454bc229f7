"""Files as downloads: what one may fetch now, single files in ranges, everything as one archive.

GET and HEAD; resumable with `Range` and `If-Range`.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from ninja import Router

from tracecup.server.people.asking import RoundName, at_round
from tracecup.server.people.auth import anyone
from tracecup.server.results import downloads

router = Router()
CONTENT: dict[str, Any] = {
    "responses": {
        200: {"description": "The whole file", "content": {"application/octet-stream": {}}},
        206: {"description": "The asked range", "content": {"application/octet-stream": {}}},
        304: {"description": "The file has not changed"},
        416: {"description": "The file has no such range"},
    },
    "parameters": [
        {
            "in": "header",
            "name": name,
            "required": False,
            "schema": {"type": "string"},
            "description": told,
        }
        for name, told in (
            ("Range", "`bytes=FIRST-LAST`: one range of the file."),
            ("If-Range", "The ETag of the begun download; another file then comes whole."),
        )
    ],
}


@router.get("/contests/{slug}/files", auth=anyone, response=downloads.FilesPage)
def files(request: HttpRequest, slug: str, round: RoundName = None) -> downloads.FilesPage:
    """The files that you may fetch now, your own first."""
    return downloads.files_page(*at_round(request, slug, round))


@router.api_operation(
    ["GET", "HEAD"], "/contests/{slug}/files/{name}", auth=anyone, openapi_extra=CONTENT
)
def file(request: HttpRequest, slug: str, name: str, round: RoundName = None) -> HttpResponseBase:
    """One file; its SHA-256 is the ETag and is sent as `X-SHA256`."""
    role, one = at_round(request, slug, round)
    return downloads.ranged_response(request, downloads.open_file(role, one, name), role)


@router.api_operation(
    ["GET", "HEAD"], "/contests/{slug}/archive", auth=anyone, openapi_extra=CONTENT
)
def archive(request: HttpRequest, slug: str, round: RoundName = None) -> HttpResponseBase:
    """All files that you may fetch now as one zip archive, with their SHA-256 in it."""
    role, one = at_round(request, slug, round)
    return downloads.archive_response(request, role, one)
