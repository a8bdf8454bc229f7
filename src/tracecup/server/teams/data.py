"""What a team's first page shows: the next step, how it stands, news.

Typed; the page renders it and the API returns it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ninja import Schema

from tracecup.server import clock, windows
from tracecup.server.access import Role
from tracecup.server.models import Download, Round, Submission, Team
from tracecup.server.results.certificates import certificates_of
from tracecup.server.submissions.data import ReleaseState, answers_left, release_state, targets_of
from tracecup.server.submissions.data_handed import (
    SubmissionInfo,
    WindowInfo,
    submission_info,
    window_info,
)
from tracecup.server.teams import messages

LAST_SHOWN = 5


NEWS_SHOWN = 20


class News(Schema):
    """A message of the organisers."""

    title: str
    text: str
    at: datetime
    to_us: bool


class NextStep(Schema):
    """The one thing to do now: a code, where to do it, until when, and how many are missing.

    `waits`: nothing can be handed in yet, and `until` is when the next phase begins.
    """

    code: str
    page: str
    challenge: str | None = None
    until: datetime | None = None
    missing: int = 0
    waits: bool = False


class TeamPage(Schema):
    """What should we do now? `won` are awards in words, once results are public."""

    contest: str
    round: str
    number: int
    name: str
    status: str
    status_reason: str
    hors_concours: bool
    step: NextStep
    release: WindowInfo
    attack: WindowInfo
    releases: list[ReleaseState]
    targets: int
    answered: int
    missing: int
    answers_left: int
    results_out: bool
    won: list[str]
    has_certificates: bool
    appeals_until: datetime | None
    news: list[News]
    last: list[SubmissionInfo]


def team_page(role: Role, round: Round) -> TeamPage:
    """What a team should do now, and how it stands."""
    team, contest = role.require_team(), role.contest
    now = clock.contest_now(contest)
    release, attack = (window_info(round, action, team) for action in ("release", "attack"))
    releases = [release_state(round, team, kind) for kind in contest.rules.challenges_played]
    targets = targets_of(round, team, role.person) if round.published_at else []
    missing = sum(target.missing for target in targets)
    step = _step(round, team, now, release, attack, releases, missing)
    held = Submission.objects.filter(round=round, team=team).select_related("round__contest")
    papers = certificates_of(team) if round.released_at is not None else []
    return TeamPage(
        contest=contest.slug,
        round=round.name,
        number=team.number,
        name=team.name,
        status=team.status,
        status_reason=team.status_reason,
        hors_concours=team.hors_concours,
        step=step,
        release=release,
        attack=attack,
        releases=releases,
        targets=len(targets),
        answered=sum(len(target.answers) - target.missing for target in targets),
        missing=missing,
        answers_left=answers_left(targets),
        results_out=round.released_at is not None,
        won=[one.title for one in papers if one.award],
        has_certificates=bool(papers),
        appeals_until=contest.appeals_until,
        news=_news(team),
        last=[submission_info(one) for one in held.order_by("-id")[:LAST_SHOWN]],
    )


def _step(
    round: Round,
    team: Team,
    now: datetime,
    release: WindowInfo,
    attack: WindowInfo,
    releases: Iterable[ReleaseState],
    missing: int,
) -> NextStep:
    """The one next step; the first that applies."""
    if team.status != "active":
        return NextStep(code=team.status, page="results" if round.released_at else "contest")
    if round.released_at is not None:
        return NextStep(code="look-results", page="results")
    if attack.is_open:
        code = "attack-missing" if missing else "attack-more"
        return NextStep(code=code, page="team-attack", until=attack.closes, missing=missing)
    if release.is_open:
        return _release_step(team, release, releases)
    return _waiting_step(round, team, now, release, attack)


def _waiting_step(
    round: Round, team: Team, now: datetime, release: WindowInfo, attack: WindowInfo
) -> NextStep:
    """What to do while nothing can be handed in."""
    phases, code, page = round.rules.phases, "wait-judge", "contest"
    until = attack.opens
    if round.contest.paused_at is not None or release.state == "unscheduled":
        code, until = ("paused" if release.state != "unscheduled" else "unscheduled"), None
    elif attack.state == "closed":
        code, until = "wait-results", phases.results
    elif windows.phase_now(round, now) is None:
        code, until = "wait-announce", phases.announce
    elif release.state == "before":
        code, page = ("prepare" if _has_data(team) else "download"), "team-data"
        until = release.opens
    return NextStep(code=code, page=page, until=until, waits=True)


def _release_step(team: Team, release: WindowInfo, releases: Iterable[ReleaseState]) -> NextStep:
    held = list(releases)
    for one in held:
        if one.counting is None or not one.counting.valid:
            if not one.tries.left:
                continue
            code = "release-first" if _has_data(team) else "download"
            page = "team-release" if _has_data(team) else "team-data"
            return NextStep(code=code, page=page, challenge=one.challenge, until=release.closes)
    left = any(one.tries.left for one in held)
    code = "release-better" if left else "release-done"
    return NextStep(code=code, page="team-release", until=release.closes)


def _has_data(team: Team) -> bool:
    return Download.objects.filter(team=team).exists()


def _news(team: Team) -> list[News]:
    return [
        News(title=one.title, text=one.text, at=one.at, to_us=one.team_id is not None)
        for one in messages.announcements(team)[:NEWS_SHOWN]
    ]
