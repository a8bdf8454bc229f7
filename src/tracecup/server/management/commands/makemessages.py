"""Django's makemessages, which also finds the texts that charts pass to `tell`.

To be run in the server's folder; what has no translation stays empty instead of being guessed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from django.core.management.commands import makemessages

from tracecup import charts


class Command(makemessages.Command):
    """Collects the texts of the server and of the charts."""

    xgettext_options: ClassVar = [*makemessages.Command.xgettext_options, "--keyword=tell"]
    msgmerge_options: ClassVar = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]

    def find_files(self, root: str) -> list[Any]:
        """The files below `root`, and those of the charts."""
        folder = Path(charts.__path__[0])
        return [
            *super().find_files(root),
            *(
                self.translatable_file_class(str(folder), file.name, self.default_locale_path)
                for file in sorted(folder.glob("*.py"))
            ),
        ]
