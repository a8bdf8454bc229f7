"""The files of a contest in words: columns, an example, what a line is. For help and READMEs.

Columns come from where files are read and written.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from tracecup.traces.files import LAYOUTS, PREFIXES


@dataclass(frozen=True)
class Format:
    """A kind of file: how its name begins, its columns, one line of it, what a line is."""

    prefix: str
    columns: str
    example: str
    about_text: str

    @property
    def about(self) -> str:
        """What a line is, in the reader's language."""
        return _(self.about_text)


_LINES = {
    "reftraces": ("1,1,512", gettext_noop("where a user was at a time, on the days before")),
    "orgtraces": ("1,401,512", gettext_noop("where a user was at a time; only the team knows it")),
    "anotraces": (
        "512 513",
        gettext_noop(
            "obfuscated region of the same line of the original traces: one region, several "
            "separated by single spaces, or * where it was deleted"
        ),
    ),
    "pubtraces": ("2001,401,512 513", gettext_noop("the same under a pseudonym, shuffled")),
    "ptable": ("2001,7", gettext_noop("which user is behind a pseudonym")),
    "etable": (
        "7",
        gettext_noop("answer to re-identification: the user behind each pseudonym, in their order"),
    ),
    "etraces": (
        "512",
        gettext_noop(
            "answer to trace inference: one region per line, in the order of the original traces"
        ),
    ),
}
FORMATS = (
    *(
        Format(prefix, ",".join(LAYOUTS[kind].header), *_LINES[prefix])
        for prefix, kind in PREFIXES.items()
    ),
    Format(
        "info_region",
        "reg_id,y_id,x_id,y(center),x(center),hospital",
        "1,1,1,35.0015625,-149.998125,0",
        gettext_noop("a region of the city, its centre, and 1 where there is a hospital"),
    ),
    Format(
        "info_time",
        "ref/org,time_id,day,hour,min",
        "ref,1,1,8,0",
        gettext_noop("day and time of an event"),
    ),
)
"""Every kind of file that teams get or hand in."""
