"""The two matrices of a contest as heat maps: who broke whom, and by how much.

A cell that stands out from the page is one where much was found out.
"""

from __future__ import annotations

import math

from tracecup.charts.figure import PICTURE_WIDTH, Figure, Listing, View, layered, tooltip
from tracecup.charts.theme import Spec
from tracecup.charts.words import Tell, plain, who
from tracecup.facts.board import SYMBOLS, TITLES, MatrixFacts
from tracecup.facts.text import Cell, clean

ROW_HEIGHT = 22
# Numbers and names fit into this many columns on a page.
MOST_NUMBERED = 14
MOST_NAMED = 24
LONGEST_NAME = 18
# Where on the ramp of scores letters change from those of strong cells to those of pale ones.
PALE_FROM = 0.42


def heat_map(matrix: MatrixFacts, tell: Tell = plain, *, detailed: bool = False) -> Figure:
    """Every score of one kind: releases down, attackers across; the row's lowest is framed.

    A `detailed` table names teams beside their numbers and has a digit more.
    """
    symbol = SYMBOLS[matrix.kind]
    spec = _heat_spec(matrix, tell)
    return Figure(
        key=f"matrix-{matrix.kind}",
        title=tell("Who broke whom: {kind}").format(kind=tell(TITLES[matrix.kind])),
        caption=tell(
            "{symbol} of every release (rows) against every attacker (columns). The more a cell "
            "stands out from the page, the more the attacker found out. The frame marks the "
            "strongest attack on each release; a dot means its own release or no answer."
        ).format(symbol=symbol),
        alt=_heat_alt(matrix, tell),
        views=(View(f"matrix-{matrix.kind}", spec),),
        picture={**spec, "width": PICTURE_WIDTH - 80},
        table_title=tell("Table: all {symbol} scores").format(symbol=symbol),
        table=Listing(
            tell("{symbol} of every release (rows) against every attacker (columns)").format(
                symbol=symbol
            ),
            (
                tell("Release"),
                *(
                    f"{one.label} {clean(one.name or one.attack)}" if detailed else one.label
                    for one in matrix.attackers
                ),
                tell("Lowest"),
                tell("At most"),
                tell("Strongest attack"),
            ),
            tuple(
                (
                    f"{row.label} {who(row, tell)}" if detailed else row.label,
                    *row.values,
                    row.minimum,
                    row.bound,
                    row.by or "–",
                )
                for row in matrix.rows
            ),
            digits=4 if detailed else 3,
        ),
        wide=True,
    )


def _heat_spec(matrix: MatrixFacts, tell: Tell) -> Spec:
    """A rectangle per release and attacker in the colour of its score."""
    symbol = SYMBOLS[matrix.kind]
    cells = _cells(matrix, tell)
    columns, rows = _names(matrix, tell)
    found = [float(c["score"]) for c in cells if c["score"] is not None]
    low = min(math.floor(min(found, default=0.0) * 10) / 10, 0.9)
    return layered(
        {
            "transform": [{"filter": "datum.score !== null"}],
            "mark": {"type": "rect"},
            "encoding": {
                "color": {
                    "field": "score",
                    "type": "quantitative",
                    "title": symbol,
                    "scale": {"domain": [low, 1], "range": "heatmap"},
                    "legend": {"orient": "top", "gradientLength": 220, "format": ".1f"},
                },
                "tooltip": tooltip(
                    {
                        "release": tell("Release"),
                        "name": tell("Team"),
                        "attacker": tell("Attacker"),
                        "who": tell("Who"),
                        "attack": tell("Attack"),
                        "score": symbol,
                    }
                ),
            },
        },
        {
            "transform": [{"filter": "datum.score === null"}],
            "mark": {"type": "text", "text": "·", "style": "note", "fontSize": 16},
        },
        # A frame of two tones is seen on dark and on pale cells.
        *(
            {
                "transform": [{"filter": "datum.lowest"}],
                "mark": {"type": "rect", "filled": False, "style": style, "tooltip": None},
            }
            for style in ("halo", "weakest")
        ),
        *(_numbers(low) if len(columns) <= MOST_NUMBERED else ()),
        data={"values": cells},
        encoding={
            "x": {
                "field": "column",
                "type": "nominal",
                "sort": columns,
                "scale": {"domain": columns},
                "axis": {
                    "title": tell("Attacker"),
                    "orient": "top",
                    "ticks": False,
                    **_angle(columns),
                },
            },
            "y": {
                "field": "row",
                "type": "nominal",
                "sort": rows,
                "scale": {"domain": rows},
                "axis": {"title": None, "ticks": False, "labelLimit": 220},
            },
        },
        height=ROW_HEIGHT * len(rows),
    )


