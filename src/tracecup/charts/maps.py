"""The maps of a city: its hospitals, where people are hour by hour, how far points moved.

Drawn with the layers of `charts.grid`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tracecup.charts.figure import PICTURE_WIDTH, Control, Figure, Listing, View, layered
from tracecup.charts.grid import aspect, ground, hospitals, places, shaded, square
from tracecup.charts.theme import Spec
from tracecup.charts.words import Tell, plain
from tracecup.facts.contest import CityFacts, Population
from tracecup.facts.text import clean

BUSIEST = 5
PICTURE_COLUMNS = 5
LOWEST_SHOWN = 0.005
LINES = 4
FARTHEST = 10


def city_map(city: CityFacts, tell: Tell = plain, density: Sequence[float] | None = None) -> Figure:
    """The city with its hospitals; `density`, people per region, shades it."""
    people = [] if density is None else [_density(city, density, tell)]
    spec = layered(ground(city), *people, *_lines(city), *hospitals(city, 90, tell))
    size = tell("{nx} × {ny} regions, {width:.1f} km × {height:.1f} km").format(
        nx=city.nx, ny=city.ny, width=city.nx * city.km_x, height=city.ny * city.km_y
    )
    return Figure(
        key="city",
        title=tell("The city"),
        caption=tell(
            "{size}. Red crosses are hospital regions: being seen there is worth hiding, so they "
            "weigh more in the score."
        ).format(size=size)
        + (" " + tell("The stronger the colour, the more people are there.") if people else ""),
        alt=tell("Map of the city: {size}, with {count} hospital regions.").format(
            size=size, count=len(city.hospitals)
        ),
        views=(View("city", spec, aspect=aspect(city)),),
        map=True,
        table_title=tell("Table: hospital regions"),
        table=Listing(
            tell("Hospital regions, numbered from 1 in the south-west"),
            (tell("Region"), tell("Column"), tell("Row")),
            tuple((r + 1, r % city.nx + 1, r // city.nx + 1) for r in city.hospitals),
        ),
    )


def _density(city: CityFacts, density: Sequence[float], tell: Tell) -> Spec:
    """Regions in the colour of how many people are there, of 1000."""
    whole = sum(density) or 1.0
    shares = [1000 * one / whole for one in density]
    rows = [{"r": r, "n": round(n, 3)} for r, n in enumerate(shares) if n >= LOWEST_SHOWN]
    scale: Spec = {"type": "sqrt", "domain": [0, max(shares, default=1.0) or 1.0]}
    return shaded(city, rows, tell("People of 1000"), scale, tell)


def moved_map(city: CityFacts, moved: Sequence[float | None], tell: Tell = plain) -> Figure:
    """Mean distance (km) by which the events of each region were moved."""
    rows = [{"r": r, "n": round(km, 3)} for r, km in enumerate(moved) if km is not None]
    most = max((row["n"] for row in rows), default=0.0)
    spec = layered(
        ground(city),
        shaded(city, rows, tell("km"), {"domain": [0, most or 1.0]}, tell),
        *hospitals(city, 40, tell),
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
        views=(View("moved", spec, aspect=aspect(city)),),
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
    people = shaded(city, rows, tell("People"), {"type": "sqrt", "domain": [0, highest]}, tell)
    shown = {**people, "transform": [{"filter": "datum.h === hour"}, *places(city)]}
    spec = layered(
        ground(city),
        shown,
        *hospitals(city, 55, tell),
        params=[{"name": "hour", "value": 0}],
    )
    side = (PICTURE_WIDTH - 90) // PICTURE_COLUMNS
    panels = [
        layered(
            ground(city),
            {**people, "transform": [{"filter": f"datum.h === {h}"}, *places(city)]},
            *hospitals(city, 7, tell),
            title=hour,
            width=side,
            height=round(side * aspect(city)),
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
        views=(View("population", spec, aspect=aspect(city)),),
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
            "encoding": square(city),
        }
    ]
