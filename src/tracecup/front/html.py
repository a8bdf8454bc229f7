"""Cards for notebooks: what an object is, in a few words, with a map where it has a city.

Maps show what attackers know anyway: reference traces and releases, never originals.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.traces import SetTraces, Traces

if TYPE_CHECKING:
    from tracecup.front.data import Data
    from tracecup.front.releases import Release

SIDE = 220
MOST = 64
"""Larger grids are drawn with at most this many squares a side."""
Colour = tuple[int, int, int]
LIGHT: Colour = (227, 241, 244)
DARK: Colour = (6, 43, 60)
HOSPITAL = "#b42318"


def data_card(data: Data) -> str:
    """Sizes, and where the users were on the reference days."""
    shown = visits_map(data.city, data.reference, "reference events (known to attackers)")
    return _card(repr(data), shown)


def release_card(release: Release) -> str:
    """Defence and utility, and the released regions beside the reference ones."""
    city = release.case.city
    return _card(
        repr(release),
        visits_map(city, release.case.reference, "reference events"),
        visits_map(city, release.case.released, "released regions"),
    )


def city_card(city: City) -> str:
    """The grid and its hospital regions."""
    return _card(repr(city), visits_map(city, None, "hospital regions are red"))


def visits_map(city: City, traces: Traces | SetTraces | None, caption: str) -> str:
    """How many events lie in each region, dark = many, as an SVG picture; O(events).

    Without traces the grid alone. Hospital regions have a red frame.
    """
    counts = np.zeros(city.n_regions)
    if traces is not None:
        flat = traces.regions.ravel()
        counts = np.bincount(flat[flat >= 0], minlength=city.n_regions).astype(np.float64)
    return region_map(city, counts, caption)


def region_map(
    city: City,
    values: NDArray[np.float64],
    caption: str,
    *,
    fewer: Colour = DARK,
    over: str = "",
) -> str:
    """A value for each region as an SVG picture, white for 0; negative ones go towards `fewer`.

    Values of a large grid are summed over squares. `over` is SVG that is drawn on top, in the
    coordinates of `centres`.
    """
    grid = city.grid
    step = max(1, -(-max(grid.nx, grid.ny) // MOST))
    shades, wards = _coarse(values, grid.nx, step), _coarse(city.is_hospital, grid.nx, step)
    rows, columns = shades.shape
    height = map_height(city)
    # Squares at the upper and right edge of a large grid may reach beyond it.
    wide, high = SIDE * step / grid.nx, height * step / grid.ny
    most = float(np.abs(shades).max()) or 1.0
    squares = []
    for row in range(rows):
        for column in range(columns):
            share, ward = float(shades[row, column]) / most, wards[row, column]
            if share or ward:
                # North is up: row 0 of a grid is its southern edge.
                at = f'x="{column * wide:.1f}" y="{height - (row + 1) * high:.1f}"'
                frame = f' stroke="{HOSPITAL}" stroke-width="0.8"' if ward else ""
                squares.append(
                    f'<rect {at} width="{wide:.2f}" height="{high:.2f}" '
                    f'fill="{_colour(abs(share), fewer if share < 0 else DARK)}"{frame}/>'
                )
    return (
        f'<figure style="display:inline-block;vertical-align:top;margin:4px"><svg role="img" '
        f'aria-label="Map: {escape(caption)}" width="{SIDE}" height="{height:.0f}" '
        f'viewBox="0 0 {SIDE} {height:.1f}" style="background:#fff;border:1px solid #d0d7de">'
        f"{''.join(squares)}{over}</svg><figcaption>{escape(caption)}</figcaption></figure>"
    )


def map_height(city: City) -> float:
    """The height of a map that is `SIDE` wide."""
    grid = city.grid
    return float(SIDE * (grid.ny * grid.km_y) / (grid.nx * grid.km_x))


def centres(city: City, regions: NDArray[np.integer]) -> NDArray[np.float64]:
    """Where the centres of regions lie on a map, shape (regions, 2)."""
    grid, height = city.grid, map_height(city)
    row, column = np.divmod(regions, grid.nx)
    across, down = (column + 0.5) * SIDE / grid.nx, height - (row + 0.5) * height / grid.ny
    return np.stack([across, down], axis=1)


def _coarse(values: NDArray[np.generic], nx: int, step: int) -> NDArray[np.float64]:
    """Sums over squares of `step` x `step` regions, shape (rows, columns), from the south-west."""
    table = np.asarray(values, dtype=np.float64).reshape(-1, nx)
    rows, columns = -(-table.shape[0] // step), -(-nx // step)
    padded = np.zeros((rows * step, columns * step))
    padded[: table.shape[0], :nx] = table
    return np.asarray(padded.reshape(rows, step, columns, step).sum(axis=(1, 3)))


def _colour(share: float, dark: Colour) -> str:
    """White for nothing, then from light to dark by the square root, as few regions hold most."""
    if share <= 0:
        return "#fff"
    weight = share**0.5
    mixed = (round(a + (b - a) * weight) for a, b in zip(LIGHT, dark, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _card(said: str, *parts: str) -> str:
    return f"<div><p>{escape(said.strip('<>'))}</p>{''.join(parts)}</div>"
