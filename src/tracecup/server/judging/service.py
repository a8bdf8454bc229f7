"""The judge's acts in a round: data, announcement, verdicts and shuffle, publication, the end.

Each is asked for as a job when its time has come, may be asked for twice, and happens once.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.contest.archive.folder import COMMITMENTS_FILE
from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.judging import flow
from tracecup.contest.smallfiles import json_text
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.entries import data_sets, entry_of, judged_of, keep_file, sets_of
from tracecup.server.errors import Refused
from tracecup.server.jobs.queue import NotNow, enqueue
from tracecup.server.models import Contest, Job, Release, Round, StoredFile, Team
from tracecup.server.models.filekinds import RELEASED
from tracecup.server.storage import store
from tracecup.server.submissions.choices import counting
from tracecup.server.web.arrivals import FOLDER, is_awaited
from tracecup.server.windows import Action, last_end

SETTLE_SECONDS = 60
"""Files that arrived in time may still be in the hands of the web server when a phase ends."""


def ensure_data(contest: Contest) -> None:
    """Ask for all data that are not there: of every round that is not over, of every team."""
    for round in contest.rounds.filter(closed_at=None):
        head = f"data:{round.pk}:"
        known = set(Job.objects.filter(key__startswith=head).values_list("key", flat=True))
        wanted: list[tuple[str, list[object] | None]] = [(f"{head}shared", None)]
        for one in data_sets(round):
            entry = one.entry
            wanted.append((f"{head}{entry.label}", [entry.team, entry.challenge]))
        for key, which in wanted:
            if key not in known:
                enqueue("data", key, {"round": round.pk, "entry": which}, contest=contest)
        if round.judging_at is not None:
            _ask_shuffles(round)


def announce(round: Round, actor: Actor = SYSTEM) -> None:
    """Say that rules and data are out, once the data are there (see `ensure_data`).

    Those of teams that came before the announcement was due: who comes later holds up nobody.
    """
    with transaction.atomic():
        round = held_round(round)
        if round.announced_at is not None:
            return
        waiting = Job.objects.filter(key__startswith=f"data:{round.pk}:").exclude(state="done")
        due = round.rules.phases.announce
        if due is not None:
            offset = timedelta(seconds=round.contest.clock_offset)
            late = round.contest.teams.filter(created_at__gte=due - offset)
            sets = [one for team in late for one in sets_of(round, team)]
            waiting = waiting.exclude(
                key__in=[f"data:{round.pk}:{one.entry.label}" for one in sets]
            )
        if waiting.exists():
            raise NotNow("data are still being made", 2)
        round.announced_at = clock.contest_now(round.contest)
        round.save(update_fields=["announced_at"])
        record_act(actor, "round.announced", round)


def judge_round(round: Round, actor: Actor = SYSTEM) -> None:
    """Close intake of releases for good and have every team's releases judged and shuffled.

    Which releases count is fixed in the transaction that closes intake.
    """
    with transaction.atomic():
        round = held_round(round)
        if round.judging_at is not None:
            return
        require_over(round, "release", actor)
        round.judging_at = clock.contest_now(round.contest)
        round.save(update_fields=["judging_at"])
        ensure_data(round.contest)
        record_act(actor, "round.judging", round)


def publish_round(round: Round, actor: Actor = SYSTEM, why: str = "") -> None:
    """Let attackers have the releases, their reference traces and the commitments.

    `Refused` (conflict) while the judge is not ready.
    """
    with transaction.atomic():
        round = held_round(round)
        if round.published_at is not None:
            return
        if round.judged_at is None:
            raise Refused("conflict", _("The judge has not finished the releases of this round."))
        _require_running(round)
        at = clock.contest_now(round.contest)
        held = commitments(round)
        blob = store().put_blocks([json_text(held).encode()], 1 << 30)
        keep_file(round, COMMITMENTS_FILE, blob, kind="commitments", visible_from=at)
        names = [entry_of(row).file(kind) for row in published_releases(round) for kind in RELEASED]
        StoredFile.objects.filter(round=round, name__in=names).update(
            audience="all", visible_from=at
        )
        round.published_at = at
        round.save(update_fields=["published_at"])
        after = {"releases": held["releases"], "sha256": blob.sha256}
        record_act(actor, "round.published", round, after, why)


def enqueue_samples(round: Round) -> None:
    """Have every published release attacked by the sample attacks of the rules."""
    samples = round.contest.rules.samples
    named = tuple(getattr(samples, kind) for kind in ATTACK_KINDS)
    which = hashlib.sha256(repr(named).encode()).hexdigest()[:8]
    for row in published_releases(round):
        key = f"sample:{round.pk}:{row.label}:{which}"
        enqueue("sample", key, {"release": row.pk}, contest=round.contest)


def published_releases(round: Round) -> list[Release]:
    """The releases that attackers get: valid ones, and demonstrations hors concours."""
    rows = Release.objects.filter(round=round).select_related("team", "round__contest")
    return [row for row in rows.order_by("label") if row.is_published]


def commitments(round: Round) -> dict[str, object]:
    """What is published with the releases: commitments by team, and which releases are out."""
    rows = Release.objects.filter(round=round).select_related("team").order_by("label")
    judged = {entry_of(row): judged_of(row) for row in rows}
    return flow.commitments({entry_of(row).number: row.commitment for row in rows}, judged)


def awaited(round: Round) -> list[str]:
    """The data sets (labels) that the judge has not decided on yet."""
    decided = set(Release.objects.filter(round=round).values_list("label", flat=True))
    wanted = [one.entry.label for one in data_sets(round) if not one.is_sample]
    return [label for label in wanted if label not in decided]


def due_at(round: Round, action: Action) -> datetime | None:
    """When the judge ends a phase: after the last extension, with time to settle."""
    end = last_end(round, action)
    return end + timedelta(seconds=settle_seconds()) if end else None


def settle_seconds() -> int:
    """How long the judge waits after a deadline for files that have arrived already."""
    return int(getattr(settings, "TRACECUP_SETTLE_SECONDS", SETTLE_SECONDS))


def _ask_shuffles(round: Round) -> None:
    """One job for each team and the benchmark, with the releases that count."""
    teams: list[Team | None] = [None, *round.contest.teams.order_by("number")]
    decided = set(round.releases.values_list("team__number", flat=True))
    for team in teams:
        number = team.number if team else 0
        if (team.number if team else None) in decided:
            continue
        chosen = {}
        if team is not None and team.status != "withdrawn" and team.deleted_at is None:
            for kind in round.contest.rules.challenges_played:
                found = counting(round, team, kind)
                if found is not None:
                    chosen[kind] = found.pk
        payload = {"round": round.pk, "team": number, "submissions": chosen}
        enqueue("shuffle", f"shuffle:{round.pk}:{number}", payload, contest=round.contest)


def require_over(round: Round, action: Action, actor: Actor) -> None:
    """Not before a phase is over for all teams, and nothing of it is still arriving."""
    _require_running(round)
    at, now = due_at(round, action), clock.contest_now(round.contest)
    if at is None or now < at:
        if actor is not SYSTEM:
            raise Refused("conflict", _("This phase is not over for all teams."))
        left = 10.0 if at is None else min((at - now).total_seconds(), 60.0)
        raise NotNow("the phase is not over", max(left, 0.5))
    end = last_end(round, action)
    assert end is not None
    if is_awaited(settings.CONFIG.folder / FOLDER, (now - end).total_seconds()):
        raise NotNow("files that arrived in time are still being checked", 2)


def _require_running(round: Round) -> None:
    if round.contest.paused_at is not None:
        raise Refused("paused", _("The contest is paused; nothing happens until it resumes."))


def held_round(round: Round) -> Round:
    """The round as it is now, with its contest, locked until the transaction ends."""
    rounds = Round.objects.select_for_update(of=("self",)).select_related("contest")
    found: Round = rounds.get(pk=round.pk)
    found.contest.refresh_from_db()
    return found


def record_act(
    actor: Actor, action: str, round: Round, after: object = None, why: str = ""
) -> None:
    """Write what the judge did to a round into the log."""
    subject = f"round:{round.name}"
    log.record(actor, action, contest=round.contest, subject=subject, after=after, why=why)
