"""A grid of defences, attacks, data sets and seeds, run into one tidy table.

Every finished cell of the grid is a small file, so that a run that was stopped goes on.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from tracecup import __version__
from tracecup.attack import InferenceAttack, ReidAttack
from tracecup.city import City
from tracecup.contest.bots import inference_attack, reid_attack
from tracecup.errors import InvalidParameter, TraceCupError, UnknownMethod, UnreadableFile
from tracecup.obfuscate import Compose, Obfuscator, parse_obfuscator
from tracecup.registry import Method, methods, nearest, split_name
from tracecup.safeio import atomic_write
from tracecup.score import FLOOR
from tracecup.study.comparison import Attacked, Release, attack, release
from tracecup.study.results import Table
from tracecup.study.sweepdata import DataSet
from tracecup.traces import Traces

COLUMNS = (
    "data",
    "team",
    "defence",
    "tuned",
    "seed",
    "floor",
    "utility",
    "kind",
    "attack",
    "score",
    "low",
    "high",
    "expected_error_km",
    "seconds",
    "defence_seconds",
    "tracecup",
)
CELLS = "cells"
FORMAT = 1

Attack = ReidAttack | InferenceAttack


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed, and why."""

    data: str
    team: str
    defence: str
    seed: int
    problem: str

    def __str__(self) -> str:
        return f"{self.data} {self.team}, {self.defence}, seed {self.seed}: {self.problem}"


@dataclass(frozen=True)
class Sweep:
    """What a sweep made: one row per data set, defence, seed and attack.

    `computed` and `kept` count cells that were run and cells that were there already.
    """

    table: Table
    computed: int
    kept: int
    failed: tuple[Failure, ...]


def sweep(
    data: Sequence[DataSet],
    out: Path,
    *,
    defences: Sequence[str],
    attacks: Sequence[str],
    seeds: Sequence[int],
    floor: float | None = FLOOR,
    force: bool = False,
    progress: Callable[[float, float], None] | None = None,
) -> Sweep:
    """Run every defence on every data set with every seed, and every attack on what it releases.

    With a `floor` each defence that has a knob is tuned to it, otherwise all are taken as
    written. A cell (data set, defence, seed) is one file under `out`/cells, written whole or not
    at all; it is used again as long as the content of the data, the defence, floor, seed and the
    version of tracecup are the same, and (for methods from outside tracecup) the source of the
    module that defines them. Attacks that a stored cell lacks are run and added. `force` runs
    everything again. A cell that fails is noted, and the others go on. The table holds exactly
    the grid asked for, whatever else lies in the folder.
    """
    shields = _distinct([parse_obfuscator(name) for name in defences])
    swords = _distinct([method for name in attacks for method in attacks_called(name)])
    chosen = list(dict.fromkeys(seeds))
    if not (data and shields and swords and chosen):
        raise InvalidParameter("a sweep needs a data set, a defence, an attack and a seed")
    if floor is not None and not 0 <= floor <= 1:
        raise InvalidParameter(f"floor must be a number >= 0 and <= 1, got {floor}")
    folder = out / CELLS
    _make(folder)
    rows: list[tuple[Any, ...]] = []
    failed: list[Failure] = []
    computed = kept = done = 0
    work = 1 + len(swords)
    total = len(data) * len(shields) * len(chosen) * work
    for one in data:
        digest, stage = one.digest(), _Stage(one)
        for shield, seed in product(shields, chosen):
            path = folder / _file_name(digest, shield, floor, seed)
            cell = _Cell.new() if force else _Cell.read(path)
            missing = [sword for sword in swords if not cell.holds(sword)]
            try:
                for step in stage.fill(cell, str(shield), floor, seed, missing):
                    if progress:
                        progress(done + work - len(missing) + step, total)
                if missing:
                    cell.write(path)
                rows += cell.rows((one.data, one.team, str(shield)), seed, floor, swords)
                computed, kept = computed + bool(missing), kept + (not missing)
            except UnreadableFile:
                raise
            except TraceCupError as error:
                failed.append(Failure(one.data, one.team, str(shield), seed, str(error)))
            done += work
            if progress:
                progress(done, total)
    return Sweep(Table.of(COLUMNS, rows), computed, kept, tuple(failed))


def attacks_called(name: str) -> list[Attack]:
    """The attacks of that name: a re-identification, a trace inference, or both.

    >>> [str(method) for method in attacks_called("fuzzy-r(0.5, 1)")]
    ['Fuzzy-R(0.5,1)']
    """
    word = split_name(name)[0].lower()
    known = {kind: {n.lower() for n in methods(kind)} for kind in ("reid", "inference")}
    found: list[Attack] = [reid_attack(name)] if word in known["reid"] else []
    found += [inference_attack(name)] if word in known["inference"] else []
    if not found:
        every = [*methods("reid"), *methods("inference")]
        raise UnknownMethod(
            f"no attack is called {name[:80]!r}{nearest(word, every)} (known: {', '.join(every)})"
        )
    return found


