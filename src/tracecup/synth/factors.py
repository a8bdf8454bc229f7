"""Trained factors of PPMTF and the file that holds them: a model, or a training to be resumed.

A .npz archive of plain arrays and a JSON header: versioned, self-describing, nothing executable.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidFile, InvalidParameter, Problem
from tracecup.safeio import atomic_write, open_regular
from tracecup.synth.tensors import Support
from tracecup.synth.training import Day

FORMAT = "tracecup-ppmtf"
VERSION = 1
Floats = NDArray[np.float64]

# array -> its shape in terms of n (users), N (locations), T (slots), z (factors), M (moves seen)
SHAPES: dict[str, tuple[str, ...]] = {
    "A": ("n", "z"),
    "B": ("N", "z"),
    "C": ("N", "z"),
    "D": ("T", "z"),
    "mean": ("z",),
    "precision": ("z", "z"),
    "population": ("N",),
    "starts": ("N+1",),
    "targets": ("M",),
    "visited": ("T", "N"),
}


@dataclass(frozen=True, eq=False)
class Factors:
    """The state after `iteration` iterations: A (n, z), B, C (N, z), D (T, z), and the (mu,
    Lambda) of A's rows drawn at the start of that iteration.

    `population` counts the training visits in the first slot, `support` says what training data
    show at all. `method` is the name that made it, `key` and `fingerprint` let a training go on.
    """

    method: str
    iteration: int
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    mean: Floats
    precision: Floats
    population: Floats
    support: Support
    day: Day
    key: tuple[np.uint64, np.uint64]
    fingerprint: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file; it appears whole or not at all."""
        header = {
            "format": FORMAT,
            "version": VERSION,
            "method": self.method,
            "iteration": self.iteration,
            "sizes": {
                "n": len(self.A),
                "N": len(self.B),
                "T": len(self.D),
                "z": self.A.shape[1],
                "M": len(self.support.targets),
            },
            "day": {
                "slots": self.day.slots,
                "slot_minutes": self.day.slot_minutes,
                "start": self.day.start,
            },
            "key": [str(word) for word in self.key],
            "fingerprint": self.fingerprint,
        }
        text = np.frombuffer(json.dumps(header, indent=1).encode(), dtype=np.uint8)
        arrays = {name: self._array(name) for name in SHAPES}
        save: Any = np.savez  # its stub takes the names of arrays for options
        with atomic_write(path) as file:
            save(file, header=text, **arrays)

    def _array(self, name: str) -> NDArray[Any]:
        holder = self.support if name in {"starts", "targets", "visited"} else self
        array: NDArray[Any] = getattr(holder, name)
        return array

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Factors:
        """Read a file written by `save`; anything else is an `InvalidFile`."""
        try:
            with open_regular(path) as file:
                header, arrays = _read(path, file)
        except (ValueError, zipfile.BadZipFile, KeyError, EOFError, TypeError) as error:
            if isinstance(error, InvalidFile):
                raise
            raise _invalid(path, str(error) or type(error).__name__) from error
        try:
            support = Support(
                arrays["starts"].astype(np.int64),
                arrays["targets"].astype(np.int32),
                arrays["visited"].astype(np.bool_),
            )
            low, high = (int(word) for word in header["key"])
            return cls(
                str(header["method"]),
                int(header["iteration"]),
                arrays["A"].astype(np.float64),
                arrays["B"].astype(np.float64),
                arrays["C"].astype(np.float64),
                arrays["D"].astype(np.float64),
                arrays["mean"].astype(np.float64),
                arrays["precision"].astype(np.float64),
                arrays["population"].astype(np.float64),
                support,
                Day(**{name: int(number) for name, number in header["day"].items()}),
                (np.uint64(low), np.uint64(high)),
                str(header["fingerprint"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError, InvalidParameter) as error:
            raise _invalid(path, f"a damaged header ({error})") from error


def _read(path: str | PathLike[str], file: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with zipfile.ZipFile(file) as archive:
        # Members are stored plain, so that a small file cannot unpack to a huge one.
        if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
            raise _invalid(path, "compressed members")
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        header = json.loads(arrays["header"].tobytes())
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise _invalid(path, "another kind of archive")
        if header.get("version") != VERSION:
            raise _invalid(path, f"version {header.get('version')}")
        read = {name: arrays[name] for name in SHAPES}
    sizes = {key: int(size) for key, size in header["sizes"].items()}
    sizes["N+1"] = sizes["N"] + 1
    for name, shape in SHAPES.items():
        wanted = tuple(sizes[side] for side in shape)
        if read[name].shape != wanted:
            raise _invalid(path, f"array {name} of shape {read[name].shape} instead of {wanted}")
        if read[name].dtype.kind not in "iufb":
            raise _invalid(path, f"array {name} of {read[name].dtype}")
        if not np.isfinite(read[name]).all():
            raise _invalid(path, f"numbers in {name} that are not finite")
    starts, targets = read["starts"], read["targets"]
    rising = starts[0] == 0 and starts[-1] == len(targets) and bool(np.all(np.diff(starts) >= 0))
    if not rising or (len(targets) and not 0 <= targets.min() <= targets.max() < sizes["N"]):
        raise _invalid(path, "a support that does not fit the locations")
    return header, read


def _invalid(path: str | PathLike[str], found: str) -> InvalidFile:
    return InvalidFile(path, [Problem(0, "", found, f"a {FORMAT} file of version {VERSION}")])
