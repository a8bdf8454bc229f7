"""What a team's releases were worth, one after another: the history of a data set's utility.

A line from try to try with the floor across it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracecup.charts.figure import Figure, Listing, View, guide, layered, tooltip
from tracecup.charts.theme import Spec
from tracecup.charts.words import Tell, plain
from tracecup.facts.text import spelled

HEIGHT = 220
LOWEST_WIDTH = 0.1


@dataclass(frozen=True)
class Attempt:
    """A release as it was scored when it was handed in; `counts` is the one that counts now."""

    number: int
    utility: float
    valid: bool
    counts: bool = False


def utility_history(
    key: str, attempts: Sequence[Attempt], floor: float, tell: Tell = plain
) -> Figure:
    """Utility of every release of a data set, in the order they came in."""
    words = {True: tell("valid"), False: tell("invalid")}
    rows = [
        {
            "n": one.number,
            "utility": one.utility,
            "state": words[one.valid],
            "counts": "★" if one.counts else "",
        }
        for one in attempts
    ]
    low = min([floor, *(one.utility for one in attempts)])
    y: Spec = {
        "field": "utility",
        "type": "quantitative",
        "title": tell("Utility, s_U"),
        "scale": {"domain": [max(0.0, min(low - 0.05, 1 - LOWEST_WIDTH)), 1], "nice": False},
    }
    x: Spec = {
        "field": "n",
        "type": "ordinal",
        "title": tell("Try"),
        "axis": {"labelAngle": 0, "grid": False},
    }
    seen = list(words.values())
    state: Spec = {"field": "state", "type": "nominal", "title": None}
    spec = layered(
        guide("y", floor, y),
        {"mark": {"type": "line", "opacity": 0.5, "tooltip": None}, "encoding": {"x": x, "y": y}},
        {
            "mark": {"type": "point", "filled": True, "size": 90},
            "encoding": {
                "x": x,
                "y": y,
                "color": {
                    **state,
                    "scale": {"domain": seen, "range": "category"},
                    "legend": {"orient": "top"},
                },
                "shape": {**state, "scale": {"domain": seen, "range": ["circle", "diamond"]}},
                "tooltip": tooltip({"n": tell("Try"), "utility": "s_U", "state": tell("Status")}),
            },
        },
        {
            "mark": {"type": "text", "dy": -14, "fontSize": 14, "tooltip": None},
            "encoding": {"x": x, "y": y, "text": {"field": "counts"}},
        },
        data={"values": rows},
        height=HEIGHT,
    )
    best = max((one.utility for one in attempts), default=0.0)
    return Figure(
        key=key,
        title=tell("How our utility went"),
        caption=tell(
            "The utility of each release that we handed in. The dashed line is the floor {floor}; "
            "the star marks the release that counts."
        ).format(floor=f"{floor:g}"),
        alt=tell("Line of {count} releases; the highest utility is {best}.").format(
            count=len(rows), best=spelled(best, 4)
        ),
        views=(View(key, spec),),
        table_title=tell("Table: utility of each try"),
        table=Listing(
            tell("Utility of each try"),
            (tell("Try"), "s_U", tell("Status")),
            tuple((str(one.number), one.utility, words[one.valid]) for one in attempts),
            digits=4,
        ),
    )
