"""The charts of the lowest scores: one kind of privacy against the other, and utility.

Each function turns facts into one `Chart`.
"""

from __future__ import annotations

import math

from tracecup.contest.correlation import Correlation
from tracecup.report.chart import PICTURE_WIDTH, Chart, View, layered
from tracecup.report.facts import ContestFacts
from tracecup.report.markup import Cell, clean, element, spelled, table
from tracecup.report.theme import Spec

STATUSES = ("team", "benchmark", "hors concours", "invalid")
SHAPES = ("circle", "square", "diamond", "cross")
NAME_SIZE: Spec = {"expr": "width < 420 ? 8 : 10"}  # smaller on a phone
S_R, S_T = "re-identification (s_R)", "trace inference (s_T)"


def scatter(facts: ContestFacts) -> Chart:
    """s_R,min against s_T,min of every valid release, as the paper's Figure 9."""
    rows: list[dict[str, Cell]] = [
        {
            "label": release.label,
            "name": clean(release.name),
            "obfuscation": clean(release.obfuscation),
            "status": release.status,
            "x": x,
            "y": y,
        }
        for release, x, y in zip(facts.releases, facts.reid.minima, facts.trace.minima, strict=True)
        if release.attacked and x is not None and y is not None
    ]
    points: Spec = {
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.9},
        "params": [{"name": "chosen", "select": {"type": "point", "fields": ["status"]},
                    "bind": "legend"}],
        "encoding": {
            "x": _score_axis("x", "s_R,min (re-identification)"),
            "y": _score_axis("y", "s_T,min (trace inference)"),
            **_status_encoding({str(row["status"]) for row in rows}),
            "opacity": {"condition": {"param": "chosen", "value": 0.95}, "value": 0.12},
            "tooltip": tooltip(
                ("label", "Release"), ("name", "Team"), ("obfuscation", "Obfuscation"),
                ("x", "s_R,min"), ("y", "s_T,min"),
            ),
        },
    }  # fmt: skip
    # Names stand to the right of their points, at the right border to the left.
    names: list[Spec] = [
        {
            "transform": [{"filter": f"datum.x {side} 0.93"}],
            "mark": {"type": "text", "dx": dx, "dy": -8, "align": align, "fontSize": NAME_SIZE},
            "encoding": {
                "x": {"field": "x", "type": "quantitative"},
                "y": {"field": "y", "type": "quantitative"},
                "text": {"field": "label"},
                "opacity": {"condition": {"param": "chosen", "value": 1}, "value": 0.1},
            },
        }
        for side, dx, align in (("<", 7, "left"), (">=", -7, "right"))
    ]
    layers: list[Spec] = [points, *names]
    if facts.prior_ceiling is not None:
        layers = [*_ceiling(facts.prior_ceiling), *layers]
    spec = layered(*layers, data={"values": rows})
    return Chart(
        key="minima",
        title="Lowest scores of every release",
        caption=[
            "Each point is a release; both scores are the lowest that any attack left it with. "
            "Up and to the right is more private. ",
            _correlation_text(facts.correlation),
            element(
                "span", " Choose a word of the legend to see only those.", {"class": "hint"}
            ),
        ],
        alt=(
            f"Scatter plot of {len(rows)} releases: lowest re-identification score across, lowest "
            f"trace-inference score up. {_correlation_text(facts.correlation)}"
        ),
        views=(View("minima", {**spec, "height": 380}),),
        picture={**spec, "width": PICTURE_WIDTH - 180, "height": 380},
        table_title="Table: lowest scores of each release",
        table=table(
            "Lowest scores of each release",
            ("Release", "Team", "Obfuscation", "Status", "s_R,min", "s_T,min"),
            [
                (r["label"], r["name"], r["obfuscation"], r["status"], r["x"], r["y"])
                for r in rows
            ],
        ),
    )  # fmt: skip


