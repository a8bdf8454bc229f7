"""Maps of the grid: hospitals, populations.

Shades are perceptually even and readable without colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracecup.plot.style import BLUE, GREEN, INK, VERMILION, Picture, draws, sheet
from tracecup.study.results import StudyResult, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure
    from numpy.typing import NDArray


@draws("fig4")
def noon(result: StudyResult) -> list[Picture]:
    """One picture for Tokyo, one for the built-in city, as far as they are there."""
    stages = [name for name in ("tokyo", "long") if f"{name}_regions" in result.tables]
    alt = "Three maps: hospital regions; population at noon in training; in synthetic traces."
    return [Picture(f"fig4-{stage}", alt, _maps(result, stage)) for stage in stages]


def _maps(result: StudyResult, stage: str) -> SubFigure:
    regions, training = result.tables[f"{stage}_regions"], result.tables[f"{stage}_training"]
    across, cells = (max(table.column("x")) + 1 for table in (regions, training))
    figure = sheet(
        result.source_of(f"{stage}_regions"), 2.85, title="Regions, and who is where at 12:00"
    )
    panels = figure.subplots(1, 3)
    hospitals = _grid(regions, "hospital", across)
    first = panels[0]
    first.imshow(np.zeros_like(hospitals), origin="lower", cmap="Greys", vmin=0, vmax=1)
    y, x = np.nonzero(hospitals)
    first.scatter(x, y, marker="P", s=14, color=VERMILION, linewidths=0)
    first.set_title(f"{int(hospitals.sum())} hospital regions", fontsize=9.5)
    first.set_xticks(np.arange(-0.5, across, 4), labels=[])
    first.set_yticks(np.arange(-0.5, across, 4), labels=[])
    first.tick_params(length=0)
    extent = (-0.5, across - 0.5, -0.5, across - 0.5)
    words = (
        (panels[1], _grid(training, "training share", cells), f"training ({cells} × {cells})"),
        (panels[2], _grid(regions, "synthetic share", across), f"synthetic ({across} × {across})"),
    )
    for axes, held, title in words:
        crowd = held * held.size
        drawn = axes.imshow(crowd, origin="lower", extent=extent, vmin=0, vmax=8, cmap="Greys")
        axes.set_title(title, fontsize=9.5)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.grid(False)
        _areas(axes, result.tables[f"{stage}_areas"])
    bar = figure.colorbar(drawn, ax=list(panels[1:]), shrink=0.95, extend="max")
    bar.set_label("people per cell, times the average", fontsize=8)
    return figure


def _areas(axes: Axes, areas: Table) -> None:
    from matplotlib.patches import Rectangle

    first = True
    for area, colour in zip(areas.records(), (BLUE, GREEN), strict=False):
        x, y = area["x"], area["y"]
        # The second name goes below its square: the squares may be neighbours.
        beside = y + 3.2 if first else y - 5.0
        first = False
        axes.add_patch(
            Rectangle((x - 2.5, y - 2.5), 5, 5, fill=False, edgecolor=colour, linewidth=1.6)
        )
        axes.text(
            min(max(x, 5), 26), beside, area["area"], ha="center", fontsize=7, color=INK,
            fontweight="bold", bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 1},
        )  # fmt: skip


def _grid(table: Table, column: str, across: int) -> NDArray[np.float64]:
    values = np.array(table.column(column), dtype=np.float64)
    return values.reshape(-1, across)
