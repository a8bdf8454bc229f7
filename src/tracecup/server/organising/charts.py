"""Charts of the organisers' pages: what came in hour by hour, and the matrix of scores.

Every number is also in the table behind the chart.
"""

from __future__ import annotations

from datetime import tzinfo

from django.utils.translation import gettext as _

from tracecup.report.chart import View
from tracecup.server.organising.data import RunPage
from tracecup.server.organising.data_scores import ScoreMatrix, ScoreRow
from tracecup.server.results.naming import BENCHMARK
from tracecup.server.web.charts import Chart, Column, Table


def hours_chart(page: RunPage, zone: tzinfo) -> Chart:
    """Files that came in during the last day, hour by hour."""
    kinds = {
        "releases": _("releases"),
        "answers": _("answers"),
        "rejected": _("rejected"),
    }
    rows = [
        {"hour": f"{one.at.astimezone(zone):%m-%d %H:00}", "kind": said, "count": count}
        for one in page.hours
        for name, said in kinds.items()
        for count in [getattr(one, name)]
    ]
    total = sum(row["count"] for row in rows if isinstance(row["count"], int))
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
                "title": _("files"),
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
    table = Table(
        _("Files that came in"),
        (Column(_("hour"), number=False), *(Column(said) for said in kinds.values())),
        tuple(
            (
                f"{one.at.astimezone(zone):%Y-%m-%d %H:00}",
                *(str(getattr(one, name)) for name in kinds),
            )
            for one in page.hours
        ),
    )
    return Chart(
        key="hours",
        title=_("What came in during the last 24 hours"),
        caption="",
        alt=_("%(count)d files came in during the last 24 hours.") % {"count": total},
        views=(View("hours-view", spec),),
        table=table,
        table_title=_("The numbers"),
    )


def matrix_chart(matrix: ScoreMatrix) -> Chart:
    """Defenders x attackers as colours; dark is a low score: the attack hurts."""
    titles = {"reid": _("Re-identification"), "trace": _("Trace inference")}
    attackers = [matrix.names.get(name, name) for name in matrix.attackers]
    releases = [_named(row) for row in matrix.rows]
    rows = [
        {"release": release, "attacker": name, "score": score}
        for release, row in zip(releases, matrix.rows, strict=True)
        for name, score in zip(attackers, row.scores, strict=True)
        if score is not None
    ]
    spec = {
        "data": {"values": rows},
        "height": 24 * len(matrix.rows) + 20,
        "mark": {"type": "rect", "tooltip": True},
        "encoding": {
            "x": {
                "field": "attacker",
                "type": "ordinal",
                "sort": attackers,
                "title": _("attacker"),
                "axis": {"labelAngle": -35, "labelLimit": 150},
            },
            "y": {
                "field": "release",
                "type": "ordinal",
                "sort": releases,
                "title": _("release"),
                "axis": {"labelLimit": 200},
            },
            "color": {
                "field": "score",
                "type": "quantitative",
                "title": _("score"),
                "scale": {"domain": [0, 1], "scheme": "viridis"},
            },
        },
    }
    return Chart(
        key=f"matrix-{matrix.kind}",
        title=titles[matrix.kind],
        caption=_("Privacy score of each release against each attacker, from 0 to 1; low hurts."),
        alt=_("%(count)d scores; the table below has all of them.") % {"count": len(rows)},
        views=(View(f"matrix-{matrix.kind}-view", spec),),
        wide=True,
        table=Table(
            titles[matrix.kind],
            (
                Column(_("release"), number=False),
                *(Column(name) for name in attackers),
                Column(_("minimum")),
                Column(_("by"), number=False),
            ),
            tuple(
                (
                    release,
                    *("–" if score is None else f"{score:.4f}" for score in row.scores),
                    "–" if row.minimum is None else f"{row.minimum:.4f}",
                    row.minimum_by,
                )
                for release, row in zip(releases, matrix.rows, strict=True)
            ),
        ),
        table_title=_("All scores"),
    )


def _named(row: ScoreRow) -> str:
    """A release by number and name of its team."""
    benchmark = row.label.startswith(BENCHMARK)
    return f"{row.label} {_('Benchmark') if benchmark else row.name}".strip()
