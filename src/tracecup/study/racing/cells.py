"""The work of the study `race`: attackers trained on public data, and the rounds of a race.

What is trained is kept beside what it scored; a file is used again for the same run only.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from typing import Any, TypeVar

import jax
import numpy as np

from tracecup import __version__
from tracecup.attack.learned import LearnedR, LearnedT, NetworkShape
from tracecup.attack.learned.modelfile import DefenceModel
from tracecup.jobs import all_done
from tracecup.learn.attack import ReleaseModel, Schedule, train_release
from tracecup.learn.equalise import Equaliser
from tracecup.learn.habits import Ground
from tracecup.learn.judge import Verdict, judge
from tracecup.learn.moves import moving_scores, train_moving
from tracecup.learn.pool import Pool, Regions
from tracecup.learn.race import Beginning, Defender, RaceSettings, Round, verdict
from tracecup.learn.teach import (
    RACE_SIZE,
    RELEASE_SIZE,
    Lesson,
    RaceTeams,
    defended_pool,
    learn_attack,
    on_device,
    play_race,
)
from tracecup.safeio import atomic_write
from tracecup.score import FLOOR
from tracecup.study.comparison import DefendedRelease, attack, release
from tracecup.study.context import Context, Team
from tracecup.study.race import (
    KNOWS,
    LAST,
    NEVER,
    OTHER_SIZES,
    OTHERS,
    RETRAINED,
    TARGET,
    UNKNOWN,
    Size,
)
from tracecup.study.strength import FIRST_TEAM
from tracecup.traces import Traces

FIRST_TRAINING, FIRST_RACE, FIRST_FINAL = 201, 301, 401
"""Those that train are others each time; judged are those of the study `strength`."""

Cell = dict[str, Any]
R = TypeVar("R")


class Folder:
    """Where a run keeps its cells: small JSON files, and models beside them."""

    def __init__(self, context: Context, size: Size) -> None:
        """Without a folder of the context everything goes to a temporary one."""
        depends = [__version__, context.seed, repr(size)]
        digest = hashlib.sha256(json.dumps(depends).encode()).hexdigest()[:16]
        root = Path(mkdtemp(prefix="race")) if context.cells is None else context.cells / "race"
        self.path = root / digest
        self.path.mkdir(parents=True, exist_ok=True)

    def cell(self, name: str, make: Callable[[], Cell]) -> Cell:
        """The cell of that name, read or made."""
        path = self.path / f"{name}.json"
        with suppress(OSError, ValueError):
            held = json.loads(path.read_text("utf-8"))
            if isinstance(held, dict):
                return held
        return self.write(name, make())

    def has(self, name: str) -> bool:
        """Whether a cell of that name is there."""
        return (self.path / f"{name}.json").exists()

    def write(self, name: str, cell: Cell) -> Cell:
        """Keep a cell; what comes back is what would be read."""
        text = json.dumps(cell)
        with atomic_write(self.path / f"{name}.json") as file:
            file.write(text.encode())
        found: Cell = json.loads(text)
        return found


class Steps:
    """What is done, by name, and who is told of it: a step that was read counts as well."""

    def __init__(self, context: Context, total: int) -> None:
        """`total` steps in all."""
        self.tell, self.total, self.done = context.tell, total, set[str]()

    def after(self, name: str) -> None:
        """A step is done."""
        self.done.add(name)
        if self.tell:
            self.tell(len(self.done) / self.total, 1.0)


def both(context: Context, size: Size) -> tuple[list[Cell], list[Cell]]:
    """Attackers on the winner's defence, and the race; side by side where there is an engine.

    A device waits for most of what either does on the processor.
    """
    plans = _plans(context, size)
    steps = Steps(context, len(plans) + size.rounds + len(LAST))
    kept = Folder(context, size)
    teams = [] if _complete(kept, size) else _teams(context, size, FIRST_RACE, size.race_teams)
    learned = _beside(context, partial(attackers, context, size, plans, steps))
    played = rounds(context, size, teams, steps)
    return learned(), played


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


Plan = tuple[str, tuple[str, ...], int, int]
"""What an attacker knows, the defences he trains on, teams, days of each."""


def _plans(context: Context, size: Size) -> list[Plan]:
    days = context.long_team(FIRST_TRAINING, 2).reference.clock.days
    return [
        (NEVER, UNKNOWN, size.teams, days),
        (OTHERS, (*UNKNOWN, *OTHER_SIZES), size.teams, days),
        (KNOWS, (TARGET,), size.teams, days),
        *((KNOWS, (TARGET,), teams, days) for teams in size.teams_tried),
        *((KNOWS, (TARGET,), size.teams, few) for few in size.days_tried),
    ]


def attackers(context: Context, size: Size, plans: Sequence[Plan], steps: Steps) -> list[Cell]:
    """Attackers on the winner's defence by what they know and how much public data they have."""
    kept = Folder(context, size)
    days = max(some for *_, some in plans)
    judged = Judged(context, size)
    found = []
    for said, defences, teams, some in plans:
        name = f"attacker-{hashlib.sha256(repr((defences, teams, some)).encode()).hexdigest()[:12]}"

        def make(
            name: str = name,
            said: str = said,
            defences: tuple[str, ...] = defences,
            teams: int = teams,
            some: int = some,
        ) -> Cell:
            started = time.perf_counter()
            model = kept.path / f"{name}.npz"
            lesson = Lesson(
                context.world.city, _references(context, size, teams, some), defences,
                seed=context.seed_of("race", name),
            )  # fmt: skip
            folder = kept.path / name
            folder.mkdir(exist_ok=True)
            schedule = Schedule(steps=size.steps, users=size.batch, precision=_precision())
            learn_attack(lesson, schedule, folder, executor=context.executor).save(model)
            seconds = time.perf_counter() - started
            scores = judged.answered(model)
            return {
                "what": f"train an attacker who {said}: {teams} teams, {some} days",
                "attacker": said,
                "whole": (teams, some) == (size.teams, days),
                "teams": teams,
                "days": some,
                "s_R": [reid for reid, _ in scores],
                "s_T": [trace for _, trace in scores],
                "seconds": seconds,
            }

        found.append(kept.cell(name, make))
        steps.after(name)
    return found


