"""The maps: the city, where people are hour by hour, how far points moved, one user's trace.

Regions are squares of a grid, row 0 is the south.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tracecup.charts.figure import PICTURE_WIDTH, Control, Figure, Listing, View, layered
from tracecup.charts.theme import Spec
from tracecup.charts.words import Tell, plain
from tracecup.facts.contest import CityFacts, Population, TraceExample
from tracecup.facts.text import clean

BUSIEST = 5
PICTURE_COLUMNS = 5
LOWEST_SHOWN = 0.005
LONGEST_CELL = 12
LONGEST_TIMES = 6
LINES = 4
FARTHEST = 10

Kind = tuple[str, str, Sequence[Sequence[int]]]
"""One form of a trace: key, heading, and the cell (regions) of every event."""


def city_map(city: CityFacts, tell: Tell = plain) -> Figure:
    """The grid with its hospitals."""
    spec = layered(_ground(city), *_lines(city), *_hospitals(city, 90, tell))
    size = tell("{nx} × {ny} regions, {width:.1f} km × {height:.1f} km").format(
        nx=city.nx, ny=city.ny, width=city.nx * city.km_x, height=city.ny * city.km_y
    )
    return Figure(
        key="city",
        title=tell("The city"),
        caption=tell(
            "{size}. Red crosses are hospital regions: being seen there is worth hiding, so they "
            "weigh more in the score."
        ).format(size=size),
        alt=tell("Map of the city: {size}, with {count} hospital regions.").format(
            size=size, count=len(city.hospitals)
        ),
        views=(View("city", spec, aspect=_aspect(city)),),
        map=True,
        table_title=tell("Table: hospital regions"),
        table=Listing(
            tell("Hospital regions, numbered from 1 in the south-west"),
            (tell("Region"), tell("Column"), tell("Row")),
            tuple((r + 1, r % city.nx + 1, r // city.nx + 1) for r in city.hospitals),
        ),
    )


def moved_map(city: CityFacts, moved: Sequence[float | None], tell: Tell = plain) -> Figure:
    """Mean distance (km) by which the events of each region were moved."""
    rows = [{"r": r, "n": round(km, 3)} for r, km in enumerate(moved) if km is not None]
    most = max((row["n"] for row in rows), default=0.0)
    spec = layered(
        _ground(city),
        _shaded(city, rows, tell("km"), {"domain": [0, most or 1.0]}, tell),
        *_hospitals(city, 40, tell),
    )
    far = sorted(rows, key=lambda row: -row["n"])[:FARTHEST]
    return Figure(
        key="moved",
        title=tell("How far points moved, region by region"),
        caption=tell(
            "Mean distance from the original place to the released ones, for the events that were "
            "there originally. Deleted events are not in it."
        ),
        alt=tell("Map of mean distances; the largest is {km:.2f} km.").format(km=most),
        views=(View("moved", spec, aspect=_aspect(city)),),
        map=True,
        table_title=tell("Table: the ten regions with the largest moves"),
        table=Listing(
            tell("Regions whose events were moved farthest"),
            (tell("Region"), tell("Mean move in km")),
            tuple((int(row["r"]) + 1, float(row["n"])) for row in far),
            digits=2,
        ),
    )


def population_map(city: CityFacts, population: Population, tell: Tell = plain) -> Figure:
    """People per region, one hour at a time; all hours side by side in the still picture."""
    counts, hours = population.counts, tuple(clean(hour) for hour in population.hours)
    rows = [
        {"h": int(h), "r": int(r), "n": round(float(counts[h, r]), 2)}
        for h, r in zip(*np.nonzero(counts >= LOWEST_SHOWN), strict=True)
    ]
    highest = float(counts.max()) or 1.0
    people = _shaded(city, rows, tell("People"), {"type": "sqrt", "domain": [0, highest]}, tell)
    shown = {**people, "transform": [{"filter": "datum.h === hour"}, *_places(city)]}
    spec = layered(
        _ground(city),
        shown,
        *_hospitals(city, 55, tell),
        params=[{"name": "hour", "value": 0}],
    )
    side = (PICTURE_WIDTH - 90) // PICTURE_COLUMNS
    panels = [
        layered(
            _ground(city),
            {**people, "transform": [{"filter": f"datum.h === {h}"}, *_places(city)]},
            *_hospitals(city, 7, tell),
            title=hour,
            width=side,
            height=round(side * _aspect(city)),
        )
        for h, hour in enumerate(hours)
    ]
    caption = tell(
        "Mean number of people in each region over the days. This is public knowledge in the "
        "contest: an attacker knows it before seeing any release."
    )
    if city.hospitals:
        caption += " " + tell("Red crosses are hospital regions.")
    return Figure(
        key="population",
        title=tell("Where people are, hour by hour"),
        caption=caption,
        alt=_population_alt(counts, hours, tell),
        views=(View("population", spec, aspect=_aspect(city)),),
        picture={"concat": panels, "columns": PICTURE_COLUMNS, "spacing": 12},
        map=True,
        table_title=tell("Table: the {count} busiest regions of every hour").format(count=BUSIEST),
        table=Listing(
            tell(
                "People in all and the {count} busiest regions (numbered from 1 in the "
                "south-west), with their people"
            ).format(count=BUSIEST),
            (
                tell("Hour"),
                tell("People"),
                tell("Regions with people"),
                *(tell("No. {n}").format(n=k + 1) for k in range(BUSIEST)),
            ),
            tuple(
                (hour, float(row.sum()), int((row > 0).sum()), *_busiest(row, tell))
                for hour, row in zip(hours, counts, strict=True)
            ),
        ),
        control=Control("hour", tell("Time of day"), hours),
    )


def example_maps(city: CityFacts, example: TraceExample, tell: Tell = plain) -> Figure:
    """The example of a contest: original, obfuscated and inferred trace of a user."""
    kinds = (
        ("original", tell("Original"), [(region,) for region in example.original]),
        ("obfuscated", tell("Released"), example.obfuscated),
        ("inferred", tell("Best inferred"), [(region,) for region in example.inferred]),
    )
    right = sum(a == b for a, b in zip(example.original, example.inferred, strict=True))
    caption = tell(
        "User {user}, released by {defender}, inferred by {attacker}. A larger dot is a longer "
        "stay; the grey line repeats the original trace. Over all days the attacker named the "
        "right region for {right} of {events} events."
    ).format(
        user=clean(example.user),
        defender=clean(example.defender),
        attacker=clean(example.attacker),
        right=right,
        events=len(example.original),
    )
    return trace_maps(city, [clean(slot) for slot in example.slots], kinds, caption, tell)


def trace_maps(
    city: CityFacts, slots: Sequence[str], kinds: Sequence[Kind], caption: str, tell: Tell = plain
) -> Figure:
    """One user, one day at a time: a map per kind; the first is the truth for the others."""
    views = _trace_views(city, slots, kinds, tell)
    side = (PICTURE_WIDTH - 40) // len(kinds)
    sized = {"width": side, "height": round(side * _aspect(city))}
    # A signal can be declared once only in a picture of several panels.
    panels = [{"layer": view.spec["layer"], "title": view.heading, **sized} for view in views]
    shown = tell("Maps of one user's day: {kinds}.").format(kinds=", ".join(k[1] for k in kinds))
    events = range(len(kinds[0][2]))
    days = len(events) // len(slots)
    return Figure(
        key="trace",
        title=tell("One user's trace, before and after"),
        caption=caption,
        alt=f"{shown} {caption}".strip(),
        views=views,
        picture={"hconcat": panels, "spacing": 14, "params": [{"name": "day", "value": 0}]},
        map=True,
        table_title=tell("Table: the trace event by event"),
        table=Listing(
            tell("Regions (numbered from 1 in the south-west) at every event"),
            (tell("Day and time"), *(heading for _key, heading, _cells in kinds)),
            tuple(
                (
                    f"{k // len(slots) + 1}, {slots[k % len(slots)]}",
                    *(cell_text(cells[k], tell) for _key, _heading, cells in kinds),
                )
                for k in events
            ),
        ),
        control=Control(
            "day", tell("Day"), tuple(tell("day {n}").format(n=d + 1) for d in range(days))
        ),
    )


def cell_text(cell: Sequence[int], tell: Tell = plain) -> str:
    """A cell as the contest's files write it: 7, 2 5 9, * for deleted; long sets are cut.

    >>> cell_text([]), cell_text([1, 4])
    ('*', '2 5')
    """
    if not cell:
        return "*"
    text = " ".join(str(region + 1) for region in cell[:LONGEST_CELL])
    if len(cell) <= LONGEST_CELL:
        return text
    return tell("{regions} … ({count} regions)").format(regions=text, count=len(cell))


def _trace_views(
    city: CityFacts, slots: Sequence[str], kinds: Sequence[Kind], tell: Tell
) -> tuple[View, ...]:
    """A map per kind, the day chosen by the signal `day`."""
    truth = _line(city, _path(kinds[0][2], len(slots)), "ghost")
    return tuple(
        View(
            f"trace-{key}",
            layered(
                _ground(city),
                *_hospitals(city, 22, tell),
                *([truth] if k else []),
                _line(city, _path(cells, len(slots)), "path"),
                _stays(city, cells, slots, tell),
                params=[{"name": "day", "value": 0}],
            ),
            heading,
            _aspect(city),
        )
        for k, (key, heading, cells) in enumerate(kinds)
    )


def _ground(city: CityFacts) -> Spec:
    """The area of the city."""
    return {
        "data": {"values": [{"x": 0, "y": 0, "x2": city.nx, "y2": city.ny}]},
        "mark": {"type": "rect", "style": "ground", "tooltip": None},
        "encoding": _square(city),
    }


def _hospitals(city: CityFacts, size: int, tell: Tell) -> list[Spec]:
    """A cross at every hospital region."""
    if not city.hospitals:
        return []
    return [
        {
            "data": {"values": [{"r": region} for region in city.hospitals]},
            "transform": _places(city),
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
                "tooltip": [
                    {"field": "id", "title": tell("Hospital region"), "type": "quantitative"}
                ],
            },
        }
    ]


def _shaded(
    city: CityFacts,
    rows: Sequence[Mapping[str, int | float]],
    title: str,
    scale: Spec,
    tell: Tell,
) -> Spec:
    """Regions `r` coloured by the number `n`."""
    return {
        "data": {"values": rows},
        "transform": _places(city),
        "mark": {"type": "rect"},
        "encoding": {
            **_square(city),
            "color": {
                "field": "n",
                "type": "quantitative",
                "title": title,
                "scale": {**scale, "range": "ramp"},
                "legend": {"orient": "bottom", "gradientLength": 200, "tickCount": 4},
            },
            "tooltip": [
                {"field": "id", "title": tell("Region"), "type": "quantitative"},
                {"field": "n", "title": title, "type": "quantitative", "format": ".2f"},
            ],
        },
    }


def _square(city: CityFacts) -> Spec:
    """The square of a region."""
    return {
        "x": _axis("x", city.nx),
        "x2": {"field": "x2"},
        "y": _axis("y", city.ny),
        "y2": {"field": "y2"},
    }


def _aspect(city: CityFacts) -> float:
    """Height of the city by its width."""
    return city.ny * city.km_y / (city.nx * city.km_x)


def _places(city: CityFacts) -> list[Spec]:
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


def _axis(field: str, length: int) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": [0, length], "nice": False, "zero": False},
        "axis": None,
    }


def _centre(city: CityFacts) -> Spec:
    return {"x": _axis("cx", city.nx), "y": _axis("cy", city.ny)}


def _path(cells: Sequence[Sequence[int]], slots: int) -> list[dict[str, int]]:
    """The events with exactly one region, in order; `d` is the day."""
    return [
        {"d": k // slots, "j": k, "r": cell[0]} for k, cell in enumerate(cells) if len(cell) == 1
    ]


def _line(city: CityFacts, path: list[dict[str, int]], style: str) -> Spec:
    return {
        "data": {"values": path},
        "transform": [{"filter": "datum.d === day"}, *_places(city)],
        "mark": {"type": "line", "style": style, "tooltip": None},
        "encoding": {**_centre(city), "order": {"field": "j", "type": "quantitative"}},
    }


def _stays(
    city: CityFacts, cells: Sequence[Sequence[int]], slots: Sequence[str], tell: Tell
) -> Spec:
    """A dot per day and region: how many events (a set counts in parts), and when."""
    weight: dict[tuple[int, int], float] = {}
    when: dict[tuple[int, int], list[str]] = {}
    for k, cell in enumerate(cells):
        for region in cell:
            key = (k // len(slots), region)
            weight[key] = weight.get(key, 0.0) + 1 / len(cell)
            when.setdefault(key, []).append(slots[k % len(slots)])
    rows = [
        {"d": d, "r": r, "n": round(n, 3), "t": _times(when[d, r], tell)}
        for (d, r), n in weight.items()
    ]
    return {
        "data": {"values": rows},
        "transform": [{"filter": "datum.d === day"}, *_places(city)],
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
                {"field": "id", "title": tell("Region"), "type": "quantitative"},
                {"field": "n", "title": tell("Events"), "type": "quantitative"},
                {"field": "t", "title": tell("At"), "type": "nominal"},
            ],
        },
    }


def _times(labels: list[str], tell: Tell) -> str:
    """Times without repetitions, the first few of them."""
    distinct = list(dict.fromkeys(labels))
    shown = ", ".join(distinct[:LONGEST_TIMES])
    if len(distinct) <= LONGEST_TIMES:
        return shown
    return tell("{times}, … ({count} times)").format(times=shown, count=len(distinct))


def _busiest(row: NDArray[np.float64], tell: Tell) -> list[str]:
    order = np.argsort(-row, kind="stable")[:BUSIEST]
    found = [tell("region {id} ({people:.1f})").format(id=int(r) + 1, people=row[r]) for r in order]
    return found + ["–"] * (BUSIEST - len(found))


def _population_alt(counts: NDArray[np.float64], hours: Sequence[str], tell: Tell) -> str:
    hour, region = np.unravel_index(int(counts.argmax()), counts.shape)
    return tell(
        "Maps of the number of people per region at {count} times of day. The busiest is region "
        "{id} at {hour} with {people:.1f} people."
    ).format(count=len(hours), id=int(region) + 1, hour=hours[int(hour)], people=counts.max())


def _lines(city: CityFacts) -> list[Spec]:
    """A thin line at every fourth border between regions."""
    across = [{"x": x, "y": 0, "x2": x, "y2": city.ny} for x in range(LINES, city.nx, LINES)] + [
        {"x": 0, "y": y, "x2": city.nx, "y2": y} for y in range(LINES, city.ny, LINES)
    ]
    return [
        {
            "data": {"values": across},
            "mark": {"type": "rule", "style": "guide", "opacity": 0.5, "tooltip": None},
            "encoding": _square(city),
        }
    ]
