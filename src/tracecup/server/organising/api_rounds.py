"""The organisers' API of rounds: submissions, judge, results; and of the site: backups, health.

What is dangerous needs `why`.
"""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status

from tracecup.contest.rules import PHASES
from tracecup.server.access import Role, role_in
from tracecup.server.errors import not_found
from tracecup.server.models import Round
from tracecup.server.organising import contests, repairs
from tracecup.server.organising import (
    data_scores as run_scores,
)
from tracecup.server.organising import (
    data_site as run_site,
)
from tracecup.server.organising import (
    data_teams as run_teams,
)
from tracecup.server.organising.api import CONTEST, aware, organiser_of
from tracecup.server.organising.api_bodies import PhaseTimes, Why
from tracecup.server.organising.data_scores import result_set_of
from tracecup.server.organising.data_teams import submission_of
from tracecup.server.organising.owncity import set_city_file
from tracecup.server.people.asking import (
    RoundName,
    round_in,
)
from tracecup.server.people.auth import (
    actor_of,
    anyone,
    person_of,
)
from tracecup.server.results import certificates
from tracecup.server.web import uploads

router = Router()
ROUND = CONTEST + "/rounds/{name}"
CITY_FIELDS = {"kind": "city (table of regions) or model", "why": "the reason, for the log"}


class Switch(Why):
    """On or off."""

    on: bool


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


@router.post(CONTEST + "/run/submissions/{ref}/rerun", response=run_teams.SubmissionDetail)
def rerun(request: HttpRequest, slug: str, ref: str, body: Why) -> run_teams.SubmissionDetail:
    """Have an answer scored again."""
    found = submission_of(organiser_of(request, slug), ref)
    repairs.rerun(found, actor_of(request), body.why)
    return run_teams.submission_detail(found)


@router.post(CONTEST + "/run/submissions/{ref}/withdraw", response=run_teams.SubmissionDetail)
def withdraw(request: HttpRequest, slug: str, ref: str, body: Why) -> run_teams.SubmissionDetail:
    """Take a submission of a team away; `restore` undoes it."""
    role = organiser_of(request, slug)
    repairs.withdraw(submission_of(role, ref), actor_of(request), body.why)
    return run_teams.submission_detail(submission_of(role, ref))


@router.post(CONTEST + "/run/submissions/{ref}/restore", response=run_teams.SubmissionDetail)
def restore(request: HttpRequest, slug: str, ref: str, body: Why) -> run_teams.SubmissionDetail:
    """Undo a withdrawal."""
    role = organiser_of(request, slug)
    repairs.restore(submission_of(role, ref), actor_of(request), body.why)
    return run_teams.submission_detail(submission_of(role, ref))


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


@router.put(ROUND + "/phases", response=run_site.PlanRow)
def phases(request: HttpRequest, slug: str, name: str, body: PhaseTimes) -> run_site.PlanRow:
    """When the phases of a round begin."""
    role, round = _at(request, slug, name)
    instants = {phase: aware(getattr(body, phase), role.contest) for phase in PHASES}
    kept = {phase: at for phase, at in instants.items() if at is not None}
    return run_site.plan_row(contests.set_phases(round, kept, actor_of(request), body.why))


@router.post(ROUND + "/publish", response=run_scores.JudgePage)
def publish(request: HttpRequest, slug: str, name: str, body: Why) -> run_scores.JudgePage:
    """Publish the judged releases now."""
    role, round = _at(request, slug, name)
    repairs.publish_now(round, actor_of(request), body.why)
    return run_scores.judge_page(role, round)


@router.put(ROUND + "/auto-publish", response={204: None})
def auto_publish(request: HttpRequest, slug: str, name: str, body: Switch) -> Status[None]:
    """Whether releases go out by themselves at the instant."""
    _role, round = _at(request, slug, name)
    contests.set_auto_publish(round, body.on, actor_of(request), body.why)
    return Status(204, None)


@router.put(ROUND + "/auto-results", response={204: None})
def auto_results(request: HttpRequest, slug: str, name: str, body: Switch) -> Status[None]:
    """Whether the first results go out by themselves."""
    _role, round = _at(request, slug, name)
    contests.set_auto_results(round, body.on, actor_of(request), body.why)
    return Status(204, None)


@router.put(ROUND + "/frozen", response={204: None})
def freeze(request: HttpRequest, slug: str, name: str, body: Switch) -> Status[None]:
    """Hide the boards from everybody but organisers, or show them again."""
    _role, round = _at(request, slug, name)
    contests.freeze(round, body.on, actor_of(request), body.why)
    return Status(204, None)


@router.put(ROUND + "/archive-open", response={204: None})
def open_archive(request: HttpRequest, slug: str, name: str, body: Switch) -> Status[None]:
    """Give the archive to everybody who may see the results, or to organisers only."""
    _role, round = _at(request, slug, name)
    contests.open_archive(round, body.on, actor_of(request), body.why)
    return Status(204, None)


@router.post(ROUND + "/result-sets", response={201: run_scores.ResultSetRow})
def rescore(
    request: HttpRequest, slug: str, name: str, body: Why
) -> Status[run_scores.ResultSetRow]:
    """Have a new set of results computed, as a draft."""
    _role, round = _at(request, slug, name)
    made = repairs.ask_results(round, actor_of(request), body.why)
    return Status(201, run_scores.result_set_row(made))


@router.post(ROUND + "/result-sets/{int:number}/publish", response=run_scores.ResultSetRow)
def release(
    request: HttpRequest, slug: str, name: str, number: int, body: Why
) -> run_scores.ResultSetRow:
    """Make a set of results the published one."""
    _role, round = _at(request, slug, name)
    found = result_set_of(round, number)
    return run_scores.result_set_row(repairs.publish_results(found, actor_of(request), body.why))


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


def _at(request: HttpRequest, slug: str, name: str) -> tuple[Role, Round]:
    role = organiser_of(request, slug)
    found = round_in(role, name)
    if found is None:
        raise not_found("round")
    return role, found
