"""Pages about the site: health, metrics, backups; and the certificates of teams.

Health and metrics say little to strangers: whether the server is well.
"""

from __future__ import annotations

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_safe

from tracecup.server.errors import not_found
from tracecup.server.organising import data_site as run_site
from tracecup.server.people.tokens import person_of_token
from tracecup.server.results import certificates
from tracecup.server.site import metrics
from tracecup.server.site.backup_job import BACKUP_FOLDER
from tracecup.server.web.context import person_of, place

LOCAL = ("127.0.0.1", "::1")


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
