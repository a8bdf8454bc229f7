"""The charts of the lowest scores: one kind of privacy against the other, and utility.

Both take the facts of a board and the language; the report and the site show the same ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from tracecup.charts.figure import PICTURE_WIDTH, Figure, Listing, View, guide, layered, tooltip
from tracecup.charts.labels import Spot, label_fields, label_layers
from tracecup.charts.theme import Spec
from tracecup.charts.words import Tell, plain, status, who
from tracecup.contest.correlation import Correlation
from tracecup.facts.board import STATUSES, BoardFacts, ReleaseFacts
from tracecup.facts.text import Cell, clean, spelled
from tracecup.methodnames import short_method

SHAPES = ("circle", "square", "diamond", "cross")
HEIGHT, UTILITY_HEIGHT = 380, 340
LONGEST_NAME = 20
NOTE_AT = 0.97
"""Where the word at the floor stands, from 0 to 1."""
# Narrower legends on a phone. The place's width, not the plot's: that one depends on the legend.
STATUS_COLUMNS: Spec = {"expr": "containerSize()[0] < 480 ? 1 : 4"}
KIND_COLUMNS: Spec = {"expr": "containerSize()[0] < 480 ? 1 : 2"}

Row = dict[str, Cell]


def scatter(board: BoardFacts, tell: Tell = plain) -> Figure:
    """s_R,min against s_T,min of every release that was attacked, as the paper's Figure 9."""
    rows = [
        {**_about(one, tell), "x": one.reid_min, "y": one.trace_min, **_bounds(one)}
        for one in board.scored
    ]
    named = label_fields(
        [(float(row["x"] or 0), float(row["y"] or 0)) for row in rows],
        [_name(row) for row in rows],
        [str(row["label"]) for row in rows],
        HEIGHT,
    )
    data = [{**row, **label} for row, label in zip(rows, named, strict=True)]
    ceiling = [] if board.ceiling is None else _ceiling(board.ceiling, tell)
    spec = layered(*ceiling, *_minima_layers(rows, tell), data={"values": data}, height=HEIGHT)
    said = correlation_text(board.correlation, tell)
    return Figure(
        key="minima",
        title=tell("Two kinds of privacy"),
        caption=tell(
            "Each point is a release; both scores are the lowest that any attack left it with. "
            "Up and to the right is more private. {said}"
        ).format(said=said)
        + _ceiling_text(board, tell),
        hint=tell("Choose a word of the legend to see only those."),
        alt=tell(
            "Scatter plot of {count} releases: lowest re-identification score across, lowest "
            "trace-inference score up. {said}"
        ).format(count=len(rows), said=said),
        views=(View("minima", spec),),
        picture={**spec, "width": PICTURE_WIDTH - 180},
        table_title=tell("Table: lowest scores of each release"),
        table=_listing(
            tell("Lowest scores of each release; higher is more private"),
            rows,
            {"status": tell("Status"), "x": "s_R,min", "y": "s_T,min", **_bound_names(tell)},
            tell,
        ),
    )


def utility(board: BoardFacts, floor: float, tell: Tell = plain) -> Figure:
    """Utility against both minima; a line joins the two scores of a release."""
    shown = [
        {
            **_about(one, tell),
            "utility": one.utility,
            "reid": one.reid_min,
            "trace": one.trace_min,
            **_bounds(one),
        }
        for one in board.releases
        if None not in (one.utility, one.reid_min, one.trace_min)
    ]
    spec = _utility_spec(shown, floor, tell)
    return Figure(
        key="utility",
        title=tell("What privacy costs"),
        caption=tell(
            "What a release is still good for (across) and how private it stayed (up). A line "
            "joins the two scores of a release. Left of the floor {floor} a release is invalid "
            "and its privacy counts 0. The dashed line falling to the right is 1 - s_U: an "
            "attacker who is told which pseudonym is whose gets s_T down to it or below."
        ).format(floor=f"{floor:g}"),
        alt=tell(
            "Scatter plot of {count} releases: utility across, lowest privacy scores up, with the "
            "floor at {floor}."
        ).format(count=len(shown), floor=f"{floor:g}"),
        views=(View("utility", spec),),
        picture={**spec, "width": PICTURE_WIDTH - 60},
        table_title=tell("Table: utility and privacy of each release"),
        table=_listing(
            tell("Utility and lowest privacy scores of each release"),
            shown,
            {
                "utility": "s_U",
                "status": tell("Status"),
                "reid": "s_R,min",
                "trace": "s_T,min",
                **_bound_names(tell),
            },
            tell,
        ),
    )


