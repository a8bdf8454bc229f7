"""Pages about the site: a new contest, health, metrics; and the certificates of teams.

Health and metrics say little to strangers: whether the server is well.
"""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from tracecup.server.access import Actor
from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Person
from tracecup.server.organising import contests
from tracecup.server.organising import data_site as run_site
from tracecup.server.people.forms import refuse
from tracecup.server.people.tokens import person_of_token
from tracecup.server.results import certificates
from tracecup.server.site import metrics
from tracecup.server.site.backup_job import BACKUP_FOLDER
from tracecup.server.web.context import person_of, place

LOCAL = ("127.0.0.1", "::1")


class NewForm(forms.Form):
    """A new contest."""

    name = forms.CharField(label=_("Name"), max_length=200)
    slug = forms.CharField(
        label=_("Address"),
        max_length=60,
        help_text=_("Small letters, digits, hyphens; the contest will be at /c/ADDRESS/."),
    )
    is_public = forms.BooleanField(
        label=_("Everybody may see this contest"),
        required=False,
        help_text=_("Can be changed later."),
    )
    divisions = forms.CharField(
        label=_("Divisions"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One a line; empty if there are none."),
    )
    text = forms.CharField(
        label=_("Rules (contest.toml)"),
        max_length=256 * 1024,
        strip=False,
        required=False,
        widget=forms.Textarea(attrs={"class": "code", "spellcheck": "false"}),
        help_text=_("Set the instants of the phases at the end; everything else has a default."),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Create a contest, or bring a deleted one back."""
    person = person_of(request)
    page = run_site.new_page(person, request.GET.get("preset", ""))
    actor = Actor(person, "page")
    if request.POST.get("act") == "undelete":
        return _undelete(request, person, actor)
    if request.method == "POST":
        run_site.require_staff(person)
    form = NewForm(request.POST or None, initial={"text": page.text})
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                made = contests.create_contest(
                    actor,
                    name=form.cleaned_data["name"],
                    slug=form.cleaned_data["slug"],
                    rules_text=form.cleaned_data["text"] or None,
                    is_public=form.cleaned_data["is_public"],
                    divisions=form.cleaned_data["divisions"].splitlines(),
                )
            except Refused as error:
                status = error.status
                refuse(form, error)
                return _new(request, page, form, status, error)
            messages.success(
                request, gettext("The contest exists. Next: times, teams, a rehearsal.")
            )
            return redirect("run", made.slug)
    return _new(request, page, form, status)


def _new(
    request: HttpRequest,
    page: run_site.NewPage,
    form: NewForm,
    status: int,
    refused: Refused | None = None,
) -> HttpResponse:
    context = {"page": page, "form": form, "refused": refused}
    return render(request, "organising/new.html", context, status=status)


def _undelete(request: HttpRequest, person: Person | None, actor: Actor) -> HttpResponse:
    slug = request.POST.get("slug", "")
    found = next((one for one in run_site.deleted_contests(person) if one.slug == slug), None)
    if found is None:
        raise not_found("contest")
    contests.undelete(found, actor)
    messages.success(request, gettext("The contest is back as it was."))
    return redirect("run", found.slug)


@never_cache
@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Whether the server is well: a word for everybody, the details for staff."""
    found = run_site.health()
    status = 503 if found.status == "down" else 200
    person = person_of(request) if status == 200 else None
    if person is None or not person.is_staff:
        return JsonResponse({"status": found.status}, status=status)
    if "json" in request.GET or not request.accepts("text/html"):
        return JsonResponse(found.model_dump(mode="json"), status=status)
    return render(request, "organising/health.html", {"page": found})


@never_cache
@require_safe
def metrics_page(request: HttpRequest) -> HttpResponse:
    """Numbers for Prometheus: for staff, a staff member's API token, and this machine itself."""
    if not _may_measure(request):
        raise not_found("page")
    return HttpResponse(metrics.metrics_text(), content_type=metrics.CONTENT_TYPE)


def _may_measure(request: HttpRequest) -> bool:
    person = person_of(request)
    kind, _space, secret = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer":
        person = person_of_token(secret.strip())
    if person is not None:
        return bool(person.is_staff)
    # Behind a proxy everybody comes from this machine.
    local = request.META.get("REMOTE_ADDR") in LOCAL and "X-Forwarded-For" not in request.headers
    return local and not settings.CONFIG.proxied


@require_GET
def backup_file(request: HttpRequest, name: str) -> FileResponse:
    """A backup, for the owner; it holds everything, so it is worth as much as the server itself."""
    run_site.require_owner(person_of(request))
    if name not in [row.name for row in run_site.backups()]:
        raise not_found("backup")
    found = settings.CONFIG.folder / BACKUP_FOLDER / name
    return FileResponse(found.open("rb"), as_attachment=True, filename=name)


@require_GET
def certificate_list(request: HttpRequest, slug: str) -> HttpResponse:
    """The certificates of one's own team; of all teams for organisers."""
    here = place(request, slug)
    if here.role.organiser:
        found = certificates.teams_with_certificates(here.contest)
    else:
        team = here.role.require_team()
        found = [(team, certificates.certificates_of(team))]
    return render(request, "organising/certificates.html", here.context(found=found))


@require_GET
def certificate(request: HttpRequest, slug: str, number: int, which: int) -> HttpResponse:
    """A certificate to print."""
    here = place(request, slug)
    found = certificates.certificate(here.role, number, which)
    context = here.context(certificate=found, picture=certificates.svg(found), which=which)
    return render(request, "organising/certificate.html", context)


@require_GET
def certificate_svg(request: HttpRequest, slug: str, number: int, which: int) -> HttpResponse:
    """A certificate as a file."""
    here = place(request, slug)
    found = certificates.certificate(here.role, number, which)
    response = HttpResponse(certificates.svg(found), content_type="image/svg+xml")
    name = f"certificate-{slug}-team{number:03d}-{which}.svg"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Content-Security-Policy"] = "default-src 'none'"
    return response


urlpatterns = [
    path("new/", new, name="run-new"),
    path("health/", health, name="health"),
    path("metrics", metrics_page, name="metrics"),
    path("backups/<str:name>", backup_file, name="backup-file"),
    path("c/<slug:slug>/certificates/", certificate_list, name="certificates"),
    path("c/<slug:slug>/certificates/<int:number>/<int:which>/", certificate, name="certificate"),
    path(
        "c/<slug:slug>/certificates/<int:number>/<int:which>.svg",
        certificate_svg,
        name="certificate-svg",
    ),
]
