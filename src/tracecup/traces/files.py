"""The contest's trace files and ID tables: the border between 1-based files and 0-based data.

Every format of the 2019 contest, plain, gzip or zstd, and its Parquet twin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path as FilePath
from typing import IO, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tracecup.city.clock import Clock
from tracecup.errors import InvalidFile, InvalidParameter, InvalidTraces, TooLarge, fail
from tracecup.safeio import (
    DEFAULT_LIMITS,
    LARGE_LIMITS,
    PARQUET_MAGIC,
    Limits,
    atomic_files,
    atomic_write,
    magic_of,
    read_lines,
    synced_writer,
)
from tracecup.traces.columns import Columns, Layout
from tracecup.traces.csvtext import MAX_ID, csv_parts, read_csv, write_csv
from tracecup.traces.idtable import IdTable
from tracecup.traces.parquet import (
    GROUP_ROWS,
    parquet_layout,
    read_parquet,
    write_groups,
    write_parquet,
)
from tracecup.traces.rowchecks import (
    OTHER_PART,
    check_column,
    check_range,
    grid_of,
    run_length,
)
from tracecup.traces.settraces import SetTraces
from tracecup.traces.traces import Traces, check_clock

Path = str | PathLike[str]
Kind = Literal[
    "reference",
    "original",
    "obfuscated",
    "released",
    "id-table",
    "inferred-table",
    "inferred-traces",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
SECRET_MODE = 0o600
PARQUET = ".parquet"
READ_IN_PARTS: tuple[Kind, ...] = ("reference", "original", "obfuscated", "released")
LARGE_HINT = (
    "; text of any length becomes Parquet by `tracecup convert IN.csv OUT.parquet`, which attack, "
    "measure and audit read in parts"
)

_DECLARED: dict[Kind, tuple[str, Layout]] = {
    "reference": ("reftraces", Layout(("user_id", "time_id"), "reg_id", sets=False)),
    "original": ("orgtraces", Layout(("user_id", "time_id"), "reg_id", sets=False)),
    "obfuscated": ("anotraces", Layout((), "reg_id", sets=True)),
    "released": ("pubtraces", Layout(("pse_id", "time_id"), "reg_id", sets=True)),
    "id-table": ("ptable", Layout(("pse_id",), "user_id", sets=False)),
    "inferred-table": ("etable", Layout((), "user_id", sets=False)),
    "inferred-traces": ("etraces", Layout((), "reg_id", sets=False)),
}
"""Each kind of file once: how its name begins in 2019, and its columns."""
LAYOUTS: dict[Kind, Layout] = {kind: layout for kind, (_, layout) in _DECLARED.items()}
PREFIXES: dict[str, Kind] = {prefix: kind for kind, (prefix, _) in _DECLARED.items()}


def kind_of(name: str) -> Kind:
    """The kind that a kind's name or a 2019 file name prefix stands for.

    >>> kind_of("anotraces"), kind_of("obfuscated")
    ('obfuscated', 'obfuscated')
    """
    for kind in KINDS:
        if name == kind:
            return kind
    if name in PREFIXES:
        return PREFIXES[name]
    known = ", ".join([*KINDS, *PREFIXES])
    raise InvalidParameter(f"no kind of trace file is called {name!r} (known: {known})")


def read_traces(
    path: Path,
    kind: Literal["reference", "original"] = "original",
    *,
    n_regions: int | None = None,
    clock: Clock | None = None,
    users: int | None = None,
    gaps: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Traces:
    """Reference or original traces: `user_id,time_id,reg_id`, sorted, users 1..m, no gaps.

    Sizes come from the file; `clock`, `users` and `n_regions`, where given, must agree with it.
    Without a clock the times are taken as one long day. With `gaps=True` (training, reference
    and audited traces) rows may be missing: those events are -1, not observed.
    """
    layout = LAYOUTS[kind]
    if clock is not None:
        check_clock(clock)
    rows = users * clock.times if users and clock and not gaps else None
    columns = _read(path, layout, n_regions or MAX_ID, rows, 1, limits)
    user, time = columns.lead
    if gaps:
        return _with_gaps(path, columns, clock, users, limits)
    first = clock.first_time + 1 if clock else (int(time[0]) if len(time) else 1)
    m, times = grid_of(path, layout, user, time, 1, first, clock, users)
    clock = clock or Clock.unknown(times, first - 1)
    return Traces(columns.ids.reshape(m, times), np.arange(1, m + 1), clock)


def read_obfuscated(
    path: Path,
    *,
    users: int,
    clock: Clock,
    n_regions: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SetTraces:
    """Obfuscated traces before the shuffle: one column `reg_id`, m*l rows, sets or `*`."""
    check_clock(clock)
    layout, rows = LAYOUTS["obfuscated"], users * clock.times
    columns = _read(path, layout, n_regions or MAX_ID, rows, n_regions or MAX_ID, limits)
    return _cells_of(columns, np.arange(1, users + 1), clock)


def read_released(
    path: Path,
    *,
    n_regions: int | None = None,
    clock: Clock | None = None,
    users: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SetTraces:
    """Published traces after the shuffle: `pse_id,time_id,reg_id`, pseudonyms m+1..2m."""
    layout = LAYOUTS["released"]
    if clock is not None:
        check_clock(clock)
    rows = users * clock.times if users and clock else None
    columns = _read(path, layout, n_regions or MAX_ID, rows, n_regions or MAX_ID, limits)
    pseudonym, time = columns.lead
    first = clock.first_time + 1 if clock else (int(time[0]) if len(time) else 1)
    times = clock.times if clock else run_length(pseudonym)
    m = users or (columns.rows // times if times else 0)
    m, times = grid_of(path, layout, pseudonym, time, m + 1, first, clock, users)
    return _cells_of(columns, np.arange(m + 1, 2 * m + 1), clock or Clock.unknown(times, first - 1))


def read_id_table(
    path: Path, *, users: int | None = None, limits: Limits = DEFAULT_LIMITS
) -> IdTable:
    """The judge's table `pse_id,user_id`: pseudonyms m+1..2m in order, users a permutation."""
    layout = LAYOUTS["id-table"]
    columns = _read(path, layout, MAX_ID, users, 1, limits)
    m, pseudonym, user = columns.rows, columns.lead[0], columns.ids + 1
    if m == 0:
        fail(path, 0, "", "no rows", "one row for every pseudonym")
    check_column(path, "pse_id", pseudonym, np.arange(m + 1, 2 * m + 1))
    check_range(path, "user_id", user, m)
    seen = np.zeros(m, dtype=np.int64)
    np.add.at(seen, user - 1, 1)
    if (seen > 1).any():
        repeated = np.flatnonzero(seen[user - 1] > 1)
        k = int(next(j for j in repeated if user[j] in user[:j]))
        fail(path, k + 2, "user_id", f"{int(user[k])} a second time", "every user once")
    return IdTable(columns.ids)


