"""A table as notebooks show it: its first rows, readable on a narrow page, too.

Numbers are rounded for reading only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

SHOWN = 60

Value = str | int | float | bool | None


def html_table(header: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """The first rows as an HTML table, numbers with four digits; a narrow page scrolls it.

    Names, in the first column, begin at the left; nothing is broken over lines.

    >>> html_table(["a"], [[0.5]]).count("0.5000</td></tr>")
    1
    """

    def line(tag: str, cells: Iterable[str]) -> str:
        return f"<tr>{''.join(_cell(tag, k, text) for k, text in enumerate(cells))}</tr>"

    body = "".join(line("td", map(spelled, row)) for row in rows[:SHOWN])
    rest = len(rows) - SHOWN
    more = f"<p>and {rest} rows more</p>" if rest > 0 else ""
    return (
        '<div style="overflow-x:auto"><table>'
        f"<thead>{line('th', header)}</thead><tbody>{body}</tbody></table></div>{more}"
    )


def _cell(tag: str, column: int, text: str) -> str:
    side = "right" if column else "left"
    # On every cell: notebooks have styles of their own for them.
    return f'<{tag} style="text-align:{side};white-space:nowrap">{escape(text)}</{tag}>'


def spelled(value: Value, digits: int = 4) -> str:
    """A value for reading.

    >>> spelled(0.123456), spelled(None), spelled(3)
    ('0.1235', '–', '3')
    """
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)
