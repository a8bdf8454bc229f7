"""Mutated files for every reader: nothing but our own errors may come out, in bounded time.

Seeded, so that a file that was found can be made again: (seed, target, number).
"""

from __future__ import annotations

import gzip
import io
import json
import math
import random
import signal
import tempfile
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from learnedtoy import toy_model
from tracecup.attack.learned import LearnedModel
from tracecup.city import City, Clock, ContestClock, Grid, read_city, read_clock, read_places
from tracecup.city.files import write_city, write_clock
from tracecup.client.checking import _unpack
from tracecup.contest.archive.export import opened
from tracecup.contest.archive.verify import verify
from tracecup.contest.judging.commitment import Opening, read_opening
from tracecup.contest.judging.judge import Judge
from tracecup.contest.results.tables import ResultTable, read_table
from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import read_rules, rules_text
from tracecup.contest.sheets import read_sheet
from tracecup.datasets import Box, read_csv, read_gpx, read_parquet, read_takeout
from tracecup.errors import TraceCupError
from tracecup.safeio import MIB
from tracecup.synth import PPMTF, SGLT, PPMTFPlus, Training, load_model
from tracecup.traces import SetTraces, Traces
from tracecup.traces.files import write_obfuscated, write_released, write_traces
from workbooks import write_workbook

LONGEST = 60
ARCHIVE = Path(__file__).parents[1] / "contest" / "archive" / "before" / "cells_as_handed_in.zip"
SEEDED = [0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, *b'09,;"\n\r -.[]{}']


@dataclass(frozen=True)
class Target:
    """A reader with files that it takes; `share` is how many of a run's files are for it."""

    name: str
    files: tuple[tuple[str, bytes], ...]
    read: Callable[[Path], object]
    share: float = 1.0


@dataclass
class Count:
    """What became of the files of a target; `wrong` are errors that are not ours."""

    read: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def files(self) -> int:
        return self.read + self.refused + len(self.wrong)


class TooSlow(BaseException):
    """A file that takes longer than any may."""


