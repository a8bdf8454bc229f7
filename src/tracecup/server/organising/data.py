"""What the organisers' first page shows: is everything all right, and what happens next?

Typed; the page renders it and the API returns it.
"""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from ninja import Schema

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.server import clock, clockwatch, windows
from tracecup.server.access import Role
from tracecup.server.jobs.data import (
    Hour,
    JobRow,
    QueueCounts,
    open_jobs,
    queue_counts,
    submissions_per_hour,
)
from tracecup.server.judging.schedule import plan
from tracecup.server.judging.service import due_at
from tracecup.server.models import (
    Announcement,
    Appeal,
    Contest,
    Question,
    Release,
    Round,
    Submission,
)
from tracecup.server.organising.data_checks import SLOW_SECONDS, Check, checks
from tracecup.server.organising.rehearsal import rehearsals_of
from tracecup.server.storage import store


class RoundHead(Schema):
    """A round and what the judge has done in it."""

    name: str
    phase: str | None
    announced_at: datetime | None
    judging_at: datetime | None
    judged_at: datetime | None
    published_at: datetime | None
    closed_at: datetime | None
    released_at: datetime | None
    frozen: bool
    archive_open: bool
    auto_publish: bool
    auto_results: bool


class NextAct(Schema):
    """What happens next by itself. `overdue`: its time has come and it is not done yet."""

    act: str
    sentence: str
    at: datetime | None
    seconds: float | None
    overdue: bool


class AnnouncementRow(Schema):
    """An announcement as organisers see it."""

    id: int
    title: str
    text: str
    at: datetime
    team: int | None
    team_name: str
    public: bool
    scheduled: bool
    retracted: bool


class QuestionRow(Schema):
    """A question of a team, and its answer."""

    id: int
    team: int
    team_name: str
    text: str
    at: datetime
    answer: str
    shared: bool
    answered_at: datetime | None


class AppealRow(Schema):
    """An appeal of a team."""

    id: int
    team: int
    team_name: str
    text: str
    at: datetime
    state: str
    answer: str
    answered_at: datetime | None


class RehearsalRow(Schema):
    """A rehearsal that was started from this contest."""

    slug: str
    name: str
    state: str
    step: str
    at: datetime


class ClockDoubt(Schema):
    """A clock of the server that is not trusted: jump, restart, back, away.

    It shows `shown`; by all we know it should show `expected`.
    """

    machine: str
    why: str
    noticed_at: datetime
    shown: datetime
    expected: datetime


class RunPage(Schema):
    """The state of a contest for its organisers."""

    slug: str
    name: str
    zone: str
    now: datetime
    paused_at: datetime | None
    movable_clock: bool
    clock_offset: float
    clock_doubt: ClockDoubt | None
    appeals_until: datetime | None
    round: RoundHead | None
    rounds: list[RoundHead]
    next_act: NextAct | None
    checks: list[Check]
    all_right: bool
    queue: QueueCounts
    jobs: list[JobRow]
    disk_free_bytes: int
    hours: list[Hour]
    teams: int
    announcements: list[AnnouncementRow]
    appeals: list[AppealRow]
    questions: list[QuestionRow]
    rehearsals: list[RehearsalRow]


def run_page(role: Role, round: Round | None = None) -> RunPage:
    """The first page of the organisers."""
    role.require_organiser()
    contest = role.contest
    now = clock.contest_now(contest)
    rounds = list(contest.rounds.all())
    round = round or windows.current_round(contest, now)
    act, queue, free = next_act(contest), queue_counts(contest), store().free()
    late = act is not None and act.overdue and -(act.seconds or 0.0) > SLOW_SECONDS
    doubt = clockwatch.open_doubt()
    found = checks(contest, queue, free, late=late, doubt=doubt)
    return RunPage(
        slug=contest.slug,
        name=contest.name,
        zone=contest.rules.zone,
        now=now,
        paused_at=contest.paused_at,
        movable_clock=contest.is_demo or contest.is_rehearsal,
        clock_offset=contest.clock_offset,
        clock_doubt=ClockDoubt(**vars(doubt)) if doubt else None,
        appeals_until=contest.appeals_until,
        round=round_head(round, now) if round else None,
        rounds=[round_head(one, now) for one in rounds],
        next_act=act,
        checks=found,
        all_right=all(check.ok for check in found),
        queue=queue,
        jobs=open_jobs(contest),
        disk_free_bytes=free,
        hours=submissions_per_hour(contest, now),
        teams=contest.teams.filter(deleted_at=None).count(),
        announcements=[
            announcement_row(one)
            for one in Announcement.objects.filter(contest=contest)
            .select_related("team")
            .order_by("-pk")[:50]
        ],
        appeals=[
            appeal_row(one)
            for one in Appeal.objects.filter(team__contest=contest)
            .select_related("team")
            .order_by("-pk")[:100]
        ],
        questions=[
            question_row(one)
            for one in Question.objects.filter(team__contest=contest)
            .select_related("team")
            .order_by("-pk")[:100]
        ],
        rehearsals=rehearsal_rows(contest),
    )


