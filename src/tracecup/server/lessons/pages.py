"""Pages of the classroom: the toy for everybody, lessons of a team, the teacher's table.

Each renders what `data` returns, as the API does.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from tracecup.contest.classroom.toy import SETTINGS, STEPS
from tracecup.server.errors import Refused
from tracecup.server.lessons import data, service, sketches, words
from tracecup.server.people.visits import address_of
from tracecup.server.web.context import Place, place

FORM = ["GET", "HEAD", "POST"]
FIRST_SLIDER, FIRST_STEP = "noise", 2


@require_safe
def play(request: HttpRequest) -> HttpResponse:
    """What does a defence cost, and what does it hide? Works without an account."""
    service.may_play(address_of(request))
    defence = request.GET.get("defence", "")
    said = request.GET.get("step", "")
    step = int(said) if said.isascii() and said.isdigit() and len(said) < 3 else FIRST_STEP
    if defence not in SETTINGS:
        defence = FIRST_SLIDER
    page = data.play_info(defence, min(step, STEPS - 1))
    context = {
        "page": page,
        "last": STEPS - 1,
        "about": words.slider_text(defence),
        "sliders": [(name, words.slider_title(name)) for name in SETTINGS],
        "original": sketches.line([[region] for region in page.original]),
        "original_dots": sketches.dots([(region, 1) for region in page.original]),
        "released": sketches.line(page.released),
        "released_dots": sketches.dots([(region, 1) for cell in page.released for region in cell]),
    }
    part = getattr(request, "htmx", False)
    return render(request, "lessons/parts/played.html" if part else "lessons/play.html", context)


@require_safe
def lessons(request: HttpRequest, slug: str) -> HttpResponse:
    """What is there to learn, and how far are we?"""
    here = place(request, slug)
    page = data.lessons_page(here.role)
    return render(request, "lessons/lessons.html", here.context(page=page))


@require_http_methods(FORM)
def one_lesson(request: HttpRequest, slug: str, lesson: str) -> HttpResponse:
    """One lesson; a POST hands in an answer to a step, which is checked at once."""
    here = place(request, slug)
    team, one = service.team_of(here.role), service.lesson_named(lesson)
    if request.method != "POST":
        return _lesson(request, here, lesson)
    step = service.step_named(one, request.POST.get("step", ""))
    try:
        content, file_name = _handed(request)
        answered = service.answer(team, one, step, content, file_name, here.role.person)
    except Refused as refused:
        return _lesson(request, here, lesson, refused.status, refused=refused, tried=step.name)
    checked = data.checked(one, step, answered)
    if checked.passed:
        messages.success(request, _("Right: {step}.").format(step=checked.step.title))
    else:
        messages.warning(request, _("Not yet: {step}.").format(step=checked.step.title))
    return redirect(f"{reverse('lesson', args=[slug, lesson])}#{step.name}")


@require_safe
def files(request: HttpRequest, slug: str, lesson: str) -> HttpResponse:
    """The practice data of the visitor's team, as one archive."""
    here = place(request, slug)
    team, one = service.team_of(here.role), service.lesson_named(lesson)
    packed = service.packed(team, one)
    answer = HttpResponse(packed, content_type="application/zip")
    answer["Content-Disposition"] = f'attachment; filename="{one.name}.zip"'
    answer["Cache-Control"] = "private, no-store"
    return answer


@require_http_methods(FORM)
def teacher(request: HttpRequest, slug: str) -> HttpResponse:
    """How far is the class? A POST starts over for the next one."""
    here = place(request, slug)
    here.role.require_organiser()
    refused = None
    if request.method == "POST":
        try:
            gone = service.reset(here.contest, here.actor, request.POST.get("why", ""))
        except Refused as error:
            refused = error
        else:
            said = ngettext(
                "Lessons were reset: {count} step was erased, and every team has new practice "
                "data.",
                "Lessons were reset: {count} steps were erased, and every team has new practice "
                "data.",
                gone,
            )
            messages.success(request, said.format(count=gone))
            return redirect("run-lessons", slug=slug)
    context = here.context(page=data.class_page(here.role), refused=refused)
    status = refused.status if refused else 200
    return render(request, "lessons/class.html", context, status=status)


def _lesson(
    request: HttpRequest, here: Place, name: str, status: int = 200, **more: Any
) -> HttpResponse:
    page = data.lesson_page(here.role, name)
    maps = []
    if page.puzzle is not None:
        shown = [page.puzzle.pseudonym, *page.puzzle.candidates]
        maps = [(one, sketches.dots(one.regions)) for one in shown]
    context = here.context(page=page, maps=maps, **more)
    return render(request, "lessons/lesson.html", context, status=status)


def _handed(request: HttpRequest) -> tuple[bytes, str]:
    """What came with the form: a file, or what was typed."""
    file = request.FILES.get("file")
    if file is not None:
        service.require_small(file.size or 0)
        return file.read(), str(file.name)
    said = request.POST.get("answer", "").strip()
    if not said:
        raise Refused("invalid", _("Choose a file or type an answer first."))
    return said.encode(), ""


urlpatterns = [
    path("learn/play/", play, name="learn-play"),
    path("c/<slug:slug>/lessons/", lessons, name="lessons"),
    path("c/<slug:slug>/lessons/<slug:lesson>/", one_lesson, name="lesson"),
    path("c/<slug:slug>/lessons/<slug:lesson>/files.zip", files, name="lesson-files"),
    path("c/<slug:slug>/run/lessons/", teacher, name="run-lessons"),
]