def correlation_text(found: Correlation, tell: Tell = plain) -> str:
    """The correlation in a sentence."""
    if found.value is None:
        return tell("There is no correlation: {reason}.").format(reason=found.reason)
    if found.low is None or found.high is None:
        return tell("Correlation R = {r:.3f} over {pairs} releases.").format(
            r=found.value, pairs=found.pairs
        )
    return tell(
        "Correlation R = {r:.3f}, {confidence:.0%} interval {low:.2f} to {high:.2f}, over {pairs} "
        "releases (valid teams and the benchmark)."
    ).format(
        r=found.value,
        confidence=found.confidence,
        low=found.low,
        high=found.high,
        pairs=found.pairs,
    )


def _ceiling_text(board: BoardFacts, tell: Tell) -> str:
    """What the line across the plot says."""
    if board.ceiling is None:
        return ""
    said = tell(
        "The dashed line is the s_T of an attacker who never saw the release. A release above it "
        "met weak attacks and earns no credit for the difference."
    )
    return f" {said}"


def _bounds(one: ReleaseFacts) -> Row:
    return {"reid_bound": one.bounds.reid, "ceiling": one.ceiling, "true_link": one.true_link}


def _bound_names(tell: Tell) -> dict[str, str]:
    return {
        "reid_bound": tell("s_R at most"),
        "ceiling": tell("s_T without the release"),
        "true_link": tell("s_T, link known, at most"),
    }


def _about(one: ReleaseFacts, tell: Tell) -> Row:
    return {
        "label": one.label,
        "name": who(one, tell),
        "obfuscation": clean(short_method(one.method)),
        "status": status(one.status, tell),
    }


def _told(rows: Sequence[Row], tell: Tell) -> dict[str, str]:
    """What tooltips and tables tell of a release; its method only where somebody told it."""
    told = {"label": tell("Release"), "name": tell("Team"), "obfuscation": tell("Obfuscation")}
    if not any(row["obfuscation"] for row in rows):
        del told["obfuscation"]
    return told


def _listing(caption: str, rows: Sequence[Row], more: Mapping[str, str], tell: Tell) -> Listing:
    columns = {**_told(rows, tell), **more}
    cells = tuple(tuple(row[name] for name in columns) for row in rows)
    return Listing(caption, tuple(columns.values()), cells)


def _minima_layers(rows: Sequence[Row], tell: Tell) -> list[Spec]:
    """A point at (`x`, `y`) per row, in the colour of its `status`, with its `label`."""
    points: Spec = {
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.9},
        "params": [{"name": "chosen", "select": {"type": "point", "fields": ["status"]},
                    "bind": "legend"}],
        "encoding": {
            "x": _score_axis("x", tell("s_R,min (re-identification)")),
            "y": _score_axis("y", tell("s_T,min (trace inference)")),
            **_status_encoding([status(one, tell) for one in STATUSES], rows),
            "opacity": {"condition": {"param": "chosen", "value": 0.95}, "value": 0.12},
            "tooltip": tooltip({**_told(rows, tell), "x": "s_R,min", "y": "s_T,min"}),
        },
    }  # fmt: skip
    seen = {"condition": {"param": "chosen", "value": 1}, "value": 0.1}
    return [points, *label_layers("x", "y", seen)]


