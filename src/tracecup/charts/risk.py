"""The charts of each user's own risk: a contest's average hides who pays for it.

Distributions are reduced to quantiles and histograms here, so that the page stays small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.report.chart import PICTURE_WIDTH, Chart, Control, View, layered
from tracecup.report.facts import ContestFacts, Release
from tracecup.report.markup import clean, table
from tracecup.report.theme import Spec

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
NAMES = ("p5", "p25", "p50", "p75", "p95")
BINS = 20
ROW_HEIGHT = 20


def risk_bands(facts: ContestFacts) -> Chart | None:
    """Quantiles over users of the part of each trace that the strongest attack got right."""
    kept = [(release, _risk(release)) for release in facts.releases]
    rows = [
        {
            "label": release.label,
            "name": clean(release.name),
            "found": None if release.reid_risk is None else float((release.reid_risk > 0).mean()),
            **dict(zip(NAMES, (float(q) for q in np.quantile(risk, QUANTILES)), strict=True)),
        }
        for release, risk in kept
        if risk is not None
    ]
    if not rows:
        return None
    rows.sort(key=lambda row: float(row["p50"]))  # type: ignore[arg-type]  # p50 is a float
    order = [row["label"] for row in rows]
    y = {
        "field": "label",
        "type": "nominal",
        "sort": order,
        "scale": {"domain": order},
        "axis": {"title": "Release", "ticks": False},
    }
    spec = layered(
        {
            "mark": {"type": "rule", "strokeWidth": 1.5},
            "encoding": {"x": _share("p5"), "x2": {"field": "p95"}},
        },
        {
            "mark": {"type": "bar", "style": "band", "height": {"band": 0.62}},
            "encoding": {
                "x": _share("p25"),
                "x2": {"field": "p75"},
                "tooltip": [
                    {"field": "label", "title": "Release", "type": "nominal"},
                    {"field": "name", "title": "Team", "type": "nominal"},
                    *(
                        {
                            "field": name,
                            "title": f"{q:.0%} of users below",
                            "type": "quantitative",
                            "format": ".3f",
                        }
                        for name, q in zip(NAMES, QUANTILES, strict=True)
                    ),
                ],
            },
        },
        {
            "mark": {"type": "tick", "style": "middle", "thickness": 2.5, "height": {"band": 0.8}},
            "encoding": {"x": _share("p50")},
        },
        data={"values": rows},
        encoding={"y": y},
        height=ROW_HEIGHT * len(rows),
    )  # fmt: skip
    return Chart(
        key="risk",
        title="How much of each user's trace was found out",
        caption=(
            "For every user: 1 minus the user's own s_T against the strongest attack on the "
            "release. The box holds the middle half of the users, the line 90% of them, the bar "
            "stands at the median. A release can be good on average and bad for some."
        ),
        alt=(
            f"Box chart of the risk of each user for {len(rows)} releases, from the safest median, "
            f"{rows[0]['p50']:.2f} ({rows[0]['label']}), to the worst, {rows[-1]['p50']:.2f} "
            f"({rows[-1]['label']})."
        ),
        views=(View("risk", {**spec}),),
        picture={**spec, "width": PICTURE_WIDTH - 60},
        table_title="Table: quantiles of the users' risk",
        table=table(
            "Part of the own trace found out: value below which 5, 25, 50, 75 and 95% of the users "
            "lie; and the share of users whom at least one attacker re-identified",
            ("Release", "Team", "5%", "25%", "median", "75%", "95%", "re-identified by anyone"),
            [
                (row["label"], row["name"], *(row[name] for name in NAMES), row["found"])
                for row in rows
            ],
        ),
    )


def risk_histogram(facts: ContestFacts) -> Chart | None:
    """The same risk as a histogram of one release at a time, the benchmark's outline behind it."""
    kept = [
        (release, risk)
        for release, risk in ((release, _risk(release)) for release in facts.releases)
        if risk is not None
    ]
    if not kept:
        return None
    shares = [_histogram(risk) for _, risk in kept]
    edges = np.linspace(0, 1, BINS + 1)
    rows = [
        {
            "k": k,
            "low": round(float(edges[b]), 4),
            "high": round(float(edges[b + 1]), 4),
            "share": s,
        }
        for k, counts in enumerate(shares)
        for b, s in enumerate(counts)
        if s > 0
    ]
    base = next((k for k, (release, _) in enumerate(kept) if release.benchmark), None)
    start = next((k for k, (release, _) in enumerate(kept) if not release.benchmark), 0)
    highest = max(max(counts) for counts in shares)
    spec: Spec = layered(
        *([] if base is None else [_bars(f"datum.k === {base}", "ghost", highest)]),
        _bars("datum.k === release", "band", highest),
        data={"values": rows},
        params=[{"name": "release", "value": start}],
    )
    labels = tuple(f"{release.label} {clean(release.name)}" for release, _ in kept)
    return Chart(
        key="risk-histogram",
        title="One release in detail",
        caption=(
            "Share of the users by the part of their trace that was found out."
            + ("" if base is None else " The grey outline is the benchmark: shuffled names only.")
        ),
        alt=f"Histogram of the users' risk in the release {labels[start]}.",
        views=(View("risk-histogram", {**spec, "height": 240}),),
        picture={**spec, "width": PICTURE_WIDTH - 60, "height": 240},
        table_title="Table: histogram of every release",
        table=table(
            "Share of the users in each class of risk",
            ("Release", *(f"{edges[b]:.2f}–{edges[b + 1]:.2f}" for b in range(BINS))),
            [(release.label, *counts) for (release, _), counts in zip(kept, shares, strict=True)],
        ),
        control=Control("release", "Release", labels, start, slider=False),
    )


def _risk(release: Release) -> NDArray[np.float64] | None:
    return release.trace_risk if release.attacked else None


def _histogram(risk: NDArray[np.float64]) -> list[float]:
    counts, _ = np.histogram(risk, bins=BINS, range=(0, 1))
    return [round(float(c) / len(risk), 5) for c in counts]


def _bars(test: str, style: str, highest: float) -> Spec:
    return {
        "transform": [{"filter": test}],
        "mark": {"type": "bar", "style": style, "filled": style != "ghost"},
        "encoding": {
            "x": {**_share("low"), "bin": {"binned": True}},
            "x2": {"field": "high"},
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": "Share of users",
                "scale": {"domain": [0, highest]},
                "axis": {"format": "%", "tickCount": 5},
            },
            "tooltip": [
                {"field": "low", "title": "Risk from", "type": "quantitative"},
                {"field": "high", "title": "to", "type": "quantitative"},
                {"field": "share", "title": "Users", "type": "quantitative", "format": ".1%"},
            ],
        },
    }


def _share(field: str) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": "Part of the own trace found out",
        "scale": {"domain": [0, 1], "nice": False},
    }
