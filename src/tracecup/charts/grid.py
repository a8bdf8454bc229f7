"""Layers of a map: the ground of the city, its regions as squares, hospitals.

Regions are squares of a grid, row 0 is the south; every map is made of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tracecup.charts.theme import Spec
from tracecup.charts.words import Tell
from tracecup.facts.contest import CityFacts


def ground(city: CityFacts) -> Spec:
    """The area of the city."""
    return {
        "data": {"values": [{"x": 0, "y": 0, "x2": city.nx, "y2": city.ny}]},
        "mark": {"type": "rect", "style": "ground", "tooltip": None},
        "encoding": square(city),
    }


def hospitals(city: CityFacts, size: int, tell: Tell) -> list[Spec]:
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
                **centre(city),
                "tooltip": [
                    {"field": "id", "title": tell("Hospital region"), "type": "quantitative"}
                ],
            },
        }
    ]


def shaded(
    city: CityFacts,
    rows: Sequence[Mapping[str, int | float]],
    title: str,
    scale: Spec,
    tell: Tell,
) -> Spec:
    """Regions `r` coloured by the number `n`."""
    return {
        "data": {"values": rows},
        "transform": places(city),
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
                {"field": "id", "title": tell("Region"), "type": "quantitative"},
                {"field": "n", "title": title, "type": "quantitative", "format": ".2f"},
            ],
        },
    }


def square(city: CityFacts) -> Spec:
    """The square of a region."""
    return {
        "x": _axis("x", city.nx),
        "x2": {"field": "x2"},
        "y": _axis("y", city.ny),
        "y2": {"field": "y2"},
    }


def aspect(city: CityFacts) -> float:
    """Height of the city by its width."""
    return city.ny * city.km_y / (city.nx * city.km_x)


def places(city: CityFacts) -> list[Spec]:
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


def centre(city: CityFacts) -> Spec:
    """The middle of a region."""
    return {"x": _axis("cx", city.nx), "y": _axis("cy", city.ny)}


def _axis(field: str, length: int) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": [0, length], "nice": False, "zero": False},
        "axis": None,
    }
