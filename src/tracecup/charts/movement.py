"""The chart of a release seen from its own team: how far its points moved.

A team sees it before it hands the release in.
"""

from __future__ import annotations

from tracecup.charts.figure import Figure, Listing, View, guide, layered
from tracecup.charts.maps import moved_map
from tracecup.charts.words import Tell, plain
from tracecup.facts.contest import CityFacts, Movement

MOST_REGIONS = 10_000


def movement_charts(
    city: CityFacts | None, moved: Movement, reach_km: float, tell: Tell = plain
) -> list[Figure]:
    """The histogram of distances, and the map where the city is small enough for one."""
    charts = [_distances(moved, reach_km, tell)]
    if city is not None and city.nx * city.ny <= MOST_REGIONS:
        charts.append(moved_map(city, moved.regions, tell))
    return charts


def _distances(moved: Movement, reach_km: float, tell: Tell) -> Figure:
    bins = [
        {"low": round(k * moved.width_km, 3), "high": round((k + 1) * moved.width_km, 3), "s": s}
        for k, s in enumerate(moved.shares)
    ]
    spec = layered(
        {
            "mark": {"type": "bar", "style": "band"},
            "encoding": {
                "x": {
                    "field": "low",
                    "type": "quantitative",
                    "bin": {"binned": True},
                    "title": tell("Moved by (km)"),
                },
                "x2": {"field": "high"},
                "y": {
                    "field": "s",
                    "type": "quantitative",
                    "title": tell("Share of events"),
                    "axis": {"format": "%", "tickCount": 5},
                },
                "tooltip": [
                    {"field": "low", "title": tell("From km"), "type": "quantitative"},
                    {
                        "field": "s",
                        "title": tell("Events"),
                        "type": "quantitative",
                        "format": ".1%",
                    },
                ],
            },
        },
        guide("x", reach_km, {"type": "quantitative"}),
        data={"values": bins},
        height=220,
    )
    told = tell(
        "{unchanged:.0%} of the events are unchanged, {deleted:.0%} deleted, {sets:.0%} became "
        "sets of regions; those that remain were moved by {mean:.2f} km on average."
    ).format(
        unchanged=moved.unchanged,
        deleted=moved.deleted,
        sets=moved.sets,
        mean=moved.mean_km or 0.0,
    )
    return Figure(
        key="distances",
        title=tell("How far points moved"),
        caption=tell("{told} From the dashed line ({reach} km) on an event has no utility.").format(
            told=told, reach=f"{reach_km:g}"
        ),
        alt=tell("Histogram of distances. {told}").format(told=told),
        views=(View("distances", spec),),
        table_title=tell("Table: share of events by distance"),
        table=Listing(
            tell("Share of all events by the distance they were moved"),
            (tell("Distance in km"), tell("Share of events")),
            tuple(
                (
                    f"{one['low']:.2f}–{one['high']:.2f}"
                    if k + 1 < len(bins)
                    else f"≥ {one['low']:.2f}",
                    float(one["s"]),
                )
                for k, one in enumerate(bins)
            ),
        ),
    )
