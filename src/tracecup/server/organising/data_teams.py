"""What the organisers' pages of teams and submissions show: who takes part, what came in.

Typed; the pages render it and the API returns it. Names of people are here and nowhere else.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Max, Q
from ninja import Schema

from tracecup.contest.challenges import ATTACK_KINDS, HANDED_KINDS
from tracecup.server import clock
from tracecup.server.access import Role
from tracecup.server.errors import not_found
from tracecup.server.models import (
    Contest,
    Extension,
    Job,
    Member,
    OneTimeLink,
    Round,
    Submission,
    Team,
)
from tracecup.server.models.submissions import STATES
from tracecup.server.organising.repairs import may_rerun
from tracecup.server.people.data import OpenLink, open_link

PAGE = 50


class MemberRow(Schema):
    """Somebody in a team."""

    id: int
    username: str
    name: str
    email: str
    captain: bool
    seen_at: datetime | None


class ExtensionRow(Schema):
    """More time or tries of a team."""

    id: int
    team: int
    round: str
    phase: str
    until: datetime | None
    extra_tries: int
    reason: str
    given_at: datetime


class TeamRow(Schema):
    """A team and what it has done in the round."""

    number: int
    name: str
    division: str
    status: str
    status_reason: str
    hors_concours: bool
    bot: str
    join_code: str
    seen_at: datetime | None
    members: list[MemberRow]
    releases: int
    answers: int
    rejected: int
    extensions: list[ExtensionRow]


class OrganiserRow(Schema):
    """Somebody who runs the contest."""

    id: int
    username: str
    name: str
    since: datetime


class DeletedTeam(Schema):
    """A team that can be brought back."""

    number: int
    name: str
    deleted_at: datetime


class TeamsPage(Schema):
    """Who takes part."""

    round: str | None
    divisions: list[str]
    join_open: bool
    teams: list[TeamRow]
    deleted: list[DeletedTeam]
    links: list[OpenLink]
    organisers: list[OrganiserRow]


class SubmissionRow(Schema):
    """A file that came in; the score is for organisers' eyes."""

    ref: str
    team: int
    team_name: str
    round: str
    kind: str
    challenge: str
    target: int | None
    target_name: str
    attempt: int
    state: str
    charged: bool
    chosen: bool
    valid: bool | None
    reason: str
    score: float | None
    received_at: datetime
    file_name: str
    size: int
    sha256: str
    via: str


class SubmissionDetail(SubmissionRow):
    """Everything about one submission."""

    method: str
    consent: bool
    low: float | None
    high: float | None
    scorer: str
    seconds: float | None
    scored_at: datetime | None
    withdrawn_at: datetime | None
    problems: list[dict[str, Any]]
    receipt_path: str
    job_state: str
    job_error: str
    can_rerun: bool
    can_withdraw: bool
    can_restore: bool


class SubmissionsPage(Schema):
    """What came in, filtered, newest first."""

    round: str | None
    counts: dict[str, int]
    state: str
    kind: str
    team: int | None
    teams: dict[int, str]
    page: int
    pages: int
    total: int
    rows: list[SubmissionRow]
    shown: SubmissionDetail | None


def teams_page(role: Role, round: Round | None = None) -> TeamsPage:
    """Teams with members, divisions, last seen, extensions; open links; organisers."""
    role.require_organiser()
    contest = role.contest
    links = OneTimeLink.objects.filter(
        Q(contest=contest) | Q(team__contest=contest), used_at=None, expires_at__gt=clock.now()
    )
    return TeamsPage(
        round=round.name if round else None,
        divisions=contest.divisions,
        join_open=contest.join_open,
        teams=team_rows(role, round),
        deleted=[
            DeletedTeam(number=one.number, name=one.name, deleted_at=one.deleted_at)
            for one in contest.teams.exclude(deleted_at=None).order_by("number")
        ],
        links=[open_link(one) for one in links.select_related("team").order_by("-pk")],
        organisers=[
            OrganiserRow(
                id=one.person.pk,
                username=one.person.username,
                name=one.person.get_full_name(),
                since=one.since,
            )
            for one in contest.organisers.select_related("person").order_by("pk")
        ],
    )


def _latest(*instants: datetime | None) -> datetime | None:
    return max((at for at in instants if at is not None), default=None)


