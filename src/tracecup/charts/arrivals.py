"""The chart of the organisers' page: what came in hour by hour.

Releases, answers and rejected files, one bar per hour.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Protocol

from tracecup.charts.figure import Figure, Listing, View
from tracecup.charts.words import Tell, plain


class HourOfArrivals(Protocol):
    """Files that came in during an hour, by what became of them."""

    at: datetime
    releases: int
    answers: int
    rejected: int


def hours_chart(hours: Sequence[HourOfArrivals], zone: tzinfo, tell: Tell = plain) -> Figure:
    """Files that came in during the last day, hour by hour."""
    kinds = {"releases": tell("releases"), "answers": tell("answers"), "rejected": tell("rejected")}
    rows = [
        {"hour": f"{one.at.astimezone(zone):%m-%d %H:00}", "kind": said, "count": count}
        for one in hours
        for name, said in kinds.items()
        for count in [int(getattr(one, name))]
    ]
    spec = {
        "data": {"values": rows},
        "height": 180,
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "x": {
                "field": "hour",
                "type": "ordinal",
                "sort": None,
                "title": None,
                "axis": {"labelOverlap": True, "labelAngle": 0},
            },
            "y": {
                "field": "count",
                "type": "quantitative",
                "title": tell("files"),
                "axis": {"tickMinStep": 1, "format": "d"},
            },
            "color": {
                "field": "kind",
                "type": "nominal",
                "title": None,
                "sort": list(kinds.values()),
                "legend": {"orient": "top"},
            },
        },
    }
    total = sum(one.releases + one.answers + one.rejected for one in hours)
    return Figure(
        key="hours",
        title=tell("What came in during the last 24 hours"),
        caption="",
        alt=tell("%(count)d files came in during the last 24 hours.") % {"count": total},
        views=(View("hours-view", spec),),
        table_title=tell("The numbers"),
        table=Listing(
            tell("Files that came in"),
            (tell("hour"), *kinds.values()),
            tuple(
                (
                    f"{one.at.astimezone(zone):%Y-%m-%d %H:00}",
                    *(int(getattr(one, name)) for name in kinds),
                )
                for one in hours
            ),
        ),
    )
