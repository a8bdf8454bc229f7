"""Charts of a round's results: the two minima, utility, the matrices.

Built from `services.pagedata.results`; every number is in the table beside the chart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from tracecup.report.chart import layered
from tracecup.report.theme import Spec
from tracecup.server.pages.charts import Chart, Column, Table, View
from tracecup.server.services.pagedata.board import Board, CorrelationInfo, MatrixInfo, ReleaseRow

STATUSES = ("team", "benchmark", "hors concours", "invalid")
SHAPES = ("circle", "square", "diamond", "cross")
ROW_HEIGHT = 24
UPRIGHT = 16
SYMBOLS = {"reid": "s_R", "trace": "s_T"}


def scatter(board: Board) -> Chart:
    """s_R,min against s_T,min of every release that was attacked."""
    shown = _attacked(board.releases)
    rows = [
        {"label": one.label, "name": who(one), "status": status(one.status), "x": one.reid_min,
         "y": one.trace_min}
        for one in shown
    ]  # fmt: skip
    points: Spec = {
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.9},
        "encoding": {
            "x": _axis("x", _("s_R,min (re-identification)")),
            "y": _axis("y", _("s_T,min (trace inference)")),
            **_by_status({one.status for one in shown}),
            "tooltip": _tooltip(
                ("label", _("Release")), ("name", _("Team")), ("x", "s_R,min"), ("y", "s_T,min")
            ),
        },
    }
    names = [
        {
            "transform": [{"filter": f"datum.x {side} 0.93"}],
            "mark": {"type": "text", "dx": dx, "dy": -8, "align": align, "fontSize": 10},
            "encoding": {
                "x": {"field": "x", "type": "quantitative"},
                "y": {"field": "y", "type": "quantitative"},
                "text": {"field": "label"},
            },
        }
        for side, dx, align in (("<", 7, "left"), (">=", -7, "right"))
    ]
    said = correlation_text(board.correlation)
    return Chart(
        key="minima",
        title=_("Two kinds of privacy"),
        caption=_(
            "Each point is a release; both scores are the lowest that any attack left it with. "
            "Up and to the right is more private. {said}"
        ).format(said=said),
        alt=_(
            "Scatter plot of {count} releases: lowest re-identification score across, lowest "
            "trace-inference score up. {said}"
        ).format(count=len(rows), said=said),
        views=(View("minima", layered(points, *names, data={"values": rows}, height=380)),),
        table_title=_("Table: lowest scores of each release"),
        table=Table(
            _("Lowest scores of each release; higher is more private"),
            (
                Column(_("Release"), number=False),
                Column(_("Team"), number=False),
                Column(_("Status"), number=False),
                Column("s_R,min"),
                Column("s_T,min"),
            ),
            tuple(
                (
                    one.label,
                    who(one),
                    status(one.status),
                    number(one.reid_min),
                    number(one.trace_min),
                )
                for one in shown
            ),
        ),
    )


def utility(board: Board, floor: float) -> Chart:
    """Utility against both minima; a line joins the two scores of a release."""
    shown = [one for one in _attacked(board.releases) if one.utility is not None]
    kinds = {"reid": _("re-identification (s_R)"), "trace": _("trace inference (s_T)")}
    rows = [
        {"label": one.label, "name": who(one), "utility": one.utility, "kind": kinds[kind],
         "first": kind == "reid", "score": score, "other": other}
        for one in shown
        for kind, score, other in (
            ("reid", one.reid_min, one.trace_min), ("trace", one.trace_min, one.reid_min)
        )
    ]  # fmt: skip
    lowest = min([floor, *(one.utility or 0.0 for one in shown)])
    x = {
        "field": "utility",
        "type": "quantitative",
        "title": _("Utility, s_U"),
        "scale": {"domain": [max(0.0, math.floor(lowest * 10 - 0.5) / 10), 1], "nice": False},
    }
    kind = {"field": "kind", "type": "nominal", "title": None}
    domain = list(kinds.values())
    spec = layered(
        {
            "data": {"values": [{"at": floor}]},
            "mark": {"type": "rule", "style": "guide"},
            "encoding": {"x": {**x, "field": "at"}},
        },
        {
            "transform": [{"filter": "datum.first"}],
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
                "y": _axis("score", _("Lowest privacy score")),
                "color": {
                    **kind,
                    "scale": {"domain": domain, "range": "category"},
                    "legend": {"orient": "top", "columns": 1},
                },
                "shape": {**kind, "scale": {"domain": domain, "range": ["circle", "square"]}},
                "tooltip": _tooltip(
                    ("label", _("Release")),
                    ("name", _("Team")),
                    ("utility", "s_U"),
                    ("kind", _("Against")),
                    ("score", _("Lowest score")),
                ),
            },
        },
        data={"values": rows},
        height=340,
    )
    return Chart(
        key="utility",
        title=_("What privacy costs"),
        caption=_(
            "What a release is still good for (across) and how private it stayed (up). A line "
            "joins the two scores of a release. Left of the floor {floor} a release is invalid."
        ).format(floor=f"{floor:g}"),
        alt=_(
            "Scatter plot of {count} releases: utility across, lowest privacy scores up, with the "
            "floor at {floor}."
        ).format(count=len(shown), floor=f"{floor:g}"),
        views=(View("utility", spec),),
        table_title=_("Table: utility and privacy of each release"),
        table=Table(
            _("Utility and lowest privacy scores of each release"),
            (
                Column(_("Release"), number=False),
                Column(_("Team"), number=False),
                Column("s_U"),
                Column("s_R,min"),
                Column("s_T,min"),
            ),
            tuple(
                (
                    one.label,
                    who(one),
                    number(one.utility),
                    number(one.reid_min),
                    number(one.trace_min),
                )
                for one in shown
            ),
        ),
    )


def heat_map(matrix: MatrixInfo) -> Chart:
    """Every score of one kind: releases down, attackers across; the row's lowest is framed."""
    symbol = SYMBOLS[matrix.kind]
    columns = [one.label for one in matrix.attackers]
    labels = [row.label for row in matrix.rows]
    cells = [
        {"release": row.label, "name": row.name, "attacker": one.label,
         "who": one.name or one.attack, "score": value,
         "lowest": value is not None and value == _least(row.values)}
        for row in matrix.rows
        for one, value in zip(matrix.attackers, row.values, strict=True)
    ]  # fmt: skip
    found = [value for row in matrix.rows for value in row.values if value is not None]
    low = math.floor(min(found, default=0.0) * 10) / 10
    ordinal = {"type": "nominal"}
    spec = layered(
        {
            "transform": [{"filter": "datum.score !== null"}],
            "mark": {"type": "rect"},
            "encoding": {
                "color": {
                    "field": "score",
                    "type": "quantitative",
                    "title": symbol,
                    "scale": {"domain": [min(low, 0.9), 1], "range": "heatmap"},
                    "legend": {"orient": "top", "gradientLength": 220, "format": ".1f"},
                },
                "tooltip": _tooltip(
                    ("release", _("Release")),
                    ("name", _("Team")),
                    ("attacker", _("Attacker")),
                    ("who", _("Who")),
                    ("score", symbol),
                ),
            },
        },
        {
            "transform": [{"filter": "datum.score === null"}],
            "mark": {"type": "text", "text": "·", "style": "note", "fontSize": 16},
        },
        *(
            {
                "transform": [{"filter": "datum.lowest"}],
                "mark": {"type": "rect", "filled": False, "style": style, "tooltip": None},
            }
            for style in ("halo", "weakest")
        ),
        data={"values": cells},
        encoding={
            "x": {
                "field": "attacker",
                **ordinal,
                "sort": columns,
                "scale": {"domain": columns},
                "axis": {
                    "title": _("Attacker"),
                    "orient": "top",
                    "ticks": False,
                    "labelAngle": 0 if len(columns) <= UPRIGHT else -90,
                },
            },
            "y": {
                "field": "release",
                **ordinal,
                "sort": labels,
                "scale": {"domain": labels},
                "axis": {"title": _("Release"), "ticks": False},
            },
        },
        height=ROW_HEIGHT * len(labels),
    )
    long = _("re-identification") if matrix.kind == "reid" else _("trace inference")
    return Chart(
        key=f"matrix-{matrix.kind}",
        title=_("Who broke whom: {kind}").format(kind=long),
        caption=_(
            "{symbol} of every release (rows) against every attacker (columns). The more a cell "
            "stands out from the page, the more the attacker found out. The frame marks the "
            "strongest attack on each release; a dot means its own release or no answer."
        ).format(symbol=symbol),
        alt=_heat_alt(symbol, matrix),
        views=(View(f"matrix-{matrix.kind}", spec),),
        table_title=_("Table: all {symbol} scores").format(symbol=symbol),
        table=Table(
            _("{symbol} of every release (rows) against every attacker (columns)").format(
                symbol=symbol
            ),
            (
                Column(_("Release"), number=False),
                *(Column(one) for one in columns),
                Column(_("Lowest")),
            ),
            tuple(
                (
                    row.label,
                    *(number(value) for value in row.values),
                    number(row.minimum),
                )
                for row in matrix.rows
            ),
        ),
        wide=True,
    )