def team_rows(role: Role, round: Round | None = None) -> list[TeamRow]:
    """All teams of a contest, with what came from them in a round."""
    contest = role.contest
    members: dict[int, list[MemberRow]] = {}
    seen, used = Max("person__visits__seen_at"), Max("person__tokens__last_used_at")
    for one in (
        Member.objects.filter(contest=contest)
        .select_related("person")
        .annotate(last_seen=seen, last_used=used)
        .order_by("pk")
    ):
        members.setdefault(one.team_id, []).append(
            MemberRow(
                id=one.person.pk,
                username=one.person.username,
                name=one.person.get_full_name(),
                email=one.person.email,
                captain=one.captain,
                seen_at=_latest(one.last_seen, one.last_used),
            )
        )
    extensions: dict[int, list[ExtensionRow]] = {}
    for given in Extension.objects.filter(team__contest=contest).select_related("team", "round"):
        extensions.setdefault(given.team_id, []).append(extension_row(given))
    here = Q(submissions__round=round) if round else Q()
    rejected = Q(submissions__state="rejected")
    release = Q(submissions__kind="release")
    teams = contest.teams.filter(deleted_at=None).annotate(
        came_releases=Count("submissions", filter=here & release & ~rejected),
        came_answers=Count(
            "submissions", filter=here & Q(submissions__kind__in=ATTACK_KINDS) & ~rejected
        ),
        came_rejected=Count("submissions", filter=here & rejected),
    )
    return [
        TeamRow(
            number=team.number,
            name=team.name,
            division=team.division,
            status=team.status,
            status_reason=team.status_reason,
            hors_concours=team.hors_concours,
            bot=team.bot,
            join_code=team.join_code,
            seen_at=_latest(team.seen_at, *(one.seen_at for one in members.get(team.pk, []))),
            members=members.get(team.pk, []),
            releases=team.came_releases,
            answers=team.came_answers,
            rejected=team.came_rejected,
            extensions=extensions.get(team.pk, []),
        )
        for team in teams.order_by("number")
    ]


def extension_row(given: Extension) -> ExtensionRow:
    """An extension as organisers see it."""
    return ExtensionRow(
        id=given.pk,
        team=given.team.number,
        round=given.round.name,
        phase=given.phase,
        until=given.until,
        extra_tries=given.extra_tries,
        reason=given.reason,
        given_at=given.given_at,
    )


def submissions_page(
    role: Role,
    round: Round | None = None,
    *,
    state: str = "",
    kind: str = "",
    team: int | None = None,
    page: int = 1,
    show: str = "",
) -> SubmissionsPage:
    """Submissions of a round, filtered by state, kind and team."""
    role.require_organiser()
    found = Submission.objects.filter(contest=role.contest).select_related("team", "round")
    names = _names(role.contest)
    if round is not None:
        found = found.filter(round=round)
    counts = dict.fromkeys(STATES, 0)
    # An order would split the groups.
    grouped = found.order_by().values_list("state").annotate(count=Count("pk"))
    counts.update(dict(grouped.values_list("state", "count")))
    if state in STATES:
        found = found.filter(state=state)
    if kind in HANDED_KINDS:
        found = found.filter(kind=kind)
    if team is not None:
        found = found.filter(team__number=team)
    pages = Paginator(found.order_by("-pk"), PAGE)
    here = pages.get_page(page)
    return SubmissionsPage(
        round=round.name if round else None,
        counts=counts,
        state=state if state in STATES else "",
        kind=kind if kind in HANDED_KINDS else "",
        team=team,
        teams=names,
        page=here.number,
        pages=pages.num_pages,
        total=pages.count,
        rows=[submission_row(one, names) for one in here],
        shown=submission_detail(submission_of(role, show)) if show else None,
    )


def submission_of(role: Role, ref: str) -> Submission:
    """A submission of the contest by its public name."""
    found = (
        Submission.objects.select_related("team", "round", "round__contest")
        .filter(contest=role.contest, ref=ref[:12])
        .first()
    )
    if found is None:
        raise not_found("submission")
    return found


def submission_row(one: Submission, names: dict[int, str] | None = None) -> SubmissionRow:
    """A submission in the list; `names` are those of all teams."""
    return SubmissionRow(**_columns(one, SubmissionRow, names))


def submission_detail(one: Submission) -> SubmissionDetail:
    """Everything about a submission, its last job included."""
    job = (
        Job.objects.filter(contest=one.contest_id, payload__submission=one.pk)
        .order_by("-pk")
        .first()
    )
    return SubmissionDetail(
        **_columns(one, SubmissionDetail),
        receipt_path=f"/receipt/{one.receipt}/",
        job_state=job.state if job else "",
        job_error=job.error if job else "",
        can_rerun=may_rerun(one),
        can_withdraw=one.state in ("queued", "scoring", "scored"),
        can_restore=one.state == "withdrawn",
    )


def team_of(role: Role, number: int) -> Team:
    """A team of the contest by its number."""
    found = Team.objects.filter(contest=role.contest, number=number, deleted_at=None).first()
    if found is None:
        raise not_found("team")
    return found


def _names(contest: Contest) -> dict[int, str]:
    """Names of all teams by their numbers, deleted ones too: what they handed in stays."""
    return dict(contest.teams.order_by("number").values_list("number", "name"))


def _columns(
    one: Submission, schema: type[SubmissionRow], names: dict[int, str] | None = None
) -> dict[str, Any]:
    """What a row of the table says, with teams and round by their names."""
    if names is None:
        names = _names(one.contest)
    named = {
        "team": one.team.number,
        "team_name": one.team.name,
        "round": one.round.name,
        "target_name": names.get(one.target, "") if one.target else "",
    }
    return named | {
        name: getattr(one, name)
        for name in schema.model_fields
        if name not in named and hasattr(one, name)
    }
