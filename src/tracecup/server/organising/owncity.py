"""A contest in a city of the organisers' own: its table of regions and the model of its people.

The rules say that there is one (`[city] file = ...`); the files themselves are uploaded here. No
path that a text names is ever read.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, cast

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs import sandbox
from tracecup.server.locks import (
    locked,
)
from tracecup.server.models import Contest, StoredFile
from tracecup.server.models.filekinds import CITY_FILES, KIND_OF_FILE
from tracecup.server.organising.rulechange import (
    make_data_anew,
)
from tracecup.server.reasons import (
    require_reason,
)
from tracecup.server.storage import store


def set_city_file(
    contest: Contest, kind: str, source: Path | IO[bytes], actor: Actor, why: str
) -> StoredFile:
    """Take the table of regions (`city`) or the trained model (`model`) of a contest's own city.

    Both are read in a child process first; the model has to be one of this city. All data are
    made anew. `Refused` once teams have their data.
    """
    why = require_reason(why)
    if kind not in CITY_FILES:
        raise Refused("invalid", _("A city's file is its table (city) or its model (model)."))
    blob = store().put_file(source, settings.CONFIG.upload_bytes)
    others = {one.kind: one.sha256 for one in own_files(contest)} | {kind: blob.sha256}
    _check({name: str(store().checked(sha256)) for name, sha256 in others.items()})
    with transaction.atomic():
        held = locked(contest, with_data=True)
        if held.rounds.exclude(announced_at=None).exists():
            raise Refused("closed", _("Teams have their data already; it is too late for this."))
        before = held.files.filter(kind=kind, round=None).first()
        held.files.filter(kind=kind, round=None).delete()
        made = StoredFile.objects.create(
            contest=held,
            kind=kind,
            name=f"own_{kind}",
            sha256=blob.sha256,
            size=blob.size,
            audience=KIND_OF_FILE[kind].audience,
            created_at=clock.now(),
        )
        log.record(
            actor,
            f"contest.{kind}-file",
            contest=held,
            before={"sha256": before.sha256 if before else None},
            after={"sha256": blob.sha256},
            why=why,
        )
        make_data_anew(held)
    contest.refresh_from_db()
    return made


def own_files(contest: Contest) -> list[StoredFile]:
    """The files of a contest's own city that are there."""
    return list(contest.files.filter(kind__in=CITY_FILES, round=None).order_by("kind"))


def missing_files(contest: Contest) -> list[str]:
    """The files that the rules need and nobody has given yet."""
    if contest.rules.city.file is None:
        return []
    there = {one.kind for one in own_files(contest)}
    return [kind for kind in CITY_FILES if kind not in there]


def copy_city(source: Contest, target: Contest) -> None:
    """Give a contest the same own city as another; inside a transaction."""
    for one in own_files(source):
        store().touch(one.sha256)
        StoredFile.objects.create(
            contest=target,
            kind=one.kind,
            name=one.name,
            sha256=one.sha256,
            size=one.size,
            audience=one.audience,
            created_at=clock.now(),
        )
        if one.kind == "city":
            target.city_sha256 = one.sha256
            target.save(update_fields=["city_sha256"])


def _check(files: dict[str, str]) -> None:
    """Read the files in a child process; what is wrong with them is told."""
    try:
        said = sandbox.run("owncity.check", {"files": files})
    except sandbox.SandboxFailed as failed:
        raise Refused("rejected", _("This file cannot be read: %s") % failed.reason) from None
    if said["problems"]:
        problems = cast(list[dict[str, object]], said["problems"])
        raise Refused("rejected", _("This file cannot be used."), problems)
