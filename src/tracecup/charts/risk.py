"""The charts of each user's own risk: a contest's average hides who pays for it.

Distributions are reduced to quantiles and histograms here, so that the page stays small.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tracecup.charts.figure import PICTURE_WIDTH, Control, Figure, Listing, View, layered
from tracecup.charts.theme import Spec
from tracecup.charts.words import Tell, plain, who
from tracecup.facts.board import ReleaseFacts
from tracecup.facts.contest import ContestFacts, UserRisks

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
NAMES = ("p5", "p25", "p50", "p75", "p95")
BINS = 20
ROW_HEIGHT = 20


def risk_bands(facts: ContestFacts, tell: Tell = plain) -> Figure | None:
    """Quantiles over users of the part of each trace that the strongest attack got right."""
    rows = [
        {
            "label": release.label,
            "name": who(release, tell),
            "found": _found_by_anyone(facts, release),
            **dict(zip(NAMES, (float(q) for q in np.quantile(risk, QUANTILES)), strict=True)),
        }
        for release, risk in _kept(facts)
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
        "axis": {"title": tell("Release"), "ticks": False},
    }
    spec = layered(
        {
            "mark": {"type": "rule", "strokeWidth": 1.5},
            "encoding": {"x": _share("p5", tell), "x2": {"field": "p95"}},
        },
        {
            "mark": {"type": "bar", "style": "band", "height": {"band": 0.62}},
            "encoding": {
                "x": _share("p25", tell),
                "x2": {"field": "p75"},
                "tooltip": [
                    {"field": "label", "title": tell("Release"), "type": "nominal"},
                    {"field": "name", "title": tell("Team"), "type": "nominal"},
                    *(
                        {
                            "field": name,
                            "title": tell("{share:.0%} of users below").format(share=q),
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
            "encoding": {"x": _share("p50", tell)},
        },
        data={"values": rows},
        encoding={"y": y},
        height=ROW_HEIGHT * len(rows),
    )  # fmt: skip
    return Figure(
        key="risk",
        title=tell("How much of each user's trace was found out"),
        caption=tell(
            "For every user: 1 minus the user's own s_T against the strongest attack on the "
            "release. The box holds the middle half of the users, the line nine in ten of them, "
            "the bar stands at the median. A release can be good on average and bad for some."
        ),
        alt=tell(
            "Box chart of the risk of each user for {count} releases, from the safest median, "
            "{least:.2f} ({safest}), to the worst, {most:.2f} ({worst})."
        ).format(
            count=len(rows),
            least=rows[0]["p50"],
            safest=rows[0]["label"],
            most=rows[-1]["p50"],
            worst=rows[-1]["label"],
        ),
        views=(View("risk", spec),),
        picture={**spec, "width": PICTURE_WIDTH - 60},
        table_title=tell("Table: quantiles of the users' risk"),
        table=Listing(
            tell(
                "Share of a user's own trace that was uncovered: value below which 5, 25, 50, 75 "
                "and 95 percent of the users lie; and the share of users whom at least one "
                "attacker re-identified"
            ),
            (
                tell("Release"),
                tell("Team"),
                *("5%", "25%", tell("median"), "75%", "95%"),
                tell("re-identified by anyone"),
            ),
            tuple(
                (row["label"], row["name"], *(row[name] for name in NAMES), row["found"])
                for row in rows
            ),
        ),
    )


def risk_histogram(facts: ContestFacts, tell: Tell = plain) -> Figure | None:
    """The same risk as a histogram of one release at a time, the benchmark's outline behind it."""
    kept = _kept(facts)
    if not kept:
        return None
    shares = [_histogram(risk) for _, risk in kept]
    rows = [{"k": k, **row} for k, counts in enumerate(shares) for row in _classes(counts)]
    base = next((k for k, (release, _) in enumerate(kept) if release.benchmark), None)
    start = next((k for k, (release, _) in enumerate(kept) if not release.benchmark), 0)
    highest = max(max(counts) for counts in shares)
    outline = [] if base is None else [_bars("ghost", highest, tell, f"datum.k === {base}")]
    spec = layered(
        *outline,
        _bars("band", highest, tell, "datum.k === release"),
        data={"values": rows},
        params=[{"name": "release", "value": start}],
        height=240,
    )
    labels = tuple(f"{release.label} {who(release, tell)}" for release, _ in kept)
    caption = tell("Share of the users by the part of their trace that was found out.")
    if base is not None:
        caption += " " + tell("The grey outline is the benchmark: shuffled names only.")
    return Figure(
        key="risk-histogram",
        title=tell("One release in detail"),
        caption=caption,
        alt=tell("Histogram of the users' risk in the release {label}.").format(
            label=labels[start]
        ),
        views=(View("risk-histogram", spec),),
        picture={**spec, "width": PICTURE_WIDTH - 60},
        table_title=tell("Table: histogram of every release"),
        table=Listing(
            tell("Share of the users in each class of risk"),
            (tell("Release"), *_class_names()),
            tuple(
                (release.label, *counts) for (release, _), counts in zip(kept, shares, strict=True)
            ),
        ),
        control=Control("release", tell("Release"), labels, start, slider=False),
    )


