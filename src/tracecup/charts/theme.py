"""The colours and letters of the charts, light and dark, as Vega-Lite configurations.

Specifications name roles only (a category, a ramp, a style); colours live here and in page.css.
"""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]  # a Vega-Lite specification: JSON, described by its own schema

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
# Team, benchmark, hors concours, invalid; the first two also tell two kinds apart.
LIGHT_CATEGORIES = ("#1f5fbf", "#b3470b", "#8a2fa0", "#6b7280")
DARK_CATEGORIES = ("#7ab8ff", "#ffb067", "#e29bf2", "#a5afbb")


def light() -> Spec:
    """The configuration for paper and for bright pages."""
    return _config(
        text="#1b1f24",
        muted="#57606a",
        line="#d0d7de",
        categories=LIGHT_CATEGORIES,
        # Strong colour = low privacy: what was found out is what is seen.
        scores=("#49006a", "#ae017e", "#f768a1", "#fcc5c0", "#fff4ef"),
        people=("#e3f1f4", "#7cc0d0", "#1f7f9c", "#0b4a63", "#062b3c"),
        alarm="#b42318",
        halo="#ffffff",
    )


def dark() -> Spec:
    """The configuration for dark pages."""
    return _config(
        text="#e6e9ee",
        muted="#a5afbb",
        line="#38424e",
        categories=DARK_CATEGORIES,
        scores=("#ffe9c7", "#ff9f80", "#d14d86", "#6a2a78", "#251b36"),
        people=("#1f3340", "#24607a", "#3f9ec0", "#8fdcf2", "#effbff"),
        alarm="#ff8a80",
        halo="#181d24",
    )


def _config(
    *,
    text: str,
    muted: str,
    line: str,
    categories: tuple[str, ...],
    scores: tuple[str, ...],
    people: tuple[str, ...],
    alarm: str,
    halo: str,
) -> Spec:
    labels = {"labelColor": text, "titleColor": text, "labelFontSize": 12, "titleFontSize": 13}
    return {
        # The picture is one image with a text and a table beside it, not thousands of parts.
        "aria": False,
        "background": None,
        "font": FONT,
        "view": {"stroke": line},
        "axis": {
            **labels,
            "titleFontWeight": 600,
            "gridColor": line,
            "domainColor": muted,
            "tickColor": muted,
            "labelFlush": False,
            "labelSeparation": 4,
            "tickCount": 10,
        },
        "legend": {
            **labels,
            "symbolStrokeWidth": 2,
            "gradientStrokeColor": line,
            # Letters are measured with other fonts than the reader may have.
            "columnPadding": 24,
        },
        "title": {"color": text, "fontSize": 13, "fontWeight": 600},
        "mark": {"color": categories[0]},
        "text": {"color": text, "fontSize": 11},
        "rule": {"color": muted},
        "range": {"category": list(categories), "heatmap": list(scores), "ramp": list(people)},
        # Colours as `color`, which Vega-Lite looks up here before it takes the one of all marks.
        "style": {
            "guide": {"color": muted, "strokeDash": [5, 4], "strokeWidth": 1.2},
            "note": {"color": muted, "fontSize": 11},
            "halo": {"color": halo, "strokeWidth": 4},
            # Numbers in the cells of a heat map: what the ramp begins with, and what it ends with.
            "on-strong": {"color": halo, "fontSize": 10},
            "on-pale": {"color": text, "fontSize": 10},
            "weakest": {"color": text, "strokeWidth": 1.8},
            "ghost": {"color": muted, "strokeWidth": 2, "opacity": 0.6},
            "path": {"color": categories[0], "strokeWidth": 2},
            "stay": {"color": categories[0]},
            "hospital": {"color": alarm, "opacity": 0.85},
            "ground": {"color": line, "fillOpacity": 0.25},
            "band": {"color": categories[0], "fillOpacity": 0.55},
            "middle": {"color": text},
        },
    }
