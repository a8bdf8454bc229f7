"""The organisers' API of rounds: submissions, judge, results; and of the site: backups, health.

What they can do with a round is declared in `acts_rounds`.
"""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status

from tracecup.server.access import role_in
from tracecup.server.organising import acts_rounds, repairs
from tracecup.server.organising import data_scores as run_scores
from tracecup.server.organising import data_site as run_site
from tracecup.server.organising import data_teams as run_teams
from tracecup.server.organising.act import CONTEST
from tracecup.server.organising.data_teams import submission_of
from tracecup.server.organising.owncity import set_city_file
from tracecup.server.people.asking import RoundName, organiser_of, round_in
from tracecup.server.people.auth import actor_of, anyone, person_of
from tracecup.server.results import certificates
from tracecup.server.web import uploads

router = Router()
CITY_FIELDS = {"kind": "city (table of regions) or model", "why": "the reason, for the log"}


class Word(Schema):
    """Whether the server is well: ok, attention, down."""

    status: str


class CertificateInfo(Schema):
    """A certificate; the picture is at `path`."""

    team: int
    team_name: str
    title: str
    line: str
    round: str
    path: str


class Asked(Schema):
    """A job that was asked for."""

    job: int


@router.get(CONTEST + "/run/submissions", response=run_teams.SubmissionsPage)
def submissions(
    request: HttpRequest,
    slug: str,
    round: RoundName = None,
    state: Annotated[str, Query(max_length=20)] = "",
    kind: Annotated[str, Query(max_length=20)] = "",
    team: Annotated[int | None, Query(ge=1, le=999)] = None,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> run_teams.SubmissionsPage:
    """What came in, newest first."""
    role = organiser_of(request, slug)
    return run_teams.submissions_page(
        role, round_in(role, round), state=state, kind=kind, team=team, page=page
    )


@router.get(CONTEST + "/run/submissions/{ref}", response=run_teams.SubmissionDetail)
def submission(request: HttpRequest, slug: str, ref: str) -> run_teams.SubmissionDetail:
    """Everything about one submission."""
    return run_teams.submission_detail(submission_of(organiser_of(request, slug), ref))


@router.get(CONTEST + "/run/judge", response=run_scores.JudgePage)
def judge(request: HttpRequest, slug: str, round: RoundName = None) -> run_scores.JudgePage:
    """Verdicts and commitments; before the deadline what they would be now."""
    role = organiser_of(request, slug)
    return run_scores.judge_page(role, round_in(role, round))


@router.get(CONTEST + "/run/scores", response=run_scores.ScoresPage)
def scores(
    request: HttpRequest,
    slug: str,
    round: RoundName = None,
    number: Annotated[int | None, Query(ge=1, le=32767)] = None,
) -> run_scores.ScoresPage:
    """Result sets, one of them with its matrices and what it changes."""
    role = organiser_of(request, slug)
    return run_scores.scores_page(role, round_in(role, round), number)


@router.post(
    CONTEST + "/run/city",
    response={201: run_site.CityFileRow},
    openapi_extra=uploads.form(CITY_FIELDS, key=False),
)
def city(request: HttpRequest, slug: str) -> Status[run_site.CityFileRow]:
    """Give the table of regions or the model of the contest's own city; data are made anew."""
    role = organiser_of(request, slug)
    fields, file = uploads.fields_and_file(request)
    made = set_city_file(
        role.contest, fields.get("kind", ""), file, actor_of(request), fields.get("why", "")
    )
    return Status(201, run_site.city_file_row(made))


@router.get(CONTEST + "/certificates", response=list[CertificateInfo])
def certificate_list(request: HttpRequest, slug: str) -> list[CertificateInfo]:
    """The certificates of one's own team; of all teams for organisers."""
    role = role_in(slug, person_of(request))
    if role.organiser:
        found = certificates.teams_with_certificates(role.contest)
    else:
        team = role.require_team()
        found = [(team, certificates.certificates_of(team))]
    return [
        CertificateInfo(
            team=team.number,
            team_name=team.name,
            title=one.title,
            line=one.line,
            round=one.round,
            path=f"/c/{slug}/certificates/{team.number}/{k}.svg",
        )
        for team, made in found
        for k, one in enumerate(made, start=1)
    ]


@router.get(
    CONTEST + "/certificates/{int:team}/{int:which}",
    openapi_extra={"responses": {200: {"content": {"image/svg+xml": {}}}}},
)
def certificate(request: HttpRequest, slug: str, team: int, which: int) -> HttpResponse:
    """A certificate as a picture."""
    found = certificates.certificate(role_in(slug, person_of(request)), team, which)
    return HttpResponse(certificates.svg(found), content_type="image/svg+xml")


@router.get(CONTEST + "/run/backup", response=run_site.BackupPage)
def backups(request: HttpRequest, slug: str) -> run_site.BackupPage:
    """The backups of the server; their names for staff only."""
    return run_site.backup_page(organiser_of(request, slug))


@router.post("/site/backups", response={201: Asked})
def backup(request: HttpRequest) -> Status[Asked]:
    """Have a backup of the whole server made; for staff."""
    run_site.require_staff(person_of(request))
    return Status(201, Asked(job=repairs.ask_backup(actor_of(request)).pk))


@router.get("/site/health", auth=anyone, response={200: run_site.HealthPage | Word, 503: Word})
def health(request: HttpRequest) -> Any:
    """Whether the server is well: a word for everybody, the details for staff."""
    found = run_site.health()
    person = person_of(request)
    if found.status == "down":
        return Status(503, Word(status=found.status))
    if person is not None and person.is_staff:
        return found
    return Word(status=found.status)


acts_rounds.ACTS.add_routes(router, __name__)
