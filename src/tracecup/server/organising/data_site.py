"""What the pages of settings, backups, new contests and health show.

Typed; the pages render it and the API returns it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils.translation import gettext as _
from ninja import Schema

from tracecup import __version__
from tracecup.server import clock
from tracecup.server.access import Role
from tracecup.server.errors import Refused
from tracecup.server.jobs.data import (
    QueueCounts,
    queue_counts,
)
from tracecup.server.models import Contest, Job, Person, StoredFile, WorkerToken
from tracecup.server.organising import rulewords
from tracecup.server.organising.data_checks import LOW_DISK_BYTES, SLOW_SECONDS
from tracecup.server.organising.data_log import who_is
from tracecup.server.organising.owncity import own_files
from tracecup.server.organising.rulechange import Effect, RulesPlan, history
from tracecup.server.site.backup import ENDING
from tracecup.server.site.backup_job import BACKUP_FOLDER
from tracecup.server.storage import store

BACKUP_KIND = "backup"


class ProblemRow(Schema):
    """A bad place of a text."""

    line: int
    field: str
    found: str
    expected: str


class EffectRow(Schema):
    """What a change of one key does: note, care, or refused.

    `before` and `after` are spelled as in the file; `label`, `was` and `becomes` are for people.
    """

    key: str
    label: str
    before: str
    after: str
    was: str
    becomes: str
    sentence: str
    weight: str


class PlanRow(Schema):
    """What a new text of the rules would do; `endings` is what it would end at once, for good."""

    ok: bool
    problems: list[ProblemRow]
    effects: list[EffectRow]
    makes_data: bool
    endings: list[str]


class VersionRow(Schema):
    """A change of the rules; the text is in the log."""

    entry: int
    at: datetime
    actor: str
    who: str
    action: str
    why: str


class CityFileRow(Schema):
    """A file of the contest's own city."""

    kind: str
    sha256: str
    size: int
    at: datetime


class SettingsPage(Schema):
    """The rules as text and what else can be set."""

    slug: str
    name: str
    text: str
    version: int
    is_public: bool
    join_open: bool
    divisions: list[str]
    own_city: bool
    city_files: list[CityFileRow]
    history: list[VersionRow]


class TextsPage(Schema):
    """What organisers wrote for everybody, in Markdown; empty where there is nothing."""

    description: str = ""
    prizes: str = ""
    terms: str = ""
    contact: str = ""
    faq: str = ""


class BackupRow(Schema):
    """A backup file in the server's folder."""

    name: str
    size: int
    at: datetime


class BackupJob(Schema):
    """A backup that was asked for, and what became of it."""

    id: int
    state: str
    at: datetime
    finished_at: datetime | None
    result: dict[str, Any]
    error: str


class BackupPage(Schema):
    """Backups of the whole server; staff may make them, who set the server up fetch them."""

    staff: bool
    backups: list[BackupRow]
    jobs: list[BackupJob]
    newest_seconds: float | None


class DeletedRow(Schema):
    """A deleted contest that can be brought back."""

    slug: str
    name: str
    deleted_at: datetime


class NewPage(Schema):
    """What the page of new contests shows besides its form: what can be brought back."""

    deleted: list[DeletedRow]


class WorkerRow(Schema):
    """A worker that was seen lately."""

    name: str
    seen_at: datetime
    jobs: int
    remote: bool


class HealthPage(Schema):
    """The state of the server: ok, attention, or down. Who is no staff sees `status` only."""

    status: str
    problems: list[str]
    at: datetime
    version: str
    database: str
    disk_free_bytes: int
    queue: QueueCounts
    workers: list[WorkerRow]
    contests: int


def plan_row(plan: RulesPlan) -> PlanRow:
    """A plan as the page and the API show it."""
    zone = plan.rules.tzinfo if plan.rules else UTC
    return PlanRow(
        ok=not plan.problems,
        problems=[ProblemRow(**problem) for problem in plan.problems],
        effects=[_effect_row(effect, zone) for effect in plan.effects],
        makes_data=plan.makes_data,
        endings=[one.sentence for one in plan.endings],
    )


def _effect_row(effect: Effect, zone: tzinfo) -> EffectRow:
    return EffectRow(
        **vars(effect),
        label=rulewords.label(effect.key),
        was=rulewords.value(effect.key, effect.before, zone),
        becomes=rulewords.value(effect.key, effect.after, zone),
    )


def settings_page(role: Role) -> SettingsPage:
    """The rules of a contest for its organisers."""
    role.require_organiser()
    contest = role.contest
    changes = history(contest)
    people = who_is(one.actor for one in changes)
    return SettingsPage(
        slug=contest.slug,
        name=contest.name,
        text=contest.rules_text,
        version=contest.rules_version,
        is_public=contest.is_public,
        join_open=contest.join_open,
        divisions=contest.divisions,
        own_city=contest.rules.city.file is not None,
        city_files=[city_file_row(one) for one in own_files(contest)],
        history=[
            VersionRow(
                entry=one.number,
                at=datetime.fromisoformat(one.at),
                actor=one.actor,
                who=people.get(one.actor, one.actor),
                action=one.action,
                why=one.why,
            )
            for one in changes
        ],
    )