def read_inferred_table(path: Path, *, users: int, limits: Limits = DEFAULT_LIMITS) -> IdTable:
    """An inferred table: one column `user_id`, row k for pseudonym m+k, repetitions allowed."""
    columns = _read(path, LAYOUTS["inferred-table"], users, users, 1, limits)
    return IdTable(columns.ids)


def read_inferred_traces(
    path: Path,
    *,
    users: int,
    clock: Clock,
    n_regions: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Traces:
    """Inferred traces: one column `reg_id`, m*l rows in user order, one region each."""
    check_clock(clock)
    layout, rows = LAYOUTS["inferred-traces"], users * clock.times
    columns = _read(path, layout, n_regions or MAX_ID, rows, 1, limits)
    return Traces(columns.ids.reshape(users, clock.times), np.arange(1, users + 1), clock)


def cell_columns(
    path: Path,
    kind: Kind,
    *,
    n_regions: int | None = None,
    rows: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Columns:
    """The bare cells of a file whose sizes may be unknown."""
    layout = LAYOUTS[kind]
    return _read(path, layout, n_regions or MAX_ID, rows, n_regions or MAX_ID, limits)


def write_columns(path: Path, kind: Kind, columns: Columns) -> None:
    """Write bare columns as a file of the given kind."""
    _write(path, LAYOUTS[kind], columns)


def write_traces(path: Path, traces: Traces) -> None:
    """Write reference or original traces; unobserved events are left out.

    Users of a file are numbered from 1: an id of 0 could not be read back and is refused.
    """
    if traces.n_users and int(traces.users.min()) < 1:
        raise InvalidTraces(
            f"users of a trace file are numbered from 1, got user {int(traces.users.min())}: "
            "number them anew"
        )
    user, time = np.indices(traces.shape)
    seen = traces.regions >= 0
    lead = (
        traces.users[user[seen]].astype(np.int32),
        (time[seen] + traces.clock.first_time + 1).astype(np.int32),
    )
    _write(path, LAYOUTS["original"], Columns.single(lead, traces.regions[seen]))


def write_obfuscated(path: Path, obfuscated: SetTraces) -> None:
    """Write obfuscated traces (before the shuffle)."""
    _write(path, LAYOUTS["obfuscated"], _columns_of(obfuscated, lead=False))


def write_released(path: Path, released: SetTraces) -> None:
    """Write published traces."""
    _write(path, LAYOUTS["released"], _columns_of(released, lead=True))


def write_release_and_table(
    released_path: Path, released: SetTraces, table_path: Path, table: IdTable
) -> None:
    """Write published traces and their ID table together: both appear or neither.

    The ID table is readable by its owner only.
    """
    public, secret = FilePath(released_path), FilePath(table_path)
    with atomic_files((public, 0o666), (secret, SECRET_MODE)) as (a, b):
        for target, temporary, layout, columns in (
            (public, a, LAYOUTS["released"], _columns_of(released, lead=True)),
            (secret, b, LAYOUTS["id-table"], _table_columns(table)),
        ):
            with synced_writer(temporary, target.name) as file:
                _write_columns(file, target.name, layout, columns)


def write_id_table(path: Path, table: IdTable) -> None:
    """Write the judge's ID table, readable by its owner only."""
    _write(path, LAYOUTS["id-table"], _table_columns(table), SECRET_MODE)


def write_inferred_table(path: Path, table: IdTable) -> None:
    """Write an inferred table."""
    _write(path, LAYOUTS["inferred-table"], Columns.single((), table.users))


def write_inferred_traces(path: Path, traces: Traces) -> None:
    """Write inferred traces."""
    if traces.has_gaps:
        raise InvalidParameter("inferred traces name a region for every event")
    _write(path, LAYOUTS["inferred-traces"], Columns.single((), traces.regions.ravel()))


def convert(source: Path, target: Path, limits: Limits = DEFAULT_LIMITS) -> Layout:
    """Copy a trace file or ID table to another container: CSV, .gz, .zst or .parquet.

    The layout is found from the header; content is checked as far as the file alone allows. Text
    becomes Parquet a million rows at a time, whatever its length; otherwise `limits` hold.
    """
    from_text = magic_of(source) != PARQUET_MAGIC
    in_parts = from_text and FilePath(target).name.endswith(PARQUET)
    layout = layout_of(source, LARGE_LIMITS if in_parts else limits)
    mode = SECRET_MODE if layout == LAYOUTS["id-table"] else 0o666
    if not in_parts:
        _write(target, layout, _read(source, layout, MAX_ID, None, MAX_ID, limits), mode)
        return layout
    with atomic_write(target, mode) as file:
        # Where cells may be sets, whether any is one decides the column: a look before.
        single = not layout.sets or all(part.is_single for part in _text_parts(source, layout))
        write_groups(file, layout, _text_parts(source, layout), single)
    return layout


def _text_parts(path: Path, layout: Layout) -> Iterator[Columns]:
    return csv_parts(path, layout, MAX_ID, MAX_ID, LARGE_LIMITS, GROUP_ROWS)


def layout_of(path: Path, limits: Limits = DEFAULT_LIMITS) -> Layout:
    """The layout that a file's header announces."""
    if magic_of(path) == PARQUET_MAGIC:
        header, sets = parquet_layout(path, limits)
    else:
        header, sets = tuple(next(read_lines(path, limits), "").split(",")), True
    fitting = [layout for layout in LAYOUTS.values() if layout.header == header]
    if not fitting:
        known = " | ".join(sorted({",".join(layout.header) for layout in LAYOUTS.values()}))
        fail(path, 1, "", repr(",".join(header)[:80]), f"one of the headers {known}")
    # A CSV of sets also holds files of single ids; only Parquet tells them apart by type.
    return next((layout for layout in fitting if layout.sets == sets), fitting[0])


def _read(
    path: Path, layout: Layout, max_id: int, rows: int | None, max_set: int, limits: Limits
) -> Columns:
    reader = read_parquet if magic_of(path) == PARQUET_MAGIC else read_csv
    try:
        return reader(path, layout, max_id, rows, max_set, limits)
    except TooLarge as error:
        in_parts = reader is read_csv and layout in map(LAYOUTS.get, READ_IN_PARTS)
        raise _with_way_out(error) if in_parts and limits is DEFAULT_LIMITS else error from None
    except InvalidFile as error:
        raise _with_kind(error) from None


def _with_way_out(error: TooLarge) -> TooLarge:
    """Where the owner of a large file reads it, say what takes one of any length."""
    first = error.problems[0]
    return TooLarge(error.path, [replace(first, expected=first.expected + LARGE_HINT)])


def _with_kind(error: InvalidFile) -> InvalidFile:
    """Where the columns are those of another kind of file, say which: somebody swapped two."""
    first = error.problems[0]
    kinds = [
        kind
        for kind, layout in LAYOUTS.items()
        for header in [",".join(layout.header)]
        if not first.column and first.found in (repr(header), f"the columns {header}")
    ]
    if not kinds:
        return error
    found = f"{first.found} (as in files of kind {' or '.join(kinds)})"
    return InvalidFile(error.path, [replace(first, found=found)], error.total)


def _write(path: Path, layout: Layout, columns: Columns, mode: int = 0o666) -> None:
    with atomic_write(path, mode) as file:
        _write_columns(file, FilePath(path).name, layout, columns)


def _write_columns(file: IO[bytes], name: str, layout: Layout, columns: Columns) -> None:
    (write_parquet if name.endswith(PARQUET) else write_csv)(file, layout, columns)


def _with_gaps(
    path: Path, columns: Columns, clock: Clock | None, users: int | None, limits: Limits
) -> Traces:
    """Traces from sorted rows of which some may be missing."""
    user, time = columns.lead
    if not len(user):
        fail(path, 0, "", "no rows", "at least one row")
    first = clock.first_time + 1 if clock else int(time.min())
    times = clock.times if clock else int(time.max()) - first + 1
    m = users or int(user.max())
    key = (user.astype(np.int64) - 1) * times + (time - first)
    wrong = np.flatnonzero((time < first) | (time >= first + times))
    if wrong.size:
        k = int(wrong[0])
        other = OTHER_PART if wrong.size == len(time) else ""
        fail(path, k + 2, "time_id", str(int(time[k])), f"{first} to {first + times - 1}{other}")
    check_range(path, "user_id", user, m)
    falling = np.flatnonzero(np.diff(key) <= 0)
    if falling.size:
        k = int(falling[0]) + 1
        fail(path, k + 2, "", f"user {user[k]}, time {time[k]}", "rows sorted, each only once")
    if m * times > limits.max_rows:
        fail(path, 0, "", f"{m} users x {times} times", f"at most {limits.max_rows} events")
    regions = np.full(m * times, -1, dtype=np.int32)
    regions[key] = columns.ids
    clock = clock or Clock.unknown(times, first - 1)
    return Traces(regions.reshape(m, times), np.arange(1, m + 1), clock)


def _cells_of(columns: Columns, users: NDArray[np.int64], clock: Clock) -> SetTraces:
    return SetTraces(columns.offsets, columns.ids, users, clock)


def _columns_of(traces: SetTraces, *, lead: bool) -> Columns:
    columns: tuple[NDArray[np.int32], ...] = ()
    if lead:
        first = traces.clock.first_time + 1
        time = np.arange(first, first + traces.times, dtype=np.int32)
        columns = (
            np.repeat(traces.users.astype(np.int32), traces.times),
            np.tile(time, traces.n_users),
        )
    return Columns(columns, traces.offsets, traces.regions)


def _table_columns(table: IdTable) -> Columns:
    m = len(table)
    pseudonyms = np.arange(m + 1, 2 * m + 1, dtype=np.int32)
    return Columns.single((pseudonyms,), table.users)
