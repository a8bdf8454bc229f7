"""The pictures of the study `race`: who wins by round, and what an attacker has to know.

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
from tracecup.study.race import (
    KNOWS,
    MOVES,
    NEVER,
    OTHERS,
    RETRAINED,
    RICHEST,
    SCRATCH,
    TARGET,
)
from tracecup.study.results import StudyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]
SCORES = {"s_R": ("low", "high"), "s_T": ("low (T)", "high (T)")}
TITLES = {"s_R": "$s_R$: share of users not named", "s_T": "$s_T$: what stays unknown of places"}
OTHER = {SCRATCH: ("^", PURPLE), MOVES: ("D", ORANGE), RICHEST: ("v", BLUE)}


@draws("race")
def race(result: StudyResult) -> list[Picture]:
    """Rounds, and attackers on the winner's defence."""
    return [_rounds(result), _attackers(result)]


def _rounds(result: StudyResult) -> Picture:
    rows = result.tables["rounds"].records()
    played = [row for row in rows if row["attacker"] == RETRAINED]
    figure = sheet(result.source, 3.7, width=9.5, title="Who wins the race, round by round")
    panels = figure.subplots(1, 2, sharey=True)
    numbers = [row["round"] for row in played]
    for axes, (score, ends) in zip(panels, SCORES.items(), strict=True):
        _line(axes, numbers, played, score, ends, "attacker retrained on the defence")
        for row in rows:
            if row["attacker"] in OTHER:
                marker, colour = OTHER[row["attacker"]]
                axes.plot(
                    row["round"] + 0.12, row[score], marker, color=colour,
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
    return Picture("rounds", alt, figure)


def _line(
    axes: Axes, at: Sequence[int], rows: Sequence[Row], score: str, ends: Sequence[str], label: str
) -> None:
    axes.plot(at, [row[score] for row in rows], "s-", color=VERMILION, label=label)
    low, high = ([row[end] for row in rows] for end in ends)
    if None not in low:
        axes.fill_between(at, low, high, color=VERMILION, alpha=0.15, lw=0)


def _attackers(result: StudyResult) -> Picture:
    rows = result.tables["attackers"].records()
    most = max(row["teams"] for row in rows)
    days = max(row["days"] for row in rows)
    whole = [row for row in rows if (row["teams"], row["days"]) == (most, days)]
    figure = sheet(
        result.source, 3.4, width=10.5, title=f"What an attacker on {TARGET} has to know"
    )
    panels = figure.subplots(1, 3, sharey=True, width_ratios=(1.5, 1, 1))
    words = {NEVER: "never saw it", OTHERS: "saw other\nsizes of it", KNOWS: "knows the\nprogram"}
    for score, ends, colour, shift in (
        ("s_R", SCORES["s_R"], VERMILION, -0.2),
        ("s_T", SCORES["s_T"], BLUE, 0.2),
    ):
        for at, row in enumerate(whole):
            panels[0].bar(at + shift, row[score], 0.38, color=colour, alpha=0.85)
            panels[0].text(
                at + shift, row[score] + 0.02, f"{row[score]:.2f}", ha="center", fontsize=7
            )
        for axes, name, fixed, value in (
            (panels[1], "teams", "days", days),
            (panels[2], "days", "teams", most),
        ):
            some = sorted(
                (r for r in rows if r["attacker"] == KNOWS and r[fixed] == value),
                key=lambda row: row[name],
            )
            places = [row[name] for row in some]
            marker = "s-" if score == "s_R" else "o-"
            axes.plot(places, [row[score] for row in some], marker, color=colour)
            axes.set_xticks(places)
            low, high = ([row[end] for row in some] for end in ends)
            if None not in low:
                axes.fill_between(places, low, high, color=colour, alpha=0.15, lw=0)
    panels[0].set_xticks(range(len(whole)), labels=[words[row["attacker"]] for row in whole])
    panels[0].bar([0], [0], color=VERMILION, label="$s_R$: users not named")
    panels[0].bar([0], [0], color=BLUE, label="$s_T$: places not known")
    panels[0].legend(loc="upper right")
    panels[0].set_ylim(0, 1.05)
    panels[0].set_title(f"{most} teams, {days} days of references")
    panels[1].set_title("fewer teams")
    panels[1].set_xlabel("teams whose references are public")
    panels[2].set_title("fewer days")
    panels[2].set_xlabel("days of each reference")
    known = whole[-1]
    alt = (
        f"Bars and curves of an attacker's scores by what he knows; with the program and all "
        f"public data {known['s_R']:.2f} and {known['s_T']:.2f}."
    )
    return Picture("attackers", alt, figure)
