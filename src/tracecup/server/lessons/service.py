"""What students and teachers do: answer a step, fetch practice data, start over.

A team has practice data of its own; nobody learns another team's, and none are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.classroom import lessons
from tracecup.contest.classroom.lessons import Lesson, Outcome, Step
from tracecup.contest.classroom.practice import RULES, Practice, packed_practice, practice
from tracecup.errors import InvalidFile, InvalidParameter
from tracecup.rng import child_seed
from tracecup.safeio import DATA_SUFFIXES, MIB
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor, Role
from tracecup.server.errors import Refused, not_found
from tracecup.server.locks import locked
from tracecup.server.models import Classroom, Contest, LessonProgress, Person, Team
from tracecup.server.people import throttle
from tracecup.server.people.accounts import label
from tracecup.server.reasons import require_reason

LIMIT = throttle.Limit("lesson", 300, 300, 60)
"""By team and by person: a check costs a fraction of a second, guessing is no way to learn."""
PLAY = throttle.Limit("play", 3000, 3000, 15)
"""By address: a class that moves sliders behind one of them, and no more."""
MAX_BYTES = RULES.limits.file_mib * MIB
PROBLEMS_SHOWN = 10


@dataclass(frozen=True)
class Answered:
    """What the check of an answer said, and whether the step was met before."""

    outcome: Outcome
    progress: LessonProgress


def require_lessons(contest: Contest) -> None:
    """A contest whose rules open no lessons has none."""
    if not contest.rules.lessons.open:
        raise not_found("lesson")


def team_of(role: Role) -> Team:
    """The student's team, in a contest with lessons."""
    require_lessons(role.contest)
    return role.require_team()


def lesson_named(name: str) -> Lesson:
    """The lesson of a name, or not found."""
    try:
        return lessons.lesson(name)
    except InvalidParameter:
        raise not_found("lesson") from None


def step_named(lesson: Lesson, name: str) -> Step:
    """The step of a name, or not found."""
    try:
        return lesson.step(name)
    except InvalidParameter:
        raise not_found("step") from None


def seed_of(team: Team, lesson: Lesson) -> int:
    """The seed of a team's practice data; secret, since the answers come from it."""
    held = Classroom.objects.filter(contest=team.contest_id).first()
    generation = held.generation if held else 0
    root = int(team.contest.seed, 16)
    return child_seed(root, "lessons", generation, lesson.name, team.number)


def may_play(address: str) -> None:
    """Count a question to the toy, which needs no account; `Refused` when there were too many."""
    throttle.spend(PLAY, address, address)


def practice_of(team: Team, lesson: Lesson) -> Practice:
    """The practice data of a team."""
    return practice(lesson.defence, seed_of(team, lesson))


def packed(team: Team, lesson: Lesson) -> bytes:
    """The practice files of a team as a zip: a release to attack, originals to protect, or both."""
    kinds = {step.kind for step in lesson.steps}
    attacked, protected = not kinds.isdisjoint(ATTACK_KINDS), "release" in kinds
    return packed_practice(lesson.defence, seed_of(team, lesson), attacked, protected)


def require_small(size: int) -> None:
    """`Refused` for a file that is larger than any practice file."""
    if size > MAX_BYTES:
        raise Refused("too-large", _("A practice file has at most one MiB."))


def answer(
    team: Team, lesson: Lesson, step: Step, content: bytes, name: str, person: Person | None
) -> Answered:
    """Check what a student hands in: the number of a user, or a file; tells the scores at once.

    A file that cannot be read is refused with its first bad lines and counts as no try.
    """
    who = label(person) if person is not None else f"team:{team.pk}"
    throttle.spend(LIMIT, f"team:{team.pk}", who)
    require_small(len(content))
    seed = seed_of(team, lesson)
    if step.kind == "person":
        outcome = lessons.check_number(lesson, step, seed, _number(content))
    else:
        outcome = _checked(lesson, step, seed, content, name)
    return Answered(outcome, _kept(team, lesson, step, outcome))


def reset(contest: Contest, actor: Actor, why: str) -> int:
    """Forget the progress of all teams and draw other practice data; says how many rows went."""
    why = require_reason(why)
    require_lessons(contest)
    with transaction.atomic():
        held = locked(contest)
        room, _made = Classroom.objects.select_for_update().get_or_create(contest=held)
        gone = LessonProgress.objects.filter(team__contest=held)
        rows = gone.count()
        gone.delete()
        room.generation += 1
        room.reset_at = clock.now()
        room.save()
        log.record(
            actor,
            "lessons-reset",
            contest=held,
            before={"steps": rows},
            after={"generation": room.generation},
            why=why,
        )
    return rows


def _number(content: bytes) -> int:
    said = content.decode("ascii", "replace").strip()
    if not said.isdigit() or len(said) > 6:
        raise Refused("invalid", _("Answer with the number of a user."))
    return int(said)


def _checked(lesson: Lesson, step: Step, seed: int, content: bytes, name: str) -> Outcome:
    ending = "".join(Path(name).suffixes[-2:]).lower()
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"answer{ending if ending in DATA_SUFFIXES else '.csv'}"
        path.write_bytes(content)
        try:
            return lessons.check_file(lesson, step, seed, path)
        except InvalidFile as error:
            problems = [problem.as_dict() for problem in error.problems[:PROBLEMS_SHOWN]]
            raise Refused(
                "rejected", _("The file is not what this step asks for."), problems
            ) from None


def _kept(team: Team, lesson: Lesson, step: Step, outcome: Outcome) -> LessonProgress:
    now = clock.now()
    with transaction.atomic():
        held, _made = LessonProgress.objects.select_for_update().get_or_create(
            team=team, lesson=lesson.name, step=step.name, defaults={"last_at": now}
        )
        held.tries += 1
        held.last, held.last_at = dict(outcome.measures), now
        if outcome.passed and held.passed_at is None:
            held.passed_at = now
        held.save()
    return held
