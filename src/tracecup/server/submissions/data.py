"""What a team sees: the next step, its releases, its attacks.

Typed; a page renders it and the API returns it. Scores of attacks are in it only as far as the
feedback policy allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from ninja import Schema

from tracecup.contest.challenges import ANSWER_FILES, ATTACK_KINDS
from tracecup.contest.entries import Entry
from tracecup.server import clock, windows
from tracecup.server.access import Role
from tracecup.server.models import Download, Round, Submission, Team
from tracecup.server.organising import messages
from tracecup.server.submissions import feedback
from tracecup.server.submissions import service as intake
from tracecup.server.submissions.data_handed import (
    SubmissionInfo,
    Tries,
    WindowInfo,
    submission_info,
    window_info,
)

LAST_SHOWN = 5
NEWS_SHOWN = 20


class News(Schema):
    """A message of the organisers."""

    title: str
    text: str
    at: datetime
    to_us: bool


class NextStep(Schema):
    """The one thing to do now: a code, where to do it, until when, and how many are missing."""

    code: str
    page: str
    challenge: str | None = None
    until: datetime | None = None
    missing: int = 0


class ReleaseState(Schema):
    """A data set of the team: tries and the release that counts."""

    challenge: str
    label: str
    file_name: str
    tries: Tries
    counting: SubmissionInfo | None


class TeamPage(Schema):
    """What should we do now?"""

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
    appeals_until: datetime | None
    news: list[News]
    last: list[SubmissionInfo]


class ReleaseSet(ReleaseState):
    """A data set with all releases that the team handed in for it, the newest first."""

    submissions: list[SubmissionInfo]


class ReleasePage(Schema):
    """Is our anonymization good enough? `may_check` holds as soon as the data are out."""

    contest: str
    round: str
    window: WindowInfo
    may_check: bool
    floor: float
    file_mib: int
    hors_concours: bool
    sets: list[ReleaseSet]


class Answer(Schema):
    """Our answers of one kind against one target."""

    kind: str
    file_name: str
    tries: Tries
    missing: bool
    submissions: list[SubmissionInfo]


class Target(Schema):
    """A release to attack; `team` 0 is the benchmark."""

    team: int
    name: str
    challenge: str
    label: str
    missing: int
    answers: list[Answer]


class AttackPage(Schema):
    """Whom do we attack, and with what? Targets with missing answers come first."""

    contest: str
    round: str
    window: WindowInfo
    policy: str
    bits_an_answer: dict[str, float]
    bits_a_target: dict[str, float]
    answers_left: int
    missing: int
    waiting: int
    file_mib: int
    targets: list[Target]


def team_page(role: Role, round: Round) -> TeamPage:
    """What a team should do now, and how it stands."""
    team, contest = role.require_team(), role.contest
    now = clock.contest_now(contest)
    release, attack = (window_info(round, action, team) for action in ("release", "attack"))
    releases = [_release_state(round, team, kind) for kind in contest.rules.challenges_played]
    targets = _targets(round, team) if round.published_at else []
    missing = sum(target.missing for target in targets)
    step = _step(round, team, now, release, attack, releases, missing)
    held = Submission.objects.filter(round=round, team=team).select_related("round__contest")
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
        answers_left=_answers_left(targets),
        results_out=round.released_at is not None,
        appeals_until=contest.appeals_until,
        news=_news(team),
        last=[submission_info(one) for one in held.order_by("-id")[:LAST_SHOWN]],
    )


def release_page(role: Role, round: Round) -> ReleasePage:
    """The releases of a team."""
    team, rules = role.require_team(), role.contest.rules
    return ReleasePage(
        contest=role.contest.slug,
        round=round.name,
        window=window_info(round, "release", team),
        may_check=window_info(round, "data", team).is_open,
        floor=rules.scores.utility_floor,
        file_mib=rules.limits.file_mib,
        hors_concours=team.hors_concours,
        sets=[_release_set(round, team, kind) for kind in rules.challenges_played],
    )


def attack_page(role: Role, round: Round) -> AttackPage:
    """The targets of a team and its answers."""
    team, rules = role.require_team(), role.contest.rules
    targets = _targets(round, team) if round.published_at else []
    order = sorted(targets, key=lambda one: (not one.missing, one.team, one.challenge))
    budget = feedback.budget(round)
    return AttackPage(
        contest=role.contest.slug,
        round=round.name,
        window=window_info(round, "attack", team),
        policy=feedback.policy_now(round),
        bits_an_answer=budget["bits"],
        bits_a_target=budget["per_target"],
        answers_left=_answers_left(targets),
        missing=sum(target.missing for target in targets),
        waiting=sum(
            one.state in ("queued", "scoring")
            for target in targets
            for answer in target.answers
            for one in answer.submissions
        ),
        file_mib=rules.limits.file_mib,
        targets=order,
    )


def _release_state(round: Round, team: Team, challenge: str) -> ReleaseState:
    # Text to the type checker; callers hand in the challenges of the rules.
    entry = Entry(team.number, challenge)  # type: ignore[arg-type]  # see above
    counting = intake.counting(round, team, challenge)
    return ReleaseState(
        challenge=challenge,
        label=entry.label,
        file_name=entry.file("anotraces", ".csv"),
        tries=_tries(intake.quota(round, team, "release", challenge)),
        counting=submission_info(counting) if counting else None,
    )


def _release_set(round: Round, team: Team, challenge: str) -> ReleaseSet:
    state = _release_state(round, team, challenge)
    held = Submission.objects.filter(round=round, team=team, kind="release", challenge=challenge)
    return ReleaseSet(
        **dict(state),
        submissions=[submission_info(one) for one in held.order_by("-id")],
    )


def _targets(round: Round, team: Team) -> list[Target]:
    names = dict(team.contest.teams.values_list("number", "name"))
    held: dict[tuple[str, str, int | None], list[Submission]] = defaultdict(list)
    for one in Submission.objects.filter(round=round, team=team, kind__in=ATTACK_KINDS):
        one.round = round
        held[one.kind, one.challenge, one.target].append(one)
    allowed = intake.allowed(round, team, "attack")
    return [
        _target(entry, names.get(entry.team, ""), team, held, allowed)
        for entry in intake.targets(round, team)
    ]


def _answers_left(targets: Iterable[Target]) -> int:
    return sum(answer.tries.left for target in targets for answer in target.answers)


def _target(
    entry: Entry,
    name: str,
    team: Team,
    held: dict[tuple[str, str, int | None], list[Submission]],
    allowed: int,
) -> Target:
    answers = []
    for kind in ATTACK_KINDS:
        mine = held.get((kind, entry.challenge, entry.team), [])
        used = sum(one.charged for one in mine)
        standing = any(one.state in ("queued", "scoring", "scored") for one in mine)
        answers.append(
            Answer(
                kind=kind,
                file_name=entry.answer(ANSWER_FILES[kind], f"{team.number:03d}").removesuffix(
                    ".zst"
                ),
                tries=Tries(allowed=allowed, used=used, left=max(0, allowed - used)),
                missing=not standing,
                submissions=[submission_info(one) for one in reversed(mine)],
            )
        )
    return Target(
        team=entry.team,
        name=name,
        challenge=entry.challenge,
        label=entry.label,
        missing=sum(answer.missing for answer in answers),
        answers=answers,
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
    return NextStep(code=code, page=page, until=until)


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
        for one in messages.announcements(team.contest, team)[:NEWS_SHOWN]
    ]


def _tries(quota: intake.Quota) -> Tries:
    return Tries(allowed=quota.allowed, used=quota.used, left=quota.left)
