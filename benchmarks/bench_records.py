"""Reading delimited text: our scanners against `pyarrow.csv`, column by column into NumPy.

Three files: a raw table of positions, records of the published evaluation, contest traces. Each
reader is also run in a process of its own, to see what memory it takes beyond the interpreter's.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from harness import Bench
from tracecup.datasets import TOKYO_CENTRE, Box, contest_parts, read_csv
from tracecup.records.delimited import TextLayout, read_text
from tracecup.traces.files import cell_columns

BLOCK_BYTES = 4 << 20
RAW = {"user": pa.binary(), "time": pa.timestamp("s"), "lat": pa.float64(), "lon": pa.float64()}
PUBLISHED = dict.fromkeys(("user_index", "poi_index", "unixtime", "hour", "min"), pa.int64())
CONTEST = dict.fromkeys(("user_id", "time_id", "reg_id"), pa.int32())

EVERYTHING = Box(35.6, 35.8, 139.6, 139.9)

Columns = list[np.ndarray]


def run(bench: Bench) -> None:
    rows = 50_000 if bench.quick else 2_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, rows)
        for file, theirs, ours, stage in (
            ("raw.csv", arrow_raw, own_raw, "raw table"),
            ("published.csv", arrow_published, own_published, "published records"),
            ("contest.csv", arrow_contest, own_contest, "contest traces"),
        ):
            _compare(bench, stage, folder / file, rows, theirs, ours)
        big = 100_000 if bench.quick else 4_000_000
        write_raw(folder / "raw.csv", big)
        _to_contest_form(bench, folder, big)


def _compare(
    bench: Bench,
    stage: str,
    path: Path,
    rows: int,
    theirs: Callable[[Path], Columns],
    ours: Callable[[Path], Columns],
) -> None:
    size = f"{rows} lines, {path.stat().st_size / 1e6:.0f} MB"
    stick = bench.measure(f"{stage}: pyarrow.csv", size, lambda: theirs(path), repeat=7)
    yardstick = ("pyarrow.csv", stick)
    bench.measure(f"{stage}: ours", size, lambda: ours(path), yardstick=yardstick, repeat=7)
    bench.note(f"memory: pyarrow.csv {peak(theirs, path)} MB, ours {peak(ours, path)} MB")


def _to_contest_form(bench: Bench, folder: Path, rows: int) -> None:
    """A raw table to the files of a contest, against pandas (or polars) merely reading it.

    Once for a box that holds a fifth of the records, once for all of them. The first yardstick
    leaves times as text, the second reads them as times, which a contest needs.
    """
    path = folder / "raw.csv"
    text, times = ((name, bench.seconds(read)) for name, read in _readers(path).items())
    for stage, box in (("a fifth in the box", TOKYO_CENTRE), ("all in the box", EVERYTHING)):
        seconds = bench.measure(
            f"raw table to contest files, {stage}",
            f"{rows} lines",
            lambda box=box: to_contest_form(path, box),
            yardstick=text,
        )
        bench.note(f"{seconds / times[1]:.2f} x {times[0]}")
        bench.note(f"memory: {peak(to_contest_form, path, box)} MB")


def _readers(path: Path) -> dict[str, Callable[[], object]]:
    """Reading with times as text, and with real times: by pandas where it is installed (it is no
    dependency), else by polars.
    """
    if importlib.util.find_spec("pandas"):
        pandas = importlib.import_module("pandas")
        name = f"pandas {pandas.__version__} read_csv"
        return {
            name: lambda: pandas.read_csv(path),
            f"{name} with parse_dates": lambda: pandas.read_csv(path, parse_dates=["time"]),
        }
    polars = importlib.import_module("polars")
    return {
        "polars read_csv, text": lambda: polars.read_csv(path, infer_schema=False),
        "polars read_csv with times": lambda: polars.read_csv(path, try_parse_dates=True),
    }


def to_contest_form(path: Path, box: Box) -> None:
    contest_parts(read_csv(path, box=box)).write(path.parent / "made")


def write_raw(path: Path, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A raw table from one seed; returns its users and times."""
    rng = np.random.default_rng(0)
    user = np.sort(rng.integers(0, max(1, rows // 100), rows))
    seconds = rng.integers(1372636800, 1372636800 + 30 * 86400, rows)
    iso = np.datetime_as_string(seconds.astype("datetime64[s]"))
    lat, lon = 35.6 + 0.2 * rng.random(rows), 139.6 + 0.3 * rng.random(rows)
    with path.open("w") as file:
        file.write(",".join(RAW) + "\n")
        file.writelines(
            f"u{u},{t.replace('T', ' ')},{y:.6f},{x:.6f}\n"
            for u, t, y, x in zip(user, iso, lat, lon, strict=True)
        )
    return user, seconds


def write_files(folder: Path, rows: int) -> None:
    """The three files, from one seed."""
    user, seconds = write_raw(folder / "raw.csv", rows)
    place = np.random.default_rng(1).integers(0, 400, rows)
    with (folder / "published.csv").open("w") as file:
        file.write("user_index,poi_index,category,unixtime,dow,hour,min\n")
        file.writelines(
            f"{u},{p},-,{s},Mon,{s // 3600 % 24},{s // 60 % 60}\n"
            for u, p, s in zip(user, place, seconds, strict=True)
        )
    with (folder / "contest.csv").open("w") as file:
        file.write(",".join(CONTEST) + "\n")
        file.writelines(f"{k // 400 + 1},{k % 400 + 401},{p + 1}\n" for k, p in enumerate(place))


def _arrow(path: Path, types: dict[str, pa.DataType]) -> list[list[np.ndarray]]:
    reader = arrow_csv.open_csv(
        path,
        read_options=arrow_csv.ReadOptions(block_size=BLOCK_BYTES),
        convert_options=arrow_csv.ConvertOptions(column_types=types, include_columns=list(types)),
    )
    return [[_array(column) for column in batch.columns] for batch in reader]


def _array(column: pa.Array) -> np.ndarray:
    if pa.types.is_binary(column.type):
        return column.dictionary_encode().indices.to_numpy()
    return column.to_numpy(zero_copy_only=False)


def _joined(parts: list[list[np.ndarray]]) -> Columns:
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def arrow_raw(path: Path) -> Columns:
    return _joined(_arrow(path, RAW))


def arrow_published(path: Path) -> Columns:
    return _joined(_arrow(path, PUBLISHED))


def arrow_contest(path: Path) -> Columns:
    return _joined(_arrow(path, CONTEST))


def own_raw(path: Path) -> Columns:
    parts = []
    for block in read_text(path, TextLayout(tuple(RAW), quoted=True, header=True)):
        user = _array(block.words("user"))
        parts.append([user, block.time("time", "iso"), block.decimal("lat"), block.decimal("lon")])
        block.settle()
    return _joined(parts)


def own_published(path: Path) -> Columns:
    parts = []
    for block in read_text(path, TextLayout(tuple(PUBLISHED), quoted=True, header=True)):
        parts.append([block.whole(name) for name in PUBLISHED])
        block.settle()
    return _joined(parts)


def own_contest(path: Path) -> Columns:
    columns = cell_columns(path, "original", n_regions=1024)
    return [*columns.lead, columns.ids]


def peak(read: Callable[..., object], *given: object) -> int:
    """Megabytes that a fresh process needs for reading a file, beyond its imports."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak, (read, *given))


def _peak(read: Callable[..., object], *given: object) -> int:
    before = _high_water()
    read(*given)
    return (_high_water() - before) // 1024


def _high_water() -> int:
    """Peak of this process's memory in kilobytes; `getrusage` would tell that of its parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
