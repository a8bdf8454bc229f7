"""The audit log: who did what, before, after, why; each entry carries the hash of the one before.

Call `record` inside the transaction that does the thing: both happen, or neither.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction

from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.models import Contest, LogEntry

GENESIS = "0" * 64
_LOCK = 0x7472616365  # any number, the same in every process


def record(
    actor: Actor,
    action: str,
    *,
    contest: Contest | None = None,
    subject: str = "",
    before: Any = None,
    after: Any = None,
    why: str = "",
) -> LogEntry:
    """Append an entry. `before` and `after` are JSON without secrets and names of people."""
    with transaction.atomic():
        _one_at_a_time()
        last = LogEntry.objects.order_by("-number").first()
        entry = LogEntry(
            number=last.number + 1 if last else 1,
            at=clock.now().isoformat(),
            contest=contest.slug if contest else "",
            actor=actor.label,
            action=action,
            subject=subject[:160],
            before=before,
            after=after,
            why=why,
            previous=last.hash if last else GENESIS,
        )
        entry.hash = entry_hash(entry)
        entry.save(force_insert=True)
    return entry


def entry_hash(entry: LogEntry) -> str:
    """SHA-256 over all columns of an entry and the hash of the one before."""
    held = [
        entry.number,
        entry.at,
        entry.contest,
        entry.actor,
        entry.action,
        entry.subject,
        entry.before,
        entry.after,
        entry.why,
        entry.previous,
    ]
    text = json.dumps(held, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check_chain() -> Iterator[str]:
    """Every place where the chain is broken, in words; nothing if all is well."""
    previous, expected = GENESIS, 1
    for entry in LogEntry.objects.order_by("number").iterator():
        if entry.number != expected:
            yield f"entry {expected} is missing"
        if entry.previous != previous:
            yield f"entry {entry.number} does not follow the one before"
        if entry.hash != entry_hash(entry):
            yield f"entry {entry.number} was changed"
        previous, expected = entry.hash, entry.number + 1


def _one_at_a_time() -> None:
    """Entries are numbered without gaps: SQLite has one writer anyway, PostgreSQL gets a lock."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
