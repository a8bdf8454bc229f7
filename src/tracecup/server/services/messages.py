"""What organisers and teams tell one another: announcements, appeals and their answers.

An announcement is on the teams' pages at once and goes out by e-mail as a job.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import override

from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.models import (
    Announcement,
    Appeal,
    Contest,
    Job,
    Member,
    Organiser,
    Person,
    Team,
)
from tracecup.server.services import log
from tracecup.server.services.rulechange import check_instant, locked, require_reason

MAX_TITLE = 200
MAX_TEXT = 20_000
MAX_OPEN = 10  # every appeal is a letter to every organiser
MAIL_KIND = "mail"
_logger = logging.getLogger(__name__)


def announce(
    contest: Contest,
    title: str,
    text: str,
    actor: Actor,
    team: Team | None = None,
    *,
    mail: bool = True,
) -> Announcement:
    """Tell all teams (or one) something; members with an address get it by e-mail too."""
    title, text = title.strip(), text.strip()
    if not 1 <= len(title) <= MAX_TITLE or not title.isprintable():
        raise Refused("invalid", _("A title is one line of 1 to 200 characters."))
    if not 1 <= len(text) <= MAX_TEXT:
        raise Refused("invalid", _("A message has 1 to 20000 characters."))
    with transaction.atomic():
        made = Announcement.objects.create(
            contest=contest, team=team, title=title, text=text, at=clock.now(), by=actor.person
        )
        log.record(
            actor,
            "announce",
            contest=contest,
            subject=f"team:{team.number}" if team else "teams",
            after={"announcement": made.pk, "title": title},
        )
        if mail:
            _enqueue_mail(made)
    return made


def retract_announcement(announcement: Announcement, actor: Actor, why: str) -> None:
    """Take an announcement off the pages; what went out by e-mail is out."""
    _set_retracted(announcement, True, actor, require_reason(why))


def restore_announcement(announcement: Announcement, actor: Actor) -> None:
    """Put a retracted announcement back."""
    _set_retracted(announcement, False, actor, "")


def announcements(contest: Contest, team: Team | None = None) -> list[Announcement]:
    """What a team (None: an organiser) may read, newest first; retracted ones are left out."""
    found = Announcement.objects.filter(contest=contest, deleted_at=None).order_by("-at", "-pk")
    return [one for one in found if team is None or one.team_id in (None, team.pk)]


def send(announcement: Announcement) -> int:
    """Send an announcement to every member it is for; how many were sent.

    Each gets a message of her own, so that no address is shown to others.
    """
    if announcement.deleted_at is not None:
        return 0
    contest = announcement.contest
    members = Member.objects.filter(contest=contest, team__deleted_at=None)
    if announcement.team_id is not None:
        members = members.filter(team=announcement.team_id)
    site = settings.CONFIG.site_url.rstrip("/")
    where = f"{site}/c/{contest.slug}/team/" if site else ""
    body = f"{announcement.text}\n\n-- \n{contest.name}\n{where}".rstrip() + "\n"
    return _send(_addresses(members), f"[{contest.name}] {announcement.title}", body)


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
            raise Refused("closed", _("Appeals are not open."))
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
        people = [one.person for one in Organiser.objects.filter(contest=contest)]
        addresses = [p.email for p in people if p.email and p.is_active]
    title = _("[%(contest)s] An appeal of team %(number)d") % {
        "contest": contest.name,
        "number": team.number,
    }
    transaction.on_commit(lambda: _send_or_log(addresses, title, f"{text}\n"))
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


def tell_of_dead(job: Job) -> None:
    """Write to the organisers that a job was given up; inside the transaction that buries it."""
    from tracecup.server.jobs.queue import enqueue

    if job.contest is None or job.kind == MAIL_KIND:
        return  # a letter about a letter that cannot be sent would not be sent either
    enqueue(MAIL_KIND, f"mail:dead:{job.pk}:{job.fence}", {"dead": job.pk}, contest=job.contest)


def handle_mail(payload: dict[str, Any]) -> dict[str, Any]:
    """The job `mail`: send an announcement, or tell the organisers of a dead job."""
    if "dead" in payload:
        job = Job.objects.select_related("contest").get(pk=payload["dead"])
        return {"sent": _send_of_dead(job)}
    found = Announcement.objects.filter(pk=payload["announcement"]).first()
    return {"sent": send(found) if found else 0}


def _send_of_dead(job: Job) -> int:
    contest = job.contest
    assert contest is not None
    site = settings.CONFIG.site_url.rstrip("/")
    people = Person.objects.filter(organises__contest=contest, is_active=True).exclude(email="")
    sent = 0
    for person in people:
        with override(person.language or settings.LANGUAGE_CODE):
            title = _("The judge needs you")
            body = _(
                "A job (%(kind)s) was given up after %(attempts)s attempts. Nothing is lost and no "
                "score was made up; the page of the contest says what to do."
            ) % {"kind": job.kind, "attempts": job.attempts}
        where = f"\n\n{site}/c/{contest.slug}/run/" if site else ""
        sent += _send([person.email], f"[{contest.name}] {title}", f"{body}{where}\n")
    return sent


def _enqueue_mail(announcement: Announcement) -> None:
    from tracecup.server.jobs.queue import enqueue

    enqueue(
        MAIL_KIND,
        f"mail:{announcement.pk}",
        {"announcement": announcement.pk},
        contest=announcement.contest,
    )


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


def _addresses(members: Iterable[Member]) -> list[str]:
    people = (one.person for one in members)
    return sorted({person.email for person in people if person.email and person.is_active})


def _send(addresses: list[str], title: str, body: str) -> int:
    """Send one message to each address; an address that fails does not hold up the others."""
    subject = " ".join(title.split())
    sent = 0
    with get_connection() as connection:
        for address in addresses:
            try:
                sent += EmailMessage(subject, body, to=[address], connection=connection).send()
            except OSError:
                # The address is personal and stays out of the log.
                _logger.warning("an e-mail could not be sent", exc_info=True)
    return sent


def _send_or_log(addresses: list[str], title: str, body: str) -> None:
    """Send outside of a job: what cannot be sent now is not sent, the page has it anyway."""
    try:
        _send(addresses, title, body)
    except OSError:
        _logger.warning("e-mail is out of order", exc_info=True)
