"""Table 2 as a picture: spread of the scores over teams, and what more users would change.

Whiskers are 95 % intervals of a standard deviation known from so many teams only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
from tracecup.study.results import StudyResult, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCORES = {"s_R,min": ("$s_{R,min}$", BLUE, "o"), "s_T,min": ("$s_{T,min}$", VERMILION, "s")}
LOOKS = ((BLUE, "o"), (ORANGE, "^"), (PURPLE, "D"), (GREEN, "s"))


@draws("table2")
def fairness(result: StudyResult) -> list[Picture]:
    """Ours beside the published values, against the number of users, and the chance of a swap."""
    spread, swaps = result.tables["spread"], result.tables["swaps"]
    figure = sheet(result.source, 7.0, title="Fairness: spread of the scores over teams")
    panels = figure.subplots(2, 2)
    _published(panels[0, 0], result)
    _swaps(panels[0, 1], swaps)
    names = list(dict.fromkeys(spread.column("obfuscation")))
    for axes, score in zip(panels[1], SCORES, strict=True):
        _by_users(axes, spread, names, score)
    alt = (
        "Four charts: standard deviations of the minimum scores for four obfuscations, ours and "
        "the published ones; the chance that first and second place swap; both standard "
        "deviations against the number of users, falling as one over its root."
    )
    return [Picture("table2", alt, figure)]


def _published(axes: Axes, result: StudyResult) -> None:
    spread = result.tables["spread"]
    names = list(dict.fromkeys(spread.column("obfuscation")))
    at = _compared_size(result)
    for k, (score, (label, colour, marker)) in enumerate(SCORES.items()):
        rows = [spread.row(obfuscation=name, users=at) for name in names]
        ours = [row[f"SD {score}"] for row in rows]
        y = np.arange(len(names)) + (k - 0.5) * 0.36
        low, high = ([row[f"{end} {score}"] for row in rows] for end in ("low", "high"))
        axes.hlines(y, low, high, color=colour, linewidth=1.2)
        axes.scatter(ours, y, color=colour, marker=marker, label=f"{label}, ours", zorder=3)
        paper = [c.published for c in result.comparisons if f"SD of {score}" in c.what]
        axes.scatter(
            paper, y, color=colour, marker="x", s=44, label=f"{label}, published", zorder=4
        )
    axes.set(xscale="log", xlabel="standard deviation", title=f"{at} users")
    axes.set_yticks(range(len(names)), labels=names)
    axes.set_ylim(len(names) + 0.85, -0.6)
    axes.legend(loc="lower center", ncols=2, columnspacing=1.0, handletextpad=0.2)


def _compared_size(result: StudyResult) -> int:
    """The size whose standard deviations are compared with the published ones."""
    spread, first = result.tables["spread"], result.comparisons[0]
    (row,) = [
        row for row in spread.where(obfuscation="None").records() if row["SD s_R,min"] == first.ours
    ]
    return int(row["users"])


def _swaps(axes: Axes, swaps: Table) -> None:
    for score, (label, colour, marker) in SCORES.items():
        some = swaps.where(score=score)
        m, chance = some.column("users"), some.column("probability of a swap")
        axes.fill_between(m, some.column("low"), some.column("high"), color=colour, alpha=0.15,
                          linewidth=0)  # fmt: skip
        gap = some.column("difference")[0]
        axes.plot(m, chance, color=colour, marker=marker, label=f"{label}, {gap:.3f} apart")
    axes.set(title="Chance of 1st and 2nd swapping", ylabel="probability", ylim=(-0.02, 0.55))
    _users(axes, m)
    axes.legend(loc="upper right")


def _by_users(axes: Axes, spread: Table, names: list[str], score: str) -> None:
    for name, (colour, marker) in zip(names, LOOKS, strict=True):
        some = spread.where(obfuscation=name)
        m, sd = some.column("users"), some.column(f"SD {score}")
        axes.plot(m, sd, color=colour, marker=marker, label=name)
        axes.plot(m, [sd[0] * (m[0] / users) ** 0.5 for users in m], color=GREY, linestyle=":",
                  linewidth=1, zorder=1)  # fmt: skip
    axes.plot([], [], color=GREY, linestyle=":", linewidth=1, label=r"as $1/\sqrt{m}$")
    axes.set(yscale="log", title=f"{SCORES[score][0]} by number of users")
    axes.set_ylabel("standard deviation")
    _users(axes, m)
    low, high = axes.get_ylim()
    axes.set_ylim(low / 8, high)
    axes.legend(loc="lower center", ncols=2, columnspacing=1.0)


def _users(axes: Axes, m: list[int]) -> None:
    axes.set(xscale="log", xlabel="users m")
    axes.set_xticks(m, labels=[str(users) for users in m])
    axes.minorticks_off()
