"""Handing in on pages: releases and answers, checked first; choices about what was handed in.

A file that is refused comes back with its first bad lines on the same page and costs no try.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from tracecup.charts.movement import movement_charts
from tracecup.server import clock
from tracecup.server.errors import Refused, not_found
from tracecup.server.site import data as public
from tracecup.server.submissions import choices, data_receipt
from tracecup.server.submissions import data as team
from tracecup.server.submissions import data_handed as handed
from tracecup.server.submissions import service as submissions
from tracecup.server.submissions.movement import movement, one_user, user_chart
from tracecup.server.web.answering import ARRIVAL
from tracecup.server.web.context import Place, number_in, place

ZIP_MAGIC = b"PK\x03\x04"
FORM = ["GET", "HEAD", "POST"]


@dataclass(frozen=True)
class Outcome:
    """What a page says about a file that was sent to it: checked, refused, or a whole archive."""

    file_name: str = ""
    challenge: str = ""
    checked: Any = None
    refused: Refused | None = None
    submission: Any = None
    already: bool = False
    batch: Any = None
    charts: tuple[Any, ...] = ()

    @property
    def status(self) -> int:
        """The HTTP status of the page."""
        if self.refused is not None:
            return self.refused.status
        if self.submission is not None and self.submission.state == "rejected":
            return 422
        return 200


@require_http_methods(FORM)
def release(request: HttpRequest, slug: str) -> HttpResponse:
    """Is our anonymization good enough? A POST checks a file, or hands it in."""
    here = place(request, slug)
    here.require_team()
    here.require_round()
    if request.method != "POST":
        return _release_page(request, here)
    try:
        outcome = _release_outcome(request, here)
    except Refused as refused:
        outcome = Outcome(refused=refused, challenge=request.POST.get("challenge", ""))
    if outcome.submission is not None and outcome.submission.state != "rejected":
        return _accepted(request, here, outcome, "team-release")
    if getattr(request, "htmx", False):
        context = here.context(outcome=outcome, floor=here.contest.rules.scores.utility_floor)
        return render(request, "submissions/parts/outcome.html", context)
    return _release_page(request, here, outcome)


@require_http_methods(FORM)
def attack(request: HttpRequest, slug: str) -> HttpResponse:
    """Whom do we attack, with what? A POST hands in one file or an archive of many."""
    here = place(request, slug)
    here.require_team()
    here.require_round()
    if request.method != "POST":
        return _attack_page(request, here)
    try:
        outcome = _attack_outcome(request, here)
    except Refused as refused:
        outcome = Outcome(refused=refused)
    if outcome.submission is not None and outcome.submission.state != "rejected":
        return _accepted(request, here, outcome, "team-attack")
    if getattr(request, "htmx", False):
        return render(request, "submissions/parts/outcome.html", here.context(outcome=outcome))
    return _attack_page(request, here, outcome)


@require_POST
def decide(request: HttpRequest, slug: str, ref: str, verb: str) -> HttpResponse:
    """Choose, withdraw or describe a submission of the own team."""
    here = place(request, slug)
    submission = handed.submission_of(here.role, ref)
    if verb == "choose":
        choices.choose(submission, here.actor)
        messages.success(request, _("This release counts now."))
    elif verb == "withdraw":
        choices.withdraw(submission, here.actor)
        messages.success(request, _("The submission is withdrawn; its try stays used."))
    elif verb == "describe":
        consent = request.POST.get("consent") == "on"
        choices.describe(submission, request.POST.get("method", ""), consent, here.actor)
        messages.success(request, _("Saved."))
    else:
        raise not_found("action")
    page = "team-release" if submission.kind == "release" else "team-attack"
    return redirect(f"{reverse(page, args=[slug])}?round={submission.round.name}")


def _release_outcome(request: HttpRequest, here: Place) -> Outcome:
    file, challenge = _file(request), request.POST.get("challenge", "")
    round, own, name = here.require_round(), here.require_team(), str(file.name)
    if request.POST.get("action") != "submit":
        checked = submissions.check_only(
            round, own, "release", challenge, None, file, name, here.role.person
        )
        user = min(max(number_in(request.POST, "user") or 1, 1), here.contest.rules.users)
        charts = _charts(here, challenge, file, user) if checked.ok else ()
        return Outcome(name, challenge, checked=checked, charts=charts)
    receipt = submissions.receive(
        round,
        own,
        kind="release",
        challenge=challenge,
        target=None,
        source=file,
        file_name=name,
        key=request.POST.get("key", ""),
        received_at=clock.arrival(here.contest, request.META.get(ARRIVAL)),
        actor=here.actor,
        method=request.POST.get("method", ""),
        consent=request.POST.get("consent") == "on",
        confirm_invalid=request.POST.get("confirm_invalid") == "on",
    )
    return Outcome(name, challenge, submission=receipt.submission)


def _attack_outcome(request: HttpRequest, here: Place) -> Outcome:
    file = _file(request)
    round, own, name = here.require_round(), here.require_team(), str(file.name)
    given: dict[str, Any] = {
        "source": file,
        "file_name": name,
        "key": request.POST.get("key", ""),
        "received_at": clock.arrival(here.contest, request.META.get(ARRIVAL)),
        "actor": here.actor,
        "method": request.POST.get("method", ""),
        "consent": request.POST.get("consent") == "on",
    }
    checking = request.POST.get("action") != "submit"
    if _is_zip(file):
        if checking:
            raise Refused(
                "invalid",
                _("An archive is checked file by file when it is handed in; bad ones cost no try."),
            )
        return Outcome(name, batch=submissions.receive_archive(round, own, **given))
    kind, challenge, target = _place_of_answer(request, here, name)
    if checking:
        checked = submissions.check_only(
            round, own, kind, challenge, target, file, name, here.role.person
        )
        return Outcome(name, challenge, checked=checked)
    receipt = submissions.receive(
        round, own, kind=kind, challenge=challenge, target=target, **given
    )
    return Outcome(name, challenge, submission=receipt.submission, already=receipt.already)


def _place_of_answer(request: HttpRequest, here: Place, name: str) -> tuple[str, str, int | None]:
    """Kind, data set and target: from the fields where they are set, else from the file's name."""
    said = request.POST.get("target", "")
    if not said:
        return submissions.place_of(here.require_team(), name)
    challenge, _dash, number = said.partition("-")
    if not number.isascii() or not number.isdigit() or len(number) > 4:
        raise Refused("invalid", _("Choose a target from the list."))
    return request.POST.get("kind", ""), challenge, int(number)


