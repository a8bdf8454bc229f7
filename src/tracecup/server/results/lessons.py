"""What a contest's results teach, in sentences: which attack was strongest, what privacy cost.

Only what the tables of results say; every sentence holds for these numbers and names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tracecup.facts.board import SYMBOLS, BoardFacts, MatrixFacts, ReleaseFacts

STRONG, WEAK = 0.7, 0.3
"""Correlations from here on, and up to here, are called so."""


def lessons(board: BoardFacts, floor: float) -> list[str]:
    """What to learn from a board, the most important first."""
    return [
        *_winner(board, floor),
        *(said for matrix in board.matrices for said in _strongest(matrix)),
        *_samples(board),
        *_two_kinds(board),
        *_uncredited(board),
    ]


def _winner(board: BoardFacts, floor: float) -> Iterator[str]:
    first = [one for one in board.releases if one.place == 1 and one.utility is not None]
    for one in first[:1]:
        yield _(
            "{name} came first with a utility of {utility}; the floor is {floor}. Under "
            "the strongest attacks its privacy was {reid} against re-identification and {trace} "
            "against trace inference."
        ).format(
            name=one.name,
            utility=f"{one.utility:.3f}",
            floor=f"{floor:g}",
            reid=_score(one.reid_min),
            trace=_score(one.trace_min),
        )


def _strongest(matrix: MatrixFacts) -> Iterator[str]:
    """Who set the lowest score of most releases of others."""
    names = {one.label: one.attack if one.sample else one.name for one in matrix.attackers}
    broken: Counter[str] = Counter()
    attacked = 0
    for row in matrix.rows:
        known = [value for value in row.values if value is not None]
        if not known or row.benchmark:
            continue
        attacked += 1
        lowest = min(known)
        broken.update(
            one.label
            for one, value in zip(matrix.attackers, row.values, strict=True)
            if value == lowest
        )
    if not broken:
        return
    label, count = max(broken.items(), key=lambda one: (one[1], one[0]))
    yield ngettext(
        "{symbol}: {name} was the strongest attacker of {count} of {all} release.",
        "{symbol}: {name} was the strongest attacker of {count} of {all} releases.",
        attacked,
    ).format(symbol=SYMBOLS[matrix.kind], name=names[label] or label, count=count, all=attacked)


def _samples(board: BoardFacts) -> Iterator[str]:
    """Whether what teams invented beats what everybody could have tried beforehand."""
    public = total = 0
    for matrix in board.matrices:
        for row in matrix.rows:
            known = [
                (value, not one.sample)
                for one, value in zip(matrix.attackers, row.values, strict=True)
                if value is not None
            ]
            if known and not row.benchmark:
                total += 1
                public += not min(known, key=lambda pair: (pair[0], not pair[1]))[1]
    if total:
        yield _(
            "In {count} of {all} cases no team did better than the judge's public sample attacks, "
            "which a team can run on its own release before handing it in."
        ).format(count=public, all=total)


def _two_kinds(board: BoardFacts) -> Iterator[str]:
    found = board.correlation
    if found.value is None:
        return
    if found.value >= STRONG:
        said = _(
            "Here releases that hid who also hid where (R = {r}); that is not so in every contest."
        )
    elif found.value <= WEAK:
        said = _(
            "Hiding who is not hiding where: the two kinds of privacy hardly go together "
            "(R = {r}). Measure both."
        )
    else:
        said = _("The two kinds of privacy go together only in part (R = {r}): measure both.")
    yield said.format(r=f"{found.value:.2f}")


def _uncredited(board: BoardFacts) -> Iterator[str]:
    above: list[ReleaseFacts] = [one for one in board.scored if one.uncredited]
    if above:
        yield ngettext(
            "{count} release scores above what an attacker who never saw it can reach: the "
            "attacks on it were weak, and the difference says nothing in its favour.",
            "{count} releases score above what an attacker who never saw them can reach: the "
            "attacks on them were weak, and the difference says nothing in their favour.",
            len(above),
        ).format(count=len(above))


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
