"""The common style: colours that the colour-blind can tell apart, one font, one size, sources.

Okabe and Ito's eight colours; series also differ in marker or line, never in colour alone.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from tracecup.errors import MissingPackage
from tracecup.study.results import Source, StudyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

# M. Okabe, K. Ito: Color Universal Design (2008).
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, YELLOW, BLACK = "#56B4E9", "#CC79A7", "#F0E442", "#000000"
GREY, PALE, INK = "#767676", "#E4E7EB", "#1F2933"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, YELLOW)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DPI = 150
PALETTE = 256
WIDTH = 7.2

STYLE: Mapping[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "text.color": INK,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "figure.constrained_layout.use": True,
    "svg.fonttype": "path",
    "svg.hashsalt": "tracecup",
    "image.cmap": "cividis",
    "image.interpolation": "nearest",
}


@dataclass(frozen=True, eq=False)
class Picture:
    """A drawing: its file name without ending, what is to be seen in words, and the sheet."""

    name: str
    alt: str
    figure: SubFigure

    def png(self) -> bytes:
        """As PNG with a palette: a third of the size, and the eye sees no difference."""
        from PIL import Image

        full = Image.open(io.BytesIO(self._saved("png", dpi=DPI))).convert("RGB")
        out = io.BytesIO()
        small = full.quantize(PALETTE, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        small.save(out, "png", optimize=True)
        return out.getvalue()

    def svg(self) -> bytes:
        """As SVG, the same bytes for the same drawing."""
        return self._saved("svg", metadata={"Date": None, "Creator": None})

    def pdf(self) -> bytes:
        """As PDF, the same bytes for the same drawing."""
        nothing = {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None}
        return self._saved("pdf", metadata=nothing)

    def _repr_png_(self) -> bytes:
        """How a notebook shows it."""
        return self.png()

    def _saved(self, kind: str, **options: Any) -> bytes:
        out = io.BytesIO()
        with styled():
            self.figure.get_figure(root=True).savefig(out, format=kind, **options)
        return out.getvalue()


Draw = Callable[[StudyResult], Sequence[Picture]]

_drawings: dict[str, Draw] = {}


def draws(study: str) -> Callable[[Draw], Draw]:
    """Decorator: the function draws the study of this ID."""

    def add(draw: Draw) -> Draw:
        _drawings[study] = draw
        return draw

    return add


def drawings() -> Mapping[str, Draw]:
    """Study ID -> drawing function, of the modules imported so far."""
    return _drawings


@contextmanager
def styled() -> Iterator[None]:
    """Everything drawn inside has the common style."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingPackage(
            'pictures need matplotlib: install it with pip install "tracecup[plot]"'
        ) from error
    with mpl.rc_context(cast(Any, dict(STYLE))):
        yield


def sheet(source: Source, height: float, width: float = WIDTH, title: str = "") -> SubFigure:
    """An empty sheet: the title on top, the source and whom to name at the foot.

    What comes back is the part between; the foot is a part of its own, so nothing covers it.
    """
    from matplotlib.figure import Figure

    said = source.label + (f". {source.attribution}." if source.attribution else "")
    lines = textwrap.wrap(said, int(width * 19))
    foot = 0.06 + 0.115 * len(lines)
    figure = Figure(figsize=(width, height + foot))
    parts = figure.subfigures(2, 1, height_ratios=(height, foot), hspace=0)
    body, below = cast("tuple[SubFigure, SubFigure]", tuple(cast(Any, parts)))
    if title:
        body.suptitle(title, x=0.006, ha="left", fontsize=12, fontweight="bold")
    below.text(0.006, 0.95, "\n".join(lines), va="top", fontsize=6.5, color=GREY)
    return body


def bare(axes: Axes) -> None:
    """No ticks, no frame, no grid: for diagrams and tables."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
