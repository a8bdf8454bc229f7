"""Charts of a team's own release: how far its points moved.

Built from `services.movement`.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from tracecup.report.chart import layered
from tracecup.server.site.data import CityMap
from tracecup.server.site.maps import moved_map
from tracecup.server.submissions.movement import Movement
from tracecup.server.web.charts import Chart, Column, Table, View

MOST_REGIONS = 10_000


def movement_charts(moved: Movement, city: CityMap | None, reach_km: float) -> list[Chart]:
    """The histogram of distances, and the map where the city is small enough for one."""
    charts = [_histogram(moved, reach_km)]
    if city is not None and city.nx * city.ny <= MOST_REGIONS:
        charts.append(moved_map(city, moved.regions))
    return charts


def _histogram(moved: Movement, reach_km: float) -> Chart:
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
                    "title": _("Moved by (km)"),
                },
                "x2": {"field": "high"},
                "y": {
                    "field": "s",
                    "type": "quantitative",
                    "title": _("Share of events"),
                    "axis": {"format": "%", "tickCount": 5},
                },
                "tooltip": [
                    {"field": "low", "title": _("From km"), "type": "quantitative"},
                    {"field": "s", "title": _("Events"), "type": "quantitative", "format": ".1%"},
                ],
            },
        },
        {
            "data": {"values": [{"at": reach_km}]},
            "mark": {"type": "rule", "style": "guide"},
            "encoding": {"x": {"field": "at", "type": "quantitative"}},
        },
        data={"values": bins},
        height=220,
    )
    told = _(
        "{unchanged:.0%} of the events are unchanged, {deleted:.0%} deleted, {sets:.0%} became "
        "sets of regions; those that remain were moved by {mean:.2f} km on average."
    ).format(
        unchanged=moved.unchanged,
        deleted=moved.deleted,
        sets=moved.sets,
        mean=moved.mean_km or 0.0,
    )
    return Chart(
        key="distances",
        title=_("How far points moved"),
        caption=_("{told} From the dashed line ({reach} km) on an event has no utility.").format(
            told=told, reach=f"{reach_km:g}"
        ),
        alt=_("Histogram of distances. {told}").format(told=told),
        views=(View("distances", spec),),
        table_title=_("Table: share of events by distance"),
        table=Table(
            _("Share of all events by the distance they were moved"),
            (Column(_("Distance in km"), number=False), Column(_("Share of events"))),
            tuple(
                (
                    f"{one['low']:.2f}–{one['high']:.2f}"
                    if k + 1 < len(bins)
                    else f"≥ {one['low']:.2f}",
                    f"{one['s']:.1%}",
                )
                for k, one in enumerate(bins)
            ),
        ),
    )
