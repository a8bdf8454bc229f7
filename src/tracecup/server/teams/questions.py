"""Questions of teams to the organisers, and answers to the one that asked or to all.

An answer is an announcement: on the pages at once, and by e-mail.
"""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.locks import locked
from tracecup.server.models import Question, Team
from tracecup.server.reasons import require_reason
from tracecup.server.teams import mailing
from tracecup.server.teams.messages import announce

MAX_QUESTION = 4000
MAX_OPEN = 10  # every question is a letter to every organiser


def ask(team: Team, text: str, actor: Actor) -> Question:
    """Ask the organisers something, at any time while the team takes part."""
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    if not 1 <= len(text) <= MAX_QUESTION:
        raise Refused("invalid", _("A question has 1 to 4000 characters."))
    with transaction.atomic():
        contest = locked(team.contest)
        if team.questions.filter(answered_at=None).count() >= MAX_OPEN:
            raise Refused("throttled", _("Wait for the answers to your questions first."))
        made = Question.objects.create(team=team, text=text, at=clock.now(), by=actor.person)
        log.record(
            actor,
            "question",
            contest=contest,
            subject=f"team:{team.number}",
            after={"question": made.pk},
        )
        mailing.send_question(made)
    return made


def answer_question(question: Question, answer: str, shared: bool, actor: Actor) -> None:
    """Answer a question: to the team, or to all teams, who then read the question without its team.

    It can be answered again; what was announced before stays.
    """
    answer = require_reason(answer)
    with transaction.atomic():
        held = Question.objects.select_for_update().get(pk=question.pk)
        before = {"answer": held.answer, "shared": held.shared}
        held.answer, held.shared = answer, shared
        held.answered_at, held.answered_by = clock.now(), actor.person
        held.save()
        log.record(
            actor,
            "question.answer",
            contest=held.team.contest,
            subject=f"question:{held.pk}",
            before=before,
            after={"answer": answer, "shared": shared},
        )
        asked = "\n".join(f"> {line}" for line in held.text.split("\n"))
        title = _("A question and its answer") if shared else _("Your question was answered")
        announce(
            held.team.contest, title, f"{asked}\n\n{answer}", actor, None if shared else held.team
        )
    question.refresh_from_db()
