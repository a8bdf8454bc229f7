"""Names beside the points of a plot, placed so that none lies over another name or a point.

Computed beforehand for a wide page and for a phone; the plot shows the ones that fit its width.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from tracecup.charts.theme import Spec

NARROW = 420
"""Plots below this width (in pixels) are those of phones."""
POINT = 6.0
RINGS = 5
_SIDES = ((1, -1), (1, 1), (-1, -1), (-1, 1), (1, 0), (-1, 0))

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Spot:
    """A point at (`x`, `y`), both from 0 to 1, with what is written beside it."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Placed:
    """Where a name begins (`left`) or ends, as pixels from its point."""

    dx: float
    dy: float
    left: bool


def place(
    spots: Sequence[Spot],
    width: float,
    height: float,
    size: float,
    others: Sequence[Spot] = (),
) -> list[Placed | None]:
    """A free place for each name, near its point; None where the plot is too crowded.

    `others` are points, and texts to their right, that stay free, too. Tries the corners and
    sides of each point, nearest first, from the first spot to the last: O(n^2) boxes. No returned
    box lies over another one, over a point, or outside the plot.

    >>> place([Spot(0.5, 0.5, "ab")], 400, 300, 10)
    [Placed(dx=7.0, dy=-8.0, left=True)]
    """
    points = [(spot.x * width, (1 - spot.y) * height) for spot in spots]
    taken: list[Box] = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in points]
    for spot in others:
        x, y = spot.x * width, (1 - spot.y) * height
        taken.append((x - POINT, y - POINT, x + POINT + letters(spot.text) * size, y + POINT))
    found: list[Placed | None] = []
    for (x, y), spot in zip(points, spots, strict=True):
        long = letters(spot.text) * size
        one = next(
            (
                (placed, box)
                for placed in _candidates(size)
                for box in [_box(x, y, placed, long, size)]
                if _inside(box, width, height) and not any(_over(box, other) for other in taken)
            ),
            None,
        )
        found.append(one[0] if one else None)
        if one:
            taken.append(one[1])
    return found


def letters(text: str) -> float:
    """How wide a text is, in heights of its letters: wide ones (Japanese) count 1, others 0.62.

    >>> letters("ab"), letters("東京")
    (1.24, 2.0)
    """
    return sum(1.0 if unicodedata.east_asian_width(one) in "WF" else 0.62 for one in text)


def label_layers(field_x: str, field_y: str, opacity: Spec | None = None) -> list[Spec]:
    """The layers that write names: rows with `name_*` on wide plots, with `label_*` on phones.

    Rows hold what `label_fields` gave them.
    """
    return [
        {
            "transform": [{"filter": f"datum.{kind}_side === '{side}'"}],
            "mark": {
                "type": "text",
                "align": side,
                "baseline": "middle",
                "dx": {"expr": f"datum.{kind}_dx"},
                "dy": {"expr": f"datum.{kind}_dy"},
                "fontSize": {"expr": shown},
                "tooltip": None,
            },
            "encoding": {
                "x": {"field": field_x, "type": "quantitative"},
                "y": {"field": field_y, "type": "quantitative"},
                "text": {"field": f"{kind}_text"},
                **({"opacity": opacity} if opacity else {}),
            },
        }
        for kind, shown in (
            ("name", f"width < {NARROW} ? 0 : 10"),
            ("label", f"width < {NARROW} ? 9 : 0"),
        )
        for side in ("left", "right")
    ]


def label_fields(
    places: Sequence[tuple[float, float]],
    names: Sequence[str],
    labels: Sequence[str],
    height: int,
    others: Sequence[Spot] = (),
) -> list[dict[str, str | float]]:
    """What rows of a plot need to be named: names on a wide page, short labels on a phone.

    `places` are from 0 to 1. Computed for the narrowest plot of either kind; `others` stay free.
    """
    rows: list[dict[str, str | float]] = [{} for _ in places]
    for kind, texts, width, size in (("name", names, NARROW, 10), ("label", labels, 220, 9)):
        spots = [Spot(x, y, text) for (x, y), text in zip(places, texts, strict=True)]
        found = place(spots, width, height, size, others)
        for row, spot, one in zip(rows, spots, found, strict=True):
            if one is not None:
                row |= {
                    f"{kind}_text": spot.text,
                    f"{kind}_side": "left" if one.left else "right",
                    f"{kind}_dx": one.dx,
                    f"{kind}_dy": one.dy,
                }
    return rows


def _candidates(size: float) -> list[Placed]:
    return [
        Placed(side * (POINT + 1), level * (POINT + 2 + ring * (size + 1)), side > 0)
        for ring in range(RINGS)
        for side, level in _SIDES
        if level or not ring
    ]


def _box(x: float, y: float, placed: Placed, long: float, size: float) -> Box:
    start = x + placed.dx if placed.left else x + placed.dx - long
    middle = y + placed.dy
    return (start, middle - size / 2, start + long, middle + size / 2)


def _inside(box: Box, width: float, height: float) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height


def _over(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
