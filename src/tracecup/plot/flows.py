"""How a contest, its judge and its synthesizer work: boxes and arrows.

For the documentation; drawn by us, after the paper's Figures 2, 3, 5 and 14.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracecup.plot.style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    VERMILION,
    Picture,
    bare,
    draws,
    sheet,
)
from tracecup.study.results import Source, StudyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

Point = tuple[float, float]
SHADES = {
    "data": ("#E3EEF8", BLUE),
    "step": ("#E1F3EC", GREEN),
    "secret": ("#FBE5D6", VERMILION),
    "score": ("#FDF1D6", ORANGE),
    "people": ("#F6E6EF", PURPLE),
}


class Canvas:
    """A sheet in units of its own, onto which boxes and arrows are put."""

    def __init__(self, title: str, width: float, height: float) -> None:
        self.sheet: SubFigure = sheet(Source(""), height * 0.62 + 0.45, title=title)
        self.axes: Axes = self.sheet.subplots()
        bare(self.axes)
        self.axes.set(xlim=(0, width), ylim=(0, height))

    def box(
        self, x: float, y: float, text: str, kind: str = "step", w: float = 2.0, h: float = 0.9
    ) -> None:
        """A rounded box centred at (x, y)."""
        from matplotlib.patches import FancyBboxPatch

        fill, edge = SHADES[kind]
        corner = (x - w / 2, y - h / 2)
        style = "round,pad=0,rounding_size=0.12"
        self.axes.add_patch(FancyBboxPatch(corner, w, h, boxstyle=style, fc=fill, ec=edge, lw=1.4))
        self.axes.text(x, y, text, ha="center", va="center", fontsize=8, linespacing=1.25)

    def arrow(self, start: Point, end: Point, text: str = "", at: Point = (0.0, 0.0)) -> None:
        """An arrow; `at` shifts its text from the middle."""
        self.axes.annotate(
            "", end, start,
            arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.2, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
        if text:
            x, y = (start[0] + end[0]) / 2 + at[0], (start[1] + end[1]) / 2 + at[1]
            self.axes.text(x, y, text, ha="center", va="center", fontsize=7, color="#3E4C59",
                           linespacing=1.15)  # fmt: skip

    def note(self, x: float, y: float, text: str) -> None:
        """Free text."""
        self.axes.text(x, y, text, ha="center", va="center", fontsize=7.5, color="#3E4C59")


@draws("diagrams")
def diagrams(result: StudyResult) -> Sequence[Picture]:
    """All four drawings."""
    return [overview(), synthesizer(), flow(), ppmtf_plus()]


def overview() -> Picture:
    """Figure 2: who does what in a contest."""
    c = Canvas("A contest: everybody defends, everybody attacks", 12, 5.6)
    c.box(1.4, 4.7, "Team's original\ntraces", "data")
    c.box(
        4.4, 4.7, "Team obfuscates:\nkeep, move, widen\nor delete regions", "people", w=2.4, h=1.2
    )
    c.box(7.6, 4.7, "Judge shuffles\nand gives\npseudonyms", "step", w=2.2, h=1.2)
    c.box(10.7, 4.7, "Released traces", "data", w=2.1)
    c.arrow((2.4, 4.7), (3.2, 4.7))
    c.arrow((5.6, 4.7), (6.5, 4.7))
    c.arrow((8.7, 4.7), (9.65, 4.7))
    c.box(10.7, 2.9, "Other teams attack", "people", w=2.1)
    c.arrow((10.7, 4.25), (10.7, 3.35))
    c.box(7.6, 2.9, "Reference traces\n(other days of the\nsame users)", "data", w=2.2, h=1.2)
    c.arrow((8.7, 2.9), (9.65, 2.9))
    c.box(6.4, 1.6, "Who is behind each pseudonym?\nRe-identification", "score", w=3.6)
    c.box(6.4, 0.5, "Where was each user, when?\nTrace inference", "score", w=3.6)
    c.arrow((10.2, 2.45), (8.2, 1.7))
    c.arrow((10.7, 2.45), (8.2, 0.6))
    c.box(
        1.7,
        1.05,
        "Three scores, 0 to 1:\nutility, and privacy\nagainst both attacks",
        "score",
        w=2.6,
        h=1.25,
    )
    c.arrow((4.6, 1.6), (3.0, 1.25))
    c.arrow((4.6, 0.5), (3.0, 0.85))
    c.arrow((4.1, 4.1), (2.0, 1.68), "utility", (-0.5, 0.1))
    alt = (
        "Flow of a contest: a team obfuscates its traces, the judge shuffles them, the other teams "
        "attack them with reference traces, and three scores come out."
    )
    return Picture("fig2", alt, c.sheet)


def synthesizer() -> Picture:
    """Figure 3: different virtual users for every team."""
    c = Canvas("The synthesizer: new people for every team", 12, 4.4)
    c.box(1.6, 2.2, "Training traces\nof real people", "data", w=2.2)
    c.box(5.0, 2.2, "Model of how people\nof this city move", "step", w=2.5)
    c.arrow((2.7, 2.2), (3.75, 2.2), "train", (0, 0.25))
    for y, team in ((3.7, "Team 1"), (2.2, "Team 2"), (0.7, "Team 21")):
        c.box(8.2, y, f"{team}: 2000 virtual\nusers of its own", "people", w=2.4)
        c.arrow((6.25, 2.2 + (y - 2.2) * 0.25), (7.0, y))
        c.box(11.0, y, "reference +\noriginal traces", "data", w=1.8)
        c.arrow((9.4, y), (10.1, y))
    c.note(8.2, 1.45, "...")
    c.note(2.9, 0.62, "No virtual user is a copy of a training user,\nand no two teams share one.")
    alt = "Training traces make a model; from it every team gets virtual users of its own."
    return Picture("fig3", alt, c.sheet)


def flow() -> Picture:
    """Figure 5: what goes between a team, the judge and an attacker."""
    c = Canvas("Flow of a contest for one team", 12, 6.6)
    for x, name, kind in (
        (1.7, "Team", "people"),
        (6.0, "Judge", "step"),
        (10.3, "Attacking team", "people"),
    ):
        c.box(x, 6.15, name, kind, w=2.4, h=0.6)
        c.axes.plot([x, x], [0.25, 5.85], color="#9AA5B1", linewidth=1, linestyle=":", zorder=0)
    c.arrow((6.0, 5.4), (1.7, 5.4), "original traces", (0, 0.2))
    c.arrow((1.7, 4.7), (6.0, 4.7), "obfuscated traces", (0, 0.2))
    c.box(6.0, 3.95, "utility at least 0.7?\nshuffle, pseudonyms", "step", w=2.8, h=0.85)
    c.box(3.0, 3.55, "ID table,\nkept sealed", "secret", w=1.7, h=0.75)
    c.arrow((4.6, 3.8), (3.85, 3.6))
    c.arrow((6.0, 3.0), (10.3, 3.0), "released traces, reference traces", (0, 0.2))
    c.arrow((10.3, 2.3), (6.0, 2.3), "inferred ID table, inferred traces", (0, 0.2))
    c.box(6.0, 1.45, "score every attack;\nthe strongest one counts", "score", w=2.8, h=0.85)
    c.arrow((6.0, 0.6), (1.7, 0.6), "$s_U$, min $s_R$, min $s_T$", (0, 0.22))
    c.arrow((6.0, 0.6), (10.3, 0.6), "sum over all targets", (0, 0.22))
    alt = (
        "Sequence between team, judge and attacking team: originals, obfuscated traces, released "
        "traces, inferred table and traces, scores. The ID table stays with the judge."
    )
    return Picture("fig5", alt, c.sheet)


def ppmtf_plus() -> Picture:
    """Figure 14: the three steps of PPMTF+."""
    c = Canvas("PPMTF+: train, draw new people, walk", 12, 4.9)
    c.box(1.6, 3.3, "Training traces\nof n users", "data", w=2.1)
    c.box(4.6, 3.95, "counts of moves\nuser × from × to", "data", w=2.3)
    c.box(4.6, 2.65, "counts of visits\nuser × region × slot", "data", w=2.3)
    c.arrow((2.65, 3.5), (3.45, 3.95))
    c.arrow((2.65, 3.1), (3.45, 2.65))
    c.box(
        7.7,
        3.3,
        "(i) Factors by Gibbs\nsampling: users A,\nregions B, C, slots D",
        "step",
        w=2.4,
        h=1.2,
    )
    c.arrow((5.75, 3.95), (6.5, 3.55))
    c.arrow((5.75, 2.65), (6.5, 3.05))
    c.box(10.7, 3.3, "A is thrown away;\nits mean and\nspread are kept", "secret", w=2.1, h=1.2)
    c.arrow((8.9, 3.3), (9.65, 3.3))
    c.box(
        10.7,
        1.0,
        "(ii) m new feature\nvectors per team\nfrom that law",
        "people",
        w=2.1,
        h=1.2,
    )
    c.arrow((10.7, 2.7), (10.7, 1.6))
    c.box(7.2, 1.0, "(iii) each user's own\nvisit and move\nprobabilities", "step", w=2.4, h=1.2)
    c.arrow((9.65, 1.0), (8.4, 1.0))
    c.arrow((7.55, 2.7), (7.3, 1.6), "B, C, D", (0.55, 0.05))
    c.box(
        3.4,
        1.0,
        "Walk day by day: propose a\nmove, accept it so that the\nvisits of the slot are kept",
        "step",
        w=2.9,
        h=1.2,
    )
    c.arrow((6.0, 1.0), (4.85, 1.0))
    c.box(0.95, 1.0, "Synthetic\ntraces", "data", w=1.4)
    c.arrow((1.95, 1.0), (1.65, 1.0))
    alt = (
        "Three steps of PPMTF+: factors from counts of moves and visits; new feature vectors from "
        "the law of the trained ones; traces walked with Metropolis-Hastings steps."
    )
    return Picture("fig14", alt, c.sheet)
