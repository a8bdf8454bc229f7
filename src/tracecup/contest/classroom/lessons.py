"""The lessons of a class: steps, each with goals that our own scores decide.

A goal is a measure with a limit; what a student hands in is read and scored as in a contest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from tracecup.contest.challenges import AttackKind
from tracecup.contest.classroom.practice import RULES, Practice, practice
from tracecup.contest.judging.answers import read_handed, run_attack
from tracecup.contest.judging.published import publish
from tracecup.contest.sizes import clusters_for
from tracecup.errors import InvalidParameter
from tracecup.rng import child_seed
from tracecup.traces import IdTable, SetTraces, Traces

Kind = Literal["person", "reid", "trace", "release"]
Measure = Literal["right", "s_U", "s_R", "s_T"]
ATTACKERS: Mapping[AttackKind, tuple[str, ...]] = {
    "reid": ("VisitProb-R(match=assignment)", "Fuzzy-R(0.33,1,match=assignment)"),
    "trace": ("VisitProb-T(match=assignment)", "Fuzzy-T(0.33,1,0,match=assignment)"),
}
"""Who attacks a student's release: quick, and without knowing how it was made."""
DIGITS = 9

Named = TypeVar("Named", "Step", "Lesson")


@dataclass(frozen=True)
class Goal:
    """A measure that must be at most, or at least, a limit."""

    measure: Measure
    most: float | None = None
    least: float | None = None

    def holds(self, value: float) -> bool:
        """Whether a value meets it; rounding errors do not decide.

        >>> Goal("s_R", most=0.5).holds(0.5), Goal("s_U", least=0.7).holds(0.69)
        (True, False)
        """
        value = round(value, DIGITS)
        return (self.most is None or value <= self.most) and (
            self.least is None or value >= self.least
        )


@dataclass(frozen=True)
class Step:
    """One thing to do: `kind` is what is handed in, all `goals` have to hold."""

    name: str
    kind: Kind
    goals: tuple[Goal, ...]


@dataclass(frozen=True)
class Lesson:
    """Steps about one idea; the practice release was made with `defence`."""

    name: str
    defence: str
    steps: tuple[Step, ...]

    def step(self, name: str) -> Step:
        """The step of a name."""
        return _named(self.steps, name, "step")


@dataclass(frozen=True)
class Outcome:
    """What a check found: the measures of what was handed in, and whether all goals hold."""

    passed: bool
    measures: Mapping[str, float]


FLOOR = Goal("s_U", least=RULES.scores.utility_floor)
LESSONS: tuple[Lesson, ...] = (
    Lesson(
        "pseudonyms",
        "None",
        (
            Step("who", "person", (Goal("right", least=1),)),
            Step("half", "reid", (Goal("s_R", most=0.5),)),
            Step("most", "reid", (Goal("s_R", most=0.2),)),
        ),
    ),
    Lesson(
        "noise",
        "PL(4,1)",
        (
            Step("half", "reid", (Goal("s_R", most=0.5),)),
            Step("useful", "release", (FLOOR, Goal("s_T", least=0.15))),
            Step("hidden", "release", (FLOOR, Goal("s_T", least=0.3))),
        ),
    ),
    Lesson(
        "cheating",
        "Cheat(1)",
        (
            Step("places", "trace", (Goal("s_T", most=0.3),)),
            Step("cheat", "release", (FLOOR, Goal("s_R", least=0.25), Goal("s_T", most=0.2))),
        ),
    ),
    Lesson(
        "winner",
        f"KMeans({clusters_for(RULES.users)})",
        (
            Step("third", "reid", (Goal("s_R", most=0.67),)),
            Step("own", "release", (FLOOR, Goal("s_R", least=0.5), Goal("s_T", least=0.6))),
        ),
    ),
)


def lesson(name: str) -> Lesson:
    """The lesson of a name.

    >>> [step.name for step in lesson("pseudonyms").steps]
    ['who', 'half', 'most']
    """
    return _named(LESSONS, name, "lesson")


def check_number(one: Lesson, step: Step, seed: int, number: int) -> Outcome:
    """Whether the number of a user is the answer to the puzzle of a seed."""
    if step.kind != "person":
        raise InvalidParameter(f"the step {step.name} takes a file, not a number")
    right = practice(one.defence, seed).puzzle(seed).answer == number
    return _outcome(step, {"right": float(right)})


def check_file(one: Lesson, step: Step, seed: int, path: Path) -> Outcome:
    """Score a file for a step; `InvalidFile` if it is none of the kind. Well under a second."""
    if step.kind == "person":
        raise InvalidParameter(f"the step {step.name} takes the number of a user, not a file")
    held = practice(one.defence, seed)
    handed = read_handed(held.judge, step.kind, path)
    return _outcome(step, _MEASURES[step.kind](held, handed, seed))


def measured_release(held: Practice, handed: SetTraces, seed: int) -> dict[str, float]:
    """Utility, and what the quick attackers leave of both privacies."""
    own = held.protected
    judge, shuffle = held.judge, child_seed(seed, "shuffle", "own")
    utility = judge.scorer.utility(own.original, handed)
    made = publish(judge.city, own.reference, own.original, handed, shuffle)
    answers = {
        kind: [run_attack(kind, name, made.case, child_seed(seed, name)) for name in names]
        for kind, names in ATTACKERS.items()
    }
    cell = judge.score(made.truth, answers)
    assert cell.reid is not None
    assert cell.trace is not None
    return {"s_U": utility.value, "s_R": cell.reid.value, "s_T": cell.trace.value}


def _table(held: Practice, handed: IdTable, seed: int) -> dict[str, float]:
    return {"s_R": held.judge.scorer.score_answer(held.truth, "reid", handed)["reid"].value}


def _traces(held: Practice, handed: Traces, seed: int) -> dict[str, float]:
    return {"s_T": held.judge.scorer.score_answer(held.truth, "trace", handed)["trace"].value}


_MEASURES: Mapping[Kind, Callable[..., dict[str, float]]] = {
    "reid": _table,
    "trace": _traces,
    "release": measured_release,
}


def _outcome(step: Step, measures: dict[str, float]) -> Outcome:
    return Outcome(all(goal.holds(measures[goal.measure]) for goal in step.goals), measures)


def _named(held: Sequence[Named], name: str, what: str) -> Named:
    for one in held:
        if one.name == name:
            return one
    known = ", ".join(one.name for one in held)
    raise InvalidParameter(f"no {what} is called {name!r} (there are: {known})")