def own_risks(scores: Sequence[float | None], tell: Tell = plain) -> Figure | None:
    """How many users lost how much of their trace, from each user's own s_T."""
    risks = np.array([1 - score for score in scores if score is not None])
    if not len(risks):
        return None
    shares = _histogram(risks)
    spec = layered(_bars("band", max(shares), tell), data={"values": _classes(shares)}, height=220)
    told = tell(
        "On average {mean:.2f} of a trace was found out, of the most exposed user {most:.2f}."
    ).format(mean=risks.mean(), most=risks.max())
    counts = np.histogram(risks, bins=BINS, range=(0, 1))[0]
    return Figure(
        key="risk",
        title=tell("The risk of each user"),
        caption=tell("Under the strongest trace inference on this release. {told}").format(
            told=told
        ),
        alt=tell("Histogram over {count} users. {told}").format(count=len(risks), told=told),
        views=(View("risk", spec),),
        table_title=tell("Table: users by risk"),
        table=Listing(
            tell("Users by the part of their trace that was found out"),
            (tell("Risk"), tell("Users")),
            tuple(zip(_class_names(), counts.tolist(), strict=True)),
        ),
    )


def _kept(facts: ContestFacts) -> list[tuple[ReleaseFacts, NDArray[np.float64]]]:
    """The releases whose users' risk is known."""
    risks = [(one, facts.risks.get(one.label, UserRisks()).trace) for one in facts.board.releases]
    return [(one, risk) for one, risk in risks if risk is not None]


def _found_by_anyone(facts: ContestFacts, release: ReleaseFacts) -> float | None:
    risk = facts.risks[release.label].reid
    return None if risk is None else float((risk > 0).mean())


def _histogram(risk: NDArray[np.float64]) -> list[float]:
    counts, _ = np.histogram(risk, bins=BINS, range=(0, 1))
    return [round(float(c) / len(risk), 5) for c in counts]


def _classes(shares: Sequence[float]) -> list[dict[str, float]]:
    """A row per class of risk that has users."""
    return [
        {"low": round(b / BINS, 4), "high": round((b + 1) / BINS, 4), "share": share}
        for b, share in enumerate(shares)
        if share > 0
    ]


def _class_names() -> list[str]:
    return [f"{b / BINS:.2f}–{(b + 1) / BINS:.2f}" for b in range(BINS)]


def _bars(style: str, highest: float, tell: Tell, test: str = "true") -> Spec:
    return {
        "transform": [{"filter": test}],
        "mark": {"type": "bar", "style": style, "filled": style != "ghost"},
        "encoding": {
            "x": {**_share("low", tell), "bin": {"binned": True}},
            "x2": {"field": "high"},
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": tell("Share of users"),
                "scale": {"domain": [0, highest]},
                "axis": {"format": "%", "tickCount": 5},
            },
            "tooltip": [
                {"field": "low", "title": tell("Risk from"), "type": "quantitative"},
                {"field": "high", "title": tell("to"), "type": "quantitative"},
                {"field": "share", "title": tell("Users"), "type": "quantitative", "format": ".1%"},
            ],
        },
    }


def _share(field: str, tell: Tell) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": tell("Share of a user's own trace that was uncovered"),
        "scale": {"domain": [0, 1], "nice": False},
    }
