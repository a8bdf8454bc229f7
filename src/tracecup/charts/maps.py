"""The maps: where people are hour by hour, and one user's trace before and after the attack.

Regions are squares of a grid, row 0 is the south. The site uses the layers with its own words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tracecup.report.chart import PICTURE_WIDTH, Chart, Control, View, layered
from tracecup.report.facts import CityMap, ContestFacts
from tracecup.report.markup import clean, table
from tracecup.report.theme import Spec

BUSIEST = 5
PICTURE_COLUMNS = 5
LOWEST_SHOWN = 0.005
LONGEST_CELL = 12
LONGEST_TIMES = 6

Kind = tuple[str, str, Sequence[Sequence[int]]]
"""One form of a trace: key, heading, and the cell (regions) of every event."""


@dataclass(frozen=True)
class MapWords:
    """What a map says; in braces what is put in."""

    region: str = "Region"
    hospital: str = "Hospital region"
    events: str = "Events"
    at: str = "At"
    more_times: str = "{times}, … ({count} times)"
    more_regions: str = "{regions} … ({count} regions)"


ENGLISH = MapWords()


def population_map(facts: ContestFacts) -> Chart | None:
    """People per region, one hour at a time; all hours side by side in the still picture."""
    city, population = facts.city, facts.population
    if city is None or population is None:
        return None
    counts, hours = population.counts, tuple(clean(hour) for hour in population.hours)
    rows = [
        {"h": int(h), "r": int(r), "n": round(float(counts[h, r]), 2)}
        for h, r in zip(*np.nonzero(counts >= LOWEST_SHOWN), strict=True)
    ]
    highest = float(counts.max()) or 1.0
    people = shaded(city, rows, "People", {"type": "sqrt", "domain": [0, highest]})
    shown = {**people, "transform": [{"filter": "datum.h === hour"}, *_places(city)]}
    spec = layered(ground(city), shown, *hospitals(city), params=[{"name": "hour", "value": 0}])
    side = (PICTURE_WIDTH - 90) // PICTURE_COLUMNS
    panels = [
        layered(
            ground(city),
            {**people, "transform": [{"filter": f"datum.h === {h}"}, *_places(city)]},
            *hospitals(city, size=7),
            title=hour,
            width=side,
            height=round(side * aspect(city)),
        )
        for h, hour in enumerate(hours)
    ]
    return Chart(
        key="population",
        title="Where people are, hour by hour",
        caption=(
            "Mean number of people in each region over the days. This is public knowledge in the "
            "contest: an attacker knows it before seeing any release."
            + (" Red crosses are hospital regions." if city.hospitals else "")
        ),
        alt=_population_alt(counts, hours),
        views=(
            View("population", spec, aspect=aspect(city)),
        ),
        picture={"concat": panels, "columns": PICTURE_COLUMNS, "spacing": 12},
        table_title=f"Table: the {BUSIEST} busiest regions of every hour",
        table=table(
            f"People in all and the {BUSIEST} busiest regions (numbered from 1 in the south-west), "
            "with their people",
            ("Hour", "People", "Regions with people", *(f"No. {k + 1}" for k in range(BUSIEST))),
            [
                (hour, float(row.sum()), int((row > 0).sum()), *_busiest(row))
                for hour, row in zip(hours, counts, strict=True)
            ],
        ),
        control=Control("hour", "Time of day", hours),
    )  # fmt: skip


def trace_maps(facts: ContestFacts) -> Chart | None:
    """One user, one day at a time: original, obfuscated and inferred trace side by side."""
    city, example = facts.city, facts.example
    if city is None or example is None:
        return None
    example = replace(example, slots=tuple(clean(slot) for slot in example.slots))
    kinds = (
        ("original", "Original", [(region,) for region in example.original]),
        ("obfuscated", "Obfuscated", list(example.obfuscated)),
        ("inferred", "Inferred", [(region,) for region in example.inferred]),
    )
    views = trace_views(city, example.slots, kinds)
    side = (PICTURE_WIDTH - 40) // len(kinds)
    sized = {"width": side, "height": round(side * aspect(city))}
    # A signal can be declared once only in a picture of several panels.
    panels = [{"layer": view.spec["layer"], "title": view.heading, **sized} for view in views]
    right = sum(a == b for a, b in zip(example.original, example.inferred, strict=True))
    events = len(example.original)
    who = (
        f"user {clean(example.user)}, released by {clean(example.defender)}, inferred by "
        f"{clean(example.attacker)}"
    )
    return Chart(
        key="trace",
        title="One user's trace, before and after",
        caption=(
            f"This is {who}. A larger dot is a longer stay; the grey line repeats the original "
            f"trace. Over all days the attacker named the right region for {right} of {events} "
            "events."
        ),
        alt=(
            f"Maps of {who}: original, obfuscated and inferred trace of one day; {right} of "
            f"{events} events inferred exactly."
        ),
        views=views,
        picture={"hconcat": panels, "spacing": 14, "params": [{"name": "day", "value": 0}]},
        table_title="Table: the trace event by event",
        table=table(
            "Regions (numbered from 1 in the south-west) at every event",
            ("Day", "Time", "Original", "Obfuscated", "Inferred"),
            [
                (k // len(example.slots) + 1, example.slots[k % len(example.slots)], o, c, i)
                for k, (o, c, i) in enumerate(
                    zip(
                        [region + 1 for region in example.original],
                        [spelled(cell) for cell in example.obfuscated],
                        [region + 1 for region in example.inferred],
                        strict=True,
                    )
                )
            ],
            row_heads=2,
        ),
        control=Control("day", "Day", tuple(f"day {d + 1}" for d in range(example.days))),
    )  # fmt: skip


def trace_views(
    city: CityMap, slots: Sequence[str], kinds: Sequence[Kind], words: MapWords = ENGLISH
) -> tuple[View, ...]:
    """A map per kind, the day chosen by the signal `day`; the first is the truth for the others."""
    truth = _line(city, _path(kinds[0][2], len(slots)), "ghost")
    return tuple(
        View(
            f"trace-{key}",
            layered(
                ground(city),
                *hospitals(city, 22, words),
                *([truth] if k else []),
                _line(city, _path(cells, len(slots)), "path"),
                _stays(city, cells, slots, words),
                params=[{"name": "day", "value": 0}],
            ),
            heading,
            aspect(city),
        )
        for k, (key, heading, cells) in enumerate(kinds)
    )


def ground(city: CityMap) -> Spec:
    """The area of the city."""
    return {
        "data": {"values": [{"x": 0, "y": 0, "x2": city.nx, "y2": city.ny}]},
        "mark": {"type": "rect", "style": "ground", "tooltip": None},
        "encoding": square(city),
    }


def hospitals(city: CityMap, size: int = 55, words: MapWords = ENGLISH) -> list[Spec]:
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
                "tooltip": [{"field": "id", "title": words.hospital, "type": "quantitative"}],
            },
        }
    ]


def shaded(
    city: CityMap,
    rows: Sequence[Mapping[str, int | float]],
    title: str,
    scale: Spec,
    words: MapWords = ENGLISH,
) -> Spec:
    """Regions `r` coloured by the number `n`."""
    return {
        "data": {"values": rows},
        "transform": _places(city),
        "mark": {"type": "rect"},
        "encoding": {
            **square(city),
            "color": {
                "field": "n",
                "type": "quantitative",
                "title": title,
                "scale": {**scale, "range": "ramp"},
                "legend": {"orient": "bottom", "gradientLength": 200, "tickCount": 4},
            },
            "tooltip": [
                {"field": "id", "title": words.region, "type": "quantitative"},
                {"field": "n", "title": title, "type": "quantitative", "format": ".2f"},
            ],
        },
    }


def square(city: CityMap) -> Spec:
    """The square of a region."""
    return {
        "x": _axis("x", city.nx),
        "x2": {"field": "x2"},
        "y": _axis("y", city.ny),
        "y2": {"field": "y2"},
    }


def aspect(city: CityMap) -> float:
    """Height of the city by its width."""
    width = city.nx * (city.width_km or 1.0)
    return city.ny * (city.height_km or city.width_km or 1.0) / width


def spelled(cell: Sequence[int], words: MapWords = ENGLISH) -> str:
    """A cell as the contest's files write it: 7, 2 5 9, * for deleted; long sets are cut.

    >>> spelled([]), spelled([1, 4])
    ('*', '2 5')
    """
    if not cell:
        return "*"
    text = " ".join(str(region + 1) for region in cell[:LONGEST_CELL])
    if len(cell) <= LONGEST_CELL:
        return text
    return words.more_regions.format(regions=text, count=len(cell))


def _places(city: CityMap) -> list[Spec]:
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
        "transform": [{"filter": "datum.d === day"}, *_places(city)],
        "mark": {"type": "line", "style": style, "tooltip": None},
        "encoding": {**_centre(city), "order": {"field": "j", "type": "quantitative"}},
    }


def _stays(
    city: CityMap, cells: Sequence[Sequence[int]], slots: Sequence[str], words: MapWords
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
        {"d": d, "r": r, "n": round(n, 3), "t": _times(when[d, r], words)}
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
                {"field": "id", "title": words.region, "type": "quantitative"},
                {"field": "n", "title": words.events, "type": "quantitative"},
                {"field": "t", "title": words.at, "type": "nominal"},
            ],
        },
    }


def _times(labels: list[str], words: MapWords) -> str:
    """Times without repetitions, the first few of them."""
    distinct = list(dict.fromkeys(labels))
    shown = ", ".join(distinct[:LONGEST_TIMES])
    if len(distinct) <= LONGEST_TIMES:
        return shown
    return words.more_times.format(times=shown, count=len(distinct))


def _busiest(row: NDArray[np.float64]) -> list[str]:
    order = np.argsort(-row, kind="stable")[:BUSIEST]
    found = [f"region {int(r) + 1} ({row[r]:.1f})" for r in order]
    return found + ["–"] * (BUSIEST - len(found))


def _population_alt(counts: NDArray[np.float64], hours: Sequence[str]) -> str:
    hour, region = np.unravel_index(int(counts.argmax()), counts.shape)
    return (
        f"Maps of the number of people per region at {len(hours)} times of day. The busiest is "
        f"region {int(region) + 1} at {hours[int(hour)]} with {counts.max():.1f} people."
    )
