"""Every figure and table of the paper by its name: which studies there are, and running one.

A study is a function from a `Context` to a `StudyResult`; its module registers it under its ID.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any

from tracecup import study as room
from tracecup.errors import InvalidParameter, UnknownMethod
from tracecup.registry import nearest
from tracecup.study.context import MEANING, Context, Need, shipped_model_file
from tracecup.study.results import StudyResult

VERSIONED = ("tracecup", "numpy", "scipy", "numba")
_ORDER = ("fig", "table", "teams", "beyond", "diagrams")

Run = Callable[[Context], StudyResult]


@dataclass(frozen=True)
class Study:
    """One row of the paper's list: its ID, what it shows, what the paper calls it.

    It can run where at least one of `needs` is there (where nothing is needed: everywhere).
    `says` is the paper's statement in our words. One that `hands_out` its parts to an engine's
    workers runs here itself; others are handed out whole.
    """

    id: str
    title: str
    paper: str
    says: str
    run: Run
    needs: tuple[Need, ...] = ()
    hands_out: bool = False

    def missing(self, context: Context) -> str:
        """Why it cannot run here; "" if it can."""
        if not self.needs or any(context.has(need) for need in self.needs):
            return ""
        return f"{self.id} needs " + " or ".join(MEANING[need] for need in self.needs)


@dataclass(frozen=True)
class Record:
    """A result with where it came from: seed, size, versions, seconds.

    `asked` holds the numbers of users and teams, where they were asked for.
    """

    id: str
    result: StudyResult
    seed: int
    quick: bool
    seconds: float
    versions: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON, complete."""
        made = {
            "id": self.id,
            "seed": self.seed,
            "quick": self.quick,
            "seconds": round(self.seconds, 3),
            "versions": dict(self.versions),
            "asked": dict(self.asked),
        }
        return {"made": made, **self.result.as_dict()}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Record:
        """Back from `as_dict`."""
        made = held["made"]
        return cls(
            made["id"],
            StudyResult.from_dict(held),
            made["seed"],
            made["quick"],
            made["seconds"],
            made["versions"],
            made["asked"],
        )


_studies: dict[str, Study] = {}


def study(
    name: str,
    title: str,
    paper: str,
    says: str,
    needs: Sequence[Need] = (),
    hands_out: bool = False,
) -> Callable[[Run], Run]:
    """Decorator: make a function known as the study `name`."""

    def add(run: Run) -> Run:
        known = _studies.get(name)
        if known is not None and known.run.__module__ != run.__module__:
            raise InvalidParameter(f"study {name!r} is already taken by {known.run.__module__}")
        _studies[name] = Study(name, title, paper, says, run, tuple(needs), hands_out)
        return run

    return add


def studies() -> dict[str, Study]:
    """All studies, ID -> study: figures of the paper by number, tables, then the rest."""
    for module in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{module.name}")
    return dict(sorted(_studies.items(), key=lambda item: _place(item[0])))


def choose(ids: Sequence[str], context: Context) -> tuple[list[Study], list[str]]:
    """The studies that `ids` name (`all` among them: all that can run), and why others are not.

    An unknown ID is an `UnknownMethod`; one that cannot run here is an `InvalidParameter`.
    """
    known = studies()
    if not ids:
        raise InvalidParameter(f"name at least one of: all, {', '.join(known)}")
    if "all" in (name.lower() for name in ids):
        _need_known((name for name in ids if name.lower() != "all"), known)
        able = [one for one in known.values() if not one.missing(context)]
        return able, [m for one in known.values() if (m := one.missing(context))]
    _need_known(ids, known)
    chosen = {name.lower(): known[name.lower()] for name in ids}
    for one in chosen.values():
        if missing := one.missing(context):
            hint = "" if one.needs == ("learn",) else ": give --data or set TRACECUP_DATA"
            raise InvalidParameter(f"{missing}{hint}")
    return list(chosen.values()), []


def _need_known(ids: Iterable[str], known: Mapping[str, Study]) -> None:
    for name in ids:
        if name.lower() not in known:
            raise UnknownMethod(
                f"no study is called {name!r}{nearest(name, known)} (known: {', '.join(known)})"
            )


def run_study(one: Study, context: Context) -> Record:
    """Run a study and note seed, versions and seconds."""
    started = time.perf_counter()
    result = one.run(context)
    seconds = time.perf_counter() - started
    return Record(one.id, result, context.seed, context.quick, seconds, versions(), asked(context))


def asked(context: Context) -> dict[str, int]:
    """The numbers of users and teams that were asked for, by name."""
    wanted = {"users": context.asked_users, "teams": context.asked_teams}
    return {name: number for name, number in wanted.items() if number is not None}


@cache
def versions() -> dict[str, str]:
    """Versions of what the numbers depend on, the model of the built-in city by its digest."""
    found = {"python": platform.python_version()} | {
        name: metadata.version(name) for name in VERSIONED
    }
    model = shipped_model_file()
    if model.is_file():
        found["built-in model"] = hashlib.sha256(model.read_bytes()).hexdigest()[:12]
    return found


def _place(name: str) -> tuple[int, int, str]:
    """Figures of the paper by number, its tables, what goes beyond it, drawings."""
    word = name.rstrip("0123456789")
    at = _ORDER.index(word) if word in _ORDER else len(_ORDER)
    return at, int(name.removeprefix(word) or 0), name
