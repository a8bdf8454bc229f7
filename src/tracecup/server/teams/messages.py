"""What organisers and teams tell one another: announcements, appeals and their answers.

An announcement is on the teams' pages at once; `mailing` sends it by e-mail.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.locks import (
    locked,
)
from tracecup.server.models import Announcement, Appeal, Contest, Team
from tracecup.server.reasons import (
    check_instant,
    require_reason,
)
from tracecup.server.teams import mailing

MAX_TITLE = 200
MAX_TEXT = 20_000
MAX_OPEN = 10  # every appeal is a letter to every organiser


def announce(
    contest: Contest,
    title: str,
    text: str,
    actor: Actor,
    team: Team | None = None,
    *,
    mail: bool = True,
    public: bool = False,
    at: datetime | None = None,
) -> Announcement:
    """Tell all teams (or one) something; members with an address get it by e-mail too.

    `public`: everybody who may see the contest reads it. `at`: pages and letters wait until then.
    """
    if public and team is not None:
        raise Refused("invalid", _("What is for one team is not for everybody."))
    now = clock.now()
    if at is not None:
        check_instant(at)
        if at <= now:
            raise Refused("invalid", _("The time of a delayed announcement must be in the future."))
    title, text = title.strip(), text.strip()
    if not 1 <= len(title) <= MAX_TITLE or not title.isprintable():
        raise Refused("invalid", _("A title is one line of 1 to 200 characters."))
    if not 1 <= len(text) <= MAX_TEXT:
        raise Refused("invalid", _("A message has 1 to 20000 characters."))
    with transaction.atomic():
        made = Announcement.objects.create(
            contest=contest,
            team=team,
            title=title,
            text=text,
            public=public,
            at=at or now,
            by=actor.person,
        )
        log.record(
            actor,
            "announce",
            contest=contest,
            subject=f"team:{team.number}" if team else "teams",
            after={
                "announcement": made.pk,
                "title": title,
                "public": public,
                "at": at.isoformat() if at else None,
            },
        )
        if mail:
            mailing.send_announcement(made)
    return made


def retract_announcement(announcement: Announcement, actor: Actor, why: str) -> None:
    """Take an announcement off the pages; what went out by e-mail is out."""
    _set_retracted(announcement, True, actor, require_reason(why))


def restore_announcement(announcement: Announcement, actor: Actor) -> None:
    """Put a retracted announcement back."""
    _set_retracted(announcement, False, actor, "")


def announcements(team: Team) -> list[Announcement]:
    """What a team may read now, newest first; retracted ones are left out."""
    found = Announcement.objects.filter(
        Q(team=None) | Q(team=team), contest=team.contest, deleted_at=None, at__lte=clock.now()
    )
    return list(found.order_by("-at", "-pk"))


def open_appeals(contest: Contest, until: datetime | None, actor: Actor, why: str) -> None:
    """Let teams appeal until an instant of the contest's clock; None closes the window."""
    why = require_reason(why)
    if until is not None:
        check_instant(until)
    if until is not None and until <= clock.contest_now(contest):
        raise Refused("invalid", _("The window for appeals ends later than now."))
    with transaction.atomic():
        held = locked(contest)
        before = held.appeals_until
        held.appeals_until = until
        held.save(update_fields=["appeals_until"])
        log.record(
            actor,
            "appeals.window",
            contest=held,
            before={"until": before.isoformat() if before else None},
            after={"until": until.isoformat() if until else None},
            why=why,
        )
    contest.refresh_from_db()


def appeal(team: Team, text: str, actor: Actor) -> Appeal:
    """What a team says against a decision, while the window is open."""
    text = text.replace("\0", "").strip()
    if not 1 <= len(text) <= MAX_TEXT:
        raise Refused("invalid", _("An appeal has 1 to 20000 characters."))
    with transaction.atomic():
        contest = locked(team.contest)
        until = contest.appeals_until
        if until is None or clock.contest_now(contest) >= until:
            raise Refused("closed", _("Appeals are closed at the moment."))
        if Appeal.objects.filter(team=team, state="open").count() >= MAX_OPEN:
            raise Refused("throttled", _("Wait for the answers to your appeals first."))
        made = Appeal.objects.create(team=team, text=text, at=clock.now(), by=actor.person)
        log.record(
            actor,
            "appeal",
            contest=contest,
            subject=f"team:{team.number}",
            after={"appeal": made.pk},
        )
        mailing.send_appeal(made)
    return made


def answer_appeal(appeal: Appeal, answer: str, accepted: bool, actor: Actor) -> None:
    """Answer an appeal; the team finds it on its page and gets it by e-mail."""
    answer = require_reason(answer)
    with transaction.atomic():
        held = Appeal.objects.select_for_update().get(pk=appeal.pk)
        before = {"state": held.state, "answer": held.answer}
        held.state = "accepted" if accepted else "declined"
        held.answer, held.answered_at, held.answered_by = answer, clock.now(), actor.person
        held.save()
        log.record(
            actor,
            "appeal.answer",
            contest=held.team.contest,
            subject=f"appeal:{held.pk}",
            before=before,
            after={"state": held.state, "answer": answer},
        )
        announce(held.team.contest, _("Your appeal was answered"), answer, actor, held.team)
    appeal.refresh_from_db()


def _set_retracted(announcement: Announcement, on: bool, actor: Actor, why: str) -> None:
    with transaction.atomic():
        held = Announcement.objects.select_for_update().get(pk=announcement.pk)
        before = held.deleted_at is not None
        held.deleted_at = clock.now() if on else None
        held.save(update_fields=["deleted_at"])
        log.record(
            actor,
            "announce.retract" if on else "announce.restore",
            contest=held.contest,
            subject=f"announcement:{held.pk}",
            before={"retracted": before},
            after={"retracted": on},
            why=why,
        )
    announcement.refresh_from_db()