def utility(facts: ContestFacts) -> Chart:
    """Utility against both minima; the two values of a release are joined by a line."""
    pairs = [
        (release, r, t)
        for release, r, t in zip(facts.releases, facts.reid.minima, facts.trace.minima, strict=True)
        if release.utility is not None and r is not None and t is not None
    ]
    rows = [
        {
            "label": release.label,
            "name": clean(release.name),
            "obfuscation": clean(release.obfuscation),
            "status": release.status,
            "utility": release.utility,
            "kind": kind,
            "score": score,
            "other": other,
        }
        for release, r, t in pairs
        for kind, score, other in ((S_R, r, t), (S_T, t, r))
    ]
    lowest = min([facts.floor, *(release.utility or 0.0 for release, _, _ in pairs)])
    domain = [max(0.0, math.floor(lowest * 10 - 0.5) / 10), 1]
    x = {
        "field": "utility",
        "type": "quantitative",
        "title": "Utility, s_U",
        "scale": {"domain": domain, "nice": False},
    }
    spec = layered(
        _guide("x", facts.floor),
        {
            "mark": {
                "type": "text",
                "style": "note",
                "align": "left",
                "dx": 4,
                "baseline": "top",
                "y": 4,
            },
            "data": {"values": [{"floor": facts.floor}]},
            "encoding": {
                "x": {"field": "floor", "type": "quantitative"},
                "text": {"value": f"floor {facts.floor:g}"},
            },
        },
        {
            "transform": [{"filter": f"datum.kind === '{S_R}'"}],
            "mark": {"type": "rule", "strokeWidth": 1, "opacity": 0.6},
            "encoding": {
                "x": x,
                "y": {"field": "score", "type": "quantitative"},
                "y2": {"field": "other"},
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 80},
            "encoding": {
                "x": x,
                "y": _score_axis("score", "Lowest privacy score"),
                "color": {
                    "field": "kind",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": [S_R, S_T], "range": "category"},
                    "legend": {"orient": "top"},
                },
                "shape": {
                    "field": "kind",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": [S_R, S_T], "range": ["circle", "square"]},
                },
                "tooltip": tooltip(
                    ("label", "Release"),
                    ("name", "Team"),
                    ("obfuscation", "Obfuscation"),
                    ("utility", "s_U"),
                    ("kind", "Against"),
                    ("score", "Lowest score"),
                ),
            },
        },
        data={"values": rows},
    )
    return Chart(
        key="utility",
        title="Utility against privacy",
        caption=(
            "What a release is still good for (across) and how private it stayed (up). A line "
            f"joins the two scores of a release. Left of the floor {facts.floor:g} a release is "
            "invalid and its privacy counts 0."
        ),
        alt=(
            f"Scatter plot of {len(pairs)} releases: utility across, lowest privacy scores up, "
            f"with the utility floor at {facts.floor:g}."
        ),
        views=(View("utility", {**spec, "height": 340}),),
        picture={**spec, "width": PICTURE_WIDTH - 60, "height": 340},
        table_title="Table: utility and privacy of each release",
        table=table(
            "Utility and lowest privacy scores of each release",
            ("Release", "Team", "Obfuscation", "s_U", "Valid", "s_R,min", "s_T,min"),
            [
                (
                    release.label,
                    clean(release.name),
                    clean(release.obfuscation),
                    release.utility,
                    "yes" if release.valid else "no",
                    r,
                    t,
                )
                for release, r, t in pairs
            ],
        ),
    )


def _correlation_text(correlation: Correlation) -> str:
    if correlation.value is None:
        return f"There is no correlation: {correlation.reason}."
    sure = (
        f", {correlation.confidence:.0%} interval {correlation.low:.2f} to {correlation.high:.2f}"
        if correlation.low is not None and correlation.high is not None
        else ""
    )
    return (
        f"Correlation R = {correlation.value:.3f}{sure}, over {correlation.pairs} releases (valid "
        "teams and the benchmark)."
    )


def _ceiling(value: float) -> list[Spec]:
    text = f"without the release: {spelled(value)}"
    return [
        _guide("y", value),
        {
            "data": {"values": [{"y": value, "x": 0.01}]},
            "mark": {"type": "text", "style": "note", "align": "left", "dy": -6},
            "encoding": {
                "x": {"field": "x", "type": "quantitative"},
                "y": {"field": "y", "type": "quantitative"},
                "text": {"value": text},
            },
        },
    ]


def _guide(channel: str, value: float) -> Spec:
    """A line across the plot."""
    return {
        "data": {"values": [{"at": value}]},
        "mark": {"type": "rule", "style": "guide"},
        "encoding": {channel: {"field": "at", "type": "quantitative"}},
    }


def _score_axis(field: str, title: str) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [0, 1], "nice": False},
    }


def _status_encoding(present: set[str]) -> dict[str, Spec]:
    """Colour and shape by status; only those that occur stand in the legend."""
    legend = {"orient": "top", "values": [s for s in STATUSES if s in present]}
    common = {"field": "status", "type": "nominal", "title": None, "legend": legend}
    return {
        "color": {**common, "scale": {"domain": list(STATUSES), "range": "category"}},
        "shape": {**common, "scale": {"domain": list(STATUSES), "range": list(SHAPES)}},
    }


def tooltip(*fields: tuple[str, str]) -> list[Spec]:
    """Fields and their titles; scores with three digits."""
    return [
        {"field": field, "title": title, "type": "quantitative", "format": ".3f"}
        if field in {"x", "y", "score", "utility"}
        else {"field": field, "title": title, "type": "nominal"}
        for field, title in fields
    ]
