"""What results share: ways out to Arrow, data frames, LaTeX, pictures and notebooks.

A result is a few tables and a picture of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracecup.errors import InvalidParameter
from tracecup.front.tables import to_arrow, to_frame, to_latex
from tracecup.safeio import atomic_write
from tracecup.study.htmltables import html_table, spelled
from tracecup.study.results import Table

if TYPE_CHECKING:
    from tracecup.plot.style import Picture

PICTURES = ("png", "svg", "pdf")
HEADS = ("defence", "s_U", "s_R,min", "by", "s_T,min", "by", "s_T,linked", "at most")
MARKS = {
    "below": " (below the floor)",
    "coarse": " (knob too coarse)",
    "strongest": " (its strongest)",
}


class Result(ABC):
    """Base of results: `tables` by name, of which `summary` is for reading and `attacks` tidy."""

    @abstractmethod
    def tables(self) -> Mapping[str, Table]:
        """The tables by name."""

    def intervals(self) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        """Intervals for the picture by data set and defence, where better ones are known."""
        return {}

    @abstractmethod
    def said(self) -> str:
        """The result in a line."""

    def __len__(self) -> int:
        return len(self.tables()["summary"])

    def __repr__(self) -> str:
        return self.said()

    def to_arrow(self, table: str = "summary") -> Any:
        """A table as `pyarrow.Table`: `summary`, `attacks` (one row per attack) or another one."""
        return to_arrow(self._table(table))

    def to_frame(self, table: str = "summary", library: str | None = None) -> Any:
        """A table as a data frame of pandas or polars, whichever is installed."""
        return to_frame(self._table(table), library)

    def to_latex(self, caption: str = "") -> str:
        """The summary as a LaTeX table (package booktabs), each score with its interval."""
        return to_latex(*self._for_reading(), caption)

    def to_markdown(self) -> str:
        """The summary as a Markdown table."""
        header, rows = self._for_reading()
        lines = [header, ["---"] * len(header), *rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def plot(self, path: str | PathLike[str] | None = None) -> Picture:
        """s_R,min against s_T,linked of every defence; also as file `path` (.png, .svg, .pdf).

        In a notebook the picture shows itself. Needs matplotlib (`tracecup[plot]`).
        """
        from tracecup.plot.sweep import scatter

        picture = scatter(self.tables()["attacks"], self.intervals())
        if picture is None:
            raise InvalidParameter(
                "a picture needs a re-identification and a trace inference at least"
            )
        if path is not None:
            ending = Path(path).suffix.lower().removeprefix(".")
            if ending not in PICTURES:
                raise InvalidParameter(
                    f"a picture is written as .{', .'.join(PICTURES)}, got {Path(path).name!r}"
                )
            content: bytes = getattr(picture, ending)()
            with atomic_write(Path(path)) as file:
                file.write(content)
        return picture

    def _table(self, name: str) -> Table:
        held = self.tables()
        if name not in held:
            raise InvalidParameter(f"a table is one of {', '.join(held)}, got {name!r}")
        return held[name]

    def _for_reading(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of the summary, numbers with three digits and their intervals."""
        records = self._records()
        several = len({row["data"] for row in records}) > 1
        rows = []
        for row in records:
            utility = f"{row['utility']:.3f}" + MARKS.get(_mark(row), "")
            cells = [row["data"]] if several else []
            cells += [row["ran"], utility]
            cells += [_spelled(row, "s_r"), (row["s_r_by"] or "–").partition("(")[0]]
            cells += [_spelled(row, "s_t"), (row["s_t_by"] or "–").partition("(")[0]]
            cells += [_spelled(row, "s_t_linked"), spelled(row["prior"], 3)]
            rows.append(cells)
        return [*(["data"] if several else []), *HEADS], rows

    def _records(self) -> list[dict[str, Any]]:
        """The rows of the summary, by the names that `_for_reading` knows."""
        return self.tables()["summary"].records()

    def _repr_html_(self) -> str:
        return f"<p>{self.said()[1:-1]}</p>" + html_table(*self._for_reading())


def _mark(row: Mapping[str, Any]) -> str:
    return "below" if row["valid"] is False else str(row["tuning"])


def _spelled(row: Mapping[str, Any], column: str) -> str:
    value = row[column]
    if value is None:
        return "–"
    low, high = row[f"{column}_low"], row[f"{column}_high"]
    if low is not None and high is not None:
        return f"{value:.3f} [{low:.3f}, {high:.3f}]"
    return f"{value:.3f}"
