"""Which kind of job does what: computations in a child process, acts of the judge in the database.

A further kind is a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tracecup.server.errors import Refused
from tracecup.server.jobs.queue import NotNow
from tracecup.server.models import Job, Round

COMPUTATIONS = ("data", "shuffle", "score", "sample", "results", "archive")
"""Kinds with a module in `jobs.kinds`; a worker without the database can do them."""

ACTS = {
    "announce": "tracecup.server.judging.service.announce",
    "judge": "tracecup.server.judging.service.judge_round",
    "publish": "tracecup.server.judging.service.publish_round",
    "close": "tracecup.server.judging.service.close_round",
}
"""What the judge does to a round: one short transaction, the same that marks the job as done."""

CHORES = {
    "report": "tracecup.server.results.reporting.handle_report",
    "mail": "tracecup.server.organising.mailing.handle_mail",
    "backup": "tracecup.server.site.backup_job.handle_backup",
    "tidy": "tracecup.server.site.tidying.handle_tidy",
    "bot": "tracecup.server.judging.bots.play",
    "rehearse": "tracecup.server.judging.bots.play_on",
}
"""What takes time and writes through other services: payload in, result out, may happen twice."""


@dataclass(frozen=True)
class NoHandler(Exception):
    """A job of a kind that nobody knows."""

    kind: str


def module_of(kind: str) -> Any:
    """The module of a computation."""
    if kind not in COMPUTATIONS:
        raise NoHandler(kind)
    return import_module(f"tracecup.server.judging.kinds.{kind}")


def act(job: Job) -> None:
    """Do what an act does; inside the transaction that finishes the job."""
    round = Round.objects.select_related("contest").get(pk=job.payload["round"])
    try:
        _named(ACTS[job.kind])(round)
    except Refused as error:
        raise NotNow(error.message, 10) from error


def chore(job: Job) -> dict[str, Any]:
    """Do what a chore does."""
    if job.kind not in CHORES:
        raise NoHandler(job.kind)
    result: dict[str, Any] = _named(CHORES[job.kind])(job.payload) or {}
    return result


def died(job: Job) -> None:
    """Tell what a dead job was for."""
    _hook(job, "died")


def revived(job: Job) -> None:
    """Undo what `died` told: the job has new attempts."""
    _hook(job, "revived")


def _hook(job: Job, name: str) -> None:
    if job.kind in COMPUTATIONS:
        hook = getattr(module_of(job.kind), name, None)
        if hook is not None:
            hook(job)


def _named(path: str) -> Callable[..., Any]:
    module, _, name = path.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
