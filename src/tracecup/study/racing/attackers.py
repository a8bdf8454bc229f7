"""The work of the study `knowledge`: attackers trained on public data, on the winner's defence.

Every attacker is a model and a small file; a run that was stopped goes on after the last one.
"""

from __future__ import annotations

import hashlib
import time
from functools import partial
from pathlib import Path

from tracecup.attack.learned import LearnedR, LearnedT
from tracecup.jobs import all_done
from tracecup.learn.attack import Schedule, precision
from tracecup.learn.teach import Lesson, learn_attack
from tracecup.study.comparison import DefendedRelease, attack, release
from tracecup.study.context import Context
from tracecup.study.folder import Cell, Folder, teams_from
from tracecup.study.knowledge import (
    FIRST_JUDGED,
    FIRST_TRAINING,
    KNOWS,
    NEVER,
    OTHER_SIZES,
    OTHERS,
    TARGET,
    UNKNOWN,
    KnowledgeSize,
)

SEEDS = "race"
"""The word that these draws were named by from the first run on."""

Plan = tuple[str, tuple[str, ...], int, int]
"""What an attacker knows, the defences he trains on, teams, days of each."""


def attackers(context: Context, size: KnowledgeSize) -> list[Cell]:
    """Attackers on the winner's defence by what they know and how much public data they have."""
    kept, plans, found = Folder(context, "knowledge", size), _plans(context, size), list[Cell]()
    judged = list[tuple[int, DefendedRelease]]()
    for k, plan in enumerate(plans, 1):
        defences, teams, days = plan[1:]
        name = f"attacker-{hashlib.sha256(repr((defences, teams, days)).encode()).hexdigest()[:12]}"
        if not kept.has(name) and not judged:
            judged = _judged(context, size)
        found.append(kept.cell(name, partial(_trained, context, size, plan, name, kept, judged)))
        if context.tell:
            context.tell(k, len(plans))
    return found


def _plans(context: Context, size: KnowledgeSize) -> list[Plan]:
    days = context.long_team(FIRST_TRAINING, 2).reference.clock.days
    return [
        (NEVER, UNKNOWN, size.teams, days),
        (OTHERS, (*UNKNOWN, *OTHER_SIZES), size.teams, days),
        (KNOWS, (TARGET,), size.teams, days),
        *((KNOWS, (TARGET,), teams, days) for teams in size.teams_tried),
        *((KNOWS, (TARGET,), size.teams, few) for few in size.days_tried),
    ]


def _trained(
    context: Context,
    size: KnowledgeSize,
    plan: Plan,
    name: str,
    kept: Folder,
    judged: list[tuple[int, DefendedRelease]],
) -> Cell:
    """One attacker: trained, then tried on every judged team."""
    said, defences, teams, days = plan
    started = time.perf_counter()
    made = teams_from(context, FIRST_TRAINING, teams, size.users)
    references = [team.reference.take_days(0, days) for team in made]
    whole = made[0].reference.clock.days
    lesson = Lesson(context.world.city, references, defences, seed=context.seed_of(SEEDS, name))
    folder = kept.path / name
    folder.mkdir(exist_ok=True)
    schedule = Schedule(steps=size.steps, users=size.batch, precision=precision())
    model = kept.path / f"{name}.npz"
    learn_attack(lesson, schedule, folder, executor=context.executor).save(model)
    seconds = time.perf_counter() - started
    scores = _answered(model, judged)
    return {
        "what": f"train an attacker who {said}: {teams} teams, {days} days",
        "attacker": said,
        "whole": (teams, days) == (size.teams, whole),
        "teams": teams,
        "days": days,
        "s_R": [reid for reid, _ in scores],
        "s_T": [trace for _, trace in scores],
        "seconds": seconds,
    }


def _judged(context: Context, size: KnowledgeSize) -> list[tuple[int, DefendedRelease]]:
    """The seed and the winner's release of every judged team."""
    teams = teams_from(context, FIRST_JUDGED, size.tests, size.users)
    seeds = [context.seed_of(SEEDS, "judged", team.name) for team in teams]
    calls = [
        partial(release, team.city, team.reference, team.original, TARGET, seed=seed)
        for team, seed in zip(teams, seeds, strict=True)
    ]
    return list(zip(seeds, all_done(context.executor, calls), strict=True))


def _answered(model: Path, judged: list[tuple[int, DefendedRelease]]) -> list[tuple[float, float]]:
    """s_R and s_T of a trained attacker on each release, by the methods that answer."""
    reid, trace = LearnedR(model=str(model)), LearnedT(model=str(model))
    return [
        (attack(made, reid, seed).score.value, attack(made, trace, seed).score.value)
        for seed, made in judged
    ]
