"""What the pages of the classroom show: lessons with progress, one lesson, the teacher's table.

Typed; a page renders it and the API returns it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ninja import Schema

from tracecup.contest.classroom import toy
from tracecup.contest.classroom.lessons import LESSONS, Lesson, Step
from tracecup.contest.classroom.practice import RULES, Visits
from tracecup.server.access import Role
from tracecup.server.lessons import service, words
from tracecup.server.models import Classroom, LessonProgress, Team

Held = Mapping[tuple[str, str], LessonProgress]
PICTURES = {"pseudonyms": "l1", "noise": "l2", "cheating": "l3", "winner": "l4"}
"""The parts of the page Learn that show in pictures what a lesson is about."""


class GoalInfo(Schema):
    """A measure and its limit; `value` is the last one, None before the first try."""

    measure: str
    most: float | None
    least: float | None
    value: float | None
    met: bool


class StepInfo(Schema):
    """One step: what to do, what is handed in, how far the team is."""

    name: str
    kind: str
    title: str
    text: str
    goals: list[GoalInfo]
    tries: int
    passed_at: datetime | None


class LessonInfo(Schema):
    """One lesson: its steps and how many are done."""

    name: str
    title: str
    text: str
    done: int
    steps: list[StepInfo]


class LessonsPage(Schema):
    """All lessons of a class, as one team sees them."""

    contest: str
    done: int
    steps: int
    lessons: list[LessonInfo]


class VisitsInfo(Schema):
    """Where somebody was: regions (from 1) and how often."""

    name: int
    regions: list[tuple[int, int]]


class PuzzleInfo(Schema):
    """A pseudonym and the users it may be."""

    pseudonym: VisitsInfo
    candidates: list[VisitsInfo]


class LessonPage(Schema):
    """One lesson with its practice data."""

    contest: str
    users: int
    times: int
    pictures: str
    lesson: LessonInfo
    puzzle: PuzzleInfo | None


class CheckedInfo(Schema):
    """What the check of an answer found."""

    passed: bool
    step: StepInfo


class StudentRow(Schema):
    """One team in the teacher's table; `steps` in the order of the lessons."""

    number: int
    name: str
    done: int
    last_at: datetime | None
    steps: list[StepInfo]


class ClassPage(Schema):
    """How far is the class?"""

    contest: str
    generation: int
    reset_at: datetime | None
    lessons: list[LessonInfo]
    teams: list[StudentRow]


class PlayInfo(Schema):
    """A position of a slider of the toy: utility and both risks, a day of one person."""

    defence: str
    step: int
    steps: int
    method: str
    utility: float
    named: float
    followed: float
    columns: int
    rows: int
    original: list[int]
    released: list[list[int]]


def lessons_page(role: Role) -> LessonsPage:
    """All lessons, as a team sees them."""
    team = service.team_of(role)
    held = _held(team)
    found = [_lesson(one, held) for one in LESSONS]
    return LessonsPage(
        contest=role.contest.slug,
        done=sum(one.done for one in found),
        steps=sum(len(one.steps) for one in found),
        lessons=found,
    )


def lesson_page(role: Role, name: str) -> LessonPage:
    """One lesson, as a team sees it."""
    team, one = service.team_of(role), service.lesson_named(name)
    puzzle = None
    if any(step.kind == "person" for step in one.steps):
        seed = service.seed_of(team, one)
        made = service.practice_of(team, one).puzzle(seed)
        puzzle = PuzzleInfo(
            pseudonym=_visits(made.pseudonym),
            candidates=[_visits(user) for user in made.candidates],
        )
    clock = RULES.clock_of(RULES.rounds[0].name)
    return LessonPage(
        contest=role.contest.slug,
        users=RULES.users,
        times=clock.original.times,
        pictures=PICTURES[one.name],
        lesson=_lesson(one, _held(team)),
        puzzle=puzzle,
    )


def checked(lesson: Lesson, step: Step, answered: service.Answered) -> CheckedInfo:
    """What a check said."""
    progress = answered.progress
    held = {(lesson.name, step.name): progress}
    return CheckedInfo(passed=answered.outcome.passed, step=_step(lesson, step, held))


def class_page(role: Role) -> ClassPage:
    """How far every team is; for organisers."""
    role.require_organiser()
    service.require_lessons(role.contest)
    room = Classroom.objects.filter(contest=role.contest).first()
    teams = list(role.contest.teams.filter(deleted_at=None, bot=""))
    rows: dict[int, dict[tuple[str, str], LessonProgress]] = {team.pk: {} for team in teams}
    for row in LessonProgress.objects.filter(team__in=teams):
        rows[row.team_id][row.lesson, row.step] = row
    return ClassPage(
        contest=role.contest.slug,
        generation=room.generation if room else 0,
        reset_at=room.reset_at if room else None,
        lessons=[_lesson(one, {}) for one in LESSONS],
        teams=[_student(team, rows[team.pk]) for team in teams],
    )


def play_info(defence: str, step: int) -> PlayInfo:
    """A position of a slider."""
    found = toy.play(defence, step)
    grid = toy.city().grid
    return PlayInfo(
        defence=found.defence,
        step=found.step,
        steps=toy.STEPS,
        method=found.method,
        utility=found.utility,
        named=found.named,
        followed=found.followed,
        columns=grid.nx,
        rows=grid.ny,
        original=[region + 1 for region in found.original],
        released=[[region + 1 for region in cell] for cell in found.released],
    )


def _held(team: Team) -> Held:
    return {(row.lesson, row.step): row for row in LessonProgress.objects.filter(team=team)}


def _student(team: Team, held: Held) -> StudentRow:
    steps = [_step(one, step, held) for one in LESSONS for step in one.steps]
    return StudentRow(
        number=team.number,
        name=team.name,
        done=sum(step.passed_at is not None for step in steps),
        last_at=max((row.last_at for row in held.values()), default=None),
        steps=steps,
    )


def _lesson(one: Lesson, held: Held) -> LessonInfo:
    steps = [_step(one, step, held) for step in one.steps]
    return LessonInfo(
        name=one.name,
        title=words.lesson_title(one.name),
        text=words.lesson_text(one.name),
        done=sum(step.passed_at is not None for step in steps),
        steps=steps,
    )


def _step(lesson: Lesson, step: Step, held: Held) -> StepInfo:
    row = held.get((lesson.name, step.name))
    last = row.last if row else {}
    return StepInfo(
        name=step.name,
        kind=step.kind,
        title=words.step_title(lesson.name, step.name),
        text=words.step_text(lesson.name, step.name),
        goals=[
            GoalInfo(
                measure=goal.measure,
                most=goal.most,
                least=goal.least,
                value=last.get(goal.measure),
                met=goal.measure in last and goal.holds(last[goal.measure]),
            )
            for goal in step.goals
        ],
        tries=row.tries if row else 0,
        passed_at=row.passed_at if row else None,
    )


def _visits(visits: Visits) -> VisitsInfo:
    return VisitsInfo(name=visits.name, regions=list(visits.regions))
