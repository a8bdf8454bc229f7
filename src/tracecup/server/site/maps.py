"""Maps of the site: the city, how far points were moved, one user's trace in three forms.

Drawn with the layers of the report, in the reader's language.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from tracecup.report import facts
from tracecup.report.chart import layered
from tracecup.report.maps import (
    Kind,
    MapWords,
    aspect,
    ground,
    hospitals,
    shaded,
    spelled,
    square,
    trace_views,
)
from tracecup.report.theme import Spec
from tracecup.server.site.data import CityMap
from tracecup.server.web.charts import Chart, Column, Control, Table, View

LINES = 4


def city_chart(city: CityMap) -> Chart:
    """The grid with its hospitals."""
    grid = _grid(city)
    spec = layered(ground(grid), *_lines(grid), *hospitals(grid, 90, _words()))
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
        views=(View("city", spec, aspect=aspect(grid)),),
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
    grid, words = _grid(city), _words()
    spec = layered(
        ground(grid),
        shaded(grid, rows, _("km"), {"domain": [0, most or 1.0]}, words),
        *hospitals(grid, 40, words),
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
        views=(View("moved", spec, aspect=aspect(grid)),),
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
    kinds: Sequence[Kind],
    caption: str,
) -> Chart:
    """One user, one day at a time; `kinds` are (key, heading, cells of every event)."""
    days = len(kinds[0][2]) // len(slots)
    words = _words()
    events = range(len(kinds[0][2]))
    return Chart(
        key="trace",
        title=_("One user's trace, before and after"),
        caption=caption,
        alt=_("Maps of one user's day: {kinds}.").format(kinds=", ".join(k[1] for k in kinds)),
        views=trace_views(_grid(city), slots, kinds, words),
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
                    *(spelled(cells[k], words) for _key, _heading, cells in kinds),
                )
                for k in events
            ),
        ),
        control=Control("day", _("Day"), tuple(_("day {n}").format(n=d + 1) for d in range(days))),
    )


def _grid(city: CityMap) -> facts.CityMap:
    """The city as the report draws it."""
    return facts.CityMap(city.nx, city.ny, tuple(city.hospitals), city.km_x, city.km_y)


def _words() -> MapWords:
    return MapWords(
        region=_("Region"),
        hospital=_("Hospital region"),
        events=_("Events"),
        at=_("At"),
        more_times=_("{times}, … ({count} times)"),
        more_regions=_("{regions} … ({count} regions)"),
    )


def _lines(city: facts.CityMap) -> list[Spec]:
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
