"""The program that draws the charts of the site.

It is JavaScript made by vl-convert once and served by its hash.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from importlib import metadata, resources
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, reverse

from tracecup.charts import theme
from tracecup.safeio import atomic_write


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
