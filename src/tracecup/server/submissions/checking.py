"""Checking a file before it costs a try: in a child process with limits, two at a time.

What the check says is told line by line; the file itself goes nowhere. Of one team one file is
checked at a time, and every check counts, whatever comes of it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from tracecup.errors import Problem
from tracecup.server.errors import Refused
from tracecup.server.jobs import sandbox
from tracecup.server.models import LoginAttempt, Person, Round, StoredFile, Team
from tracecup.server.people import throttle
from tracecup.server.people.accounts import label
from tracecup.server.storage import store

CHECKS_AT_ONCE = 2
CHECK_SECONDS = 120  # of the processor: a busy machine is not the file's fault
CHECK_PATIENCE = 1800
CHECK_MIB = 768  # a file of 183 MiB with 48 million ids needs less than 512

log = logging.getLogger(__name__)
# Checks read whole files into memory; the others wait, their bytes on disk.
_places = threading.BoundedSemaphore(CHECKS_AT_ONCE)
_teams: dict[int, tuple[threading.Lock, int]] = {}
_teams_lock = threading.Lock()


@dataclass(frozen=True)
class Checked:
    """What the check of a file found.

    `ok`: the format is right. `valid`: a release reaches the floor (None for answers and for
    files that could not be read). `problems`: the first bad places, `more` how many others.
    """

    ok: bool
    problems: tuple[Mapping[str, Any], ...] = ()
    more: int = 0
    utility: float | None = None
    low: float | None = None
    high: float | None = None
    valid: bool | None = None
    reason: str = ""


def check(round: Round, team: Team, kind: str, challenge: str, path: Path) -> Checked:
    """Check a file; costs no try and stores nothing."""
    payload = _payload(round, team, kind, challenge, path)
    with _turn(team), _places:
        try:
            found = sandbox.run(
                "check.release" if kind == "release" else "check.answer",
                payload,
                memory_mib=CHECK_MIB,
                seconds=CHECK_PATIENCE,
                cpu_seconds=CHECK_SECONDS,
            )
        except sandbox.SandboxFailed as error:
            return _failed(error.why, team)
    return Checked(
        ok=found["ok"],
        problems=tuple(found["problems"]),
        more=found["more"],
        utility=found.get("utility"),
        low=found.get("low"),
        high=found.get("high"),
        valid=found.get("valid"),
        reason=found.get("reason", ""),
    )


def count_check(team: Team, person: Person | None) -> LoginAttempt:
    """Count a check before it is made, so that one whose sender hangs up counts too.

    `Refused` (throttled) after very many of a team, or of a person, within an hour. A file that
    costs a try is not to be counted twice: delete the row then.
    """
    who = label(person) if person is not None else f"team:{team.pk}"
    try:
        return throttle.spend(throttle.CHECK, f"team:{team.pk}", who)
    except Refused as refused:
        raise Refused(
            "throttled",
            _("Your team has had too many files checked within an hour; please wait."),
            **refused.details,
        ) from None


@contextmanager
def _turn(team: Team) -> Iterator[None]:
    """One file of a team at a time, so that nobody keeps the places taken."""
    with _teams_lock:
        lock, waiting = _teams.get(team.pk, (threading.Lock(), 0))
        _teams[team.pk] = lock, waiting + 1
    try:
        with lock:
            yield
    finally:
        with _teams_lock:
            waiting = _teams[team.pk][1] - 1
            if waiting:
                _teams[team.pk] = lock, waiting
            else:
                del _teams[team.pk]


def original_of(round: Round, team: Team, challenge: str) -> StoredFile:
    """The team's original traces of a data set; `Refused` while they are not made yet."""
    found = StoredFile.objects.filter(
        round=round, team=team, challenge=challenge, kind="orgtraces"
    ).first()
    if found is None or not round.contest.city_sha256:
        raise Refused("closed", _("The data of your team are not ready yet; try again shortly."))
    return found


def _payload(round: Round, team: Team, kind: str, challenge: str, path: Path) -> dict[str, Any]:
    contest, blobs = round.contest, store()
    payload = {
        "rules": contest.rules_text,
        "round": round.name,
        "kind": kind,
        "file": str(path),
    }
    if kind == "release":
        payload["original"] = str(blobs.checked(original_of(round, team, challenge).sha256))
    elif not contest.city_sha256:
        raise Refused("closed", _("The city of this contest is not ready yet; try again shortly."))
    payload["city"] = str(blobs.checked(contest.city_sha256))
    return payload


def _failed(why: str, team: Team) -> Checked:
    """A check without an end: over the limits is the file's fault, anything else is ours."""
    log.warning("a check came to no end: %s", why, extra={"team": team.pk})
    if why not in ("memory", "time"):
        raise Refused(
            "internal",
            _(
                "The file could not be checked; the fault is ours. No try was charged: "
                "send it again."
            ),
        )
    found = _("more work than the server's limits of memory and time allow")
    expected = _("a file of this contest's size")
    problem = Problem(0, "", found, expected).as_dict()
    return Checked(False, (problem,))
