"""A publication that was a mistake, taken back: only while nobody else has fetched any of it.

The judge's verdicts, shuffle and commitments stay as they are; releases wait for organisers again.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from tracecup.contest.archive.folder import COMMITMENTS_FILE
from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.entries import begins, entry_of
from tracecup.server.errors import Refused
from tracecup.server.judging.service import held_round, published_releases
from tracecup.server.models import Download, Job, ResultSet, Round, StoredFile, Submission
from tracecup.server.models.filekinds import OF_RESULTS, RELEASED
from tracecup.server.reasons import require_reason


def take_back(round: Round, actor: Actor, why: str) -> None:
    """Undo the publication of a round's releases, and of its results where these are out.

    `Refused` (conflict) once somebody who is no organiser fetched a file of it, or an answer came.
    Nothing goes out by itself any more: an organiser publishes by hand, or sets the switches again.
    """
    why = require_reason(why)
    with transaction.atomic():
        held = held_round(round)
        reason = why_not(held)
        if reason:
            raise Refused("conflict", reason)
        before = {
            column: at.isoformat() if (at := getattr(held, column)) else None
            for column in ("published_at", "closed_at", "released_at")
        }
        out = _published_files(held)
        out.update(audience="judge", visible_from=None)
        # Teams had their own reference traces from the announcement on.
        own = out.filter(kind="reftraces", team__isnull=False)
        own.update(audience="team", visible_from=begins(held, "announce"))
        StoredFile.objects.filter(round=held, name=COMMITMENTS_FILE).delete()
        ResultSet.objects.filter(round=held, state="published").update(state="draft")
        StoredFile.objects.filter(round=held, kind__in=OF_RESULTS).update(audience="judge")
        held.published_at = held.closed_at = held.released_at = None
        held.auto_publish = held.auto_results = held.archive_open = False
        held.save()
        keys = [f"{act}:{held.pk}" for act in ("publish", "close")]
        Job.objects.filter(key__in=keys).delete()
        log.record(
            actor,
            "round.publication-taken-back",
            contest=held.contest,
            subject=f"round:{held.name}",
            before=before,
            after={"published_at": None, "auto_publish": False, "fetched_by_others": 0},
            why=why,
        )
    round.refresh_from_db()


def why_not(round: Round) -> str:
    """Why the publication of a round stands; "" where it can be taken back."""
    if round.published_at is None:
        return _("The releases of this round are not published.")
    answers = Submission.objects.filter(round=round, kind__in=ATTACK_KINDS)
    if answers.exists():
        return _("Teams have handed in answers already: the publication cannot be taken back.")
    fetched = _fetched(round).order_by("at").first()
    if fetched is not None:
        said = _("%(name)s was fetched already: the publication cannot be taken back.")
        return said % {"name": fetched.name}
    return ""


def _published_files(round: Round) -> QuerySet[StoredFile]:
    """What attackers got with the publication."""
    names = [entry_of(row).file(kind) for row in published_releases(round) for kind in RELEASED]
    return StoredFile.objects.filter(round=round, name__in=[*names, COMMITMENTS_FILE])


def _fetched(round: Round) -> QuerySet[Download]:
    """What others than organisers fetched of it: its files, or all files in one archive."""
    contest = round.contest
    assert round.published_at is not None
    out = _published_files(round) | StoredFile.objects.filter(
        round=round, kind__in=OF_RESULTS, audience="all"
    )
    # A clock that was ahead when it published proves nothing about later downloads.
    since = min(round.published_at, clock.contest_now(contest))
    if since < round.published_at and round.announced_at is not None:
        since = min(since, round.announced_at)
    since -= timedelta(seconds=contest.clock_offset)
    whole = Q(file=None, name=f"{contest.slug}-{round.name}.zip", at__gte=since)
    others = Download.objects.filter(contest=contest).exclude(
        person__in=contest.organisers.values("person")
    )
    own = Q(file__kind="reftraces", file__team=F("team"))
    return others.filter(Q(file__in=out.values("pk")) & ~own | whole)