def rounds(context: Context, size: Size, teams: Sequence[Team], steps: Steps) -> list[Cell]:
    """The rounds of the race, then three other attackers on its last defence.

    A race that is complete in its folder needs no teams.
    """
    kept = Folder(context, size)
    # A round whose row was not written is played again, and so are those after it.
    names, final = _round_names(size), [f"final-{k}" for k in range(len(LAST))]
    whole = next((k for k, name in enumerate(names) if not kept.has(name)), len(names))
    for name in names[:whole]:
        steps.after(name)
    for name in names[whole:]:
        (kept.path / f"{name}.npz").unlink(missing_ok=True)
    if not _complete(kept, size):
        others = _beside(context, partial(_teams, context, size, FIRST_FINAL, size.final_teams))
        tests = _pool(_tests(context, size))
        model = _raced(context, size, teams, tests, kept, steps)
        _finals(context, size, others(), teams, tests, kept, model, steps)
    return [json.loads((kept.path / f"{name}.json").read_text()) for name in (*names, *final)]


def _round_names(size: Size) -> list[str]:
    return [f"round{k:02d}" for k in range(1, size.rounds + 1)]


def _complete(kept: Folder, size: Size) -> bool:
    """Whether the race has been played to its end."""
    return all(map(kept.has, (*_round_names(size), *(f"final-{k}" for k in range(len(LAST))))))