def _numbers(low: float) -> list[Spec]:
    """The scores as numbers in their cells, in letters that are seen on strong and pale ones."""
    border = low + PALE_FROM * (1 - low)
    return [
        {
            "transform": [{"filter": f"datum.score !== null && datum.score {side} {border:.4f}"}],
            "mark": {"type": "text", "style": style, "tooltip": None},
            "encoding": {"text": {"field": "score", "type": "quantitative", "format": ".2f"}},
        }
        for side, style in (("<", "on-strong"), (">=", "on-pale"))
    ]


def _names(matrix: MatrixFacts, tell: Tell) -> tuple[list[str], list[str]]:
    """What stands over the columns and before the rows: numbers, with names where they fit."""
    named = len(matrix.attackers) <= MOST_NAMED
    columns = [
        _named(one.label, one.attack if one.sample else one.name) if named else one.label
        for one in matrix.attackers
    ]
    return columns, [_named(row.label, who(row, tell)) for row in matrix.rows]


def _named(label: str, name: str) -> str:
    return f"{label} {clean(name, LONGEST_NAME)}".rstrip()


def _cells(matrix: MatrixFacts, tell: Tell) -> list[dict[str, Cell]]:
    columns, rows = _names(matrix, tell)
    lowest = [
        min((value for value in row.values if value is not None), default=None)
        for row in matrix.rows
    ]
    return [
        {
            "row": named_row,
            "column": named_column,
            "release": row.label,
            "name": who(row, tell),
            "attacker": attacker.label,
            "who": tell("Sample attack") if attacker.sample else clean(attacker.name),
            "attack": clean(attacker.attack) or "–",
            "score": value,
            # Equally strong attacks are all framed, as the tables of results name all of them.
            "lowest": value is not None and value == least,
        }
        for row, least, named_row in zip(matrix.rows, lowest, rows, strict=True)
        for attacker, value, named_column in zip(matrix.attackers, row.values, columns, strict=True)
    ]


def _heat_alt(matrix: MatrixFacts, tell: Tell) -> str:
    symbol = SYMBOLS[matrix.kind]
    cells = [
        (value, row.label, one.label)
        for row in matrix.rows
        for one, value in zip(matrix.attackers, row.values, strict=True)
        if value is not None
    ]
    if not cells:
        return tell("Heat map of {symbol}; nothing was attacked.").format(symbol=symbol)
    value, release, attacker = min(cells)
    text = tell(
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
    sums = [(one.sum, one.label) for one in matrix.attackers if one.sum is not None]
    if not sums:
        return text
    total, best = min(sums)
    over_all = tell("The strongest attacker over all is {attacker}, sum {sum:.3f}.")
    return f"{text} {over_all.format(attacker=best, sum=total)}"


def _angle(labels: list[str]) -> Spec:
    """Short labels stand upright over their narrow columns, long ones lean."""
    upright = max(map(len, labels), default=0) <= 4
    return {
        "labelAngle": 0 if upright else -60,
        "labelAlign": "center" if upright else "left",
        "labelOverlap": False,
        "labelFontSize": 10 if upright else 11,
        "labelLimit": 160,
    }
