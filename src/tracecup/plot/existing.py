"""The picture of the study `existing`: every defence against every attack, as two shaded tables.

Dark is safe; the strongest attack on a defence has a frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracecup.attack.naming import is_blind
from tracecup.plot.style import INK, VERMILION, Picture, draws, sheet
from tracecup.study.results import StudyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES = {"reid": "$s_R$: re-identification", "trace": "$s_T$: trace inference"}
DARK = 0.45
ROW, HEAD = 0.235, 1.75


@draws("existing")
def shaded(result: StudyResult) -> list[Picture]:
    """Rows are defences with their utility, columns attacks."""
    cells, defences = result.tables["cells"].records(), result.tables["defences"].records()
    most = max(row["users"] for row in cells)
    names = {
        kind: list(dict.fromkeys(row["attack"] for row in cells if row["kind"] == kind))
        for kind in TITLES
    }
    height = HEAD + ROW * len(defences)
    figure = sheet(result.source, height, width=10.5, title="Existing defences and attacks")
    panels = figure.subplots(1, 2, width_ratios=[len(names[kind]) for kind in TITLES])
    for axes, (kind, title) in zip(panels, TITLES.items(), strict=True):
        _panel(axes, [row for row in cells if row["kind"] == kind], defences, names[kind], most)
        axes.set_title(title)
    labels = [
        f"{row['tuned']}{'*' if row['users'] < most else ''}  {row['s_U']:.2f}" for row in defences
    ]
    panels[0].set_yticks(np.arange(len(labels)), labels=labels)
    panels[1].set_yticks(np.arange(len(labels)), labels=[])
    valid = [row for row in defences if row["valid"] and row["users"] == most]
    best = max(valid, key=lambda row: float(row["s_R,min"]) + float(row["s_T,min"]))
    alt = (
        f"Two shaded tables of {len(defences)} defences against {sum(map(len, names.values()))} "
        f"attacks; the valid defence with the largest sum of minima is {best['tuned']}: "
        f"{best['s_R,min']:.2f} and {best['s_T,min']:.2f}."
    )
    return [Picture("existing", alt, figure)]


def _panel(
    axes: Axes,
    cells: Sequence[dict[str, Any]],
    defences: Sequence[dict[str, Any]],
    attacks: Sequence[str],
    most: int,
) -> None:
    place = {row["defence"]: at for at, row in enumerate(defences)}
    score = np.full((len(defences), len(attacks)), np.nan)
    for row in cells:
        score[place[row["defence"]], attacks.index(row["attack"])] = row["score"]
    axes.imshow(score, cmap="cividis_r", vmin=0, vmax=1, aspect="auto")
    whole = {row["attack"] for row in cells if row["users"] == most}
    seeing = [column for column, name in enumerate(attacks) if not is_blind(name)]
    for at in range(len(defences)):
        for column in range(len(attacks)):
            value = score[at, column]
            shade = "white" if value > 1 - DARK else INK
            said = f"{value:.2f}".removeprefix("0") if value < 0.995 else "1"
            axes.text(column, at, said, ha="center", va="center", fontsize=6.5, color=shade)
        every = defences[at]["users"] < most
        counted = [column for column in seeing if every or attacks[column] in whole]
        least = counted[int(np.argmin(score[at, counted]))]
        axes.add_patch(frame(least, at))
    words = [f"{_said(name)}{'' if name in whole else '*'}" for name in attacks]
    axes.set_xticks(np.arange(len(attacks)), labels=words, rotation=60, ha="right", fontsize=7)
    axes.tick_params(length=0)
    axes.grid(False)


def frame(column: int, row: int) -> Any:
    """A frame around one cell of a shaded table."""
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.48, row - 0.48), 0.96, 0.96, fill=False, ec=VERMILION, lw=1.6)


def _said(name: str) -> str:
    """An attack without the numbers it always has; what makes it another form in a word."""
    head, _, inside = name.partition("(")
    words = [part.rpartition("=")[2] for part in inside.rstrip(")").split(",") if _is_form(part)]
    return " ".join([head, *(word if len(word) < 8 else f"{word[:6]}." for word in words)])


def _is_form(part: str) -> bool:
    return part == "weak" or part.startswith(("match=", "habits="))