def correlation_text(found: CorrelationInfo) -> str:
    """The correlation in a sentence."""
    if found.value is None:
        return _("There is no correlation: {reason}.").format(reason=found.reason)
    if found.low is None or found.high is None:
        return _("Correlation R = {r:.3f} over {pairs} releases.").format(
            r=found.value, pairs=found.pairs
        )
    return _(
        "Correlation R = {r:.3f}, {confidence:.0%} interval {low:.2f} to {high:.2f}, over {pairs} "
        "releases (valid teams and the benchmark)."
    ).format(
        r=found.value,
        confidence=found.confidence,
        low=found.low,
        high=found.high,
        pairs=found.pairs,
    )


def who(one: ReleaseRow) -> str:
    """Whose release it is."""
    return _("Benchmark") if one.status == "benchmark" else one.name


def status(name: str) -> str:
    """The word for the status of a release."""
    return {
        "team": _("team"),
        "benchmark": _("benchmark"),
        "hors concours": _("out of competition"),
        "invalid": _("invalid"),
    }[name]


def number(value: float | None) -> str:
    """A score as tables write it."""
    return "–" if value is None else f"{value:.3f}"


def _minima(one: ReleaseRow) -> tuple[str, str]:
    return number(one.reid_min), number(one.trace_min)


def _attacked(releases: Sequence[ReleaseRow]) -> list[ReleaseRow]:
    return [
        one
        for one in releases
        if one.status != "invalid" and one.reid_min is not None and one.trace_min is not None
    ]


