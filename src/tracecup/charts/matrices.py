"""The two matrices of a contest as heat maps: who broke whom, and by how much.

A cell that stands out from the page is one where much was found out. The site has the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tracecup.report.chart import PICTURE_WIDTH, Chart, View, layered
from tracecup.report.facts import Attacker, ContestFacts, Matrix, Release
from tracecup.report.markup import Cell, clean, table
from tracecup.report.scores import ENGLISH, ScoreWords, tooltip
from tracecup.report.theme import Spec

ROW_HEIGHT = 22

Scores = Sequence[Sequence[float | None]]


def heat_map(facts: ContestFacts, kind: str) -> Chart:
    """Every score of one kind: releases down, attackers across; the row's lowest is framed."""
    matrix = facts.reid if kind == "reid" else facts.trace
    short, long = ("s_R", "re-identification") if kind == "reid" else ("s_T", "trace inference")
    spec = heat_spec(facts.releases, matrix.attackers, matrix.values, short)
    return Chart(
        key=f"matrix-{kind}",
        title=f"Privacy against {long}, attacker by attacker",
        caption=(
            f"{short} of every release (rows) against every attacker (columns). The more a cell "
            "stands out from the page, the more the attacker found out. The frame marks the "
            "strongest attack on each release; a dot means its own release or no attack."
        ),
        alt=_heat_alt(short, facts.releases, matrix),
        views=(View(f"matrix-{kind}", {**spec}),),
        picture={**spec, "width": PICTURE_WIDTH - 80},
        table_title=f"Table: all {short} scores",
        table=table(
            f"{short} of every release (rows) against every attacker (columns)",
            ("Release", *(attacker.label for attacker in matrix.attackers), "Lowest score"),
            [
                (release.label, *values, lowest)
                for release, values, lowest in zip(
                    facts.releases, matrix.values, matrix.minima, strict=True
                )
            ],
        ),
        wide=True,
    )


def heat_spec(
    releases: Sequence[Release],
    attackers: Sequence[Attacker],
    values: Scores,
    symbol: str,
    words: ScoreWords = ENGLISH,
) -> Spec:
    """A rectangle per release and attacker in the colour of its score, called `symbol`."""
    cells = _cells(releases, attackers, values)
    columns = [attacker.label for attacker in attackers]
    rows = [release.label for release in releases]
    found = [float(c["score"]) for c in cells if c["score"] is not None]
    low = math.floor(min(found, default=0.0) * 10) / 10
    return layered(
        {
            "transform": [{"filter": "datum.score !== null"}],
            "mark": {"type": "rect"},
            "encoding": {
                "color": {
                    "field": "score",
                    "type": "quantitative",
                    "title": symbol,
                    "scale": {"domain": [min(low, 0.9), 1], "range": "heatmap"},
                    "legend": {"orient": "top", "gradientLength": 220, "format": ".1f"},
                },
                "tooltip": tooltip(
                    ("release", words.release),
                    ("name", words.team),
                    ("attacker", words.attacker),
                    ("who", words.who),
                    ("method", words.attack),
                    ("score", symbol),
                ),
            },
        },
        {
            "transform": [{"filter": "datum.score === null"}],
            "mark": {"type": "text", "text": "·", "style": "note", "fontSize": 16},
        },
        # A frame of two tones is seen on dark and on pale cells.
        *(
            {
                "transform": [{"filter": "datum.lowest"}],
                "mark": {"type": "rect", "filled": False, "style": style, "tooltip": None},
            }
            for style in ("halo", "weakest")
        ),
        data={"values": cells},
        encoding={
            "x": {
                "field": "attacker",
                "type": "nominal",
                "sort": columns,
                "scale": {"domain": columns},
                "axis": {
                    "title": words.attacker,
                    "orient": "top",
                    "ticks": False,
                    **_angle(columns),
                },
            },
            "y": {
                "field": "release",
                "type": "nominal",
                "sort": rows,
                "scale": {"domain": rows},
                "axis": {"title": words.release, "ticks": False},
            },
        },
        height=ROW_HEIGHT * len(rows),
    )


def _cells(
    releases: Sequence[Release], attackers: Sequence[Attacker], values: Scores
) -> list[dict[str, Cell | bool]]:
    lowest = [min((value for value in row if value is not None), default=None) for row in values]
    return [
        {
            "release": release.label,
            "name": clean(release.name),
            "attacker": attacker.label,
            "who": clean(attacker.name),
            "method": clean(attacker.method),
            "score": value,
            # Equally strong attacks are all framed, as the tables of results name all of them.
            "lowest": value is not None and value == least,
        }
        for release, row, least in zip(releases, values, lowest, strict=True)
        for attacker, value in zip(attackers, row, strict=True)
    ]


def _heat_alt(short: str, releases: tuple[Release, ...], matrix: Matrix) -> str:
    text = (
        f"Heat map of {short}: {len(releases)} releases down, {len(matrix.attackers)} attackers "
        "across."
    )
    sums = [(s, a) for s, a in zip(matrix.sums, matrix.attackers, strict=True) if s is not None]
    if sums:
        best = min(sums, key=lambda pair: pair[0])
        text += f" The strongest attacker over all is {best[1].label}, sum {best[0]:.3f}."
    return text


def _angle(labels: list[str]) -> Spec:
    """Short labels stand upright over their narrow columns, long ones lie on their side."""
    upright = max(map(len, labels), default=0) <= 4
    return {"labelAngle": 0 if upright else -90, "labelOverlap": False, "labelFontSize": 10}
