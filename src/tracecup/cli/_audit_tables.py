"""The tables of `tracecup audit`: the verdict, what to do, then the numbers.

Columns of numbers are never cut; texts fold, so that 80 columns are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from tracecup.cli.common import table_of

if TYPE_CHECKING:
    from tracecup.study.audit import Audit
    from tracecup.study.verdict import Answer


def shown(found: Answer, top: int) -> list[Table]:
    """All tables, the most important first."""
    from tracecup.study.auditwords import CAVEATS, sentences
    from tracecup.study.placed import WARNING
    from tracecup.study.verdictwords import verdict, what_to_do

    worst = found.worst
    notes = [note for note in worst.subject.notes if not note.startswith(WARNING)]
    tables = [_numbered("Verdict", verdict(found))]
    if found.protections:
        tables += [_numbered("What to do", what_to_do(found)), _protections(found)]
    if found.exposure is not None:
        tables.append(_known_points(found))
    if worst.reid:
        tables.append(_identifications(worst))
    tables.append(_inferences(worst))
    if top:
        tables.append(_exposed(found, top))
    # The first sentence of the findings stands in the verdict.
    means = [*sentences(worst)[1:], *CAVEATS, *notes]
    return [*tables, _numbered("What the numbers mean", means)]


def _numbered(title: str, words: Sequence[str]) -> Table:
    return table_of(title, [(str(k + 1), escape(text)) for k, text in enumerate(words)])


def _table(title: str, texts: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, overflow="fold", justify="right")
    return table


def _protections(found: Answer) -> Table:
    from tracecup.study.auditwords import percent

    title = "Protections run on your own records. Unchanged: points 1, crowds 0, flows 0"
    numbers = ("named", "alone", "homes", "points", "crowds", "flows")
    table = _table(title, ("protection", "enough"), numbers)
    for one in found.protections:
        table.add_row(
            escape(one.name),
            "yes" if found.helps(one) else "no",
            percent(one.rate),
            percent(one.alone),
            "–" if one.homes is None else percent(one.homes),
            f"{one.points:.3f}",
            f"{one.crowds:.3f}",
            f"{one.flows:.2f}",
        )
    return table


def _known_points(found: Answer) -> Table:
    from tracecup.study.verdictwords import known_rows

    table = _table("Known points", ("what is known", "how much", "alone"), ("mean risk, interval",))
    for row in known_rows(found.exposure) if found.exposure else ():
        table.add_row(*row)
    return table


def _identifications(found: Audit) -> Table:
    from tracecup.study.auditwords import percent

    table = _table("Re-identification", ("attack",), ("named", "interval"))
    for one in found.reid:
        ends = one.score.interval
        high = 1.0 if ends.high is None else ends.high
        span = f"{percent(1 - high)} to {percent(1 - ends.low)}"
        table.add_row(escape(one.attack), percent(1 - one.score.value), span)
    return table


def _inferences(found: Audit) -> Table:
    from tracecup.attack.naming import is_blind

    title = "Trace inference, and whether it uses the release"
    table = _table(title, ("attack", "uses"), ("s_T", "interval", "km off"))
    for one in found.trace:
        ends = one.score.interval
        high = 1.0 if ends.high is None else ends.high
        table.add_row(
            escape(one.attack),
            "no" if is_blind(one.attack) else "yes",
            f"{one.score.value:.3f}",
            f"{ends.low:.3f} to {high:.3f}",
            "" if one.error is None else f"{one.error.value:.2f}",
        )
    return table


def _exposed(found: Answer, top: int) -> Table:
    from tracecup.study.verdictwords import exposed

    table = _table("Users at most risk", ("user", "why"), ("own s_T", "without"))
    risks = found.worst.worst(top)
    for (user, why), risk in zip(exposed(found, top), risks, strict=True):
        said = "; ".join(why) or ", ".join(risk.identified_by)
        table.add_row(escape(user), escape(said), _spelled(risk.s_t), _spelled(risk.s_t_prior))
    return table


def _spelled(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
