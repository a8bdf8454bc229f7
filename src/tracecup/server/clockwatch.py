"""Whether the clock can be trusted: workers hold it against a steady one and against the log.

While it is in doubt the judge does nothing by itself; an organiser is asked which time is right.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from django.db import transaction
from django.db.models import Max, QuerySet

from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.clock import TOLERANCE, SystemClock
from tracecup.server.models import ClockWatch, Contest, LogEntry

EVERY_SECONDS = 20.0
AWAY = timedelta(hours=12)
"""A server that was off for longer asks before it does what has come due meanwhile."""


@dataclass(frozen=True)
class Doubt:
    """A clock that is not trusted: why, what it shows, and what it should show by all we know."""

    machine: str
    why: str
    noticed_at: datetime
    shown: datetime
    expected: datetime


def is_trusted(*, due: bool) -> bool:
    """Whether the clock of this machine is trusted now; asked by workers every second or so.

    `due`: acts wait for the clock. What was seen is written down, a doubt with the log.
    """
    watched = clock.watched()
    if watched is None:
        return True
    row = ClockWatch.objects.filter(machine=_machine()).first() or ClockWatch(machine=_machine())
    if row.doubt and row.accepted:
        watched.accept()
        _write(watched, row)
    else:
        _follow(watched, row)
    if row.doubt:
        if not _agrees_again(watched, row):
            return False
        with transaction.atomic():
            _write(watched, row)
            log.record(SYSTEM, "clock.agrees", subject=f"clock:{row.machine}")
        return True
    reason = _doubt(watched, row, due)
    if reason is not None:
        _begin(watched, row, *reason)
        return False
    if row.pk is None or (watched.now() - row.seen_at).total_seconds() > EVERY_SECONDS:
        _write(watched, row)
    return True


def holds(contest: Contest) -> bool:
    """Whether acts of a contest wait because the clock is in doubt; demonstrations never do."""
    if contest.is_demo or contest.is_rehearsal or clock.watched() is None:
        return False
    return _open_doubts().filter(machine=_machine()).exists()


def follow() -> None:
    """Take the computer's clock again where an organiser has accepted it; for web servers."""
    watched = clock.watched()
    if watched is not None and watched.jump():
        row = ClockWatch.objects.filter(machine=_machine()).first()
        if row is not None:
            _follow(watched, row)


def open_doubt() -> Doubt | None:
    """The oldest doubt that nobody has answered."""
    row = _open_doubts().order_by("pk").first()
    if row is None:
        return None
    watched = clock.watched()
    shown = clock.now() + (watched.jump() if watched else timedelta(0))
    expected = shown - timedelta(seconds=row.seconds)
    return Doubt(row.machine, row.doubt, row.noticed_at, shown, expected)


def accept(contest: Contest, actor: Actor, why: str) -> None:
    """An organiser says that the clock shows the right time; acts go on with it."""
    with transaction.atomic():
        for row in _open_doubts().select_for_update().order_by("pk"):
            row.accepted = True
            row.save(update_fields=["accepted"])
            log.record(
                actor,
                "clock.accepted",
                contest=contest,
                subject=f"clock:{row.machine}",
                before={"doubt": row.doubt, "seconds": round(row.seconds)},
                after={"accepted": True},
                why=why,
            )
    follow()


def _open_doubts() -> QuerySet[ClockWatch]:
    return ClockWatch.objects.exclude(doubt="").filter(accepted=False)


def _follow(watched: SystemClock, row: ClockWatch) -> None:
    """Accept a jump that an organiser has accepted: one that began before she was asked."""
    same = row.boot == _boot() and watched.trusted_until() <= row.noticed_steady
    if row.accepted and same and watched.jump():
        watched.accept()


def _doubt(watched: SystemClock, row: ClockWatch, due: bool) -> tuple[str, timedelta] | None:
    """Why the clock is not to be trusted, and by how much it is off."""
    jump, now = watched.jump(), watched.now()
    if jump:
        return "jump", jump
    if row.pk is not None and row.boot == _boot():
        drift = _drift(watched, row)
        return ("restart", drift) if abs(drift) > TOLERANCE else None
    last = _last_sign()
    if last is None:
        return None
    if now < last - TOLERANCE:
        return "back", now - last
    return ("away", now - last) if due and now > last + AWAY else None


def _drift(watched: SystemClock, row: ClockWatch) -> timedelta:
    """By how much the clock has left what it should show since it was last trusted."""
    expected: datetime = row.seen_at + timedelta(seconds=watched.steady() - row.steady)
    return watched.now() - expected


def _last_sign() -> datetime | None:
    """When this server was last alive, by what is written down."""
    entry = LogEntry.objects.order_by("-number").first()
    signs = [datetime.fromisoformat(entry.at)] if entry else []
    seen = ClockWatch.objects.aggregate(last=Max("seen_at"))["last"]
    return max([*signs, *([seen] if seen else [])], default=None)


def _agrees_again(watched: SystemClock, row: ClockWatch) -> bool:
    """Whether a clock that jumped shows again what it should."""
    if row.doubt not in ("jump", "restart") or row.boot != _boot() or watched.jump():
        return False
    return abs(_drift(watched, row)) <= TOLERANCE


def _begin(watched: SystemClock, row: ClockWatch, why: str, off: timedelta) -> None:
    """Write down that the clock is in doubt."""
    with transaction.atomic():
        if row.pk is None:
            row.boot, row.steady = _boot(), watched.steady()
            row.seen_at = watched.now() if why == "jump" else watched.now() - off
        row.doubt, row.seconds, row.accepted = why, off.total_seconds(), False
        row.noticed_at, row.noticed_steady = watched.now(), watched.steady()
        row.save()
        after = {"doubt": why, "seconds": round(row.seconds)}
        log.record(SYSTEM, "clock.doubt", subject=f"clock:{row.machine}", after=after)


def _write(watched: SystemClock, row: ClockWatch) -> None:
    """Write down what the clock shows: it is trusted. What was accepted stays, for others."""
    row.boot, row.seen_at, row.steady = _boot(), watched.now(), watched.steady()
    row.doubt, row.seconds = "", 0.0
    row.save()


@cache
def _machine() -> str:
    return os.uname().nodename[:80]


@cache
def _boot() -> str:
    """What tells one start of this machine from the next."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:80]
    except OSError:
        return "unknown"
