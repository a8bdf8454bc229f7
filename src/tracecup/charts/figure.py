"""A figure in all its forms: interactive views, a still picture, a text and the table behind it.

Pieces that several charts have in common stand here, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracecup.charts.theme import Spec
from tracecup.facts.text import Cell, spelled

PICTURE_WIDTH = 720
FOLLOW_THE_PAGE: Spec = {
    "width": "container",
    "autosize": {"type": "fit-x", "contains": "padding"},
}
SCORES = frozenset({"x", "y", "score", "utility"})


@dataclass(frozen=True)
class View:
    """One interactive picture. `aspect` is height/width where the height follows the width."""

    key: str
    spec: Spec
    heading: str = ""
    aspect: float | None = None


@dataclass(frozen=True)
class Control:
    """A slider over the positions of `labels`, or a list to choose from; sets a Vega signal."""

    signal: str
    label: str
    labels: tuple[str, ...]
    start: int = 0
    slider: bool = True


@dataclass(frozen=True)
class Column:
    """A column of a listing; numbers stand on the right."""

    name: str
    number: bool = True


@dataclass(frozen=True)
class Listing:
    """The numbers behind a figure; the first cell of a row names it.

    >>> shown = Listing("Scores", ("Release", "s_R"), (("001", 0.25), ("002", None)))
    >>> shown.rows
    (('001', '0.250'), ('002', '–'))
    """

    caption: str
    header: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    digits: int = 3

    @property
    def columns(self) -> tuple[Column, ...]:
        """A column holds numbers where nothing else is in it."""
        return tuple(
            Column(name, all(row[k] is None or not isinstance(row[k], str) for row in self.cells))
            for k, name in enumerate(self.header)
        )

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The cells as they are shown."""
        return tuple(tuple(spelled(cell, self.digits) for cell in row) for row in self.cells)


@dataclass(frozen=True)
class Figure:
    """What a figure shows.

    `alt` says in words what is to be seen, `hint` what a reader can do with the interactive one.
    `picture` is a complete specification for print and for readers without JavaScript; `wide`
    lets the figure scroll sideways on a phone.
    """

    key: str
    title: str
    caption: str
    alt: str
    views: tuple[View, ...]
    table: Listing
    table_title: str
    hint: str = ""
    picture: Spec | None = None
    control: Control | None = None
    wide: bool = False
    map: bool = False


def layered(*layers: Spec, **more: object) -> Spec:
    """Layers that share their scales."""
    return {"layer": list(layers), **more}


def guide(channel: str, value: float, axis: Spec) -> Spec:
    """A line across the plot."""
    return {
        "data": {"values": [{"at": value}]},
        "mark": {"type": "rule", "style": "guide"},
        "encoding": {channel: {**axis, "field": "at"}},
    }


def tooltip(fields: Mapping[str, str]) -> list[Spec]:
    """Fields and their titles; scores with three digits."""
    return [
        {"field": field, "title": title, "type": "quantitative", "format": ".3f"}
        if field in SCORES
        else {"field": field, "title": title, "type": "nominal"}
        for field, title in fields.items()
    ]
