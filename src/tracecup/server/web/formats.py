"""The files of a contest in words: columns, an example, what a line is. For help and READMEs.

Declared with the kinds of files.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from tracecup.server.models.filekinds import FILE_KINDS


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


FORMATS = tuple(
    Format(one.name, one.line.columns, one.line.example, one.line.about)
    for one in FILE_KINDS
    if one.line is not None
)
"""Every kind of file that teams get or hand in."""