def announcement_row(one: Announcement) -> AnnouncementRow:
    """An announcement as organisers see it."""
    return AnnouncementRow(
        id=one.pk,
        title=one.title,
        text=one.text,
        at=one.at,
        team=one.team.number if one.team else None,
        team_name=one.team.name if one.team else "",
        public=one.public,
        scheduled=one.at > clock.now(),
        retracted=one.deleted_at is not None,
    )


def question_row(one: Question) -> QuestionRow:
    """A question as organisers and its team see it."""
    return QuestionRow(
        id=one.pk,
        team=one.team.number,
        team_name=one.team.name,
        text=one.text,
        at=one.at,
        answer=one.answer,
        shared=one.shared,
        answered_at=one.answered_at,
    )


def appeal_row(one: Appeal) -> AppealRow:
    """An appeal as organisers and its team see it."""
    return AppealRow(
        id=one.pk,
        team=one.team.number,
        team_name=one.team.name,
        text=one.text,
        at=one.at,
        state=one.state,
        answer=one.answer,
        answered_at=one.answered_at,
    )


def round_head(round: Round, now: datetime) -> RoundHead:
    """What the judge has done in a round."""
    return RoundHead(
        phase=windows.phase_now(round, now),
        **{name: getattr(round, name) for name in RoundHead.model_fields if name != "phase"},
    )


def next_act(contest: Contest) -> NextAct | None:
    """What happens next by itself, in the round that it happens in; None when all is over."""
    now = clock.contest_now(contest)
    for round in contest.rounds.all():
        found = _act_of(round)
        if found is None:
            continue
        act, at, sentence = found
        seconds = (at - now).total_seconds() if at else None
        overdue = seconds is not None and seconds <= 0
        return NextAct(act=act, sentence=sentence, at=at, seconds=seconds, overdue=overdue)
    return None


def rehearsal_rows(contest: Contest) -> list[RehearsalRow]:
    """Rehearsals of a contest, newest first, each with where it stands."""
    return [
        RehearsalRow(
            slug=one.contest.slug,
            name=one.contest.name,
            state=one.state,
            step=one.step,
            at=one.contest.created_at,
        )
        for one in rehearsals_of(contest)
    ]


def _act_of(round: Round) -> tuple[str, datetime | None, str] | None:
    """The next act of the judge in a round: its name, its instant, and what it will do."""
    name = {"name": round.name}
    if not round.rules.phases.scheduled:
        return "schedule", None, _("The phases of round %(name)s have no times yet.") % name
    if round.judging_at is not None and round.judged_at is None:
        return "judge", due_at(round, "release"), _("The judge is at work.")
    coming = plan(round)
    if coming:
        act, at = coming[0]
        said = _sentence(round, act)
        if act == "publish" and not round.auto_publish:
            said = _("An organiser has to publish: %(act)s.") % {"act": said}
        return act, at, said
    if round.released_at is not None:
        return None
    act, said = "release", _("An organiser has to publish the results of round %(name)s.")
    if round.result_sets.filter(state="computing").exists():
        act, said = "results", _("The results of round %(name)s are being computed.")
    return act, None, said % name


def _sentence(round: Round, act: str) -> str:
    """What an act of the judge will do."""
    if act == "announce":
        count = round.contest.teams.filter(deleted_at=None).count()
        said = ngettext("give %(count)d team its data", "give %(count)d teams their data", count)
    elif act == "judge":
        count = _releases_in(round)
        said = ngettext(
            "check, shuffle and commit to %(count)d release",
            "check, shuffle and commit to %(count)d releases",
            count,
        )
    elif act == "publish":
        rows = Release.objects.filter(round=round, valid=True, team__isnull=False)
        count = rows.count()
        said = ngettext(
            "publish %(count)d valid release", "publish %(count)d valid releases", count
        )
    else:
        count = _answers_in(round)
        said = ngettext(
            "close the attacks and compute results from %(count)d answer",
            "close the attacks and compute results from %(count)d answers",
            count,
        )
    return said % {"count": count}


def _releases_in(round: Round) -> int:
    """Data sets for which something is handed in."""
    rows = Submission.objects.filter(
        round=round, kind="release", state__in=("queued", "scoring", "scored")
    )
    return rows.values("team", "challenge").distinct().count()


def _answers_in(round: Round) -> int:
    return Submission.objects.filter(
        round=round, kind__in=ATTACK_KINDS, state__in=("queued", "scoring", "scored")
    ).count()
