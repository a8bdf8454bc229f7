"""A race between defence and attack by fictitious play: who wins, round by round.

Each round defends all teams against every attacker so far and trains the next attacker on what
came out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from tracecup.attack.learned.modelfile import SHRINK
from tracecup.attack.learned.shape import NetworkShape
from tracecup.engine import cores
from tracecup.learn.attack import ReleaseModel, Say, Schedule, train_release
from tracecup.learn.checkpoint import fingerprint, keep, resume
from tracecup.learn.equalise import TEAMS_AT_ONCE, Equaliser, equalise, team_groups
from tracecup.learn.habits import Ground
from tracecup.learn.handout import handed_out
from tracecup.learn.judge import Verdict, judge, misses, scores_of
from tracecup.learn.network import Network
from tracecup.learn.pool import Pool, Regions

FIRST_WEIGHT, WEIGHT_STEP, MOST_TRIES = 0.012, 1.6, 8

COPY = 10**6
"""Seeds of the releases of a team are so far apart."""

ABOVE_FLOOR = (0.0003, 0.002)
"""A weight is good enough if it leaves utility this little above the floor."""

Defended = tuple[Regions, list[float], float]
"""Releases of teams, the utility of each, and the residual of the targets."""


@dataclass(frozen=True, eq=False)
class Round:
    """What happened in one round: the defence, and the attacker that was trained on it.

    `utility` and `verdicts` have one entry per test team, `earlier` the s_R of every earlier
    attacker on the first of them; `releases` are the defended test teams, `seen` is what the
    attacker was trained on, and `loss` his mean -log p of a released cell in the last steps.
    """

    number: int
    weight: float
    utility: tuple[float, ...]
    residual: float
    earlier: tuple[float, ...]
    verdicts: tuple[Verdict, ...]
    attacker: ReleaseModel
    releases: Regions
    seen: Pool
    loss: float

    def record(self) -> dict[str, Any]:
        """The numbers of the round, without its arrays."""
        kept = ("number", "weight", "utility", "residual", "earlier", "loss")
        return {name: getattr(self, name) for name in kept} | {
            "verdicts": [asdict(verdict) for verdict in self.verdicts]
        }


@dataclass(frozen=True)
class RaceSettings:
    """Rounds, the equaliser of the defence, how attackers are retrained, and the utility floor.

    Attackers learn from `copies` releases of every team: one who is short of data flatters the
    defence.
    """

    rounds: int = 5
    equaliser: Equaliser = field(default_factory=Equaliser)
    schedule: Schedule = field(default_factory=lambda: Schedule(steps=400, warm=True))
    floor: float = 0.7
    seed: int = 0
    copies: int = 1


class Defender:
    """Defends the teams of a pool; their groups are found once."""

    def __init__(
        self,
        ground: Ground,
        prior: Network,
        pool: Pool,
        settings: Equaliser,
        executor: Executor | None = None,
    ) -> None:
        """Groups follow from the prior and the references alone."""
        self.ground, self.prior, self.pool, self.settings = ground, prior, pool, settings
        wanted = [partial(team_groups, ground, own, prior, settings) for own in pool.reference]
        with ThreadPoolExecutor(cores()) as threads:  # most of it is the host's, one core a team
            self.groups = handed_out(executor or threads, wanted)

    def calls(
        self, portfolio: list[Network], weight: float, seed: int, teams: Sequence[int] | None = None
    ) -> list[Callable[[], Defended]]:
        """The defence of the teams (all by default), as many at once as a descent takes."""
        wanted = list(range(len(self.groups)) if teams is None else teams)
        parts = [
            (low, wanted[low : low + TEAMS_AT_ONCE]) for low in range(0, len(wanted), TEAMS_AT_ONCE)
        ]
        return [
            partial(
                equalise, self.ground, self.pool.reference[some], self.pool.original[some],
                [self.groups[k] for k in some], self.prior, portfolio, weight, self.settings,
                seed + low,
            )
            for low, some in parts
        ]  # fmt: skip

    def defended(
        self,
        portfolio: list[Network],
        weight: float,
        seed: int,
        teams: Sequence[int] | None = None,
    ) -> Defended:
        """Releases of the teams (all by default), utilities, residual of the first teams."""
        return joined(handed_out(None, self.calls(portfolio, weight, seed, teams)))


def release_seed(number: int, settings: RaceSettings) -> int:
    """What the releases of a round are drawn by; the k-th one of a team k * COPY later."""
    return 1000 * number + settings.seed


class Releases(NamedTuple):
    """What a round releases: copies (copies, teams, U, events) to train on, and the test teams.

    `utility` is that of each test team, `residual` that of their targets.
    """

    weight: NDArray[np.float64]
    copies: Regions
    tests: Regions
    utility: NDArray[np.float64]
    residual: NDArray[np.float64]

    @classmethod
    def empty(cls, training: Pool, tests: Pool, copies: int) -> Releases:
        """Nothing yet, in the right shapes."""
        number = np.zeros(())
        return cls(
            number,
            np.empty((copies, *training.original.shape), np.int16),
            np.empty(tests.original.shape, np.int16),
            np.zeros(len(tests.original)),
            number,
        )


@dataclass(frozen=True)
class Parts:
    """Where the parts of an unfinished round are kept, and the fingerprint of its race."""

    folder: Path
    mark: str

    def training(self, number: int) -> Path:
        """The file of the training of a round's attacker."""
        return self.folder / f"round{number:02d}.part"

    def hold(self, number: int, nets: Sequence[Network], made: Releases) -> None:
        """Keep the releases of a round against these networks."""
        keep(self._releases(number), self._mark(number, nets), number, made)

    def found(self, number: int, nets: Sequence[Network], like: Releases) -> Releases | None:
        """The releases of a round against these networks, if they were kept."""
        done, made, _ = resume(self._releases(number), self._mark(number, nets), like)
        return Releases(*made) if done else None

    def forget(self, number: int) -> None:
        """Take away what a whole round needs no more."""
        for path in (self._releases(number), self.training(number)):
            path.unlink(missing_ok=True)

    def _releases(self, number: int) -> Path:
        return self.folder / f"round{number:02d}.releases"

    def _mark(self, number: int, nets: Sequence[Network]) -> str:
        return fingerprint(self.mark, number, *map(np.asarray, jax.tree.leaves(list(nets))))


