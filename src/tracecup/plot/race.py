"""The pictures of the studies `race` and `replay`: who wins by round.

High is safe; dashed lines are attackers who never look, and who know who is who.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tracecup.plot.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILION,
    Picture,
    draws,
    sheet,
)
from tracecup.study.race import MOVES, RICHER, SCRATCH
from tracecup.study.replay import RETRAINED
from tracecup.study.results import StudyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]
SCORES = {"s_R": ("low", "high"), "s_T": ("low (T)", "high (T)")}
TITLES = {"s_R": "$s_R$: share of users not named", "s_T": "$s_T$: what stays unknown of places"}
OTHER = {SCRATCH: ("^", PURPLE), MOVES: ("D", ORANGE), RICHER: ("P", BLUE)}


@draws("race")
def race(result: StudyResult) -> list[Picture]:
    """The attacker of every round, and others on the last defence."""
    rows = result.tables["rounds"].records()
    played = [row for row in rows if row["attacker"] == RETRAINED]
    figure = sheet(result.source, 3.7, width=9.5, title="Who wins the race, round by round")
    panels = figure.subplots(1, 2, sharey=True)
    numbers = [row["round"] for row in played]
    for axes, (score, ends) in zip(panels, SCORES.items(), strict=True):
        _line(axes, played, score, ends, "attacker retrained on the defence")
        others = [row for row in rows if row["attacker"] in OTHER]
        for k, row in enumerate(others, 1):  # beside each other: their scores may be close
            marker, colour = OTHER[row["attacker"]]
            axes.plot(
                row["round"] + 0.25 * k, row[score], marker, color=colour,
                label=f"another one {row['attacker']}",
            )  # fmt: skip
        axes.set_title(TITLES[score])
        axes.set_xlabel("round: each defence has met all attackers before")
        axes.set_xticks(numbers)
        axes.set_ylim(-0.03, 1.05)
    old = [row["earlier attackers, least s_R"] for row in played]
    panels[0].plot(numbers, old, "v:", color=GREY, label="best of all earlier attackers")
    for name, colour in (("prior only", GREEN), ("true link", BLUE)):
        said = {"prior only": "never looks at the release", "true link": "knows who is who"}[name]
        panels[1].plot(numbers, [row[name] for row in played], "--", color=colour, label=said)
    for axes in panels:
        axes.legend(loc="lower right", fontsize=7)
    last = played[-1]
    alt = (
        f"Scores of the attacker retrained in each of {len(played)} rounds; in the last one "
        f"{last['s_R']:.2f} and {last['s_T']:.2f}, prior only {last['prior only']:.2f}."
    )
    return [Picture("rounds", alt, figure)]


@draws("replay")
def replay(result: StudyResult) -> list[Picture]:
    """The attacker of every round in the package, and all of them on the shipped defence."""
    rows = result.tables["rounds"].records()
    *played, shipped = rows
    figure = sheet(result.source, 3.7, width=6, title="The race again, at exactly utility 0.7")
    axes = figure.subplots()
    _line(axes, played, "s_R", SCORES["s_R"], "attacker trained on this defence")
    least = shipped["earlier attackers, least s_R"]
    axes.plot(shipped["round"], least, "v", color=GREY, label="best of all earlier attackers")
    axes.set_title(TITLES["s_R"])
    axes.set_xlabel("round: each defence has met all attackers before")
    axes.set_xticks([row["round"] for row in rows])
    axes.set_ylim(-0.03, 1.05)
    axes.legend(loc="lower right", fontsize=7)
    alt = (
        f"Score of the attacker trained on the defence of each round; in round "
        f"{played[-1]['round']} {played[-1]['s_R']:.2f}. Of the shipped defence of round "
        f"{shipped['round']} no earlier attacker leaves less than {least:.2f}."
    )
    return [Picture("replay", alt, figure)]


def _line(axes: Axes, rows: Sequence[Row], score: str, ends: Sequence[str], label: str) -> None:
    rows = [row for row in rows if row[score] is not None]
    at = [row["round"] for row in rows]
    axes.plot(at, [row[score] for row in rows], "s-", color=VERMILION, label=label)
    low, high = ([row[end] for row in rows] for end in ends)
    if None not in low:
        axes.fill_between(at, low, high, color=VERMILION, alpha=0.15, lw=0)