def run(files: int, seed: int, targets: list[Target] | None = None) -> dict[str, Count]:
    """Have so many mutated files read, shared among the targets."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = targets if targets is not None else all_targets(Path(folder))
        total = sum(target.share for target in chosen)
        counts = {}
        for target in chosen:
            of_it = math.ceil(files * target.share / total)
            counts[target.name] = _run_target(target, of_it, seed, Path(folder))
        return counts


def _run_target(target: Target, files: int, seed: int, folder: Path) -> Count:
    count = Count()
    for number in range(files):
        suffix, content = mutated(target, seed, number)
        path = folder / f"mutated{suffix}"
        path.write_bytes(content)
        where = f"{target.name}, seed {seed}, number {number}"
        try:
            with _alarm(LONGEST), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                target.read(path)
            count.read += 1
        except TraceCupError:
            count.refused += 1
        except TooSlow:
            count.wrong.append(f"{where}: took longer than {LONGEST} s")
        except Exception:
            count.wrong.append(f"{where}:\n{traceback.format_exc()}")
        finally:
            path.unlink()
    return count


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def mutated(target: Target, seed: int, number: int) -> tuple[str, bytes]:
    """A file of a target with some of its bytes changed: suffix and content."""
    chance = random.Random(f"{seed}/{target.name}/{number}")
    suffix, content = chance.choice(target.files)
    if chance.random() < 0.6:  # inside its container, which stays whole
        return suffix, _inside(content, chance)
    return suffix, _spoiled(content, chance)


def _inside(content: bytes, chance: random.Random) -> bytes:
    if content[:2] == b"PK":
        return _in_zip(content, chance)
    if content[:4] == b"\x28\xb5\x2f\xfd":
        plain = zstandard.ZstdDecompressor().stream_reader(content).read()
        return zstandard.ZstdCompressor().compress(_inside(plain, chance))
    if content[:2] == b"\x1f\x8b":
        return gzip.compress(_spoiled(gzip.decompress(content), chance), mtime=0)
    if content[:4] == b"PAR1":  # most of a file's meaning is in its footer
        size = int.from_bytes(content[-8:-4], "little")
        return content[: -8 - size] + _spoiled(content[-8 - size : -8], chance) + content[-8:]
    return _spoiled(content, chance)


def _in_zip(content: bytes, chance: random.Random) -> bytes:
    """One member is spoiled, lost, renamed or doubled; all checksums are right again."""
    with zipfile.ZipFile(io.BytesIO(content)) as pack:
        held = [(one.filename, one.compress_type, pack.read(one)) for one in pack.infolist()]
    at = chance.randrange(len(held))
    name, way, data = held[at]
    deed = chance.randrange(8)
    if deed == 0:
        del held[at]
    elif deed == 1:
        held[at] = (chance.choice([f"../{name}", f"/{name}", f"{name}/x", "x", ""]), way, data)
    elif deed == 2:
        held.insert(at, (name, way, _spoiled(data, chance)))
    elif data[:6] == b"\x93NUMPY" and name != "header.npy" and chance.random() < 0.6:
        held[at] = (name, way, _spoiled_array(data, chance))
    elif data[:6] == b"\x93NUMPY":  # beyond the head that says what it is
        held[at] = (name, way, data[:128] + _spoiled(data[128:], chance))
    else:
        held[at] = (name, way, _inside(data, chance))
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as pack:
        warnings.simplefilter("ignore")
        for name, way, data in held:
            pack.writestr(zipfile.ZipInfo(name or "x"), data, way)
    return out.getvalue()


def _spoiled_array(data: bytes, chance: random.Random) -> bytes:
    """Numbers that no training has, in an array that is well-formed."""
    array = np.array(np.load(io.BytesIO(data)))
    flat = array.reshape(-1)
    odd = [0, 1, -1, 2, 1e300, -1e300, 1e-300, 2**31, -(2**31), 2**62]
    if chance.random() < 0.3:
        with np.errstate(all="ignore"):
            flat[:] = np.asarray(chance.choice(odd)).astype(array.dtype)
    for _ in range(chance.choice([1, 2, 5])):
        if flat.size:
            with np.errstate(all="ignore"):
                value = np.asarray(chance.choice(odd)).astype(array.dtype)
                flat[chance.randrange(flat.size)] = value
    if chance.random() < 0.2:
        with np.errstate(all="ignore"):
            array = array.astype(chance.choice(["float32", "int8", "uint64", "bool", "complex64"]))
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _spoiled(content: bytes, chance: random.Random) -> bytes:
    """Some bytes flipped, set, taken out, put in, doubled, or the end cut off."""
    held = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 4, 16])):
        at, deed = chance.randrange(len(held) + 1), chance.randrange(7)
        many = chance.choice([1, 1, 2, 4, 64])
        if deed == 0 and at < len(held):
            held[at] ^= 1 << chance.randrange(8)
        elif deed == 1 and at < len(held):
            held[at] = chance.choice(SEEDED)
        elif deed == 2:
            del held[at : at + many]
        elif deed == 3:
            held[at:at] = bytes(chance.choice(SEEDED) for _ in range(many))
        elif deed == 4:
            held[at:at] = held[max(0, at - many) : at]
        elif deed == 5:
            held[at : at + many] = chance.randbytes(many)
        elif chance.random() < 0.2:
            del held[at:]
    return bytes(held)


def all_targets(folder: Path) -> list[Target]:
    """Every kind of file that people hand to tracecup, small."""
    made = _Maker(folder)
    return [
        *made.traces(),
        *made.settings(),
        *made.models(),
        *made.archives(),
        *made.tables(),
    ]


class _Maker:
    """Writes good files into a folder and takes their bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.random = np.random.default_rng(1)
        self.city = City(Grid.from_metres(4, 4, width_m=500, height_m=500), hospitals=[3])
        self.judge = Judge(Rules(users=5), self.city, ContestClock.regular(days=2, slots=3))
        clock = self.judge.clock
        self.reference = Traces.of(self.random.integers(0, 16, (5, 6)), clock.reference)
        self.original = Traces.of(self.random.integers(0, 16, (5, 6)), clock.original)
        cells = [
            [self.random.integers(0, 16, self.random.integers(0, 4)) for _ in range(6)]
            for _ in range(5)
        ]
        self.cells = SetTraces.of_cells(cells, clock.original)

    def bytes_of(self, name: str, write: Callable[[Path], object]) -> tuple[str, bytes]:
        path = self.folder / f"made_{name}"
        write(path)
        content = path.read_bytes()
        path.unlink()
        return name[name.index(".") :], content

    def packed(self, write: Callable[[Path, object], object], held: object) -> tuple:
        return tuple(
            self.bytes_of(f"x{suffix}", lambda path: write(path, held))
            for suffix in (".csv", ".csv.gz", ".csv.zst", ".parquet")
        )

    def traces(self) -> list[Target]:
        judge = self.judge
        released = self.cells.renamed(np.arange(6, 11))
        table = b"user_id\n3\n1\n2\n5\n4\n"
        inferred = b"reg_id\n" + b"".join(b"%d\n" % (k % 16 + 1) for k in range(30))
        known = b"pse_id,user_id\n6,3\n7,1\n8,2\n9,5\n10,4\n"
        return [
            Target("obfuscated", self.packed(write_obfuscated, self.cells), judge.read_submission),
            Target("released", self.packed(write_released, released), judge.read_released),
            Target("original", self.packed(write_traces, self.original), judge.read_original),
            Target("reference", self.packed(write_traces, self.reference), judge.read_reference),
            Target("id-table", ((".csv", known),), judge.read_id_table),
            Target("inferred-table", ((".csv", table),), judge.read_table),
            Target("inferred-traces", ((".csv", inferred),), judge.read_inferred),
        ]

    def settings(self) -> list[Target]:
        places = b"poi_id,y,x,category\n0,0.2,0.3,Food\n1,0.9,1.2,Shop\n"
        opening = Opening("001", "tracecup 1", {"ptable.csv": "0" * 64}, "a" * 64)
        grid = Grid.from_box(4, 4, south=0.0, north=2.0, west=0.0, east=2.0)
        city = self.bytes_of("c.csv", lambda path: write_city(path, self.city))
        clock = self.bytes_of("c.csv", lambda path: write_clock(path, self.judge.clock))
        return [
            Target("city", (city,), read_city),
            Target("clock", (clock,), read_clock),
            Target("places", ((".csv", places),), lambda path: read_places(path, grid)),
            Target("rules", ((".toml", rules_text(self.judge.rules).encode()),), read_rules),
            Target("opening", ((".txt", opening.text.encode()),), read_opening),
        ]

    def models(self) -> list[Target]:
        """Loaded, and then people are made with them: numbers can be wrong, too."""
        clock = Clock.regular(days=2, slots=6, start=360, interval=60)
        town = Training.of_traces(Traces.of(self.random.integers(0, 9, (12, 12)), clock), 9)
        made = [
            method.fit(town, rng=1)
            for method in (
                PPMTF(2, 10.0, iterations=2),
                PPMTFPlus(2, 10.0, iterations=2, masks=True),
                SGLT(3, 0.5),
            )
        ]
        *ppmtf, sglt = (self.bytes_of("m.npz", one.save) for one in made)

        def use(path: Path) -> object:
            return load_model(path).sample(3, 1, rng=1)

        def go_on(path: Path) -> object:
            return PPMTF(2, 10.0, iterations=4).fit(town, rng=1, checkpoint=path)

        learned = self.bytes_of("m.npz.zst", toy_model)
        return [
            Target("ppmtf model", tuple(ppmtf), use),
            Target("checkpoint", (ppmtf[0],), go_on),
            Target("sglt model", (sglt,), use),
            Target("learned model", (learned,), LearnedModel.load, 0.5),
        ]

    def archives(self) -> list[Target]:
        def check(path: Path) -> object:
            with opened(path) as archive:
                return verify(archive)

        def unpack(path: Path) -> object:
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                return _unpack(path, Path(folder), MIB)

        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
            for k in (1, 2):
                pack.writestr(f"etable_team003-00{k}_data02_TRP.csv", "user_id\n1\n2\n")
        return [
            Target("archive", ((".zip", ARCHIVE.read_bytes()),), check, 0.25),
            Target("answers in a zip", ((".zip", out.getvalue()),), unpack),
        ]

    def tables(self) -> list[Target]:
        box = Box(47.0, 48.0, 8.0, 9.0)
        rows = {
            "user": ["a", "a", "b"],
            "time": ["2023-11-08T10:00:00Z", "2023-11-09T10:00:00Z", "2023-11-08T11:00:00Z"],
            "lat": [47.1, 47.2, 47.3],
            "lon": [8.1, 8.2, 8.3],
        }
        text = "user,time,lat,lon\n" + "".join(
            f"{u},{t},{y},{x}\n" for u, t, y, x in zip(*rows.values(), strict=True)
        )
        gpx = (
            '<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">'
            '<trk><trkseg><trkpt lat="47.1" lon="8.1"><time>2023-11-08T10:00:00Z</time></trkpt>'
            '<trkpt lat="47.2" lon="8.2"><time>2023-11-09T10:00:00Z</time></trkpt>'
            "</trkseg></trk></gpx>\n"
        )
        where = {"latitudeE7": 471000000, "longitudeE7": 81000000}
        records = [{**where, "timestamp": f"2023-11-0{k}T10:00:00Z"} for k in (8, 9)]
        sheet = "pubtraces,001,002,I1,SecI\npubtraces_team001_data01_IDP.csv,-,0.5,0.75,0.5\n"
        book = self.bytes_of(
            "b.xlsx",
            lambda path: write_workbook(
                path,
                {"s": {k + 1: line.split(",") for k, line in enumerate(sheet.splitlines())}},
            ),
        )
        parquet = self.bytes_of("t.parquet", lambda path: pq.write_table(pa.table(rows), path))
        result = ResultTable({"a": [1, None], "b": ["x", "y"], "c": [0.5, 0.25]})
        results = self.bytes_of("r.parquet", lambda path: pq.write_table(result.arrow(), path))
        return [
            Target("raw csv", ((".csv", text.encode()),), lambda p: read_csv(p, box=box)),
            Target("raw parquet", (parquet,), lambda p: read_parquet(p, box=box)),
            Target("gpx", ((".gpx", gpx.encode()),), lambda p: read_gpx(p, box=box)),
            Target(
                "takeout",
                ((".json", json.dumps({"locations": records}).encode()),),
                lambda p: read_takeout(p, box=box),
            ),
            Target("score sheet", ((".csv", sheet.encode()),), lambda p: read_sheet(p, "reid")),
            Target("workbook", (book,), lambda p: read_sheet(p, "reid"), 0.5),
            Target("result table", (results,), read_table),
        ]


def table_of(counts: dict[str, Count]) -> str:
    """What was counted, for people."""
    lines = [f"{'target':18}{'files':>8}{'read':>8}{'refused':>9}{'wrong':>7}"]
    for name, one in counts.items():
        lines.append(f"{name:18}{one.files:8}{one.read:8}{one.refused:9}{len(one.wrong):7}")
    total = Counter[str]()
    for one in counts.values():
        total.update(files=one.files, read=one.read, refused=one.refused, wrong=len(one.wrong))
    numbers = f"{total['files']:8}{total['read']:8}{total['refused']:9}{total['wrong']:7}"
    return "\n".join([*lines, f"{'all':18}{numbers}"])
