"""Trained factors of PPMTF and the file that holds them: a model, or a training to be resumed.

A .npz archive of plain arrays and a JSON header: versioned, self-describing, nothing executable.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.arrayfiles import ArchiveFormat, Arrays, day_of_header, header_of_day
from tracecup.errors import InvalidParameter
from tracecup.records import Timetable
from tracecup.synth.tensors import Support

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
FILE = ArchiveFormat("tracecup-ppmtf", 1, SHAPES)


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
    day: Timetable
    key: tuple[np.uint64, np.uint64]
    fingerprint: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file; it appears whole or not at all."""
        header = {
            "method": self.method,
            "iteration": self.iteration,
            "sizes": {
                "n": len(self.A),
                "N": len(self.B),
                "T": len(self.D),
                "z": self.A.shape[1],
                "M": len(self.support.targets),
            },
            "day": header_of_day(self.day),
            "key": [str(word) for word in self.key],
            "fingerprint": self.fingerprint,
        }
        FILE.write(path, header, {name: self._array(name) for name in SHAPES})

    def _array(self, name: str) -> NDArray[Any]:
        holder = self.support if name in {"starts", "targets", "visited"} else self
        array: NDArray[Any] = getattr(holder, name)
        return array

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Factors:
        """Read a file written by `save`; anything else is an `InvalidFile`."""
        header, arrays = FILE.read(path)
        _check_support(path, arrays)
        _check_precision(path, arrays["precision"])
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
                day_of_header(header["day"]),
                (np.uint64(low), np.uint64(high)),
                str(header["fingerprint"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError, InvalidParameter) as error:
            raise FILE.invalid(path, f"a damaged header ({error})") from error


def _check_support(path: str | PathLike[str], arrays: Arrays) -> None:
    starts, targets, n = arrays["starts"], arrays["targets"], len(arrays["B"])
    rising = starts[0] == 0 and starts[-1] == len(targets) and bool(np.all(np.diff(starts) >= 0))
    if not rising or (len(targets) and not 0 <= targets.min() <= targets.max() < n):
        raise FILE.invalid(path, "a support that does not fit the locations")


def _check_precision(path: str | PathLike[str], precision: NDArray[Any]) -> None:
    """Features are drawn with its inverse: a precision is symmetric and positive definite."""
    try:
        np.linalg.cholesky(precision.astype(np.float64))
        definite = bool(np.allclose(precision, precision.T))
    except np.linalg.LinAlgError:
        definite = False
    if not definite:
        raise FILE.invalid(path, "a precision that is not positive definite")
