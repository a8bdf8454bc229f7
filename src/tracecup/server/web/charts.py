"""Charts of the site: Vega-Lite specifications with a text and a table beside each.

The JavaScript that draws them is made by vl-convert once and served by its hash.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, reverse

from tracecup.report import theme
from tracecup.report.chart import Control, View
from tracecup.safeio import atomic_write

__all__ = ["Chart", "Column", "Control", "Table", "View", "script_url"]


@dataclass(frozen=True)
class Column:
    """A column of a table; numbers stand on the right."""

    name: str
    number: bool = True


@dataclass(frozen=True)
class Table:
    """The numbers behind a chart; the first cell of a row names it."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Chart:
    """A figure: `alt` says in words what is to be seen, `table` holds every number of it."""

    key: str
    title: str
    caption: str
    alt: str
    views: tuple[View, ...]
    table: Table | None = None
    table_title: str = ""
    control: Control | None = None
    wide: bool = False
    map: bool = False


def script_url() -> str:
    """The address of the program; it changes with its content."""
    return str(reverse("chart-script", args=[_name()]))


def chart_script(request: HttpRequest, name: str) -> HttpResponse:
    """Vega, Vega-Lite, Vega-Embed and our driver as one file; made on first use (about 3 s)."""
    if name != _name():
        raise Http404
    packed = _packed(name)
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        answer = HttpResponse(packed, content_type="text/javascript; charset=utf-8")
        answer["Content-Encoding"] = "gzip"
    else:
        answer = HttpResponse(
            gzip.decompress(packed), content_type="text/javascript; charset=utf-8"
        )
    answer["Vary"] = "Accept-Encoding"
    answer["Cache-Control"] = "public, max-age=31536000, immutable"
    return answer


@cache
def _driver() -> str:
    text = resources.files("tracecup.server").joinpath("static/server/charts.js").read_text("utf-8")
    themes = json.dumps({"light": theme.light(), "dark": theme.dark()})
    return f"const themes = {themes};\n{text}"


@cache
def _name() -> str:
    """Hash of all that the program is made of."""
    made_of = f"{metadata.version('vl-convert-python')}\n{_driver()}"
    return hashlib.sha256(made_of.encode()).hexdigest()[:16]


@cache
def _packed(name: str) -> bytes:
    """The program in gzip, from the server's folder if another process made it before."""
    kept = Path(settings.CONFIG.folder) / "made" / f"charts-{name}.packed"
    if kept.is_file():
        return kept.read_bytes()
    import vl_convert

    packed = gzip.compress(str(vl_convert.javascript_bundle(_driver())).encode(), mtime=0)
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with atomic_write(kept) as file:
        file.write(packed)
    return packed


urlpatterns = [path("made/charts-<str:name>.js", chart_script, name="chart-script")]
