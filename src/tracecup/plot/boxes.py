"""Box plots and bars over defences: usefulness for applications, the ceiling; Table 1.

Every box shows its points; bars are sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracecup.plot.grids import Cell, grid
from tracecup.plot.scatters import STAGES, stages
from tracecup.plot.style import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    SKY,
    VERMILION,
    Picture,
    draws,
    sheet,
)
from tracecup.study.results import StudyResult

if TYPE_CHECKING:
    from matplotlib.figure import SubFigure

BETTER = {"POI accuracy": "higher is better", "TP-TV-Top50": "lower is better",
          "TM-EMD": "cells, lower is better"}  # fmt: skip

CREDITED = "credited: strongest attack, at most the ceiling"
APPLICATIONS = (
    "Box plots of POI accuracy, TP-TV-Top50 and TM-EMD for valid defences, planar Laplace at "
    "three levels, uniform and reference traces; average utility in brackets."
)


@draws("fig13")
def applications(result: StudyResult) -> list[Picture]:
    """One panel a metric, one box a kind of release, mean utility in brackets."""
    return [
        Picture(f"fig13-{stage}", APPLICATIONS, _boxes(result, stage))
        for stage, table in result.tables.items()
        if "kind" in table.columns
    ]


def _boxes(result: StudyResult, stage: str) -> SubFigure:
    table = result.tables[stage]
    kinds = list(dict.fromkeys(table.column("kind")))
    figure = sheet(result.source_of(stage), 4.3, title="Usefulness of releases for applications")
    panels = figure.subplots(1, len(BETTER), sharey=True)
    names = []
    for kind in kinds:
        mean = float(np.mean(table.where(kind=kind).column("s_U")))
        names.append(f"{kind}\n[{mean:.2f}]")
    for axes, (metric, better) in zip(panels, BETTER.items(), strict=True):
        values = [table.where(kind=kind).column(metric) for kind in kinds]
        axes.boxplot(
            values, orientation="horizontal", widths=0.6, patch_artist=True, showfliers=False,
            boxprops={"facecolor": "#DCEBF7", "edgecolor": BLUE},
            medianprops={"color": VERMILION, "linewidth": 2},
            whiskerprops={"color": BLUE}, capprops={"color": BLUE},
        )  # fmt: skip
        for k, points in enumerate(values, start=1):
            spread = np.linspace(-0.18, 0.18, len(points)) if len(points) > 1 else np.zeros(1)
            axes.scatter(points, k + spread, s=7, color=BLACK, alpha=0.6, zorder=3, linewidths=0)
        axes.set_yticks(range(1, len(kinds) + 1), labels=names)
        axes.set(title=metric, xlabel=better)
        axes.set_xlim(left=0)
    panels[0].invert_yaxis()
    return figure


@draws("beyond2")
def ceiling(result: StudyResult) -> list[Picture]:
    """For each defence: noise alone, what is privacy, what is the weakness of sample attacks."""
    pictures = []
    for stage in stages(result):
        rows = sorted(result.tables[stage].records(), key=lambda row: row["s_T, samples"])
        line = rows[0]["ceiling"]
        title = f"What of $s_T$ is privacy? {STAGES[stage]}"
        figure = sheet(result.source_of(stage), 1.6 + 0.27 * len(rows), title=title)
        axes = figure.subplots()
        y = np.arange(len(rows))
        credit = [row["credit"] for row in rows]
        over = [row["overstated"] for row in rows]
        axes.barh(y, credit, height=0.62, color=BLUE, label=CREDITED)
        axes.barh(
            y, over, left=credit, height=0.62, color="#F6D9A6", edgecolor=ORANGE, hatch="////",
            linewidth=0.6, label="shown by the sample attacks, but not privacy",
        )  # fmt: skip
        # Under Cheat(1) the true table names the wrong traces, so nobody wants to be told it.
        told = [k for k, row in enumerate(rows) if row["defence"] != "Cheat(1)"]
        axes.scatter(
            [rows[k]["s_T, told who is who"] for k in told], told, marker="D", s=26, color=SKY,
            edgecolors=BLACK, linewidths=0.6, zorder=4, label="attacker who is told who is who",
        )  # fmt: skip
        axes.axvline(line, color=VERMILION, linewidth=1.6, linestyle="--",
                     label=f"ceiling: no release seen ({line:.3f})")  # fmt: skip
        axes.set_yticks(y, labels=[f"{row['defence']}  [{row['s_U']:.2f}]" for row in rows])
        axes.set(xlabel="trace inference privacy $s_T$  (utility in brackets)", xlim=(-0.012, 1))
        axes.grid(axis="y", visible=False)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        figure.legend(loc="outside lower center", ncols=2)
        alt = (
            "Bars of s_T for each defence, cut at the ceiling that an attacker without the release "
            "sets; what sample attacks show above it is hatched."
        )
        pictures.append(Picture(f"beyond2-{stage}", alt, figure))
    return pictures


@draws("table1")
def location_data(result: StudyResult) -> list[Picture]:
    """The table, ours beside the paper's."""
    table = result.tables["data"]
    figure = sheet(result.source, 3.6, width=6.0, title="Location data of the contest")
    rows = [
        [Cell(str(what)), Cell(f"{paper:g}"), Cell(f"{ours:g}", "white" if paper == ours else GREY)]
        for what, paper, ours in table.rows
    ]
    grid(figure.subplots(), ("", "paper", "tracecup"), rows, (2.2, 1, 1))
    alt = "Table of users, regions, days and events: the paper's values and tracecup's defaults."
    return [Picture("table1", alt, figure)]
