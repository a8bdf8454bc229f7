"""A grid of defences, attacks, data sets and seeds, run into one tidy table.

Every finished cell of the grid is a small file, so that a run that was stopped goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any

from tracecup.attack import parse_inference, parse_reid
from tracecup.city import City
from tracecup.contest.sizes import FULL_USERS
from tracecup.errors import InvalidParameter, TraceCupError, UnknownMethod, UnreadableFile
from tracecup.jobs import done_as_they_come
from tracecup.obfuscate import Obfuscator, parse_obfuscator
from tracecup.registry import build, methods, nearest, split_name
from tracecup.safeio import ensure_folder
from tracecup.score import FLOOR
from tracecup.score.utility import check_floor
from tracecup.study.comparison import Defence, attack, release
from tracecup.study.informed import knowing
from tracecup.study.results import Table
from tracecup.study.sweepcells import Attack, Cell, file_name
from tracecup.study.sweepdata import DataSet
from tracecup.study.together import in_turn
from tracecup.traces import Traces

COLUMNS = (
    "data",
    "team",
    "defence",
    "tuned",
    "tuning",
    "seed",
    "floor",
    "utility",
    "group",
    "true_link",
    "kind",
    "attack",
    "knew",
    "score",
    "low",
    "high",
    "expected_error_km",
    "seconds",
    "defence_seconds",
    "tracecup",
)
CELLS = "cells"

Tick = Callable[[int], None]
Loaded = tuple[City, Traces, Traces]
"""City, reference and original traces of a data set."""


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
    out: str | PathLike[str],
    *,
    defences: Sequence[Defence] | Callable[[int], Sequence[Defence]],
    attacks: Sequence[str | Attack],
    seeds: Sequence[int],
    floor: float | None = FLOOR,
    informed: bool = False,
    force: bool = False,
    progress: Callable[[float, float], None] | None = None,
    executor: Executor | None = None,
    shared: bool = False,
) -> Sweep:
    """Run every defence on every data set with every seed, and every attack on what it releases.

    `defences` are a list, or a function that gives the list for a number of users. With a `floor`
    each defence that has a knob is tuned to it, otherwise all are taken as written. A cell (data
    set, defence, seed) is one file under `out`/cells, written whole or not at all; it is used
    again as long as the content of the data, the defence, floor, seed and the version of tracecup
    are the same, and (for methods from outside tracecup) their code with all it reaches
    (`methodkey.method_key`); where that cannot be told, nothing is kept. Attacks
    that a stored cell lacks are run and added. `informed`: also those that know the tuned defence
    (`informed.knowing`). `force` runs everything again. A cell that fails
    is noted, and the others go on. The table holds exactly the grid asked for, whatever else lies
    in the folder. An `executor` computes the cells that lack something; the data travel with
    each, or are read there from the same paths if they are `shared`.
    """
    shields = [_shields(defences, one) for one in data]
    swords = _distinct([method for name in attacks for method in attacks_called(name)])
    chosen = list(dict.fromkeys(seeds))
    if not (data and all(shields) and swords and chosen):
        raise InvalidParameter("a sweep needs a data set, a defence, an attack and a seed")
    check_floor(floor)
    folder = Path(out) / CELLS
    ensure_folder(folder)
    tasks = [
        _Task(
            one, digest, shield, seed, floor, informed, _kept(folder, digest, shield, floor, seed)
        )
        for one, own in zip(data, shields, strict=True)
        for digest in [one.digest()]
        for shield, seed in product(own, chosen)
    ]
    work = 1 + len(swords) + 2 * informed
    total = len(tasks) * work
    cells = [Cell.new() if force else Cell.read(task.path) for task in tasks]
    lacks = [bool(task.missing(cell, swords)) for task, cell in zip(tasks, cells, strict=True)]
    computed = sum(lacks)
    rows: dict[int, list[tuple[Any, ...]]] = {}
    failed: dict[int, Failure] = {}
    done = 0

    def told(step: int) -> None:
        if progress:
            progress(done + step, total)

    for k, outcome in _outcomes(tasks, cells, swords, lacks, told, executor, shared):
        task = tasks[k]
        names = (task.data.data, task.data.team, str(task.defence))
        if isinstance(outcome, Cell):
            if lacks[k] and task.path is not None:
                outcome.write(task.path)
            rows[k] = outcome.rows(names, task.seed, floor, task.wanted(outcome, swords))
        else:
            failed[k] = Failure(*names, task.seed, outcome)
        done += work
        told(0)
    kept = len(tasks) - computed
    computed -= len(failed)
    table = Table.of(COLUMNS, [row for k in sorted(rows) for row in rows[k]])
    return Sweep(table, computed, kept, tuple(failed[k] for k in sorted(failed)))


def attacks_called(name: str | Attack) -> list[Attack]:
    """The attacks of that name: a re-identification, a trace inference, or both.

    An attack itself stands for itself.

    >>> [str(method) for method in attacks_called("fuzzy-r(0.5, 1)")]
    ['Fuzzy-R(0.5,1)']
    """
    if not isinstance(name, str):
        return [name]
    word = split_name(name)[0].lower()
    known = {kind: {n.lower() for n in methods(kind)} for kind in ("reid", "inference")}
    found: list[Attack] = [parse_reid(name)] if word in known["reid"] else []
    found += [parse_inference(name)] if word in known["inference"] else []
    if not found:
        every = [*methods("reid"), *methods("inference")]
        raise UnknownMethod(
            f"no attack is called {name[:80]!r}{nearest(word, every)} (known: {', '.join(every)})"
        )
    return found


@dataclass(frozen=True)
class _Task:
    """A cell to be computed, here or elsewhere."""

    data: DataSet
    digest: str
    defence: Obfuscator
    seed: int
    floor: float | None
    informed: bool
    path: Path | None

    def wanted(self, cell: Cell, swords: Sequence[Attack]) -> list[Attack]:
        """The attacks asked for, and those that know what the defence was tuned to."""
        tuned = self._tuned(cell)
        return [*swords, *(knowing(tuned) if self.informed and tuned is not None else ())]

    def missing(self, cell: Cell, swords: Sequence[Attack]) -> list[Attack]:
        """Those that the cell lacks, as far as its defence is tuned."""
        return [sword for sword in self.wanted(cell, swords) if not cell.holds(sword)]

    def elsewhere(
        self, cell: Cell, swords: Sequence[Attack], shared: bool
    ) -> Callable[[], Cell | str]:
        """`fill` as a job for another process: with the data, or with where they lie."""
        if shared:
            return partial(replace(self, data=self.data.absolute()).fill, cell, swords)
        try:
            loaded = _loaded(self.data, self.digest)
        except UnreadableFile:
            raise
        except TraceCupError as error:
            return partial(str, str(error))
        return partial(self.fill, cell, swords, None, loaded)

    def fill(
        self,
        cell: Cell,
        swords: Sequence[Attack],
        tick: Tick | None = None,
        loaded: Loaded | None = None,
    ) -> Cell | str:
        """The cell with the attacks that it lacked, or why that cannot be had."""
        try:
            city, reference, original = loaded or _loaded(self.data, self.digest)
            made = release(
                city,
                reference,
                original,
                self.defence,
                floor=self.floor,
                seed=self.seed,
                tuned=self._tuned(cell),
            )
            cell.note(made)
            missing = self.missing(cell, swords)
            for done, k in enumerate(in_turn(missing)):
                if tick:
                    tick(done)
                cell.add(missing[k], attack(made, missing[k], self.seed))
        except UnreadableFile:
            raise
        except TraceCupError as error:
            return str(error)
        return cell

    def _tuned(self, cell: Cell) -> Obfuscator | None:
        """What the defence was tuned to, if that is known; one of your own may have no name."""
        if cell.tuned is None or cell.tuned == str(self.defence):
            return None if cell.tuned is None else self.defence
        return build(type(self.defence), cell.tuned)


@lru_cache(maxsize=1)
def _loaded(data: DataSet, digest: str) -> Loaded:
    """The traces of a data set, kept for its next cell; `digest` tells changed files apart."""
    return data.load()


def _outcomes(
    tasks: Sequence[_Task],
    cells: Sequence[Cell],
    swords: Sequence[Attack],
    lacks: Sequence[bool],
    told: Tick,
    executor: Executor | None,
    shared: bool,
) -> Iterator[tuple[int, Cell | str]]:
    """Number and outcome of every task, in the order in which they are finished."""
    away: list[int] = []
    for k, (task, cell, lacking) in enumerate(zip(tasks, cells, lacks, strict=True)):
        if not lacking:
            yield k, cell
        elif executor is None:
            yield k, task.fill(cell, swords, told)
        else:
            away.append(k)
    if executor is None:
        return
    calls = ((k, tasks[k].elsewhere(cells[k], swords, shared)) for k in away)
    broken: list[BaseException] = []
    for k, future in done_as_they_come(executor, calls):
        if error := future.exception():
            broken.append(error)
        else:
            yield k, future.result()
    # Only now, so that what others have finished is kept.
    if broken:
        raise broken[0]


def _kept(
    folder: Path, digest: str, shield: Obfuscator, floor: float | None, seed: int
) -> Path | None:
    name = file_name(digest, shield, floor, seed)
    return None if name is None else folder / name


def _shields(
    defences: Sequence[Defence] | Callable[[int], Sequence[Defence]], data: DataSet
) -> list[Obfuscator]:
    """The defences of a data set; one that cannot be read fails cell by cell, not here."""
    if callable(defences):
        try:
            users = data.users()
        except UnreadableFile:
            raise
        except TraceCupError:
            users = FULL_USERS
        defences = defences(users)
    return _distinct([parse_obfuscator(one) if isinstance(one, str) else one for one in defences])


def _distinct(found: Sequence[Any]) -> list[Any]:
    """Methods without repetitions, in order; two that print alike are the same."""
    return list({(type(method), str(method)): method for method in found}.values())
