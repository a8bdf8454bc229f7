"""Names beside points without overlap: each goes where it covers nothing, or is left out.

Greedy: points in order, eight places around each, near ones first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tracecup.plot.style import GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = 6.8
# Mean width and height of a letter of DejaVu Sans, in parts of the font size.
LETTER, LINE = 0.6, 1.25
PLACES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
NEAR, FAR = 5.0, 11.0
LEADER = {"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}


class Box(NamedTuple):
    """A rectangle in points."""

    left: float
    low: float
    right: float
    high: float

    def meets(self, other: Box) -> bool:
        """Whether both share any area."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.high <= other.low or other.high <= self.low)


def name_points(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    *,
    avoid: Sequence[tuple[float, float]] = (),
    colours: Sequence[str] | None = None,
    radius: float = 3.5,
) -> list[str]:
    """Write each name beside its point; the names for which there was no room.

    Other points to keep clear of are in `avoid`. Call it last: limits and layout of the axes
    have to stand.
    """
    figure = axes.get_figure(root=True)
    if figure is None:
        return list(names)
    figure.draw_without_rendering()
    scale = 72 / figure.dpi
    middles = [tuple(axes.transData.transform(point) * scale) for point in (*points, *avoid)]
    frame = axes.get_window_extent()
    inside = Box(*(value * scale for value in (frame.x0, frame.y0, frame.x1, frame.y1)))
    taken = [Box(x - radius, y - radius, x + radius, y + radius) for x, y in middles]
    left_out = []
    inks = colours or [INK] * len(names)
    for point, (x, y), name, ink in zip(points, middles, names, inks, strict=False):
        for far, box in _candidates(x, y, name):
            fits = box.left >= inside.left and box.right <= inside.right
            fits = fits and box.low >= inside.low and box.high <= inside.high
            if fits and not any(box.meets(other) for other in taken):
                taken.append(box)
                at = ((box.left + box.right) / 2, (box.low + box.high) / 2)
                axes.annotate(
                    name, point,
                    (at[0] - x, at[1] - y), textcoords="offset points", ha="center", va="center",
                    fontsize=SIZE, in_layout=False, color=ink,
                    arrowprops=LEADER if far else None,
                )  # fmt: skip
                break
        else:
            left_out.append(name)
    return left_out


def _candidates(x: float, y: float, name: str) -> list[tuple[bool, Box]]:
    """Places for a name, whether far from its point (then a line leads there), near ones first."""
    width, height = LETTER * SIZE * len(name), LINE * SIZE
    found = []
    for gap in (NEAR, FAR):
        for dx, dy in PLACES:
            left = x - width / 2 + dx * (width / 2 + gap * (0.7 if dx and dy else 1))
            low = y - height / 2 + dy * (height / 2 + gap * (0.7 if dx and dy else 1))
            found.append((gap == FAR, Box(left, low, left + width, low + height)))
    return found