def _raced(
    context: Context, size: Size, teams: Sequence[Team], tests: Pool, kept: Folder, steps: Steps
) -> DefenceModel:
    """Play what is left of the race."""
    few = [(team.reference, team.original) for team in teams[: size.early_teams]]
    training = defended_pool(
        context.world.city, few, (TARGET,), seed=context.seed_of("race", "first"),
        executor=context.executor,
    )  # fmt: skip
    if len(teams) > len(few):
        others = _pool(teams[len(few) :])
        training = training.with_teams(others.reference, others.original)
    schedule = Schedule(steps=size.race_steps, users=size.batch, warm=True, precision=_precision())
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
        steps.after(f"round{played.number:02d}")

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
    teams: Sequence[Team],
    raced: Sequence[Team],
    tests: Pool,
    kept: Folder,
    model: DefenceModel,
    steps: Steps,
) -> None:
    """Attackers from nothing on the last defence: two of the same family, one with transitions.

    They have other teams than the race (the richest has those that raced as well), several
    releases of each and more steps: an attacker who is short of data flatters the defence.
    """
    city, slots = context.world.city, tests.slots
    ground = Ground.of(city, slots)
    prior = on_device(model.prior)
    nets = [on_device(net) for net in model.models]
    larger = NetworkShape(city.n_regions, slots, *RELEASE_SIZE)
    schedule = Schedule(steps=size.final_steps, users=size.batch, seed=99, precision=_precision())

    def defended(pool: Pool, copies: int, seed: int) -> list[Regions]:
        defender = Defender(ground, prior, pool, _equaliser(size))
        return [defender.defended(nets, model.weight, seed * (k + 1))[0] for k in range(copies)]

    with np.load(kept.path / "last.npz") as held:
        releases = held["releases"]
    last = json.loads((kept.path / f"round{size.rounds:02d}.json").read_text())
    row = {key: last[key] for key in ("number", "utility", "earlier")}
    started = time.perf_counter()

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
        steps.after(f"final-{k}")
        started = time.perf_counter()

    def judged(attacker: ReleaseModel) -> list[Verdict]:
        return [
            verdict(ground, attacker, prior, tests, k, released)
            for k, released in enumerate(releases)
        ]

    few = _pool(teams)
    copies = defended(few, size.copies, 10**6)
    pool = few.with_copies(copies)
    scratch = train_release(ground, pool, larger, prior, schedule)
    write(0, judged(scratch))
    moving = train_moving(
        ground, pool, NetworkShape(city.n_regions, slots, *RACE_SIZE),
        replace(schedule, steps=size.final_steps // 2),
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
    others = _pool(raced)
    more = defended(others, size.most_copies, 77 * 10**6)
    pool = few.with_teams(others.reference, others.original).with_copies(
        [np.concatenate(pair) for pair in zip(copies, more, strict=False)]
    )
    rich = replace(schedule, steps=size.most_steps, seed=98)
    write(2, judged(train_release(ground, pool, larger, prior, rich)))


def _equaliser(size: Size) -> Equaliser:
    return Equaliser(group=size.group, sweeps=size.sweeps)


class Judged:
    """The winner's defence of the judged teams, made when the first attacker needs it."""

    def __init__(self, context: Context, size: Size) -> None:
        """Nothing is made before it is asked for."""
        self.context, self.size = context, size

    @cached_property
    def releases(self) -> list[tuple[int, DefendedRelease]]:
        """The seed and the release of every judged team."""
        context, teams = self.context, _tests(self.context, self.size)
        seeds = [context.seed_of("race", "judged", team.name) for team in teams]
        calls = [
            partial(release, team.city, team.reference, team.original, TARGET, seed=seed)
            for team, seed in zip(teams, seeds, strict=True)
        ]
        return list(zip(seeds, all_done(context.executor, calls), strict=True))

    def answered(self, model: Path) -> list[tuple[float, float]]:
        """s_R and s_T of a trained attacker on each, by the methods that answer."""
        reid, trace = LearnedR(model=str(model)), LearnedT(model=str(model))
        return [
            (attack(made, reid, seed).score.value, attack(made, trace, seed).score.value)
            for seed, made in self.releases
        ]


def _references(context: Context, size: Size, teams: int, days: int | None) -> list[Traces]:
    found = [team.reference for team in _teams(context, size, FIRST_TRAINING, teams)]
    return [one if days is None else one.take_days(0, days) for one in found]


def _tests(context: Context, size: Size) -> list[Team]:
    return _teams(context, size, FIRST_TEAM, size.tests)


def _teams(context: Context, size: Size, first: int, count: int) -> list[Team]:
    bare = context.travelling
    calls = [
        partial(Context.long_team, bare, number, size.users)
        for number in range(first, first + count)
    ]
    return all_done(context.executor, calls)


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


def _precision() -> str:
    """Half precision where the device is made for it."""
    return "float32" if jax.default_backend() == "cpu" else "bfloat16"