class _Stage:
    """One data set under attack; it is read when it is first needed."""

    def __init__(self, data: DataSet) -> None:
        self._data = data
        self._loaded: tuple[City, Traces, Traces] | None = None

    def fill(
        self,
        cell: _Cell,
        defence: str,
        floor: float | None,
        seed: int,
        missing: Sequence[Attack],
    ) -> Iterator[int]:
        """Run the attacks that a cell lacks; yields how many of them are done."""
        if not missing:
            return
        if self._loaded is None:
            self._loaded = self._data.load()
        city, reference, original = self._loaded
        made = release(city, reference, original, defence, floor=floor, seed=seed, tuned=cell.tuned)
        cell.note(made)
        for k, method in enumerate(missing):
            yield k
            cell.add(method, attack(made, method, seed))


@dataclass
class _Cell:
    """What is known of one cell; as JSON in its file."""

    tuned: str | None
    utility: float
    seconds: float
    attacks: dict[str, dict[str, Any]]

    @classmethod
    def new(cls) -> _Cell:
        return cls(None, 0.0, 0.0, {})

    @classmethod
    def read(cls, path: Path) -> _Cell:
        """The stored cell; a new one where there is none or where it is damaged."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            held = json.loads(path.read_text("utf-8"))
            found = cls(
                str(held["tuned"]), float(held["utility"]), float(held["seconds"]), held["attacks"]
            )
            for entry in found.attacks.values():
                float(entry["score"] + entry["low"] + entry["high"] + entry["seconds"])
                str(entry["code"])
                float(entry["expected_error_km"] or 0)
            return found
        return cls.new()

    def holds(self, method: Attack) -> bool:
        held = self.attacks.get(_key(method))
        return held is not None and held["code"] == _code(method)

    def note(self, made: Release) -> None:
        if self.tuned is None:
            self.tuned, self.utility, self.seconds = made.tuned, made.utility.value, made.seconds

    def add(self, method: Attack, met: Attacked) -> None:
        self.attacks[_key(method)] = {
            "score": met.score.value,
            "low": met.score.interval.low,
            "high": met.score.interval.high,
            "expected_error_km": met.expected_error,
            "seconds": met.seconds,
            "code": _code(method),
        }

    def write(self, path: Path) -> None:
        with atomic_write(path) as file:
            file.write(json.dumps(vars(self), allow_nan=False).encode())

    def rows(
        self,
        names: tuple[str, str, str],
        seed: int,
        floor: float | None,
        swords: Sequence[Attack],
    ) -> list[tuple[Any, ...]]:
        found = []
        for method in swords:
            held = self.attacks[_key(method)]
            numbers = (held[k] for k in ("score", "low", "high", "expected_error_km", "seconds"))
            found.append(
                (
                    *names,
                    self.tuned,
                    seed,
                    floor,
                    self.utility,
                    _kind(method),
                    str(method),
                    *numbers,
                    self.seconds,
                    __version__,
                )
            )
        return found


def _distinct(found: Sequence[Any]) -> list[Any]:
    """Methods without repetitions, in order; two that print alike are the same."""
    return list({(type(method), str(method)): method for method in found}.values())


def _kind(method: Attack) -> str:
    return "reid" if isinstance(method, ReidAttack) else "trace"


def _key(method: Attack) -> str:
    return f"{_kind(method)} {method}"


def _file_name(digest: str, defence: Obfuscator, floor: float | None, seed: int) -> str:
    """A readable name that holds everything the cell depends on as a hash."""
    path = json.dumps([FORMAT, __version__, digest, str(defence), _code(defence), floor, seed])
    word = re.sub(r"[^A-Za-z0-9.]+", "_", str(defence)).strip("_")[:40]
    return f"{word}-seed{seed}-{hashlib.sha256(path.encode()).hexdigest()[:24]}.json"


def _code(method: Method) -> str:
    """Digest of the source of a method that is not ours: edited methods are run again."""
    if isinstance(method, Compose):
        return "+".join(_code(stage) for stage in method.stages).strip("+")
    name = type(method).__module__
    if name.partition(".")[0] == "tracecup":
        return ""
    with suppress(OSError, TypeError, KeyError):
        source = inspect.getsource(sys.modules[name])
        return hashlib.sha256(source.encode()).hexdigest()[:24]
    return ""


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnreadableFile(folder, f"cannot be made: {error.strerror}") from error
