"""Result tables: the same columns as CSV for people and as Parquet for programs.

Numbers are written with the shortest digits that give them back; empty means "none".
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracecup.errors import InvalidParameter
from tracecup.parquetfiles import Batches, decoded
from tracecup.safeio import MIB, Limits, atomic_write, read_blocks

Value = str | int | float | bool | None
MAX_SHOWN = 5
# One column for each attacker in a sheet, one row for each user of each release.
TABLE_LIMITS = Limits(max_bytes=1024 * MIB, max_rows=100_000_000, max_ids=100_000_000)
MOST_COLUMNS = 2000


@dataclass(frozen=True)
class ResultTable:
    """Columns by name, all of the same length; the values of a column are of one type or None."""

    columns: Mapping[str, Sequence[Value]]

    def __post_init__(self) -> None:
        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise InvalidParameter(f"columns of a table differ in length: {lengths}")

    @classmethod
    def of_rows(cls, names: Sequence[str], rows: Sequence[Sequence[Value]]) -> ResultTable:
        """From rows.

        >>> ResultTable.of_rows(["a", "b"], [[1, "x"], [2, None]]).csv()
        'a,b\\n1,x\\n2,\\n'
        """
        for row in rows:
            if len(row) != len(names):
                raise InvalidParameter(f"a row has {len(row)} values for {len(names)} columns")
        return cls({name: [row[k] for row in rows] for k, name in enumerate(names)})

    @classmethod
    def of_records(
        cls, names: Sequence[str], records: Iterable[Mapping[str, Value]]
    ) -> ResultTable:
        """From values by column; what a record does not tell is None, other columns an error.

        >>> ResultTable.of_records(["a", "b"], [{"b": 1, "a": 2}, {"b": 3}]).csv()
        'a,b\\n2,1\\n,3\\n'
        """
        held = list(records)
        for strange in (set(record) - set(names) for record in held):
            if strange:
                raise InvalidParameter(f"the table has no column {min(strange)}")
        return cls({name: [record.get(name) for record in held] for name in names})

    def rows(self) -> list[dict[str, Value]]:
        """One dictionary per row."""
        names = list(self.columns)
        return [
            dict(zip(names, row, strict=True)) for row in zip(*self.columns.values(), strict=True)
        ]

    def csv(self) -> str:
        """As CSV text; fields with a comma are quoted."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        for row in zip(*self.columns.values(), strict=True):
            writer.writerow([spelled(value) for value in row])
        return out.getvalue()

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write `name.csv` and `name.parquet`; the two paths."""
        return [self.write_csv(folder / f"{name}.csv"), self.write_parquet(folder, name)]

    def write_csv(self, path: Path) -> Path:
        with atomic_write(path) as file:
            file.write(self.csv().encode())
        return path

    def write_parquet(self, folder: Path, name: str) -> Path:
        """Write the Parquet twin."""
        from pyarrow import parquet

        path = folder / f"{name}.parquet"
        with atomic_write(path) as file:
            parquet.write_table(self.arrow(), file, compression="zstd")
        return path

    def arrow(self) -> Any:
        """As an Arrow table; a column without any value is one of text."""
        import pyarrow as pa

        def column(values: Sequence[Value]) -> Any:
            empty = all(value is None for value in values)
            return pa.array(list(values), type=pa.string() if empty else None)

        return pa.table({name: column(values) for name, values in self.columns.items()})


def read_table(path: Path) -> ResultTable:
    """A Parquet table of results, as written by `ResultTable.write`."""
    import pyarrow as pa

    def look(file: Batches) -> dict[str, Sequence[Value]]:
        held = pa.Table.from_batches(file, schema=file.schema)
        return {name: held.column(name).to_pylist() for name in held.column_names}

    return ResultTable(decoded(path, TABLE_LIMITS, look, most_columns=MOST_COLUMNS))


def csv_rows(path: Path, first: str) -> list[dict[str, str]]:
    """The rows of a written CSV that begin with a word, as it spells them (empty means none).

    `first` is a word that needs no quotes; other rows are passed over.
    """
    with path.open(newline="", encoding="utf-8") as file:
        head = file.readline()
        lines = [line for line in file if line.startswith(f"{first},")]
    return list(csv.DictReader(io.StringIO(head + "".join(lines))))


def spelled(value: Value) -> str:
    """A value as a result file writes it.

    >>> spelled(0.25), spelled(None), spelled(True)
    ('0.25', '', 'yes')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(float(value)) if isinstance(value, float) else str(value)


def csv_differences(path: Path, expected: str) -> list[str]:
    """Where a stored CSV is not what was computed: the first few lines of it, in words."""
    found = b"".join(read_blocks(path)).decode("utf-8", "replace").splitlines()
    wanted = expected.splitlines()
    if len(found) != len(wanted):
        return [f"has {len(found)} lines, computed are {len(wanted)}"]
    wrong = [k for k in range(len(wanted)) if found[k] != wanted[k]]
    said = [f"line {k + 1} is {found[k]!r}, computed is {wanted[k]!r}" for k in wrong[:MAX_SHOWN]]
    if len(wrong) > MAX_SHOWN:
        said.append(f"and {len(wrong) - MAX_SHOWN} more lines")
    return said


def parquet_differences(path: Path, expected: ResultTable) -> list[str]:
    """Where a stored Parquet table is not what was computed, in words."""
    found = read_table(path)
    if list(found.columns) != list(expected.columns):
        return [f"has the columns {list(found.columns)}, computed are {list(expected.columns)}"]
    said = []
    for name, values in expected.columns.items():
        stored = found.columns[name]
        if len(stored) != len(values):
            return [f"has {len(stored)} rows, computed are {len(values)}"]
        wrong = [k for k in range(len(values)) if stored[k] != values[k]]
        said += [
            f"row {k + 1}, column {name} is {stored[k]!r}, computed is {values[k]!r}"
            for k in wrong[:MAX_SHOWN]
        ]
    return said
