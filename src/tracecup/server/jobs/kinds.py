"""Kinds of jobs: each is declared once, with its priority and everything that is done for it.

A feature lists its kinds as `KINDS` in its module `jobs`, and as `DUE` what every worker is to ask
there every second or so. A further kind is an entry in such a list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import Any

from tracecup.server.jobs.task import Outputs, Task
from tracecup.server.models import Job, Round

FEATURES = ("judging", "results", "teams", "site")
"""The features whose module `jobs` declares kinds."""

Due = Callable[[datetime], list[Job]]


@dataclass
class JobKind:
    """A kind of job; exactly one of `prepare`, `act` and `chore` says how it is done.

    - `prepare` and `apply`: a computation. `prepare` reads rows and gives the task of a child
      process, or None where there is nothing to do; `apply` writes what came of it inside the
      transaction that finishes the job. A worker without the database can do such jobs.
    - `act`: what the judge does to a round, in the transaction that finishes the job.
    - `chore`: what takes time and writes through services; payload in, result out, may happen
      twice.

    Jobs of larger `priority` go first. While a contest is paused its jobs wait, but for those of
    kinds with `while_paused`, which organisers ask for. `died` tells what a job that never worked
    was for, `revived` undoes that when it gets new attempts.
    """

    name: str
    priority: int
    while_paused: bool = False
    prepare: Callable[[Job], Task | None] | None = None
    apply: Callable[[Job, dict[str, Any], Outputs], None] | None = None
    act: Callable[[Round], None] | None = None
    chore: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    died: Callable[[Job], None] | None = None
    revived: Callable[[Job], None] | None = None

    def __post_init__(self) -> None:
        ways = [way for way in (self.prepare, self.act, self.chore) if way is not None]
        if len(ways) != 1 or (self.prepare is None) != (self.apply is None):
            raise TypeError(f"the kind of job {self.name} needs one way of being done")

    @property
    def computes(self) -> bool:
        """Whether a child process, here or elsewhere, does the work."""
        return self.prepare is not None


@dataclass(frozen=True)
class UnknownKind(Exception):
    """A job of a kind that nobody declared."""

    kind: str


@cache
def declared() -> Mapping[str, JobKind]:
    """All kinds by name."""
    kinds = [kind for module in _modules() for kind in module.KINDS]
    found = {kind.name: kind for kind in kinds}
    if len(found) < len(kinds):
        raise TypeError("a kind of job is declared twice")
    return found


def kind_of(name: str) -> JobKind:
    """The kind of this name; `UnknownKind` if there is none."""
    try:
        return declared()[name]
    except KeyError:
        raise UnknownKind(name) from None


def computations() -> list[str]:
    """The kinds that a worker without the database can do."""
    return [name for name, kind in declared().items() if kind.computes]


def acts() -> list[str]:
    """The kinds that are acts of the judge."""
    return [name for name, kind in declared().items() if kind.act is not None]


def while_paused() -> list[str]:
    """The kinds that are done while a contest is paused."""
    return [name for name, kind in declared().items() if kind.while_paused]


def asked() -> list[Due]:
    """What is asked every second or so: which jobs are due at an instant?"""
    return [ask for module in _modules() for ask in module.DUE]


def _modules() -> list[Any]:
    return [import_module(f"tracecup.server.{feature}.jobs") for feature in FEATURES]