def joined(parts: Sequence[Defended]) -> Defended:
    """What was defended in parts: releases, utilities, residual of the first part."""
    released, utility, residual = zip(*parts, strict=True)
    return np.concatenate(released), [one for part in utility for one in part], residual[0]


def race(
    defender: Defender,
    tested: Defender,
    shape: NetworkShape,
    first: ReleaseModel,
    settings: RaceSettings,
    earlier: Sequence[ReleaseModel] = (),
    guess: float = FIRST_WEIGHT,
    say: Callable[[str], None] = lambda words: None,
    progress: Say | None = None,
    executor: Executor | None = None,
    kept: Parts | None = None,
) -> Iterator[Round]:
    """Play the rounds after those whose attackers are given in `earlier`, one at a time.

    Attackers train on the teams of `defender` and are judged on those of `tested`. `first` is the
    attacker that the first defence meets; the search for a weight begins at `guess`. A race that
    was interrupted goes on with the attackers of its last whole round and SHRINK times its weight;
    it gives the same rounds. With an `executor` a round's teams are defended there, four at a time,
    and its test teams attacked; the search for its weight and the training of its attacker are one
    chain, and stay here. `progress` is told of each round: the defence of its teams is the first
    half, the training of its attacker the second. With `kept` a round goes on inside, too.
    """
    attackers, told = [first, *earlier], progress or (lambda done, total, losses: None)
    ground, prior, tests = defender.ground, defender.prior, tested.pool

    def defending(done: float, total: float) -> None:
        told(int(done), 2 * int(total), {})

    for number in range(len(attackers), settings.rounds + 1):
        nets = [attack.net for attack in attackers]
        like = Releases.empty(defender.pool, tested.pool, settings.copies)
        made = kept.found(number, nets, like) if kept else None
        if made is None:
            weight = _weight(defender, nets, guess, settings, number, say)
            made = _releases(defender, tested, nets, settings, number, weight, defending, executor)
            if kept is not None:
                kept.hold(number, nets, made)
        weight = float(made.weight)
        guess = weight * SHRINK
        say(f"round {number}: weight {weight:.5f}, s_U {np.round(made.utility, 4).tolist()}")
        old = handed_out(
            executor,
            [partial(_missed, ground, net, tests.reference[0], made.tests[0]) for net in nets],
        )
        seen = defender.pool.with_copies(list(made.copies))
        last: dict[str, float] = {}

        def learning(
            done: int, total: int, losses: dict[str, float], last: dict[str, float] = last
        ) -> None:
            last.update(losses)
            told(total + done, 2 * total, losses)

        attacker = train_release(
            ground, seen, shape, prior, replace(settings.schedule, seed=settings.seed + number),
            start=attackers[-1], say=learning,
            checkpoint=kept.training(number) if kept else None,
        )  # fmt: skip
        verdicts = handed_out(
            executor,
            [
                partial(verdict, ground, attacker, prior, tests.take_teams([k]), 0, released)
                for k, released in enumerate(made.tests)
            ],
        )
        attackers.append(attacker)
        yield Round(
            number,
            weight,
            tuple(made.utility.tolist()),
            float(made.residual),
            tuple(old),
            tuple(verdicts),
            attacker,
            made.tests,
            seen,
            last["nll"],
        )
        if kept is not None:  # whoever plays has the whole round by now
            kept.forget(number)


