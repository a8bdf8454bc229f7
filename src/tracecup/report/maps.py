"""The maps: where people are hour by hour, and one user's trace before and after the attack.

Regions are drawn as squares of a grid; row 0 is the south.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tracecup.report.chart import PICTURE_WIDTH, Chart, Control, View, layered
from tracecup.report.facts import CityMap, ContestFacts, TraceExample
from tracecup.report.markup import clean, table
from tracecup.report.theme import Spec

BUSIEST = 5
PICTURE_COLUMNS = 5
LOWEST_SHOWN = 0.005


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
    people = {
        "data": {"values": rows},
        "transform": _places(city),
        "mark": {"type": "rect"},
        "encoding": {
            **_square(city),
            "color": {
                "field": "n",
                "type": "quantitative",
                "title": "People",
                "scale": {"type": "sqrt", "domain": [0, highest], "range": "ramp"},
                "legend": {"orient": "bottom", "gradientLength": 200, "tickCount": 4},
            },
            "tooltip": [
                {"field": "id", "title": "Region", "type": "quantitative"},
                {"field": "n", "title": "People", "type": "quantitative", "format": ".2f"},
            ],
        },
    }
    shown = {**people, "transform": [{"filter": "datum.h === hour"}, *_places(city)]}
    spec = layered(_ground(city), shown, *_hospitals(city), params=[{"name": "hour", "value": 0}])
    side = (PICTURE_WIDTH - 90) // PICTURE_COLUMNS
    panels = [
        layered(
            _ground(city),
            {**people, "transform": [{"filter": f"datum.h === {h}"}, *_places(city)]},
            *_hospitals(city, size=7),
            title=hour,
            width=side,
            height=round(side * _aspect(city)),
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
            View("population", spec, aspect=_aspect(city)),
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
    truth = _path(example, kinds[0][2])
    views, panels = [], []
    side = (PICTURE_WIDTH - 40) // len(kinds)
    for key, heading, cells in kinds:
        layers = [
            _ground(city),
            *_hospitals(city, size=22),
            *([] if key == "original" else [_line(city, truth, "ghost")]),
            _line(city, _path(example, cells), "path"),
            _stays(city, len(example.slots), _stay_rows(example, cells)),
        ]
        spec = layered(*layers, params=[{"name": "day", "value": 0}])
        views.append(View(f"trace-{key}", spec, heading, _aspect(city)))
        sized = {"title": heading, "width": side, "height": round(side * _aspect(city))}
        # A signal can be declared once only in a picture of several panels.
        panels.append({**layered(*layers), **sized})
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
        views=tuple(views),
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
                        [_spelled(cell) for cell in example.obfuscated],
                        [region + 1 for region in example.inferred],
                        strict=True,
                    )
                )
            ],
            row_heads=2,
        ),
        control=Control("day", "Day", tuple(f"day {d + 1}" for d in range(example.days))),
    )  # fmt: skip


def _aspect(city: CityMap) -> float:
    width = city.nx * (city.width_km or 1.0)
    return city.ny * (city.height_km or city.width_km or 1.0) / width


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


def _square(city: CityMap) -> Spec:
    return {
        "x": _axis("x", city.nx),
        "x2": {"field": "x2"},
        "y": _axis("y", city.ny),
        "y2": {"field": "y2"},
    }


def _centre(city: CityMap) -> Spec:
    return {"x": _axis("cx", city.nx), "y": _axis("cy", city.ny)}


def _ground(city: CityMap) -> Spec:
    return {
        "data": {"values": [{"x": 0, "y": 0, "x2": city.nx, "y2": city.ny}]},
        "mark": {"type": "rect", "style": "ground", "tooltip": None},
        "encoding": _square(city),
    }


def _hospitals(city: CityMap, size: int = 55) -> list[Spec]:
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
                "tooltip": [{"field": "id", "title": "Hospital region", "type": "quantitative"}],
            },
        }
    ]


def _path(example: TraceExample, cells: Sequence[Sequence[int]]) -> list[dict[str, int]]:
    """The events with exactly one region, in order; `d` is the day."""
    slots = len(example.slots)
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


def _stay_rows(
    example: TraceExample, cells: Sequence[Sequence[int]]
) -> list[dict[str, int | float | str]]:
    """Per day and region: how many events (a set counts in parts), and when."""
    slots = len(example.slots)
    weight: dict[tuple[int, int], float] = {}
    when: dict[tuple[int, int], list[str]] = {}
    for k, cell in enumerate(cells):
        for region in cell:
            key = (k // slots, region)
            weight[key] = weight.get(key, 0.0) + 1 / len(cell)
            when.setdefault(key, []).append(example.slots[k % slots])
    return [
        {"d": d, "r": r, "n": round(n, 3), "t": _times(when[d, r])}
        for (d, r), n in weight.items()
    ]  # fmt: skip


def _times(labels: list[str]) -> str:
    """Times without repetitions, the first few of them."""
    distinct = list(dict.fromkeys(labels))
    shown = ", ".join(distinct[:6])
    return shown if len(distinct) <= 6 else f"{shown}, … ({len(distinct)} times)"


def _stays(city: CityMap, slots: int, rows: list[dict[str, int | float | str]]) -> Spec:
    return {
        "data": {"values": rows},
        "transform": [{"filter": "datum.d === day"}, *_places(city)],
        "mark": {"type": "circle", "style": "stay", "opacity": 0.75},
        "encoding": {
            **_centre(city),
            "size": {
                "field": "n",
                "type": "quantitative",
                "scale": {"domain": [0, slots], "range": [6, 320]},
                "legend": None,
            },
            "tooltip": [
                {"field": "id", "title": "Region", "type": "quantitative"},
                {"field": "n", "title": "Events", "type": "quantitative"},
                {"field": "t", "title": "At", "type": "nominal"},
            ],
        },
    }


def _spelled(cell: Sequence[int]) -> str:
    """A cell as the contest's files write it: 7, 2 5 9, * for deleted; long sets are cut."""
    if not cell:
        return "*"
    text = " ".join(str(region + 1) for region in cell[:12])
    return text if len(cell) <= 12 else f"{text} … ({len(cell)} regions)"


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
