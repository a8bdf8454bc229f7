"""The chart of each user's own risk: an average hides who pays for it.

Built from `services.pagedata.defence`.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from tracecup.report.theme import Spec
from tracecup.server.web.charts import Chart, Column, Table, View

BINS = 20


def risk_histogram(scores: Sequence[float | None]) -> Chart | None:
    """How many users lost how much of their trace to the strongest attack."""
    risks = [1 - score for score in scores if score is not None]
    if not risks:
        return None
    counts = [0] * BINS
    for risk in risks:
        counts[min(BINS - 1, max(0, int(risk * BINS)))] += 1
    rows = [{"low": k / BINS, "high": (k + 1) / BINS, "n": count} for k, count in enumerate(counts)]
    spec: Spec = {
        "data": {"values": rows},
        "mark": {"type": "bar", "style": "band"},
        "encoding": {
            "x": {
                "field": "low",
                "type": "quantitative",
                "bin": {"binned": True},
                "title": _("Part of the own trace found out"),
                "scale": {"domain": [0, 1], "nice": False},
            },
            "x2": {"field": "high"},
            "y": {
                "field": "n",
                "type": "quantitative",
                "title": _("Users"),
                "axis": {"tickCount": 5},
            },
            "tooltip": [
                {"field": "low", "title": _("Risk from"), "type": "quantitative"},
                {"field": "n", "title": _("Users"), "type": "quantitative"},
            ],
        },
        "height": 220,
    }
    mean, most = sum(risks) / len(risks), max(risks)
    told = _(
        "On average {mean:.2f} of a trace was found out, of the most exposed user {most:.2f}."
    ).format(mean=mean, most=most)
    return Chart(
        key="risk",
        title=_("The risk of each user"),
        caption=_("Under the strongest trace inference on this release. {told}").format(told=told),
        alt=_("Histogram over {count} users. {told}").format(count=len(risks), told=told),
        views=(View("risk", spec),),
        table_title=_("Table: users by risk"),
        table=Table(
            _("Users by the part of their trace that was found out"),
            (Column(_("Risk"), number=False), Column(_("Users"))),
            tuple((f"{one['low']:.2f}–{one['high']:.2f}", str(one["n"])) for one in rows),
        ),
    )
