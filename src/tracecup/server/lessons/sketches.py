"""Small maps of the classroom as numbers for a template: dots and lines on the city's grid.

Drawn by the server, so that they are there without any script.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracecup.contest.classroom import toy

SIDE = 256.0
LARGEST = 14.0


@dataclass(frozen=True)
class Dot:
    """A place and how large it is drawn."""

    x: float
    y: float
    r: float


def dots(regions: Sequence[tuple[int, int]]) -> list[Dot]:
    """Regions (from 1) with counts as dots whose area grows with the count."""
    most = max((count for _, count in regions), default=1)
    made = []
    for region, count in regions:
        x, y = place(region)
        made.append(Dot(x, y, round(max(2.5, LARGEST * (count / most) ** 0.5), 1)))
    return made


def line(cells: Sequence[Sequence[int]]) -> str:
    """The path of an SVG through the middles of cells of regions (from 1); empty ones are left out.

    >>> line([])
    ''
    """
    points = []
    for cell in cells:
        if cell:
            spots = [place(region) for region in cell]
            x, y = (sum(values) / len(spots) for values in zip(*spots, strict=True))
            points.append(f"{x:.1f} {y:.1f}")
    return f"M{'L'.join(points)}" if points else ""


def place(region: int) -> tuple[float, float]:
    """The middle of a region (from 1) in a picture of 256 x 256; north is up."""
    grid = toy.city().grid
    row, column = divmod(region - 1, grid.nx)
    x = (column + 0.5) * SIDE / grid.nx
    y = SIDE - (row + 0.5) * SIDE / grid.ny
    return round(x, 1), round(y, 1)