def _releases(
    defender: Defender,
    tested: Defender,
    nets: list[Network],
    settings: RaceSettings,
    number: int,
    weight: float,
    progress: Callable[[float, float], None],
    executor: Executor | None,
) -> Releases:
    """All teams under the defence of a round: those that train once per copy, those of the test."""
    seed = release_seed(number, settings)
    asked = [
        *(defender.calls(nets, weight, seed + COPY * k) for k in range(settings.copies)),
        tested.calls(nets, weight, seed + 500),
    ]
    made = iter(handed_out(executor, [call for calls in asked for call in calls], progress))
    *copies, (tried, utility, residual) = [joined(list(islice(made, len(c)))) for c in asked]
    return Releases(
        np.array(weight),
        np.stack([released for released, *_ in copies]),
        tried,
        np.array(utility),
        np.array(residual),
    )


def _missed(ground: Ground, net: Network, reference: Regions, released: Regions) -> float:
    """s_R of a network on a release."""
    return misses(scores_of(ground, net, reference, released))[0]


def verdict(
    ground: Ground, attack: ReleaseModel, prior: Network, tests: Pool, team: int, released: Regions
) -> Verdict:
    """What an attack gets from a release of one of the test teams."""
    reference, original = tests.reference[team], tests.original[team]
    scores = scores_of(ground, attack.net, reference, released)
    return judge(ground, scores, attack.channel, prior, reference, released, original)


def _weight(
    defender: Defender,
    nets: list[Network],
    weight: float,
    settings: RaceSettings,
    number: int,
    say: Callable[[str], None] = lambda words: None,
) -> float:
    """The weight of the scores that leaves the first training teams just above the floor."""
    low: float | None = None
    high: float | None = None
    first = range(min(TEAMS_AT_ONCE, len(defender.groups)))
    for _ in range(MOST_TRIES):
        _, utility, _ = defender.defended(nets, weight, number, first)
        above = fmean(utility) - settings.floor
        if ABOVE_FLOOR[0] <= above <= ABOVE_FLOOR[1]:
            break
        if above < ABOVE_FLOOR[0]:
            high = weight
            weight = weight / WEIGHT_STEP if low is None else (weight * low) ** 0.5
        else:
            low = weight
            weight = weight * WEIGHT_STEP if high is None else (weight * high) ** 0.5
    say(f"round {number}: weight {weight:.5f}")
    return weight
