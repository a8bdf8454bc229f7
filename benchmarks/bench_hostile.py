"""Refusing hostile files: seconds and peak memory of a process that does nothing else."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from harness import Bench
from tracecup import Clock, InvalidFile
from tracecup.safeio import DEFAULT_LIMITS, Limits
from tracecup.traces.files import read_obfuscated

MIB = 1 << 20


def run(bench: Bench) -> None:
    gigabyte = 64 * MIB if bench.quick else 1024 * MIB
    inside = DEFAULT_LIMITS.max_bytes - MIB
    cases: list[tuple[str, int, bytes, Callable[[Path], IO[bytes]]]] = [
        ("an endless line", gigabyte, b"1 " * (MIB // 2), _plain),
        ("an endless line within the size limit", inside, b"1 " * (MIB // 2), _plain),
        ("far too many rows", gigabyte, b"1024\n" * (MIB // 5), _plain),
        ("nothing but bad rows within the size limit", inside, b"x\n" * (MIB // 2), _plain),
        ("cells of 4000 ids within the size limit", inside, (b"1 " * 3999 + b"1\n") * 131, _plain),
        ("a gzip bomb", gigabyte, b"1\n" * (MIB // 2), _packed),
        ("a gzip bomb of one line", gigabyte, b"1" * MIB, _packed),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, size, chunk, opened in cases:
            path = Path(folder) / "hostile.csv"
            with opened(path) as file:
                file.write(b"reg_id\n")
                for _ in range(size // len(chunk)):
                    file.write(chunk)
            packed = path.stat().st_size
            text = f"{size // MIB} MB"
            if packed < size // 100:
                text += f" in {packed / MIB:.1f} MB, {size // packed}:1"
            # Without known sizes nothing but the limits can stop the reader.
            for limits in (DEFAULT_LIMITS, Limits(max_bytes=2 * gigabyte)):
                shown = f"{name}, limit {limits.max_bytes // MIB} MB"
                bench.measure(
                    shown,
                    text,
                    lambda path=path, limits=limits: _refused(path, limits),
                    repeat=1,
                    warm=False,
                )


def _plain(path: Path) -> IO[bytes]:
    return path.open("wb")


def _packed(path: Path) -> IO[bytes]:
    return gzip.open(path, "wb", compresslevel=6)


def _refused(path: Path, limits: Limits) -> None:
    try:
        read_obfuscated(path, users=2000, clock=Clock.regular(20), n_regions=1024, limits=limits)
    except InvalidFile:
        return
    raise AssertionError(f"{path.name} was accepted")
