"""What a study found, as plain data: tables, numbers, and how they compare with the paper.

Everything a picture or a page shows is in here, so both can be made again from the stored file.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tracecup.errors import InvalidParameter
from tracecup.study.htmltables import Value, html_table

PEOPLE_FLOW_ATTRIBUTION = (
    "SNS-based People Flow Data, CC BY 4.0: Nightley, Inc.; Shibasaki & Sekimoto Laboratory, the "
    "University of Tokyo; Micro Geo Data Forum; People Flow project; Center for Spatial "
    "Information Science at the University of Tokyo"
)


@dataclass(frozen=True)
class Source:
    """Where the numbers come from: a line for the picture, and whom to name."""

    label: str
    attribution: str = ""


WORKED = Source("Worked example, no data needed")
SAMPLE = Source("PWS Cup 2019 sample traces, Osaka (2 days)", PEOPLE_FLOW_ATTRIBUTION)
PRELIMINARY = Source("PWS Cup 2019 preliminary round, Tokyo", PEOPLE_FLOW_ATTRIBUTION)
SHEETS = Source("PWS Cup 2019 result sheets, preliminary round")
FINAL_SHEETS = Source("PWS Cup 2019 result sheets, final round")
BUILT_IN = Source("Made on the built-in city of tracecup, not on the contest's data")


@dataclass(frozen=True, repr=False)
class Table:
    """Named columns and rows of plain values; written as CSV, shown as a table in notebooks.

    >>> Table.of(["eps", "s_U"], [(1, 0.3), (2, 0.5)]).column("s_U")
    [0.3, 0.5]
    >>> Table.of(["eps", "s_U"], [(1, 0.3), (2, 0.5)])
    <Table: 2 rows of eps, s_U>
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InvalidParameter(
                    f"a row of {len(row)} values in a table of {len(self.columns)} columns"
                )

    @classmethod
    def of(cls, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
        """From anything like rows; NumPy's numbers become Python's."""
        return cls(tuple(columns), tuple(tuple(_plain(v) for v in row) for row in rows))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Table: {len(self)} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        return html_table(self.columns, self.rows)

    def column(self, name: str) -> list[Any]:
        """The values of one column."""
        if name not in self.columns:
            raise InvalidParameter(f"no column {name!r}: {', '.join(self.columns)}")
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def records(self) -> list[dict[str, Any]]:
        """The rows, each by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def where(self, **wanted: Value) -> Table:
        """The rows in which the named columns have the given values."""
        places = [(self.columns.index(name), value) for name, value in wanted.items()]
        rows = tuple(row for row in self.rows if all(row[at] == v for at, v in places))
        return Table(self.columns, rows)

    def row(self, **wanted: Value) -> dict[str, Any]:
        """The one row in which the named columns have the given values, by column name."""
        found = self.where(**wanted)
        if len(found) != 1:
            raise InvalidParameter(f"{len(found)} rows have {wanted}, expected one")
        return found.records()[0]

    def as_csv(self) -> str:
        """Comma separated text with a header; numbers in full precision."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()


@dataclass(frozen=True)
class Comparison:
    """One published number beside ours; `low` and `high` bound what counts as the same.

    Without a band nothing is claimed: the numbers stand beside each other, and `why` says why
    they need not agree.
    """

    what: str
    published: float
    ours: float
    low: float | None = None
    high: float | None = None
    why: str = ""

    @classmethod
    def equal(
        cls, what: str, published: float, ours: float, within: float = 1e-9, why: str = ""
    ) -> Comparison:
        """Ours has to agree to `within`."""
        return cls(what, published, ours, published - within, published + within, why)

    @property
    def inside(self) -> bool | None:
        """Whether ours is inside the band; None where no band is claimed."""
        if self.low is None or self.high is None:
            return None
        return self.low <= self.ours <= self.high

    @property
    def verdict(self) -> str:
        """The words for people: inside, OUTSIDE or no band."""
        return {True: "inside the band", False: "OUTSIDE the band", None: "no band"}[self.inside]

    @property
    def band(self) -> str:
        """The band as people read it."""
        return "-" if self.low is None or self.high is None else _band(self.low, self.high)

    def markdown(self) -> str:
        """A table row: what, published, ours, band, verdict, why."""
        numbers = (_short(self.published), _short(self.ours), self.band)
        cells = (self.what, *numbers, self.verdict, self.why)
        return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


@dataclass(frozen=True)
class StudyResult:
    """What one study returns.

    `sizes` says how much data it looked at; `notes` what differs from the paper and what cannot
    be made again. Where tables come from different data, `sources` names each table's own.
    """

    source: Source
    tables: Mapping[str, Table] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    comparisons: tuple[Comparison, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)

    def source_of(self, table: str) -> Source:
        """Where a table comes from."""
        return self.sources.get(table, self.source)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON; what is not a finite number becomes null."""
        return {
            "source": vars(self.source),
            "sources": {name: vars(source) for name, source in self.sources.items()},
            "sizes": dict(self.sizes),
            "numbers": {name: _finite(value) for name, value in self.numbers.items()},
            "comparisons": [
                {
                    **{name: _finite(value) for name, value in vars(one).items()},
                    "inside": one.inside,
                }
                for one in self.comparisons
            ],
            "notes": list(self.notes),
            "tables": {
                name: {
                    "columns": list(table.columns),
                    "rows": [[_finite(value) for value in row] for row in table.rows],
                }
                for name, table in self.tables.items()
            },
        }

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> StudyResult:
        """Back from `as_dict`."""
        return cls(
            Source(**held["source"]),
            {name: Table.of(t["columns"], t["rows"]) for name, t in held["tables"].items()},
            {name: _number(value) for name, value in held["numbers"].items()},
            tuple(
                Comparison(
                    one["what"],
                    _number(one["published"]),
                    _number(one["ours"]),
                    one["low"],
                    one["high"],
                    one["why"],
                )
                for one in held["comparisons"]
            ),
            held["sizes"],
            tuple(held["notes"]),
            {name: Source(**source) for name, source in held["sources"].items()},
        )


COMPARISON_HEAD = (
    "| what | published | ours | band | verdict | why |\n| --- | --- | --- | --- | --- | --- |"
)


MOST = 1e3
"""A band that ends here or later has no upper end that matters."""


def _plain(value: Any) -> Value:
    plain: Value = value.item() if hasattr(value, "item") else value
    return plain


def _finite(value: Value) -> Value:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _short(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.10g}"


def _band(low: float, high: float) -> str:
    middle, half = (low + high) / 2, (high - low) / 2
    narrow = half < 1e-6 * max(1.0, abs(middle))
    if narrow:
        return f"± {half:.1g}" if half else "exactly"
    return f"{low:.4g} or more" if high >= MOST else f"{low:.4g} to {high:.4g}"
