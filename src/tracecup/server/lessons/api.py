"""The classroom as JSON: the toy, lessons and answers of a team, the teacher's table.

Each answer is the object that its page renders.
"""

from __future__ import annotations

from typing import Annotated, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema

from tracecup.contest.classroom.toy import STEPS
from tracecup.server.access import role_in
from tracecup.server.lessons import data, service
from tracecup.server.people.auth import actor_of, anyone, person_of
from tracecup.server.people.visits import address_of
from tracecup.server.reasons import MAX_REASON

router = Router()
CONTEST = "/contests/{slug}"
Slider = Literal["noise", "flip", "delete", "blur", "alike", "exchange"]


class AnswerText(Schema):
    """An answer to a step: the number of a user, or a file of the contest's format as text."""

    answer: str = Field(min_length=1, max_length=900_000)


class Reason(Schema):
    """Why something is done; it is kept in the log."""

    why: str = Field(min_length=1, max_length=MAX_REASON)


@router.get("/learn/play", auth=anyone, response=data.PlayInfo)
def play(
    request: HttpRequest,
    defence: Annotated[Slider, Query(description="Which slider.")] = "noise",
    step: Annotated[int, Query(ge=0, lt=STEPS, description="Its position; 0 is none.")] = 0,
) -> data.PlayInfo:
    """Utility and both risks of a defence on a toy; regions count from 1."""
    service.may_play(address_of(request))
    return data.play_info(defence, step)


@router.get(CONTEST + "/lessons", response=data.LessonsPage)
def lessons(request: HttpRequest, slug: str) -> data.LessonsPage:
    """The lessons of a class, and how far my team is."""
    return data.lessons_page(role_in(slug, person_of(request)))


@router.get(CONTEST + "/lessons/{lesson}", response=data.LessonPage)
def lesson(request: HttpRequest, slug: str, lesson: str) -> data.LessonPage:
    """One lesson: steps, goals, progress of my team."""
    return data.lesson_page(role_in(slug, person_of(request)), lesson)


@router.get(
    CONTEST + "/lessons/{lesson}/files.zip",
    openapi_extra={"responses": {200: {"content": {"application/zip": {}}}}},
)
def practice(request: HttpRequest, slug: str, lesson: str) -> HttpResponse:
    """My team's practice data: files of the contest's formats in a zip."""
    team = service.team_of(role_in(slug, person_of(request)))
    packed = service.packed(team, service.lesson_named(lesson))
    return HttpResponse(packed, content_type="application/zip")


@router.post(CONTEST + "/lessons/{lesson}/{step}", response=data.CheckedInfo)
def answer(
    request: HttpRequest, slug: str, lesson: str, step: str, body: AnswerText
) -> data.CheckedInfo:
    """Answer a step; the check tells the scores at once."""
    role = role_in(slug, person_of(request))
    team, one = service.team_of(role), service.lesson_named(lesson)
    asked = service.step_named(one, step)
    content = body.answer.encode("utf-8", "replace")
    answered = service.answer(team, one, asked, content, "", role.person)
    return data.checked(one, asked, answered)


@router.get(CONTEST + "/run/lessons", response=data.ClassPage)
def progress(request: HttpRequest, slug: str) -> data.ClassPage:
    """How far every team is; for organisers."""
    return data.class_page(role_in(slug, person_of(request)))


@router.post(CONTEST + "/run/lessons/reset", response=data.ClassPage)
def reset(request: HttpRequest, slug: str, body: Reason) -> data.ClassPage:
    """Forget all progress and draw other practice data; for organisers."""
    role = role_in(slug, person_of(request))
    role.require_organiser()
    service.reset(role.contest, actor_of(request), body.why)
    return data.class_page(role)
