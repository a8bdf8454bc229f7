"""The README of a round's files: what each one is, how to open it, what to do with it.

In the reader's language, plain text for any editor.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from tracecup.server.models import Contest, Round
from tracecup.server.web.formats import FORMATS
from tracecup.server.web.words import client_command


def readme(
    contest: Contest, round: Round, files: Sequence[tuple[str, str]], *, plain: bool = False
) -> str:
    """What is in the archive, file by file, and the first commands."""
    rules = contest.rules
    clocks = rules.clock_of(round.name)
    size = _(
        "{users} users; {reference} reference days and {days} original days of {slots} events."
    ).format(
        users=rules.users,
        reference=clocks.reference.days,
        days=clocks.original.days,
        slots=clocks.original.slots,
    )
    said = [
        f"{contest.name} / {round.name}",
        size,
        _("The rules are in contest.toml."),
        *_part(_("Files"), _table(files)),
        *_part(_("Columns"), _table([(one.prefix, one.columns) for one in FORMATS])),
        *_part(_("What a line is"), _table([(one.prefix, one.about) for one in FORMATS])),
    ]
    if not plain:
        opening = ["tracecup convert FILE.csv.zst FILE.csv", "zstd -d FILE.csv.zst"]
        said += _part(_("How to open .zst, one of these"), opening)
    name = "anotraces.csv"
    verbs = [client_command(contest.slug, verb, name) for verb in ("check", "submit")]
    return "\n".join([*said, *_part(_("How to check and hand in a file"), verbs), ""])


def _part(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)]


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    wide = max((len(first) for first, _second in rows), default=0)
    return [f"{first:<{wide}}  {second}" for first, second in rows]
