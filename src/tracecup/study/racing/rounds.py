"""The work of the study `race`: its rounds, and other attackers on the last defence.

Every round is a model and a small file; a race that was stopped goes on after its last whole round.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import TypeVar

import numpy as np

from tracecup.attack.learned import NetworkShape
from tracecup.attack.learned.modelfile import DefenceModel
from tracecup.learn.attack import Schedule, train_release
from tracecup.learn.equalise import Equaliser
from tracecup.learn.habits import Ground
from tracecup.learn.judge import Verdict, judge
from tracecup.learn.moves import moving_scores, train_moving
from tracecup.learn.pool import Pool
from tracecup.learn.race import Beginning, Defender, RaceSettings, Round, verdict
from tracecup.learn.teach import (
    RACE_SIZE,
    RELEASE_SIZE,
    RaceTeams,
    defended_pool,
    on_device,
    play_race,
)
from tracecup.score import FLOOR
from tracecup.study.context import Context, Team
from tracecup.study.knowledge import TARGET
from tracecup.study.race import LAST, RETRAINED, Size
from tracecup.study.racing.folder import Cell, Folder, precision, teams_from
from tracecup.study.strength import FIRST_TEAM

FIRST_RACE, FIRST_FINAL = 301, 401
"""Those that train are others each time; judged are those of the study `strength`."""

R = TypeVar("R")


def rounds(context: Context, size: Size) -> list[Cell]:
    """The rounds of the race, then other attackers on its last defence."""
    kept = Folder(context, "race", size)
    names = [f"round{k:02d}" for k in range(1, size.rounds + 1)]
    final = [f"final-{k}" for k in range(len(LAST))]
    # A round whose row was not written is played again, and so are those after it.
    whole = next((k for k, name in enumerate(names) if not kept.has(name)), len(names))
    for name in names[whole:]:
        (kept.path / f"{name}.npz").unlink(missing_ok=True)

    def told(step: int) -> None:
        if context.tell:
            context.tell(step, len(names) + len(final))

    told(whole)
    if not all(map(kept.has, (*names, *final))):
        tests = _pool(teams_from(context, FIRST_TEAM, size.tests, size.users))
        teams = teams_from(context, FIRST_RACE, size.race_teams, size.users)
        training = _first_releases(context, size, teams)
        others = _beside(
            context, partial(teams_from, context, FIRST_FINAL, size.final_teams, size.users)
        )
        model = _raced(context, size, training, tests, kept, told)
        _finals(context, size, _pool([*others(), *teams]), tests, kept, model, told)
    return [json.loads((kept.path / f"{name}.json").read_text()) for name in (*names, *final)]


def _first_releases(context: Context, size: Size, teams: Sequence[Team]) -> Pool:
    """The race's teams, the first of them under the winner's defence."""
    few = [(team.reference, team.original) for team in teams[: size.early_teams]]
    training = defended_pool(
        context.world.city, few, (TARGET,), seed=context.seed_of("race", "first"),
        executor=context.executor,
    )  # fmt: skip
    if len(teams) == len(few):
        return training
    others = _pool(teams[len(few) :])
    return training.with_teams(others.reference, others.original)


def _raced(
    context: Context,
    size: Size,
    training: Pool,
    tests: Pool,
    kept: Folder,
    told: Callable[[int], None],
) -> DefenceModel:
    """Play what is left of the race."""
    schedule = Schedule(steps=size.race_steps, users=size.batch, warm=True, precision=precision())
    beginning = Beginning(size.early_rounds, size.early_teams, size.early_steps)
    settings = RaceSettings(
        size.rounds, _equaliser(size), schedule, FLOOR, copies=size.race_copies, beginning=beginning
    )
    started = time.perf_counter()

    def after_round(played: Round) -> None:
        nonlocal started
        np.savez(kept.path / "last.npz", releases=played.releases)
        kept.write(
            f"round{played.number:02d}",
            {
                **played.record(),
                "what": f"round {played.number}",
                "attacker": RETRAINED,
                "seconds": time.perf_counter() - started,
            },
        )
        started = time.perf_counter()
        told(played.number)

    said = "simulated teams of the built-in city: all reference days known, all others defended"
    model = play_race(
        context.world.city, RaceTeams(training, tests, (TARGET,), said), settings,
        2 * size.early_steps, kept.path, after_round=after_round,
    )  # fmt: skip
    model.save(kept.path / "defence.npz")
    return model


def _finals(
    context: Context,
    size: Size,
    pool: Pool,
    tests: Pool,
    kept: Folder,
    model: DefenceModel,
    told: Callable[[int], None],
) -> None:
    """Attackers from nothing on the last defence: one of the same family, one with transitions.

    They have more teams than the race, several releases of each and more steps: an attacker who
    is short of data flatters the defence.
    """
    city, slots = context.world.city, tests.slots
    ground = Ground.of(city, slots)
    prior = on_device(model.prior)
    nets = [on_device(net) for net in model.models]
    started = time.perf_counter()
    defender = Defender(ground, prior, pool, _equaliser(size))
    pool = pool.with_copies(
        [defender.defended(nets, model.weight, 10**6 * k)[0] for k in range(1, size.copies + 1)]
    )
    with np.load(kept.path / "last.npz") as held:
        releases = held["releases"]
    last = json.loads((kept.path / f"round{size.rounds:02d}.json").read_text())
    row = {key: last[key] for key in ("number", "utility", "earlier")}

    def write(k: int, verdicts: list[Verdict]) -> None:
        nonlocal started
        kept.write(
            f"final-{k}",
            {
                **row, "what": f"attacker {LAST[k]}", "attacker": LAST[k],
                "verdicts": [vars(one) for one in verdicts],
                "seconds": time.perf_counter() - started,
            },
        )  # fmt: skip
        told(size.rounds + k + 1)
        started = time.perf_counter()

    schedule = Schedule(steps=size.final_steps, users=size.batch, seed=99, precision=precision())
    scratch = train_release(
        ground, pool, NetworkShape(city.n_regions, slots, *RELEASE_SIZE), prior, schedule
    )
    write(
        0,
        [
            verdict(ground, scratch, prior, tests, k, released)
            for k, released in enumerate(releases)
        ],
    )
    moving = train_moving(
        ground, pool, NetworkShape(city.n_regions, slots, *RACE_SIZE),
        replace(schedule, steps=size.moving_steps),
    )  # fmt: skip
    write(
        1,
        [
            judge(
                ground, moving_scores(ground, moving, tests.reference[k], released),
                scratch.channel, prior, tests.reference[k], released, tests.original[k],
            )
            for k, released in enumerate(releases)
        ],
    )  # fmt: skip


def _equaliser(size: Size) -> Equaliser:
    return Equaliser(group=size.group, sweeps=size.sweeps)


def _pool(teams: Sequence[Team]) -> Pool:
    """Teams whose originals stand where releases would."""
    originals = np.stack([team.original.regions for team in teams]).astype(np.int16)
    return Pool(
        np.stack([team.reference.regions for team in teams]).astype(np.int16),
        originals,
        originals,
        np.arange(len(teams), dtype=np.int32),
        teams[0].reference.clock.slots,
    )


def _beside(context: Context, work: Callable[[], R]) -> Callable[[], R]:
    """Begin work beside the caller where there is an engine; what is returned waits for it."""
    if context.executor is None:
        return work
    promised: Future[R] = Future()

    def fulfil() -> None:
        try:
            promised.set_result(work())
        except BaseException as error:
            promised.set_exception(error)

    Thread(target=fulfil, daemon=True).start()  # whoever is stopped need not wait for it
    return promised.result
