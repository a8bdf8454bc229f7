"""Beyond the paper: the race once more, from the attackers in the package and without training.

Every defence that the race passed through, at exactly the floor, against who was trained on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

from tracecup.attack.learned import defence_model
from tracecup.attack.learned.modelfile import SHIPPED, DefenceModel
from tracecup.attack.match import match_table
from tracecup.attack.models.slotwise import slot_likelihoods
from tracecup.contest.judging.published import publish
from tracecup.contest.judging.scorer import Scorer
from tracecup.jobs import done_as_they_come
from tracecup.obfuscate import Equalise
from tracecup.rng import child_seed
from tracecup.study.context import Context
from tracecup.study.folder import SECONDS, Cell, Folder
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, StudyResult, Table
from tracecup.study.strength import FIRST_TEAM
from tracecup.study.strengthtables import team_mean

ROUNDS = ("round", "s_U", "s_R", "low", "high", "earlier attackers, least s_R")
JUDGED = ("round", "team", "s_U", "attacker", "s_R")
RETRAINED = "retrained"

R = TypeVar("R")


@dataclass(frozen=True)
class Course:
    """What is judged again: teams, their users, and the defence's groups and sweeps."""

    tests: int
    users: int
    group: int
    sweeps: int


class Replay(NamedTuple):
    """A judged team by number in a round played again: s_U, s_R of its attackers, seconds."""

    number: int
    utility: float
    reids: list[float]
    seconds: float


@study(
    "replay",
    "The race once more, from the attackers in the package",
    "Goes beyond Sections 4 to 6",
    "The paper's attackers had not seen the other teams' programs and trained on nothing.",
    needs=("built-in",),
    hands_out=True,
)
def run(context: Context) -> StudyResult:
    """Every round whose attacker is in the package, then the shipped defence against all."""
    shipped = defence_model(SHIPPED)
    met = len(shipped.models)
    course = course_of(context, shipped)
    kept = Folder(context, "replay", (course, shipped.digest))
    first = max(1, met - 2) if context.quick else 1
    cells = {k: f"round{k:02d}" for k in range(first, met + 1)}

    def told() -> None:
        if context.tell:
            context.tell(sum(map(kept.has, cells.values())), len(cells))

    told()
    judged_again(context, course, shipped, RETRAINED, cells, kept, told)
    found = [kept.read(name) for name in cells.values()]
    return StudyResult(
        BUILT_IN,
        {
            "rounds": Table.of(ROUNDS, map(_round, found)),
            "judged": Table.of(JUDGED, (row for one in found for row in _judged(one))),
            "seconds": Table.of(SECONDS, [(one["what"], one["seconds"]) for one in found]),
        },
        {},
        (),
        {"teams": course.tests, "users": course.users, "attackers in the package": met},
        (
            "Round k: the method Equalise with the first k attackers of the shipped defence, "
            "which ends at exactly utility 0.7, against the attacker who was trained on that "
            f"defence. Round {met} is the shipped defence itself. The attacker who was trained on "
            "it is not in the package (the study race trains him); the earlier ones are tried.",
            "Both sides are as the file keeps them, large arrays in seven bits. Links are optimal "
            "assignments; what places needs is not in the file.",
            f"Judged teams: {FIRST_TEAM} to {FIRST_TEAM + course.tests - 1} of this seed, which "
            "nothing was tuned or trained on. Low and high are Student's interval over teams "
            "(95 %).",
        ),
    )


def course_of(context: Context, shipped: DefenceModel) -> Course:
    """What this run judges; a quick one takes few users in small groups."""
    tests = context.asked_teams or 3
    if context.quick:
        return Course(tests, context.asked_users or 60, 10, 3)
    return Course(tests, context.users, shipped.group, Equalise().sweeps)


def _round(one: Cell) -> tuple[object, ...]:
    known = (one["number"], team_mean(one["utility"]).value)
    if one["earlier"]:
        return (*known, None, None, None, min(map(min, one["earlier"])))
    mean = team_mean([verdict["reid"] for verdict in one["verdicts"]])
    return (*known, mean.value, mean.low, mean.high, None)


def _judged(one: Cell) -> Iterator[tuple[object, ...]]:
    """A row for every attacker of every team; attacker 1 never met a defence that was trained."""
    met = one["earlier"] or [[verdict["reid"]] for verdict in one["verdicts"]]
    first = 1 if one["earlier"] else one["number"] + 1
    for team, (utility, reids) in enumerate(zip(one["utility"], met, strict=True), FIRST_TEAM):
        for attacker, reid in enumerate(reids, first):
            yield (one["number"], team, utility, attacker, reid)


def judged_again(
    context: Context,
    course: Course,
    defence: DefenceModel,
    attacker: str,
    cells: Mapping[int, str],
    kept: Folder,
    told: Callable[[], None],
) -> None:
    """Play rounds again: the method with the first k models, against the next one.

    `cells` names what is kept of round k, `attacker` says who the next one is. After the last model
    there is none: all earlier ones are tried.
    """
    teams = range(FIRST_TEAM, FIRST_TEAM + course.tests)
    calls = [
        (k, partial(_once_more, context.travelling, number, course, defence, k))
        for k, name in sorted(cells.items(), reverse=True)  # the slowest have to begin first
        if not kept.has(name)
        for number in teams
    ]
    found: dict[int, list[Replay]] = {k: [] for k, _ in calls}
    for k, replay in _as_they_come(context.executor, calls):
        found[k].append(replay)
        if len(found[k]) < len(teams):
            continue
        mine = sorted(found[k])  # by the number of the team, whoever was first
        reids, newest = [one.reids for one in mine], k == len(defence.models)
        kept.write(
            cells[k],
            {
                "number": k,
                "what": f"round {k} again",
                "attacker": attacker,
                "utility": [one.utility for one in mine],
                "verdicts": [] if newest else [{"reid": reid} for (reid,) in reids],
                "earlier": reids if newest else [],
                "seconds": sum(one.seconds for one in mine),
            },
        )
        told()


def _as_they_come(
    executor: Executor | None, calls: Sequence[tuple[int, Callable[[], R]]]
) -> Iterator[tuple[int, R]]:
    """Key and result of every call: here one after the other, or as workers are done with them."""
    if executor is None:
        yield from ((key, call()) for key, call in calls)
    else:
        yield from ((key, done.result()) for key, done in done_as_they_come(executor, calls))


def _once_more(
    context: Context, number: int, course: Course, defence: DefenceModel, k: int
) -> Replay:
    """The defence that has met k attackers, and the next one on it, or all where none comes next.

    By the methods that run without JAX; the weight of so few models is sought from a guess.
    """
    started = time.perf_counter()
    team = context.long_team(number, course.users)
    seed = context.seed_of("race", "again", team.name, str(k))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "defence.npz"
        defence.first(k).save(file)
        method = Equalise(course.group, model=str(file), sweeps=course.sweeps)
        cells = method.obfuscate(team.city, team.original, seed, reference=team.reference)
    shuffle = child_seed(seed, "shuffle")
    made = publish(team.city, team.reference, team.original, cells, shuffle)
    scorer, reids = Scorer(team.city), list[float]()
    for attacker in defence.models[k : k + 1] or defence.models:
        expected = attacker.probabilities(team.city, team.reference)
        answer = match_table(slot_likelihoods(expected, made.case.released), "assignment")
        reids.append(scorer.score_answer(made.truth, "reid", answer)["reid"].value)
    utility = scorer.utility(team.original, cells).value
    return Replay(number, utility, reids, time.perf_counter() - started)
