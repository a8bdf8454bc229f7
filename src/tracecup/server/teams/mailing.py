"""E-mails about a contest: announcements, appeals, questions, jobs that were given up.

Every letter is a job of its own, written in the transaction that makes it necessary: it is sent at
least once, and a worker that is killed repeats one letter at most.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from smtplib import SMTPRecipientsRefused
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import override

from tracecup.server import clock
from tracecup.server.jobs.queue import enqueue
from tracecup.server.models import (
    Announcement,
    Appeal,
    Contest,
    Job,
    Member,
    Person,
    Question,
)

KIND = "mail"
ATTEMPTS = 20  # a mail server may be away for more than an hour
PERMANENT = 500
_logger = logging.getLogger(__name__)


def send_announcement(announcement: Announcement) -> int:
    """A letter for every member that an announcement is for; how many.

    Of one whose time lies ahead the letters are written then, for those who are members then.
    """
    if announcement.at > clock.now():
        enqueue(
            KIND,
            f"{KIND}:later:{announcement.pk}",
            {"later": announcement.pk},
            contest=announcement.contest,
            run_after=announcement.at,
            max_attempts=ATTEMPTS,
        )
        return 0
    told = {"announcement": announcement.pk}
    return _enqueue(announcement.contest, str(announcement.pk), told, _readers(announcement))


def send_appeal(appeal: Appeal) -> int:
    """A letter for every organiser about an appeal; how many."""
    contest = appeal.team.contest
    return _enqueue(contest, f"appeal:{appeal.pk}", {"appeal": appeal.pk}, _organisers(contest))


def send_question(question: Question) -> int:
    """A letter for every organiser about a question; how many."""
    contest, told = question.team.contest, {"question": question.pk}
    return _enqueue(contest, f"question:{question.pk}", told, _organisers(contest))


def tell_of_dead(job: Job) -> int:
    """A letter for every organiser about a job that was given up; how many."""
    if job.contest is None or job.kind == KIND:
        return 0  # a letter about a letter that cannot be sent would not be sent either
    told = {"dead": job.pk}
    return _enqueue(job.contest, f"dead:{job.pk}:{job.fence}", told, _organisers(job.contest))


def handle_mail(payload: dict[str, Any]) -> dict[str, Any]:
    """The job `mail`: send one letter, to whom it is still meant for.

    An address that the mail server refuses for good is logged and forgotten; other errors fail the
    job, which is tried again for more than an hour.
    """
    if "later" in payload:
        due = Announcement.objects.filter(pk=payload["later"], deleted_at=None).first()
        return {"sent": 0, "letters": send_announcement(due) if due else 0}
    person = Person.objects.filter(pk=payload["person"]).first()
    if person is None:
        return {"sent": 0}
    with override(person.language or settings.LANGUAGE_CODE):
        letter = _letter(payload, person)
    return {"sent": _send(person.email, *letter) if letter else 0}


def _letter(payload: dict[str, Any], person: Person) -> tuple[str, str] | None:
    """Subject and text; None where there is nothing to send any more."""
    if "announcement" in payload:
        found = Announcement.objects.select_related("contest").filter(pk=payload["announcement"])
        said = found.filter(deleted_at=None).first()
        if said is None or not _readers(said).filter(pk=person.pk).exists():
            return None
        body = f"{said.text}\n\n-- \n{said.contest.name}"
        return _written(said.contest, said.title, body, "team", between="\n")
    if "appeal" in payload:
        appeal = Appeal.objects.select_related("team__contest").get(pk=payload["appeal"])
        contest, subject = appeal.team.contest, _("An appeal from team %(number)d")
        letter = _written(contest, subject % {"number": appeal.team.number}, appeal.text, "run")
    elif "question" in payload:
        asked = Question.objects.select_related("team__contest").get(pk=payload["question"])
        contest, subject = asked.team.contest, _("A question from team %(number)d")
        letter = _written(contest, subject % {"number": asked.team.number}, asked.text, "run")
    else:
        job = Job.objects.select_related("contest").get(pk=payload["dead"])
        contest = job.contest
        body = _(
            "A job (%(kind)s) was given up after %(attempts)s attempts. Nothing is lost, and "
            "no score was invented; the page of the contest says what to do."
        ) % {"kind": job.kind, "attempts": job.attempts}
        letter = _written(contest, _("The judge needs you"), body, "run")
    return letter if _organisers(contest).filter(pk=person.pk).exists() else None


def _written(
    contest: Contest, subject: str, body: str, page: str, between: str = "\n\n"
) -> tuple[str, str]:
    """A letter with the contest in its subject and the address of a page at its end."""
    site = settings.CONFIG.site_url.rstrip("/")
    where = f"{between}{site}/c/{contest.slug}/{page}/" if site else ""
    return " ".join(f"[{contest.name}] {subject}".split()), f"{body}{where}\n"


def _readers(announcement: Announcement) -> QuerySet[Person]:
    where: dict[str, Any] = {"contest": announcement.contest_id, "team__deleted_at": None}
    if announcement.team_id is not None:
        where["team"] = announcement.team_id
    return _reachable(memberships__in=Member.objects.filter(**where))


def _organisers(contest: Contest) -> QuerySet[Person]:
    return _reachable(organises__contest=contest)


def _reachable(**where: Any) -> QuerySet[Person]:
    people = Person.objects.filter(is_active=True, **where).exclude(email="")
    return people.order_by("pk").distinct()


def _enqueue(contest: Contest, key: str, told: dict[str, Any], people: Iterable[Person]) -> int:
    """One job for each address, which is not in it: jobs outlive accounts."""
    by_address = {person.email.lower(): person.pk for person in people}
    for number in sorted(by_address.values()):
        enqueue(
            KIND,
            f"{KIND}:{key}:{number}",
            {**told, "person": number},
            contest=contest,
            max_attempts=ATTEMPTS,
        )
    return len(by_address)


def _send(address: str, subject: str, body: str) -> int:
    try:
        return EmailMessage(subject, body, to=[address]).send()
    except OSError as error:  # smtplib's errors are of this kind
        if isinstance(error, SMTPRecipientsRefused):
            codes = [code for code, _said in error.recipients.values()]
            if min(codes, default=0) >= PERMANENT:
                _logger.warning("the mail server refuses an address")
                return 0
        # The address is personal and stays out of the log, to which this goes.
        raise ConnectionError(f"a letter could not be sent: {type(error).__name__}") from None