def _least(values: Sequence[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _heat_alt(symbol: str, matrix: MatrixInfo) -> str:
    cells = [
        (value, row.label, one.label)
        for row in matrix.rows
        for one, value in zip(matrix.attackers, row.values, strict=True)
        if value is not None
    ]
    if not cells:
        return _("Heat map of {symbol}; nothing was attacked.").format(symbol=symbol)
    value, release, attacker = min(cells)
    return _(
        "Heat map of {symbol}, {rows} releases by {columns} attackers. The lowest score, "
        "{value:.3f}, is {attacker} against {release}."
    ).format(
        symbol=symbol,
        rows=len(matrix.rows),
        columns=len(matrix.attackers),
        value=value,
        attacker=attacker,
        release=release,
    )


def _axis(field: str, title: str) -> Spec:
    scale = {"domain": [0, 1], "nice": False}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale}


def _by_status(present: set[str]) -> dict[str, Spec]:
    """Colour and shape by status; only those that occur stand in the legend."""
    words = [status(one) for one in STATUSES]
    legend = {
        "orient": "top",
        "columns": 2,
        "values": [status(one) for one in STATUSES if one in present],
    }
    common = {"field": "status", "type": "nominal", "title": None, "legend": legend}
    return {
        "color": {**common, "scale": {"domain": words, "range": "category"}},
        "shape": {**common, "scale": {"domain": words, "range": list(SHAPES)}},
    }


def _tooltip(*fields: tuple[str, str]) -> list[Any]:
    numbers = {"x", "y", "score", "utility"}
    return [
        {"field": field, "title": title, "type": "quantitative", "format": ".3f"}
        if field in numbers
        else {"field": field, "title": title, "type": "nominal"}
        for field, title in fields
    ]
