"""Tables as pictures: rows of cells with text, some of them coloured.

For the worked examples, where the numbers themselves are the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracecup.plot.style import BLACK, INK, Picture, bare, draws, sheet
from tracecup.study.results import StudyResult, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RIGHT, WRONG, CHANGED, HEAD = "#CDEBDF", "#F8D9C4", "#FDECC8", "#EEF1F4"


@dataclass(frozen=True)
class Cell:
    """A cell: its text, background and colour of the text."""

    text: str
    fill: str = "white"
    ink: str = INK
    bold: bool = False


def grid(
    axes: Axes,
    head: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    widths: Sequence[float],
    *,
    title: str = "",
    size: float = 9,
) -> None:
    """Draw a table over the whole axes; `widths` are relative."""
    from matplotlib.patches import Rectangle

    bare(axes)
    total = sum(widths)
    axes.set(xlim=(0, total), ylim=(len(rows) + 1, 0))
    if title:
        axes.set_title(title, pad=8)
    every = [[Cell(text, HEAD, bold=True) for text in head], *rows]
    for y, row in enumerate(every):
        x = 0.0
        for cell, width in zip(row, widths, strict=True):
            axes.add_patch(Rectangle((x, y), width, 1, facecolor=cell.fill, edgecolor="#B8C0CA"))
            weight = "bold" if cell.bold else "normal"
            axes.text(
                x + width / 2, y + 0.5, cell.text, ha="center", va="center", color=cell.ink,
                fontsize=size, fontweight=weight,
            )  # fmt: skip
            x += width


@draws("fig1")
def cheating(result: StudyResult) -> list[Picture]:
    """Two tables: cheating, and pseudonyms only."""
    figure = sheet(result.source, 4.6, title="Cheating anonymization: wrong users, right traces")
    top, bottom = figure.subplots(2, 1)
    table = result.tables["cheating"]
    head = ("user", "original trace", "obfuscated trace", "pseudonym", "guessed", "inferred trace")
    for axes, kind in ((top, "cheating"), (bottom, "pseudonyms only")):
        rows = []
        for row in table.where(kind=kind).rows:
            _, user, original, given, pseudonym, guess, hit, inferred, same = row
            rows.append(
                [
                    Cell(str(user), bold=True),
                    Cell(str(original)),
                    Cell(str(given), "white" if given == original else CHANGED),
                    Cell(str(pseudonym)),
                    _marked(guess, bool(hit)),
                    _marked(inferred, bool(same)),
                ]
            )
        s_r, s_t = result.numbers[f"s_R, {kind}"], result.numbers[f"s_T, {kind}"]
        words = {
            "cheating": "Traces exchanged before pseudonyms",
            "pseudonyms only": "Pseudonyms only",
        }
        grid(
            axes, head, rows, (0.6, 1.6, 1.6, 1.1, 1, 1.6),
            title=f"{words[kind]}:  $s_R$ = {s_r:g},  $s_T$ = {s_t:g}",
        )  # fmt: skip
    alt = (
        "Two tables of three users. With exchanged traces every guessed user is wrong and every "
        "inferred trace is right; with pseudonyms only both are right."
    )
    return [Picture("fig1", alt, figure)]


@draws("fig6")
def worked_example(result: StudyResult) -> list[Picture]:
    """The example's rows, with what was changed and what was guessed right."""
    table, numbers = result.tables["example"], result.numbers
    figure = sheet(
        result.source, 3.0, title="Worked example: three users, four events, five regions"
    )
    axes = figure.subplots()
    rows = []
    for user, original, obfuscated, pseudonym, guess, inferred in table.rows:
        rows.append(
            [
                Cell(str(user), bold=True),
                Cell(str(original)),
                Cell(str(obfuscated).replace(" ", "  ").replace("*", "∅"), CHANGED),
                Cell(str(pseudonym)),
                _marked(guess, guess == user),
                Cell(str(inferred)),
            ]
        )
    head = ("user", "original", "obfuscated", "pseudonym", "guessed user", "inferred trace")
    scores = (
        f"$s_U$ = {numbers['s_U']:.6f}     $s_R$ = {numbers['s_R']:.4f}     "
        f"user 1: $s_T$ = {numbers['s_T']:.6f}, expected error {numbers['expected error']:.3f} km"
    )
    grid(axes, head, rows, (0.6, 1.2, 2.3, 1.1, 1.2, 1.4), title=scores)
    alt = "Table of the worked example: original and obfuscated cells, pseudonyms and guesses."
    return [Picture("fig6", alt, figure)]


@draws("fig20")
def sample_attacks(result: StudyResult) -> list[Picture]:
    """Visit probabilities, the likelihood step by step, and the inferred trace."""
    figure = sheet(result.source, 5.6, title="Sample attacks step by step")
    top, middle, bottom = figure.subplots(3, 1, height_ratios=(4, 5, 3))
    vectors = result.tables["vectors"]
    rows = [
        [Cell(f"user {row[0]}", bold=True), *(Cell(_probability(value)) for value in row[1:])]
        for row in vectors.rows
    ]
    grid(
        top, ("", *vectors.columns[1:]), rows, (1, *[1.0] * 5),
        title="1  Visit probabilities from the reference traces",
    )  # fmt: skip
    _likelihoods(middle, result.tables["steps"], int(result.numbers["identified user"]))
    inferred = result.tables["inferred"]
    kinds = {"as it is": "white", "one member at random": "#D6E6F4", "any region at random": WRONG}
    grid(
        bottom,
        ("event", *(str(event) for event in inferred.column("event"))),
        [
            [Cell(name, bold=True), *(
                Cell(str(cell), kinds[how])
                for cell, how in zip(inferred.column(name), inferred.column("how"), strict=True)
            )]
            for name in ("how", "output")
        ],
        (1, *[1.6] * len(inferred)),
        title="3  VisitProb-T: from cells to regions of user 3",
        size=8,
    )  # fmt: skip
    alt = (
        "Three tables: visit probabilities of three users over five regions, the likelihood of "
        "each user growing cell by cell with user 3 highest, and the inferred trace."
    )
    return [Picture("fig20", alt, figure)]


def _marked(value: object, right: bool) -> Cell:
    """Right or wrong, told by a sign as well as by colour."""
    return Cell(f"{value}  {'✓' if right else '✗'}", RIGHT if right else WRONG)


def _likelihoods(axes: Axes, steps: Table, winner: int) -> None:
    rows = []
    for user in (1, 2, 3):
        factors = steps.column(f"factor of user {user}")
        total = steps.column(f"likelihood of user {user}")[-1]
        best = user == winner
        rows.append(
            [
                Cell(f"user {user}", bold=True),
                *(Cell(_probability(f) if c != "deleted" else "–") for f, c in zip(
                    factors, steps.column("cell"), strict=True)),
                Cell(_probability(total), RIGHT if best else "white", BLACK if best else INK, best),
            ]
        )  # fmt: skip
    head = ("cell", *(str(cell) for cell in steps.column("cell")), "product")
    grid(
        axes, head, rows, (1, *[1.0] * len(steps), 1.2),
        title=f"2  VisitProb-R: pseudonym 2001 is user {winner}",
    )  # fmt: skip


def _probability(value: object) -> str:
    number = float(str(value))
    return f"{number:.0e}".replace("e-0", "e-") if number < 0.001 else f"{number:.3f}"
