"""Tables that fit: nothing is cut, neither in a narrow terminal nor in a pipe.

Where a table is too wide even with its words wrapped, it goes on below with its first column again.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

WIDEST = 100_000
PROSE = 40
"""In a pipe only columns wider than this wrap."""


def print_tables(tables: Sequence[Table]) -> None:
    """Print on stdout: in a terminal (or COLUMNS wide) as there is room, in a pipe in one part."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        spans = [[_span(console, column) for column in table.columns] for table in tables]
        widths = [_width([high if high <= PROSE else low for low, high in one]) for one in spans]
        console = Console(highlight=False, width=max([console.width, *widths]))
    parts = [part for table in tables for part in fitted(console, table)]
    console.print(*parts, sep="\n")


def fitted(console: Console, table: Table) -> list[Table]:
    """The table in as many parts as it needs, so that no word is cut.

    >>> table = Table("defence", "s_R,min", "by")
    >>> table.add_row("MRLH(1,1,0.1793)", "0.123456789", "Fuzzy-R(0.33,1,match=assignment)")
    >>> [len(part.columns) for part in fitted(Console(width=80), table)]
    [3]
    >>> [len(part.columns) for part in fitted(Console(width=60), table)]
    [2, 2]
    """
    spans = [_span(console, column) for column in table.columns]
    grid = not table.show_edge and not table.show_header  # a column of text, not a table
    if grid or _width([high for _, high in spans]) <= console.width:
        return [table]
    groups: list[list[int]] = [[0]]
    for k in range(1, len(spans)):
        needed = _width([spans[j][0] for j in (*groups[-1], k)])
        if len(groups[-1]) > 1 and needed > console.width:
            groups.append([0])
        groups[-1].append(k)
    return [
        _part(
            table, group, _shared([spans[k] for k in group], console.width), last=n == len(groups)
        )
        for n, group in enumerate(groups, start=1)
    ]


def _span(console: Console, column: Column) -> tuple[int, int]:
    """The longest word of a column, and its longest line; the line where it may not wrap."""
    low = high = 0
    options = console.options.update(max_width=WIDEST)
    for given in (column.header, *column.cells):
        cell = Text.from_markup(given) if isinstance(given, str) else given
        found = Measurement.get(console, options, cell)
        high = max(high, found.maximum)
        low = max(low, found.maximum if column.no_wrap else found.minimum)
    return low, high


def _width(columns: Sequence[int]) -> int:
    """Words, a space on both sides of each, and the lines between."""
    return sum(width + 3 for width in columns) + 1


def _shared(spans: Sequence[tuple[int, int]], room: int) -> list[int]:
    """Widths from the longest word upwards, as far as there is room, first columns first.

    A word that leaves no room for the others, like a long path, is folded itself.
    """
    widths = [low for low, _ in spans]
    left = room - _width(widths)
    if left < 0:
        longest = widths.index(max(widths))
        widths[longest] = max(1, widths[longest] + left)
    for k, (low, high) in enumerate(spans):
        more = max(0, min(left, high - low))
        left -= more
        widths[k] += more
    return widths


def _part(table: Table, columns: Sequence[int], widths: Sequence[int], *, last: bool) -> Table:
    first = columns[:2] in ([0], [0, 1])
    part = Table(
        box=table.box,
        title=table.title if first else None,
        title_justify=table.title_justify,
        title_style=table.title_style,
        caption=table.caption if last else None,
        caption_justify=table.caption_justify,
        show_header=table.show_header,
    )
    for k, width in zip(columns, widths, strict=True):
        old = table.columns[k]
        part.columns.append(replace(old, _index=len(part.columns), width=width, overflow="fold"))
    part.rows.extend(table.rows)
    return part
