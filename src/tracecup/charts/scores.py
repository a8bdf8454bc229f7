"""The charts of the lowest scores: one kind of privacy against the other, and utility.

`scatter` and `utility` turn facts into a `Chart`; the site uses the layers with its own words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tracecup.contest.correlation import Correlation
from tracecup.report.chart import PICTURE_WIDTH, Chart, View, layered
from tracecup.report.facts import ContestFacts
from tracecup.report.markup import Cell, clean, element, spelled, table
from tracecup.report.theme import Spec

STATUSES = ("team", "benchmark", "hors concours", "invalid")
SHAPES = ("circle", "square", "diamond", "cross")
# Smaller names and narrower legends on a phone.
NAME_SIZE: Spec = {"expr": "width < 420 ? 8 : 10"}
STATUS_COLUMNS: Spec = {"expr": "width < 300 ? 1 : width < 420 ? 2 : 4"}
KIND_COLUMNS: Spec = {"expr": "width < 420 ? 1 : 2"}

Row = dict[str, Cell]


@dataclass(frozen=True)
class ScoreWords:
    """What the charts of scores say; fields without a word are not in the tooltips.

    `statuses` are the words for `STATUSES`; `floor` holds the place of a number.
    """

    release: str = "Release"
    team: str = "Team"
    obfuscation: str = "Obfuscation"
    statuses: tuple[str, ...] = STATUSES
    reid_axis: str = "s_R,min (re-identification)"
    trace_axis: str = "s_T,min (trace inference)"
    utility: str = "Utility, s_U"
    privacy: str = "Lowest privacy score"
    reid: str = "re-identification (s_R)"
    trace: str = "trace inference (s_T)"
    floor: str = "floor {floor}"
    against: str = "Against"
    lowest: str = "Lowest score"
    attacker: str = "Attacker"
    who: str = "Attacking team"
    attack: str = "Attack"


ENGLISH = ScoreWords()


def scatter(facts: ContestFacts) -> Chart:
    """s_R,min against s_T,min of every valid release, as the paper's Figure 9."""
    rows: list[Row] = [
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
    guide = [] if facts.prior_ceiling is None else _ceiling(facts.prior_ceiling)
    spec = layered(*guide, *minima_layers(rows), data={"values": rows})
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
        row
        for release, r, t in pairs
        for row in both_scores(
            {
                "label": release.label,
                "name": clean(release.name),
                "obfuscation": clean(release.obfuscation),
                "status": release.status,
                "utility": release.utility,
            },
            r,
            t,
        )
    ]
    spec = layered(*utility_layers(rows, facts.floor), data={"values": rows})
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


def minima_layers(rows: Sequence[Row], words: ScoreWords = ENGLISH) -> list[Spec]:
    """A point at (`x`, `y`) per row, in the colour of its `status`, with its `label`."""
    points: Spec = {
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.9},
        "params": [{"name": "chosen", "select": {"type": "point", "fields": ["status"]},
                    "bind": "legend"}],
        "encoding": {
            "x": _score_axis("x", words.reid_axis),
            "y": _score_axis("y", words.trace_axis),
            **_status_encoding(words.statuses, {row["status"] for row in rows}),
            "opacity": {"condition": {"param": "chosen", "value": 0.95}, "value": 0.12},
            "tooltip": tooltip(
                ("label", words.release), ("name", words.team), ("obfuscation", words.obfuscation),
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
    return [points, *names]


def both_scores(
    row: Mapping[str, Cell], reid: Cell, trace: Cell, words: ScoreWords = ENGLISH
) -> list[Row]:
    """The two points of a release in the chart of utility."""
    return [
        {**row, "kind": words.reid, "score": reid, "other": trace},
        {**row, "kind": words.trace, "score": trace, "other": reid},
    ]


def utility_layers(rows: Sequence[Row], floor: float, words: ScoreWords = ENGLISH) -> list[Spec]:
    """The floor, and the points of `both_scores` over their `utility`, joined by a line."""
    lowest = min([floor, *(float(row["utility"] or 0.0) for row in rows)])
    x = {
        "field": "utility",
        "type": "quantitative",
        "title": words.utility,
        "scale": {"domain": [max(0.0, math.floor(lowest * 10 - 0.5) / 10), 1], "nice": False},
    }
    kind = {"field": "kind", "type": "nominal", "title": None}
    domain = [words.reid, words.trace]
    return [
        _guide("x", floor, x),
        {
            "mark": {
                "type": "text",
                "style": "note",
                "align": "left",
                "dx": 4,
                "baseline": "top",
                "y": 4,
            },
            "data": {"values": [{"floor": floor}]},
            "encoding": {
                "x": {**x, "field": "floor"},
                "text": {"value": words.floor.format(floor=f"{floor:g}")},
            },
        },
        {
            "transform": [{"filter": f"datum.kind === {json.dumps(words.reid)}"}],
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
                "y": _score_axis("score", words.privacy),
                "color": {
                    **kind,
                    "scale": {"domain": domain, "range": "category"},
                    "legend": {"orient": "top", "columns": KIND_COLUMNS},
                },
                "shape": {**kind, "scale": {"domain": domain, "range": ["circle", "square"]}},
                "tooltip": tooltip(
                    ("label", words.release),
                    ("name", words.team),
                    ("obfuscation", words.obfuscation),
                    ("utility", "s_U"),
                    ("kind", words.against),
                    ("score", words.lowest),
                ),
            },
        },
    ]


def tooltip(*fields: tuple[str, str]) -> list[Spec]:
    """Fields and their titles, those without one left out; scores with three digits."""
    return [
        {"field": field, "title": title, "type": "quantitative", "format": ".3f"}
        if field in {"x", "y", "score", "utility"}
        else {"field": field, "title": title, "type": "nominal"}
        for field, title in fields
        if title
    ]


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
        _guide("y", value, {"type": "quantitative"}),
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


def _guide(channel: str, value: float, axis: Spec) -> Spec:
    """A line across the plot."""
    return {
        "data": {"values": [{"at": value}]},
        "mark": {"type": "rule", "style": "guide"},
        "encoding": {channel: {**axis, "field": "at"}},
    }


def _score_axis(field: str, title: str) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [0, 1], "nice": False},
    }


def _status_encoding(words: Sequence[str], present: set[Cell]) -> dict[str, Spec]:
    """Colour and shape by status; only those that occur stand in the legend."""
    legend = {
        "orient": "top",
        "columns": STATUS_COLUMNS,
        "values": [word for word in words if word in present],
    }
    common = {"field": "status", "type": "nominal", "title": None, "legend": legend}
    return {
        "color": {**common, "scale": {"domain": list(words), "range": "category"}},
        "shape": {**common, "scale": {"domain": list(words), "range": list(SHAPES)}},
    }