def _charts(here: Place, challenge: str, file: UploadedFile, user: int) -> tuple[Any, ...]:
    """Pictures of a release that could be read: what moved, and the days of a user (from 1)."""
    lies_at = Path(file.temporary_file_path())
    given = here.require_round(), here.require_team(), challenge, lies_at
    moved = movement(*given)
    if moved is None:
        return ()
    city, reach = public.city_map(here.contest), here.contest.rules.scores.lambda_u
    charts = movement_charts(city, moved, reach, _)
    trace = one_user(*given, user - 1, None) if city is not None else None
    if city is not None and trace is not None:
        charts.append(user_chart(city, trace, user))
    return tuple(charts)


def _accepted(request: HttpRequest, here: Place, outcome: Outcome, page: str) -> HttpResponse:
    submission = outcome.submission
    receipt = reverse("receipt", args=[submission.receipt])
    said = _("Received {name}: SHA-256 {hash}….")
    if outcome.already:
        said = _(
            "Your team handed in this very answer before ({name}, SHA-256 {hash}…); "
            "no try was charged and nothing changed."
        )
    said = said.format(name=submission.file_name, hash=submission.sha256[:12])
    messages.success(request, format_html('{} <a href="{}">{}</a>', said, receipt, _("Receipt")))
    target = f"{reverse(page, args=[here.contest.slug])}?round={submission.round.name}"
    if getattr(request, "htmx", False):
        answer = HttpResponse(status=204)
        answer["HX-Redirect"] = target
        return answer
    return redirect(target)


def _release_page(
    request: HttpRequest, here: Place, outcome: Outcome | None = None
) -> HttpResponse:
    page = team.release_page(here.role, here.require_round())
    context = here.context(
        page=page, outcome=outcome, key=secrets.token_urlsafe(18), floor=page.floor
    )
    status = outcome.status if outcome else 200
    return render(request, "submissions/release.html", context, status=status)


def _attack_page(request: HttpRequest, here: Place, outcome: Outcome | None = None) -> HttpResponse:
    page = team.attack_page(here.role, here.require_round())
    context = here.context(page=page, outcome=outcome, key=secrets.token_urlsafe(18))
    status = outcome.status if outcome else 200
    return render(request, "submissions/attack.html", context, status=status)


def _file(request: HttpRequest) -> UploadedFile:
    file = request.FILES.get("file")
    if file is None:
        raise Refused("invalid", _("No file came with the form; choose one first."))
    return file


def _is_zip(file: UploadedFile) -> bool:
    begins = file.read(len(ZIP_MAGIC))
    file.seek(0)
    return bool(begins == ZIP_MAGIC)


@require_safe
def receipt(request: HttpRequest, secret: str) -> HttpResponse:
    """Did my file arrive? Works without an account for whoever has the link."""
    submission = choices.receipt_of(secret)
    page = data_receipt.receipt(submission)
    context = {
        "page": page,
        "contest": submission.contest,
        "now": clock.contest_now(submission.contest),
    }
    template = "submissions/receipt.html"
    if getattr(request, "htmx", False):
        template = "submissions/parts/receipt_state.html"
        if request.GET.get("state") == page.state:
            return HttpResponse(status=204)  # nothing to say again to those who listen
    answer = render(request, template, context)
    answer["Referrer-Policy"] = "no-referrer"
    answer["Cache-Control"] = "private, no-store"
    answer["X-Robots-Tag"] = "noindex"
    return answer


urlpatterns = [
    path("receipt/<str:secret>/", receipt, name="receipt"),
    path("c/<slug:slug>/team/release/", release, name="team-release"),
    path("c/<slug:slug>/team/attack/", attack, name="team-attack"),
    path("c/<slug:slug>/team/submission/<str:ref>/<str:verb>/", decide, name="team-decide"),
]