def texts_page(role: Role) -> TextsPage:
    """The texts of a contest for its organisers."""
    role.require_organiser()
    return TextsPage(**role.contest.texts)


def city_file_row(one: StoredFile) -> CityFileRow:
    """A file of the contest's own city."""
    return CityFileRow(kind=one.kind, sha256=one.sha256, size=one.size, at=one.created_at)


def backup_page(role: Role) -> BackupPage:
    """The backups of the server, for an organiser; names of files for staff only."""
    role.require_organiser()
    staff = bool(role.person and role.person.is_staff)
    rows = backups()
    newest = max((row.at for row in rows), default=None)
    jobs = Job.objects.filter(kind=BACKUP_KIND).order_by("-pk")[:20]
    return BackupPage(
        staff=staff,
        backups=rows if staff else [],
        jobs=[
            BackupJob(
                id=job.pk,
                state=job.state,
                at=job.created_at,
                finished_at=job.finished_at,
                result=job.result,
                error=job.error,
            )
            for job in (jobs if staff else [])
        ],
        newest_seconds=(clock.now() - newest).total_seconds() if newest else None,
    )


def backups() -> list[BackupRow]:
    """The backup files in the server's folder, newest first."""
    folder = Path(settings.CONFIG.folder) / BACKUP_FOLDER
    found = [path for path in folder.glob("*") if path.name.endswith(ENDING)]
    rows = [
        BackupRow(
            name=path.name,
            size=path.stat().st_size,
            at=datetime.fromtimestamp(path.stat().st_mtime, UTC),
        )
        for path in found
    ]
    return sorted(rows, key=lambda row: (row.at, row.name), reverse=True)


def new_page(person: Person | None) -> NewPage:
    """For staff, and for organisers of a deleted contest."""
    deleted = deleted_contests(person)
    if not deleted:
        require_staff(person)
    return NewPage(
        deleted=[
            DeletedRow(slug=one.slug, name=one.name, deleted_at=one.deleted_at) for one in deleted
        ],
    )


def deleted_contests(person: Person | None) -> list[Contest]:
    """Deleted contests that somebody organises."""
    if person is None:
        return []
    found = Contest.objects.filter(organisers__person=person, deleted_at__isnull=False)
    return list(found.order_by("-deleted_at"))


def require_staff(person: Person | None) -> Person:
    """Only who may create contests and see the site's health goes on."""
    if person is None:
        raise Refused("not-signed-in", _("Please log in first."))
    if not person.is_staff or not person.is_active:
        raise Refused("forbidden", _("Only staff of this server may do this."))
    return person


def require_owner(person: Person | None) -> Person:
    """Only who set the server up goes on."""
    person = require_staff(person)
    if not person.is_superuser:
        raise Refused(
            "forbidden",
            _(
                "Only the person who set up this server may download a backup: "
                "it contains all secrets."
            ),
        )
    return person


def health() -> HealthPage:
    """How the server is: database, disk, queue, workers."""
    problems, down = [], False
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        queue, workers = queue_counts(), worker_rows()
        contests = Contest.objects.filter(deleted_at=None).count()
    except DatabaseError:
        down = True
        problems.append(_("The database does not answer."))
        queue = QueueCounts(waiting=0, running=0, retried=0, dead=0, oldest_waiting_seconds=None)
        workers, contests = [], 0
    free = store().free()
    if free < LOW_DISK_BYTES:
        problems.append(_("Less than 1 GiB of disk is left."))
    if (queue.oldest_waiting_seconds or 0) > SLOW_SECONDS:
        problems.append(_("A job has been waiting for more than ten minutes."))
    if queue.dead:
        problems.append(_("Some jobs were given up after several attempts."))
    return HealthPage(
        status="down" if down else "attention" if problems else "ok",
        problems=problems,
        at=clock.now(),
        version=__version__,
        database=connection.vendor,
        disk_free_bytes=free,
        queue=queue,
        workers=workers,
        contests=contests,
    )


def worker_rows() -> list[WorkerRow]:
    """Workers that took a job within the last hour, or asked for one from elsewhere."""
    since = clock.now() - timedelta(hours=1)
    seen: dict[str, WorkerRow] = {}
    for name, at in Job.objects.filter(started_at__gte=since).values_list("worker", "started_at"):
        row = seen.setdefault(name, WorkerRow(name=name, seen_at=at, jobs=0, remote=False))
        row.jobs, row.seen_at = row.jobs + 1, max(row.seen_at, at)
    for token in WorkerToken.objects.filter(last_used_at__gte=since, revoked_at=None):
        row = seen.setdefault(
            token.name, WorkerRow(name=token.name, seen_at=token.last_used_at, jobs=0, remote=True)
        )
        row.remote = True
    return sorted(seen.values(), key=lambda row: row.name)
