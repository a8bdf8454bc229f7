"""Tables for other programs: Arrow, a data frame of pandas or polars, LaTeX, a page of a notebook.

No number is rounded but for reading.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, overload

from tracecup.errors import InvalidParameter, MissingPackage
from tracecup.study.results import Table

FRAMES = ("pandas", "polars")
LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
})  # fmt: skip


class Listing:
    """A named table: `len`, rows as dictionaries by index, and the ways out to other programs."""

    def __init__(self, name: str, table: Table) -> None:
        self.name, self.table = name, table

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, row: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, row: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, row: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self.table.records()[row]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.table.records())

    def column(self, name: str) -> list[Any]:
        """The values of one column."""
        return self.table.column(name)

    def to_arrow(self) -> Any:
        """As a `pyarrow.Table`."""
        return to_arrow(self.table)

    def to_frame(self, library: str | None = None) -> Any:
        """As a data frame; see `to_frame`."""
        return to_frame(self.table, library)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self)} rows of {', '.join(self.table.columns)}>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def to_arrow(table: Table) -> Any:
    """A `pyarrow.Table` with the columns and rows of `table`.

    >>> to_arrow(Table.of(["eps"], [(1.5,), (None,)])).to_pydict()
    {'eps': [1.5, None]}
    """
    import pyarrow as pa

    return pa.table({name: table.column(name) for name in table.columns})


def to_frame(table: Table, library: str | None = None) -> Any:
    """A data frame of pandas or polars: the one named, else the first that is installed."""
    if library is None:
        library = next((name for name in FRAMES if find_spec(name)), None)
        if library is None:
            raise MissingPackage(
                "a data frame needs pandas or polars, and neither is installed; "
                ".to_arrow() needs neither"
            )
    if library not in FRAMES:
        raise InvalidParameter(f"a frame is one of {', '.join(FRAMES)}, got {library!r}")
    try:
        module = importlib.import_module(library)
    except ImportError as error:
        raise MissingPackage(f"a frame of {library} needs {library} to be installed") from error
    arrow = to_arrow(table)
    return arrow.to_pandas() if library == "pandas" else module.from_arrow(arrow)


def to_latex(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    r"""A LaTeX table (package booktabs); what LaTeX reads otherwise is escaped.

    >>> print(to_latex(["defence", "s_U"], [["RR(8)", "0.70"]]))
    \begin{tabular}{lr}
    \toprule
    defence & s\_U \\
    \midrule
    RR(8) & 0.70 \\
    \bottomrule
    \end{tabular}
    """

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cell.translate(LATEX) for cell in cells) + r" \\"

    lines = [
        rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"\toprule",
        line(header),
        r"\midrule",
        *(line(row) for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if caption:
        said = rf"\caption{{{caption.translate(LATEX)}}}"
        lines = [r"\begin{table}", r"\centering", said, *lines, r"\end{table}"]
    return "\n".join(lines)
