"""On which line of a TOML text each key stands; Python's reader gives values without places.

Works on text that `tomllib` has accepted, so it only has to find its way, not to judge.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# A date and its time may be separated by one space.
_PLAIN_VALUE = re.compile(r"(?:\d{4}-\d{2}-\d{2} (?=\d{2}:))?[^\s,\]}#]+")
_ONE_LINE_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|' r"'[^'\n]*'")
# Up to two quotes may stand directly before the three that close.
_LONG_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"(?!""")){0,2}|' r"'''.*?'''(?:'(?!''')){0,2}", re.DOTALL
)


def key_lines(text: str) -> dict[Path, int]:
    """Path of every key, table and array element -> the line it begins on (from 1).

    Elements of arrays, and tables of arrays of tables, are numbered from 0. One pass, O(length).

    >>> lines = key_lines("name = 'x'\\n[[rounds]]\\nphases.attack = [\\n 1,\\n 2]\\n")
    >>> lines[("rounds", 0, "phases", "attack")], lines[("rounds", 0, "phases", "attack", 1)]
    (3, 5)
    """
    return _Scanner(text).document()


def line_of(lines: dict[Path, int], path: Path) -> int:
    """The line of a path, or of the nearest thing around it; 0 for the file as a whole."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 0)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.tables: dict[Path, int] = {}
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def document(self) -> dict[Path, int]:
        here: Path = ()
        self.skip()
        while self.at < len(self.text):
            if self.text.startswith("[", self.at):
                here = self.header()
            else:
                self.pair(here)
            self.skip()
        return self.lines

    def header(self) -> Path:
        """`[table]` or `[[table]]`: the path that the following keys belong to."""
        many = self.text.startswith("[[", self.at)
        begin = self.at
        self.at += 2 if many else 1
        path: Path = ()
        parts = self.key()
        for k, part in enumerate(parts):
            path = (*path, part)
            self.lines.setdefault(path, self.line(begin))
            if many and k == len(parts) - 1:
                self.tables[path] = self.tables.get(path, -1) + 1
            if path in self.tables:
                path = (*path, self.tables[path])
                self.lines.setdefault(path, self.line(begin))
        self.at += 2 if many else 1
        return path

    def pair(self, here: Path) -> None:
        """`key = value` inside the table `here`."""
        begin = self.at
        for part in self.key():
            here = (*here, part)
            self.lines.setdefault(here, self.line(begin))
        self.at += 1  # the equals sign
        self.skip()
        self.value(here)

    def key(self) -> list[str]:
        parts: list[str] = []
        while True:
            self.skip()
            if self.text[self.at] in "\"'":
                quoted = self.take(_ONE_LINE_STRING)
                parts.extend(tomllib.loads(f"{quoted} = 0"))
            else:
                parts.append(self.take(_BARE_KEY))
            self.skip()
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def value(self, path: Path) -> None:
        if self.text.startswith(('"""', "'''"), self.at):
            self.take(_LONG_STRING)
        elif self.text[self.at] in "\"'":
            self.take(_ONE_LINE_STRING)
        elif self.text[self.at] in "[{":
            self.members(path)
        else:
            self.take(_PLAIN_VALUE)

    def members(self, path: Path) -> None:
        """The elements of an array or the pairs of an inline table."""
        array = self.text[self.at] == "["
        self.at += 1
        count = 0
        while True:
            self.skip()
            if self.text[self.at] in "]}":
                self.at += 1
                return
            if self.text[self.at] == ",":
                self.at += 1
            elif array:
                self.lines.setdefault((*path, count), self.line(self.at))
                self.value((*path, count))
                count += 1
            else:
                self.pair(path)

    def skip(self) -> None:
        self.take(_BLANK)

    def take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise ValueError(f"not a TOML document at character {self.at}")
        self.at = found.end()
        return found.group()

    def line(self, at: int) -> int:
        return bisect_right(self.starts, at)
