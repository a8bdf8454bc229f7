"""The work of the study `race`: the rounds of the shipped defence, its last ones, other attackers.

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

import jax.numpy as jnp
import numpy as np

from tracecup.attack.learned import NetworkShape, defence_model
from tracecup.attack.learned.modelfile import SHIPPED, SHRINK, DefenceModel
from tracecup.learn.attack import ReleaseModel, Schedule, precision, train_release
from tracecup.learn.checkpoint import fingerprint, keep, resume
from tracecup.learn.equalise import TEAMS_AT_ONCE, Equaliser
from tracecup.learn.habits import Ground
from tracecup.learn.judge import Verdict, judge
from tracecup.learn.moves import moving_scores, train_moving
from tracecup.learn.network import Network as DeviceNetwork
from tracecup.learn.network import new_channel
from tracecup.learn.pool import Pool
from tracecup.learn.race import (
    COPY,
    Defender,
    RaceSettings,
    Round,
    race,
    release_seed,
    verdict,
)
from tracecup.learn.teach import RACE_SIZE, RELEASE_SIZE, on_device, plain_network
from tracecup.score import FLOOR
from tracecup.study.context import Context, Team
from tracecup.study.folder import Cell, Folder, teams_from
from tracecup.study.race import EXACT, LAST, MOVES, RICHER, SCRATCH, Size
from tracecup.study.replay import RETRAINED, Course, judged_again
from tracecup.study.strength import FIRST_TEAM

FIRST_TRAINING = 301
"""Those that train; judged are those of the study `strength`."""
EVERYONE = "attackers.npz"
"""All attackers of the race as a defence would hold them, the one on the last defence too."""

R = TypeVar("R")


def rounds(context: Context, size: Size) -> list[Cell]:
    """The rounds of the race, then other attackers on its last defence."""
    given = defence_model(SHIPPED).first(size.given)
    kept = Folder(context, "race", (size, given.digest))
    early = [f"round{k:02d}" for k in range(1, size.given)]
    late = [f"round{k:02d}" for k in range(size.given, size.rounds + 1)]
    exact = [f"exact{k:02d}" for k in range(size.given, size.rounds + 1)]
    final = [f"final-{k}" for k in range(len(LAST))]
    names = (*early, *late, *exact, *final)
    everyone = kept.path / EVERYONE

    def told() -> None:
        if context.tell:
            context.tell(sum(map(kept.has, names)), len(names))

    told()
    if not (everyone.exists() and all(map(kept.has, (*late, *final)))):
        # A round whose row was not written is played again, and so are those after it. Attackers
        # on the last defence learn from its releases, which are not kept: that round, too.
        whole = next((k for k, name in enumerate(late) if not kept.has(name)), len(late) - 1)
        for name in late[whole:]:
            (kept.path / f"{name}.npz").unlink(missing_ok=True)
        _played(context, size, given, late[:whole], kept, told)
    # Last: beside it a round took two thirds longer.
    played = DefenceModel.load(everyone)
    course = Course(size.tests, size.users, size.group, size.sweeps)
    for attacker, defence, cells in (
        (RETRAINED, given, dict(enumerate(early, 1))),
        (EXACT, played, dict(enumerate(exact, size.given))),
    ):
        judged_again(context, course, defence, attacker, cells, kept, told)
    return [kept.read(name) for name in names]


def _played(
    context: Context,
    size: Size,
    given: DefenceModel,
    whole: Sequence[str],
    kept: Folder,
    told: Callable[[], None],
) -> None:
    """The rounds after those of the file, then attackers from nothing on the last defence."""
    city, slots = context.world.city, given.ground.slots
    ground = Ground.of(city, slots)
    prior, shape = on_device(given.prior), given.models[0].shape
    settings = RaceSettings(
        size.rounds,
        Equaliser(group=size.group, noise=given.noise, sweeps=size.sweeps),
        Schedule(steps=size.steps, users=size.batch, warm=True, precision=precision()),
        FLOOR,
        copies=size.copies,
    )
    first = min(TEAMS_AT_ONCE, size.teams)
    known = teams_from(context, FIRST_TRAINING, first, size.users)
    others = _beside(
        context,
        partial(teams_from, context, FIRST_TRAINING + first, size.teams - first, size.users),
    )
    tests = _pool(teams_from(context, FIRST_TEAM, size.tests, size.users))
    # Temperature and channel are not in the file; they begin anew.
    met = [
        ReleaseModel(on_device(net), jnp.asarray(2.0), new_channel(ground)) for net in given.models
    ]
    mark, guess = fingerprint(tests.reference, repr(size)), given.weight
    for name in whole:
        met.append(resume(kept.path / f"{name}.npz", mark, met[0])[1])
        guess = json.loads((kept.path / f"{name}.json").read_text())["weight"] * SHRINK
    # The device's programs are compiled while the other teams are still being made.
    few = Defender(ground, prior, _pool(known), settings.equaliser)
    few.defended([one.net for one in met], guess, 0)
    training = _pool([*known, *others()])
    defender, tested = (
        Defender(ground, prior, pool, settings.equaliser) for pool in (training, tests)
    )
    started = time.perf_counter()
    for last in race(defender, tested, shape, met[0], settings, met[1:], guess):
        name = f"round{last.number:02d}"
        keep(kept.path / f"{name}.npz", mark, last.number, last.attacker)
        kept.write(
            name,
            {
                **last.record(),
                "what": f"round {last.number}",
                "attacker": RETRAINED,
                "seconds": time.perf_counter() - started,
            },
        )
        told()
        started = time.perf_counter()
        met.append(last.attacker)
    *nets, newest = [one.net for one in met]
    _defence(size, given, nets, last.weight).save(kept.path / "defence.npz")
    everyone = _defence(size, given, [*nets, newest], last.weight * SHRINK)
    everyone.save(kept.path / EVERYONE)
    _finals(size, defender, nets, tested, last, settings, kept, told)


def _defence(
    size: Size, given: DefenceModel, nets: Sequence[DeviceNetwork], weight: float
) -> DefenceModel:
    """A defence that has met these attackers: the given ones, then those of this race."""
    shape = given.models[0].shape
    later = [plain_network(shape, net) for net in nets[size.given :]]
    said = (f"Equalise, round {k}" for k in range(size.given, len(nets)))
    before = given.training
    data = before.data
    if len(before.defences) == size.given:  # else it says already what the first ones had
        data += (
            f"; the first {size.given} with {before.teams} teams and {before.steps} steps at most"
        )
    training = replace(
        before,
        data=data,
        defences=(*before.defences[: size.given], *said),
        teams=size.teams,
        steps=size.steps,
    )
    models = (*given.models, *later)
    return replace(given, training=training, models=models, group=size.group, weight=weight)


def _finals(
    size: Size,
    defender: Defender,
    nets: list[DeviceNetwork],
    tested: Defender,
    last: Round,
    settings: RaceSettings,
    kept: Folder,
    told: Callable[[], None],
) -> None:
    """Attackers from nothing on the last defence.

    One of the race's family on what the race's own attacker has learnt from, one with transitions,
    and one with a release more of every team: an attacker who is short of data flatters the
    defence.
    """
    ground, prior, tests = tested.ground, tested.prior, tested.pool
    sizes = ground.distance.shape[0], tests.slots
    schedule = Schedule(steps=size.final_steps, users=size.batch, seed=99, precision=precision())
    started = time.perf_counter()

    def write(who: str, verdicts: list[Verdict]) -> None:
        nonlocal started
        kept.write(
            f"final-{LAST.index(who)}",
            {
                **last.record(),
                "what": f"attacker {who}",
                "attacker": who,
                "verdicts": [vars(one) for one in verdicts],
                "seconds": time.perf_counter() - started,
            },
        )
        told()
        started = time.perf_counter()

    def from_scratch(pool: Pool, steps: int) -> tuple[ReleaseModel, list[Verdict]]:
        shape = NetworkShape(*sizes, *RELEASE_SIZE)
        attack = train_release(ground, pool, shape, prior, replace(schedule, steps=steps))
        return attack, [
            verdict(ground, attack, prior, tests, k, released)
            for k, released in enumerate(last.releases)
        ]

    scratch, verdicts = from_scratch(last.seen, size.final_steps)
    write(SCRATCH, verdicts)
    moving = train_moving(
        ground,
        last.seen,
        NetworkShape(*sizes, *RACE_SIZE),
        replace(schedule, steps=size.moving_steps),
    )
    write(
        MOVES,
        [
            judge(
                ground, moving_scores(ground, moving, tests.reference[k], released),
                scratch.channel, prior, tests.reference[k], released, tests.original[k],
            )
            for k, released in enumerate(last.releases)
        ],
    )  # fmt: skip
    seed = release_seed(last.number, settings) + COPY * size.copies
    more, _, _ = defender.defended(nets, last.weight, seed)
    copies = [*np.split(last.seen.released, size.copies), more]
    write(RICHER, from_scratch(defender.pool.with_copies(copies), size.richer_steps)[1])


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
