"""Maps of the site: the city, how far points were moved, one user's trace in three forms.

Regions are squares of a grid; row 0 is the south.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from tracecup.report.chart import layered
from tracecup.report.theme import Spec
from tracecup.server.pages.charts import Chart, Column, Control, Table, View
from tracecup.server.services.pagedata.public import CityMap

SLOTS_SHOWN = 12
LINES = 4


def city_chart(city: CityMap) -> Chart:
    """The grid with its hospitals."""
    spec = layered(ground(city), *_lines(city), *hospitals(city, 90))
    width, height = city.nx * city.km_x, city.ny * city.km_y
    size = _("{nx} × {ny} regions, {width:.1f} km × {height:.1f} km").format(
        nx=city.nx, ny=city.ny, width=width, height=height
    )
    return Chart(
        key="city",
        title=_("The city"),
        caption=_(
            "{size}. Red crosses are hospital regions: being seen there is worth hiding, so they "
            "weigh more in the score."
        ).format(size=size),
        alt=_("Map of the city: {size}, with {count} hospital regions.").format(
            size=size, count=len(city.hospitals)
        ),
        views=(View("city", spec, aspect=height / width),),
        map=True,
        table_title=_("Table: hospital regions"),
        table=Table(
            _("Hospital regions, numbered from 1 in the south-west"),
            (Column(_("Region")), Column(_("Column")), Column(_("Row"))),
            tuple(
                (str(r + 1), str(r % city.nx + 1), str(r // city.nx + 1)) for r in city.hospitals
            ),
        ),
    )


def moved_map(city: CityMap, moved: Sequence[float | None]) -> Chart:
    """Mean distance (km) by which the events of each region were moved."""
    rows = [{"r": r, "n": round(km, 3)} for r, km in enumerate(moved) if km is not None]
    most = max((row["n"] for row in rows), default=0.0)
    spec = layered(
        ground(city),
        {
            "data": {"values": rows},
            "transform": places(city),
            "mark": {"type": "rect"},
            "encoding": {
                **square(city),
                "color": {
                    "field": "n",
                    "type": "quantitative",
                    "title": _("km"),
                    "scale": {"domain": [0, most or 1.0], "range": "ramp"},
                    "legend": {"orient": "bottom", "gradientLength": 180, "tickCount": 4},
                },
                "tooltip": [
                    {"field": "id", "title": _("Region"), "type": "quantitative"},
                    {"field": "n", "title": _("km"), "type": "quantitative", "format": ".2f"},
                ],
            },
        },
        *hospitals(city, 40),
    )
    far = sorted(rows, key=lambda row: -row["n"])[:10]
    return Chart(
        key="moved",
        title=_("How far points moved, region by region"),
        caption=_(
            "Mean distance from the original place to the released ones, for the events that were "
            "there originally. Deleted events are not in it."
        ),
        alt=_("Map of mean distances; the largest is {km:.2f} km.").format(km=most),
        views=(View("moved", spec, aspect=_aspect(city)),),
        map=True,
        table_title=_("Table: the ten regions with the largest moves"),
        table=Table(
            _("Regions whose events were moved farthest"),
            (Column(_("Region")), Column(_("Mean move in km"))),
            tuple((str(int(row["r"]) + 1), f"{row['n']:.2f}") for row in far),
        ),
    )


def trace_maps(
    city: CityMap,
    slots: Sequence[str],
    kinds: Sequence[tuple[str, str, Sequence[Sequence[int]]]],
    caption: str,
) -> Chart:
    """One user, one day at a time; `kinds` are (key, heading, cells of every event)."""
    days = len(kinds[0][2]) // len(slots)
    truth = _path(kinds[0][2], len(slots))
    views = []
    for k, (key, heading, cells) in enumerate(kinds):
        layers = [
            ground(city),
            *hospitals(city, 22),
            *([_line(city, truth, "ghost")] if k else []),
            _line(city, _path(cells, len(slots)), "path"),
            _stays(city, cells, slots),
        ]
        spec = layered(*layers, params=[{"name": "day", "value": 0}])
        views.append(View(f"trace-{key}", spec, heading, _aspect(city)))
    events = range(len(kinds[0][2]))
    return Chart(
        key="trace",
        title=_("One user's trace, before and after"),
        caption=caption,
        alt=_("Maps of one user's day: {kinds}.").format(kinds=", ".join(k[1] for k in kinds)),
        views=tuple(views),
        map=True,
        table_title=_("Table: the trace event by event"),
        table=Table(
            _("Regions (numbered from 1 in the south-west) at every event"),
            (
                Column(_("Day and time"), number=False),
                *(Column(heading, number=False) for _key, heading, _cells in kinds),
            ),
            tuple(
                (
                    f"{k // len(slots) + 1}, {slots[k % len(slots)]}",
                    *(spelled(cells[k]) for _key, _heading, cells in kinds),
                )
                for k in events
            ),
        ),
        control=Control("day", _("Day"), tuple(_("day {n}").format(n=d + 1) for d in range(days))),
    )


def ground(city: CityMap) -> Spec:
    """The area of the city."""
    return {
        "data": {"values": [{"x": 0, "y": 0, "x2": city.nx, "y2": city.ny}]},
        "mark": {"type": "rect", "style": "ground", "tooltip": None},
        "encoding": square(city),
    }


def hospitals(city: CityMap, size: int) -> list[Spec]:
    """A cross at every hospital region."""
    if not city.hospitals:
        return []
    return [
        {
            "data": {"values": [{"r": region} for region in city.hospitals]},
            "transform": places(city),
            "mark": {
                "type": "point",
                "shape": "cross",
                "filled": True,
                "size": size,
                "stroke": "white",
                "strokeWidth": size / 60,
                "style": "hospital",
            },
            "encoding": {
                **_centre(city),
                "tooltip": [{"field": "id", "title": _("Hospital region"), "type": "quantitative"}],
            },
        }
    ]


def places(city: CityMap) -> list[Spec]:
    """Column, row and the 1-based id of the region `datum.r`."""
    return [
        {"calculate": f"datum.r % {city.nx}", "as": "x"},
        {"calculate": f"floor(datum.r / {city.nx})", "as": "y"},
        {"calculate": "datum.x + 1", "as": "x2"},
        {"calculate": "datum.y + 1", "as": "y2"},
        {"calculate": "datum.x + 0.5", "as": "cx"},
        {"calculate": "datum.y + 0.5", "as": "cy"},
        {"calculate": "datum.r + 1", "as": "id"},
    ]


def square(city: CityMap) -> Spec:
    """The square of a region."""
    return {
        "x": _axis("x", city.nx),
        "x2": {"field": "x2"},
        "y": _axis("y", city.ny),
        "y2": {"field": "y2"},
    }


def spelled(cell: Sequence[int]) -> str:
    """A cell as the contest's files write it: 7, 2 5 9, * for deleted; long sets are cut.

    >>> spelled([]), spelled([1, 4])
    ('*', '2 5')
    """
    if not cell:
        return "*"
    text = " ".join(str(region + 1) for region in cell[:SLOTS_SHOWN])
    return text if len(cell) <= SLOTS_SHOWN else f"{text} … ({len(cell)})"


def _lines(city: CityMap) -> list[Spec]:
    """A thin line at every fourth border between regions."""
    across = [{"x": x, "y": 0, "x2": x, "y2": city.ny} for x in range(LINES, city.nx, LINES)] + [
        {"x": 0, "y": y, "x2": city.nx, "y2": y} for y in range(LINES, city.ny, LINES)
    ]
    return [
        {
            "data": {"values": across},
            "mark": {"type": "rule", "style": "guide", "opacity": 0.5, "tooltip": None},
            "encoding": square(city),
        }
    ]


def _aspect(city: CityMap) -> float:
    return city.ny * city.km_y / (city.nx * city.km_x)


def _axis(field: str, length: int) -> Spec:
    scale = {"domain": [0, length], "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": None}


def _centre(city: CityMap) -> Spec:
    return {"x": _axis("cx", city.nx), "y": _axis("cy", city.ny)}


def _path(cells: Sequence[Sequence[int]], slots: int) -> list[dict[str, int]]:
    """The events with exactly one region, in order; `d` is the day."""
    return [
        {"d": k // slots, "j": k, "r": cell[0]} for k, cell in enumerate(cells) if len(cell) == 1
    ]


def _line(city: CityMap, path: list[dict[str, int]], style: str) -> Spec:
    return {
        "data": {"values": path},
        "transform": [{"filter": "datum.d === day"}, *places(city)],
        "mark": {"type": "line", "style": style, "tooltip": None},
        "encoding": {**_centre(city), "order": {"field": "j", "type": "quantitative"}},
    }


def _stays(city: CityMap, cells: Sequence[Sequence[int]], slots: Sequence[str]) -> Spec:
    """A dot per region and day; a longer stay is a larger dot, a set counts in parts."""
    weight: dict[tuple[int, int], float] = {}
    times: dict[tuple[int, int], list[str]] = {}
    for k, cell in enumerate(cells):
        for region in cell:
            key = (k // len(slots), region)
            weight[key] = weight.get(key, 0.0) + 1 / len(cell)
            times.setdefault(key, []).append(slots[k % len(slots)])
    rows: list[dict[str, Any]] = [
        {"d": d, "r": r, "n": round(n, 3), "t": ", ".join(dict.fromkeys(times[d, r]))}
        for (d, r), n in weight.items()
    ]
    return {
        "data": {"values": rows},
        "transform": [{"filter": "datum.d === day"}, *places(city)],
        "mark": {"type": "circle", "style": "stay", "opacity": 0.75},
        "encoding": {
            **_centre(city),
            "size": {
                "field": "n",
                "type": "quantitative",
                "scale": {"domain": [0, len(slots)], "range": [6, 320]},
                "legend": None,
            },
            "tooltip": [
                {"field": "id", "title": _("Region"), "type": "quantitative"},
                {"field": "n", "title": _("Events"), "type": "quantitative"},
                {"field": "t", "title": _("At"), "type": "nominal"},
            ],
        },
    }
