"""From public files to a trained model: the work of `attack train` and `defend train`.

Everything an attacker needs is public: references of other teams and the program of a defence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tracecup.attack.learned import modelfile
from tracecup.attack.learned.modelfile import SHRINK, DefenceModel, LearnedModel, Training
from tracecup.attack.learned.network import Network
from tracecup.attack.learned.shape import NetworkShape
from tracecup.city import City
from tracecup.errors import InvalidTraces
from tracecup.jobs import all_done
from tracecup.learn.attack import ReleaseModel, Say, Schedule, train_prior, train_release
from tracecup.learn.checkpoint import fingerprint, keep, resume
from tracecup.learn.defending import defended
from tracecup.learn.habits import Ground
from tracecup.learn.pool import Pool, public_halves
from tracecup.learn.race import FIRST_WEIGHT, Defender, Parts, RaceSettings, Round, race
from tracecup.rng import child_seed
from tracecup.safeio import atomic_write
from tracecup.score import FLOOR
from tracecup.traces import Traces

PRIOR_SIZE = (32, 128, 64)
RELEASE_SIZE = (32, 384, 128)
RACE_SIZE = (32, 192, 64)
"""Hidden cells, embedding and rank of the networks: prior, attack, attackers of a race."""

PRIOR_STEPS = 800

RACE_LOG = "race.json"
"""The numbers of all rounds of a race, in its folder."""


@dataclass(frozen=True)
class Lesson:
    """What to train on: references of teams and names of defences, at a utility floor."""

    city: City
    references: Sequence[Traces]
    defences: tuple[str, ...]
    floor: float = FLOOR
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.references or not self.defences:
            raise InvalidTraces("training needs reference traces and the name of a defence")
        shapes = {(r.n_users, r.times, r.clock.slots) for r in self.references}
        if len(shapes) > 1:
            raise InvalidTraces(
                f"references of one training have the same users and events, got {sorted(shapes)}"
            )
        if any(r.has_gaps for r in self.references):
            raise InvalidTraces("references to train on have no gaps: a defence takes every event")


def lesson_pool(
    lesson: Lesson,
    say: Callable[[int, int], None] = lambda done, total: None,
    executor: Executor | None = None,
) -> Pool:
    """References cut in two: earlier days are known, later ones are defended by every defence."""
    halves = [public_halves(reference) for reference in lesson.references]
    return defended_pool(
        lesson.city, halves, lesson.defences, lesson.floor, lesson.seed, say, executor
    )


def defended_pool(
    city: City,
    teams: Sequence[tuple[Traces, Traces]],
    defences: Sequence[str],
    floor: float = FLOOR,
    seed: int = 0,
    say: Callable[[int, int], None] = lambda done, total: None,
    executor: Executor | None = None,
) -> Pool:
    """Teams as (what is known, what is protected), the latter under every defence.

    With an `executor` every defence of every team is a job of its own.
    """
    calls = [
        partial(defended, city, known, own, name, floor, child_seed(seed, "lesson", team, name))
        for team, (known, own) in enumerate(teams)
        for name in defences
    ]
    released = all_done(executor, calls, lambda done, total: say(int(done), int(total)))
    return Pool(
        np.stack([known.regions for known, _ in teams]).astype(np.int16),
        np.stack([own.regions for _, own in teams]).astype(np.int16),
        np.stack(released),
        np.repeat(np.arange(len(teams)), len(defences)).astype(np.int32),
        teams[0][0].clock.slots,
    )


def learn_attack(
    lesson: Lesson,
    schedule: Schedule,
    folder: Path | None = None,
    say: Callable[[str, int, int, dict[str, float]], None] = lambda *parts: None,
    executor: Executor | None = None,
) -> LearnedModel:
    """A learned attack on the defences of the lesson; checkpoints go to `folder`.

    With an `executor` teams are defended there; the network is trained here.
    """
    slots = lesson.references[0].clock.slots
    ground = Ground.of(lesson.city, slots)
    pool = lesson_pool(lesson, lambda done, total: say("defending", done, total, {}), executor)
    last: dict[str, float] = {}

    def part(name: str) -> Say:
        def note(done: int, total: int, losses: dict[str, float]) -> None:
            last.update(losses)
            say(name, done, total, losses)

        return note

    sizes = (lesson.city.n_regions, slots)
    prior_shape = NetworkShape(*sizes, *PRIOR_SIZE)
    prior = train_prior(
        ground, pool, prior_shape, replace(schedule, steps=min(PRIOR_STEPS, schedule.steps)),
        part("prior"), folder / "prior.part" if folder else None,
    )  # fmt: skip
    shape = NetworkShape(*sizes, *RELEASE_SIZE)
    release = train_release(
        ground, pool, shape, prior, schedule, say=part("attack"),
        checkpoint=folder / "attack.part" if folder else None,
    )  # fmt: skip
    days = lesson.references[0].clock.days
    training = Training(
        lesson.defences,
        len(lesson.references),
        f"reference days 1-{days // 2} known, days {days // 2 + 1}-{days} defended",
        schedule.steps,
        lesson.seed,
        round(last.get("nll", float("nan")), 4),
    )
    return model_of(lesson.city, slots, training, shape, release, prior_shape, prior)


def model_of(
    city: City,
    slots: int,
    training: Training,
    shape: NetworkShape,
    release: ReleaseModel,
    prior_shape: NetworkShape,
    prior: dict[str, Any],
) -> LearnedModel:
    """The plain arrays of what was trained."""
    channel = {name: np.asarray(held, np.float32) for name, held in release.channel.items()}
    return LearnedModel(
        modelfile.Ground.of(city, slots),
        training,
        plain_network(shape, release.net),
        plain_network(prior_shape, prior),
        channel["kernel"],
        channel["table"],
        float(channel["slope"]),
        float(release.tau),
    )


def plain_network(shape: NetworkShape, net: dict[str, Any]) -> Network:
    """A network of JAX as plain arrays."""
    return Network(shape, {name: np.asarray(held, np.float32) for name, held in net.items()})


def on_device(net: Network) -> dict[str, Any]:
    """Plain arrays as a network of JAX."""
    return {name: jnp.asarray(held) for name, held in net.arrays.items()}


def learn_defence(
    lesson: Lesson,
    tests: int,
    settings: RaceSettings,
    first_steps: int,
    folder: Path | None = None,
    say: Callable[[str, float, float, dict[str, float]], None] = lambda *parts: None,
    after_round: Callable[[Round], None] = lambda played: None,
    executor: Executor | None = None,
) -> DefenceModel:
    """Play a race on references alone; the last `tests` of them are tested on, the others train.

    With an `executor` teams are defended and attackers tried there; see `race`.
    """
    teams = len(lesson.references)
    if not 1 <= tests < teams:
        raise InvalidTraces(f"of {teams} references at least one has to train and one to test")
    pool = lesson_pool(lesson, lambda done, total: say("defending", done, total, {}), executor)
    days = lesson.references[0].clock.days
    return play_race(
        lesson.city,
        RaceTeams(
            pool.take_teams(range(teams - tests)),
            pool.take_teams(range(teams - tests, teams)),
            lesson.defences,
            f"reference days 1-{days // 2} known, days {days // 2 + 1}-{days} defended",
        ),
        settings,
        first_steps,
        folder,
        say,
        after_round,
        executor,
    )


@dataclass(frozen=True, eq=False)
class RaceTeams:
    """Teams that a race trains on, teams that it is judged on, and what is said of them.

    The releases of `training` are those of `defences`: the first attacker learns from them.
    """

    training: Pool
    tests: Pool
    defences: tuple[str, ...]
    data: str


def play_race(
    city: City,
    teams: RaceTeams,
    settings: RaceSettings,
    first_steps: int,
    folder: Path | None = None,
    say: Callable[[str, float, float, dict[str, float]], None] = lambda *parts: None,
    after_round: Callable[[Round], None] = lambda played: None,
    executor: Executor | None = None,
) -> DefenceModel:
    """Play a race; the defence meets all attackers but the last one, which judges it.

    Every attacker is kept in `folder`, and what is known of an unfinished round; a race that was
    interrupted goes on from there, and so does one that shall have more rounds: no round depends on
    how many follow. The numbers of all rounds stand in its RACE_LOG. `say` is told the steps of
    what comes before the rounds, then how many rounds are done.
    """
    training, slots = teams.training, teams.training.slots
    ground, sizes = Ground.of(city, slots), (city.n_regions, slots)
    prior_shape, shape = NetworkShape(*sizes, *PRIOR_SIZE), NetworkShape(*sizes, *RACE_SIZE)
    start = replace(settings.schedule, warm=False, seed=settings.seed, steps=first_steps)
    prior = train_prior(
        ground, training, prior_shape, start, lambda *parts: say("prior", *parts),
        folder / "prior.part" if folder else None,
    )  # fmt: skip
    first = train_release(
        ground, training, shape, prior, start, say=lambda *parts: say("first attacker", *parts),
        checkpoint=folder / "first.part" if folder else None,
    )  # fmt: skip
    kept = Parts(folder, _mark(ground, teams, settings, first_steps)) if folder else None
    met, weight, guess = [first], FIRST_WEIGHT, FIRST_WEIGHT
    log: list[dict[str, Any]] = []
    while kept is not None and len(met) <= settings.rounds:
        number, like = len(met), (first, np.zeros(()))
        done, (attacker, held), record = resume(_whole(kept, number), kept.mark, like)
        if done != number:
            break
        kept.forget(number)
        met.append(jax.tree.map(jnp.asarray, attacker))
        log.append(record)
        weight = float(held)
        guess = weight * SHRINK
    if kept is not None:
        _write_log(kept.folder, log)
    defender, tested = (
        Defender(ground, prior, pool, settings.equaliser, executor)
        for pool in (training, teams.tests)
    )

    def in_round(done: int, total: int, losses: dict[str, float]) -> None:
        say("rounds", len(met) - 1 + done / total, settings.rounds, losses)

    for played in race(
        defender, tested, shape, first, settings, met[1:], guess,
        progress=in_round, executor=executor, kept=kept,
    ):  # fmt: skip
        log.append(played.record())
        if kept is not None:
            state = (played.attacker, np.array(played.weight))
            keep(_whole(kept, played.number), kept.mark, played.number, state, log[-1])
            _write_log(kept.folder, log)
        after_round(played)
        met.append(played.attacker)
        weight = played.weight
    words = (*teams.defences, *(f"Equalise, round {k}" for k in range(1, len(met) - 1)))
    note = Training(
        words,
        len(training.reference),
        teams.data,
        settings.schedule.steps,
        settings.seed,
        round(log[-1]["loss"], 4),
    )
    return DefenceModel(
        modelfile.Ground.of(city, slots),
        note,
        plain_network(prior_shape, prior),
        tuple(plain_network(shape, attack.net) for attack in met[:-1]),
        settings.equaliser.group,
        settings.equaliser.noise,
        weight,
    )


def _mark(ground: Ground, teams: RaceTeams, settings: RaceSettings, first_steps: int) -> str:
    """What all rounds of a race depend on; their number is not among it."""
    training, tests = teams.training, teams.tests
    data = (training.reference, training.original, training.released, training.team)
    judged = (tests.reference, tests.original)
    arrays = map(np.asarray, (*ground, *data, *judged))
    return fingerprint(replace(settings, rounds=0), first_steps, *arrays)


def _whole(kept: Parts, number: int) -> Path:
    """The file of a round that is over: its attacker, its weight, its record."""
    return kept.folder / f"round{number:02d}.npz"


def _write_log(folder: Path, log: Sequence[dict[str, Any]]) -> None:
    with atomic_write(folder / RACE_LOG) as file:
        file.write(json.dumps(log, indent=1).encode())
