"""What organisers can say: texts for everybody, announcements, answers to questions.

Each function is declared once as an act of a page and of the API.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from ninja import Field, Schema

from tracecup.server.errors import not_found
from tracecup.server.models import Announcement, Question
from tracecup.server.organising import data as run
from tracecup.server.organising import data_site as run_site
from tracecup.server.organising.act import CONTEST, Acts, At, Done, Route
from tracecup.server.organising.data_teams import team_of
from tracecup.server.organising.given import Number, Shown, Why, rows, team_choices
from tracecup.server.organising.texts import MAX_TEXT, set_texts
from tracecup.server.reasons import MAX_REASON
from tracecup.server.teams import messages
from tracecup.server.teams.questions import answer_question
from tracecup.server.web.context import Place

ACTS = Acts()
ANNOUNCEMENT = CONTEST + "/announcements/{int:number}"


def _text(name: str, label: Any, lines: int, help: Any = "") -> Shown:
    """A text for everybody, as it is."""

    def initial(place: Place) -> str:
        return str(place.contest.texts.get(name, ""))

    return Shown(label, help, initial=initial, options=rows(lines))


class Texts(Schema):
    """Texts of a contest in Markdown; what is left out stays as it is."""

    description: Annotated[
        str | None,
        _text("description", _("Description"), 8, _("It is shown first on the contest's page.")),
    ] = Field(None, max_length=MAX_TEXT)
    prizes: Annotated[str | None, _text("prizes", _("Prizes"), 5)] = Field(
        None, max_length=MAX_TEXT
    )
    terms: Annotated[str | None, _text("terms", _("Terms"), 6)] = Field(None, max_length=MAX_TEXT)
    contact: Annotated[str | None, _text("contact", _("Contact"), 3)] = Field(
        None, max_length=MAX_TEXT
    )
    faq: Annotated[str | None, _text("faq", _("Questions and answers"), 8)] = Field(
        None, max_length=MAX_TEXT
    )


@ACTS.act("run-texts", Route("PATCH", CONTEST + "/run/texts", run_site.TextsPage), name="texts")
def change_texts(at: At, body: Texts) -> Done:
    """Description, prizes, terms, contact and FAQ of a contest, for everybody who may see it."""
    set_texts(at.contest, at.actor, body.dict())
    return Done(gettext("Saved."), lambda: run_site.texts_page(at.role))


class Message(Schema):
    """An announcement; to one team by its number, else to all.

    `public` shows it to everybody who may see the contest; `at` is when it appears.
    """

    title: Annotated[str, Shown(_("Title"))] = Field(min_length=1, max_length=200)
    text: Annotated[str, Shown(_("Message"), _("Markdown."), options=rows(5))] = Field(
        min_length=1, max_length=20_000
    )
    team: Annotated[
        int | None,
        Shown(_("To"), choices=lambda place: [("", gettext("all teams")), *team_choices(place)]),
    ] = Field(None, ge=1, le=999)
    public: Annotated[bool, Shown(_("Everybody may read it, on the contest's page"))] = False
    at: Annotated[datetime | None, Shown(_("Not before"), _("Empty: now."))] = None
    mail: Annotated[bool, Shown(_("Also by e-mail"))] = True


@ACTS.act("run", Route("POST", CONTEST + "/announcements", run.AnnouncementRow, 201))
def announce(at: At, body: Message) -> Done:
    """Tell all teams, one, or everybody something, now or later; also by e-mail."""
    team = team_of(at.role, body.team) if body.team is not None else None
    made = messages.announce(
        at.contest,
        body.title,
        body.text,
        at.actor,
        team,
        mail=body.mail,
        public=body.public,
        at=body.at,
    )
    said = gettext("Announced.")
    if body.at is not None:
        said = gettext("It will be announced at the set time.")
    return Done(said, lambda: run.announcement_row(made))


@ACTS.act("run", Route("POST", ANNOUNCEMENT + "/retract", run.AnnouncementRow))
def retract(at: At, body: Why, number: Number) -> Done:
    """Take an announcement off the pages."""
    found = _announcement(at, number)
    messages.retract_announcement(found, at.actor, body.why)
    return Done(
        gettext("Retracted; it can be restored below."), lambda: run.announcement_row(found)
    )


@ACTS.act("run", Route("POST", ANNOUNCEMENT + "/restore", run.AnnouncementRow))
def restore(at: At, number: Number) -> Done:
    """Put a retracted announcement back."""
    found = _announcement(at, number)
    messages.restore_announcement(found, at.actor)
    return Done(gettext("The announcement is back."), lambda: run.announcement_row(found))


class Reply(Schema):
    """The organisers' answer to a question; `shared` tells it to all teams."""

    answer: Annotated[str, Shown(_("Answer"), options=rows(10))] = Field(
        min_length=1, max_length=MAX_REASON
    )
    shared: Annotated[bool, Shown(_("To all teams, without saying who asked"))] = False


@ACTS.act("run", Route("POST", CONTEST + "/questions/{int:number}/answer", run.QuestionRow))
def reply(at: At, body: Reply, number: Number) -> Done:
    """Answer a question of a team, to it or to all."""
    found = Question.objects.filter(team__contest=at.contest, pk=number).first()
    if found is None:
        raise not_found("question")
    answer_question(found, body.answer, body.shared, at.actor)
    said = gettext("All teams have your answer.")
    if not body.shared:
        said = gettext("The team has your answer.")
    return Done(said, lambda: run.question_row(found))


def _announcement(at: At, number: int) -> Announcement:
    found = Announcement.objects.filter(contest=at.contest, pk=number).first()
    if found is None:
        raise not_found("announcement")
    return found
