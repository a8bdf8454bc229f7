"""The figures of the report: charts as HTML with interactive views, a still picture and a table.

The pictures and the JavaScript are made by vl-convert, without any network.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from types import ModuleType

from tracecup.charts import theme
from tracecup.charts.figure import FOLLOW_THE_PAGE, Control, Figure, View
from tracecup.charts.theme import Spec
from tracecup.errors import MissingPackage
from tracecup.report.markup import Html, element, scrolling, table


def figure(chart: Figure) -> Html:
    """The chart as an HTML figure; page.js fills in the views and hides the still picture."""
    title = f"{chart.key}-title"
    hint = [element("span", f" {chart.hint}", {"class": "hint"})] if chart.hint else []
    parts: list[Html] = [
        element(
            "figcaption",
            [
                element("h3", chart.title, {"id": title}),
                element("p", [chart.caption, *hint]),
            ],
        )
    ]
    if chart.control is not None:
        parts.append(_control(chart.key, chart.control))
    panels = element("div", [_panel(chart, view) for view in chart.views], {"class": "panels"})
    shown = scrolling(panels, chart.title) if chart.wide else panels
    parts.append(element("div", [shown], {"class": "views"}))
    if chart.picture is not None:
        # Wide pictures scroll as wide views do, instead of becoming too small to read.
        still = element(
            "img", (), {"class": "still", "alt": chart.alt, "src": _data_uri(chart.picture)}
        )
        parts.append(element("div", [still], {"class": "still-frame"}))
    listed = table(chart.table.caption, chart.table.header, chart.table.cells)
    parts.append(
        element(
            "details",
            [element("summary", chart.table_title), scrolling(listed, chart.table_title)],
        )
    )
    kind = "chart wide" if chart.wide else "chart"
    return element("figure", parts, {"class": kind, "id": chart.key, "aria-labelledby": title})


def views_of(charts: Sequence[Figure]) -> Mapping[str, object]:
    """What page.js needs: the specifications by key, and both themes."""
    return {
        "themes": {"light": theme.light(), "dark": theme.dark()},
        "views": {
            view.key: {"spec": {**view.spec, **FOLLOW_THE_PAGE}, "aspect": view.aspect}
            for chart in charts
            for view in chart.views
        },
        "controls": {
            chart.key: {"signal": chart.control.signal, "labels": list(chart.control.labels)}
            for chart in charts
            if chart.control is not None
        },
    }


def drawer() -> ModuleType:
    """The library that draws; an error that says how to get it where it is not there."""
    try:
        import vl_convert
    except ImportError as error:
        raise MissingPackage(
            'reports need vl-convert: install it with pip install "tracecup[report]"'
        ) from error
    return vl_convert


@cache
def script() -> str:
    """Vega, Vega-Lite, Vega-Embed and page.js in one text; made once per process (about 3 s)."""
    driver = resources.files("tracecup.report").joinpath("page.js").read_text("utf-8")
    return str(drawer().javascript_bundle(driver))


def still_picture(spec: Spec) -> str:
    """The specification as SVG text, in the light theme."""
    svg = drawer().vegalite_to_svg(
        {**spec, "background": "white"},
        config=theme.light(),
        allowed_base_urls=[],
    )
    return _numbered_anew(str(svg))


def _numbered_anew(svg: str) -> str:
    """Vega counts gradients and clips through the whole process; here they begin at 0 again."""
    numbers: dict[str, int] = {}

    def again(found: re.Match[str]) -> str:
        place = numbers.setdefault(found[2] + found[3], len(numbers))
        return f"{found[1]}{found[2]}{place}"

    return re.sub(r'(id="|url\(#)(gradient_|clip)(\d+)', again, svg)


def _data_uri(spec: Spec) -> str:
    packed = base64.b64encode(still_picture(spec).encode("utf-8")).decode("ascii")
    return f"data:image/svg+xml;base64,{packed}"


def _panel(chart: Figure, view: View) -> Html:
    alt = f"{view.heading}. {chart.alt}" if view.heading else chart.alt
    picture = element(
        "div", (), {"class": "view", "data-view": view.key, "role": "img", "aria-label": alt}
    )
    heading = [element("h4", view.heading)] if view.heading else []
    return element("div", [*heading, picture], {"class": "panel"})


def _control(key: str, control: Control) -> Html:
    identifier = f"{key}-control"
    label = element("label", control.label, {"for": identifier})
    if control.slider:
        field = element(
            "input",
            (),
            {
                "type": "range",
                "id": identifier,
                "min": "0",
                "max": str(len(control.labels) - 1),
                "step": "1",
                "value": str(control.start),
                "aria-valuetext": control.labels[control.start],
            },
        )
        shown = element("output", control.labels[control.start], {"for": identifier})
        content = [label, field, shown]
    else:
        options = [
            element("option", text, {"value": str(k), "selected": k == control.start})
            for k, text in enumerate(control.labels)
        ]
        content = [label, element("select", options, {"id": identifier})]
    return element("div", content, {"class": "control", "hidden": True})