def _utility_spec(shown: Sequence[Row], floor: float, tell: Tell) -> Spec:
    """The floor, and two points of each release over its `utility`, joined by a line."""
    reid, trace = tell("re-identification (s_R)"), tell("trace inference (s_T)")
    lowest = min([floor, *(float(row["utility"] or 0.0) for row in shown)])
    left = max(0.0, math.floor(lowest * 10 - 0.5) / 10)
    note = tell("floor {floor}").format(floor=f"{floor:g}")
    rows = [
        {**row, "kind": kind, "score": row[mine], "other": row[others], **label}
        for row, names in zip(shown, _utility_names(shown, left, floor, note), strict=True)
        for kind, mine, others, label in (
            (reid, "reid", "trace", names if _above(row, "reid", "trace") else {}),
            (trace, "trace", "reid", {} if _above(row, "reid", "trace") else names),
        )
    ]
    x: Spec = {
        "field": "utility",
        "type": "quantitative",
        "title": tell("Utility, s_U"),
        "scale": {"domain": [left, 1], "nice": False},
    }
    kind = {"field": "kind", "type": "nominal", "title": None}
    domain = [reid, trace]
    return layered(
        guide("x", floor, x),
        {
            "data": {"values": [{"u": left, "b": 1 - left}, {"u": 1, "b": 0}]},
            "mark": {"type": "line", "style": "guide", "tooltip": None},
            "encoding": {"x": {**x, "field": "u"}, "y": {"field": "b", "type": "quantitative"}},
        },
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
                "text": {"value": note},
            },
        },
        {
            "transform": [{"filter": f"datum.kind === {json.dumps(reid)}"}],
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
                "y": _score_axis("score", tell("Lowest privacy score")),
                "color": {
                    **kind,
                    "scale": {"domain": domain, "range": "category"},
                    "legend": {"orient": "top", "columns": KIND_COLUMNS},
                },
                "shape": {**kind, "scale": {"domain": domain, "range": ["circle", "square"]}},
                "tooltip": tooltip(
                    {
                        **_told(shown, tell),
                        "utility": "s_U",
                        "kind": tell("Against"),
                        "score": tell("Lowest score"),
                    }
                ),
            },
        },
        *label_layers("utility", "score"),
        data={"values": rows},
        height=UTILITY_HEIGHT,
    )


def _utility_names(
    shown: Sequence[Row], left: float, floor: float, note: str
) -> list[dict[str, str | float]]:
    """Names beside the upper of the two points of each release, off the lower ones and the note."""

    def across(utility: Cell) -> float:
        return (float(utility or 0) - left) / (1 - left)

    pairs = [sorted((float(row["reid"] or 0), float(row["trace"] or 0))) for row in shown]
    return label_fields(
        [(across(row["utility"]), pair[1]) for row, pair in zip(shown, pairs, strict=True)],
        [_name(row) for row in shown],
        [str(row["label"]) for row in shown],
        UTILITY_HEIGHT,
        [
            Spot(across(floor), NOTE_AT, note),
            *(
                Spot(across(row["utility"]), pair[0], "")
                for row, pair in zip(shown, pairs, strict=True)
            ),
        ],
    )


def _above(row: Row, one: str, other: str) -> bool:
    return float(row[one] or 0) >= float(row[other] or 0)


def _name(row: Row) -> str:
    """How a release is called on a wide page."""
    return clean(str(row["name"]) or str(row["label"]), LONGEST_NAME)


def _ceiling(value: float, tell: Tell) -> list[Spec]:
    text = tell("without the release: {score}").format(score=spelled(value))
    return [
        guide("y", value, {"type": "quantitative"}),
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


def _score_axis(field: str, title: str) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [0, 1], "nice": False},
    }


def _status_encoding(words: Sequence[str], rows: Sequence[Row]) -> dict[str, Spec]:
    """Colour and shape by status; only those that occur stand in the legend."""
    present = {row["status"] for row in rows}
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
