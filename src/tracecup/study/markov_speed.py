"""Beyond the paper: seconds of fuzzy counting and of the Markov attacks as everything grows.

The paper gives orders only: O(m (l + n)) against O(m l n^2) for m users, l events, n regions.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tracecup.attack import Case, FuzzyR, VisitProbR
from tracecup.city import City, Clock, Grid
from tracecup.contest.judging.published import publish
from tracecup.obfuscate import parse_obfuscator
from tracecup.rng import Rng, generator
from tracecup.score import reid_score
from tracecup.study.context import Context
from tracecup.study.results import BUILT_IN, Source, StudyResult, Table
from tracecup.study.textbook_markov import markov_identify, markov_track
from tracecup.traces import IdTable, SetTraces, Traces

REPEATS, FEW_SECONDS, MANY_SECONDS = 3, 0.2, 1.0
SLOTS, REACH = 20, 3
YARDSTICK = "product of two 500 x 500 matrices"
COUNTING, FUZZY = "fuzzy counting", "fuzzy counting and search (Fuzzy-R)"
MARKOV, TRACKING = "Markov re-identification", "Markov tracking"
MADE_UP = Source(f"Random walks made for the measurement; a yardstick is a {YARDSTICK}")
COLUMNS = ("grows", "attack", "users", "events", "regions", "seconds", "yardsticks a user")
ACCURACY_USERS, ACCURACY_RELEASE = 500, "PL(4,1)"


@dataclass(frozen=True)
class CrowdSize:
    """How much data an attack gets: users, days of 20 events, regions on a side."""

    users: int
    days: int = 10
    side: int = 24

    @property
    def regions(self) -> int:
        """Regions of the square city."""
        return self.side**2


MANY, FEW = 1000, 4
Work = Callable[[Case, NDArray[np.float64]], object]
WORKS: dict[str, tuple[int, Work]] = {
    COUNTING: (MANY, lambda case, _: FuzzyR().scores(case)),
    FUZZY: (MANY, lambda case, _: FuzzyR().identify(case)),
    MARKOV: (MANY, lambda case, _: markov_identify(case)),
    TRACKING: (FEW, lambda case, noise: markov_track(case, _truth(case), noise)),
}
"""Attack -> how many users it can be given here, and what is timed."""
FACTORS, QUICK_FACTORS = (0.25, 0.5, 1.0, 2.0), (0.25, 0.5)
GROWTH: dict[str, Callable[[CrowdSize, float], CrowdSize]] = {
    "users": lambda size, by: replace(size, users=round(size.users * by)),
    "events": lambda size, by: replace(size, days=max(1, round(size.days * by))),
    "regions": lambda size, by: replace(size, side=round(size.side * math.sqrt(by))),
}


def speed(context: Context) -> StudyResult:
    """Time of each attack as users, events and regions grow, and the exponents that fit."""
    yardstick = _seconds(_product(context))
    rows = list(_measured(context, yardstick))
    table = Table.of(COLUMNS, rows)
    fitted = [
        (grows, name, _exponent(table.where(grows=grows, attack=name), grows))
        for grows in GROWTH
        for name in WORKS
    ]
    accuracy = Table.of(("attack", "s_R"), _accuracy(context))
    return StudyResult(
        MADE_UP,
        {
            "speed": table,
            "exponents": Table.of(("grows", "attack", "exponent"), fitted),
            "accuracy": accuracy,
        },
        {f"seconds of the yardstick ({YARDSTICK})": yardstick},
        (),
        {"users (accuracy)": min(ACCURACY_USERS, context.users)},
        (
            "Times are processor time of all threads, the best of several in one run, divided by "
            f"that of a {YARDSTICK} in the same run and by the number of users. Exponents: slopes "
            "of straight lines through the logarithms of the whole times; at small sizes what does "
            "not grow hides the slope.",
            "Markov re-identification: likelihood under each user's dense transition matrix. "
            "Markov tracking: forward-backward on it, O(m l n^2), the order that the paper gives "
            f"for attacks it calls complicated; it gets {FEW} users where others get {MANY}.",
        ),
        {"accuracy": BUILT_IN},
    )


def crowd(size: CrowdSize, rng: Rng = None) -> Case:
    """Made-up people: at home every other time, else near it; the release is one cell off."""
    random, side = generator(rng), size.side
    clock = Clock.regular(size.days, SLOTS)
    shape = (size.users, clock.times)
    home = random.integers(0, side, (2, size.users, 1))

    def walk(noise: int) -> Traces:
        away = random.integers(-REACH, REACH + 1, (2, *shape)) * random.integers(0, 2, shape)
        x, y = np.clip(home + away + random.integers(-noise, noise + 1, (2, *shape)), 0, side - 1)
        return Traces((y * side + x).astype(np.int32), np.arange(size.users), clock)

    city = City(Grid.from_metres(side, side, width_m=340, height_m=340))
    return Case(city, walk(0), SetTraces.of_traces(walk(1)))


def _measured(context: Context, yardstick: float) -> Iterator[tuple[str | float, ...]]:
    factors = QUICK_FACTORS if context.quick else FACTORS
    small = crowd(CrowdSize(2, 1, 8))
    for _, work in WORKS.values():
        work(small, np.ones((64, 64)))  # compiles
    for grows, grown in GROWTH.items():
        for name, (users, work) in WORKS.items():
            for by in factors:
                size = grown(CrowdSize(users), by)
                case = crowd(size, context.seed_of("beyond3", "speed"))
                noise = np.exp(-4.0 * case.city.grid.distances)
                seconds = _seconds(partial(work, case, noise))
                share = seconds / yardstick / size.users
                events = case.released.times
                yield grows, name, size.users, events, size.regions, seconds, share


def _accuracy(context: Context) -> Iterator[tuple[str, float]]:
    """What each way of counting is worth: s_R on the same release of the built-in city."""
    team = context.stages["long"].take_users(ACCURACY_USERS)
    seed = context.seed_of("beyond3", "accuracy")
    cells = parse_obfuscator(ACCURACY_RELEASE).obfuscate(team.city, team.original, seed)
    made = publish(team.city, team.reference, team.original, cells, seed)
    for name, guess in (
        ("VisitProb-R", VisitProbR().identify(made.case)),
        ("Fuzzy-R", FuzzyR().identify(made.case)),
        (MARKOV, markov_identify(made.case)),
    ):
        yield name, reid_score(made.table, guess).value


def _truth(case: Case) -> IdTable:
    return IdTable(np.arange(case.n_users, dtype=np.int32))


def _product(context: Context) -> Callable[[], object]:
    a, b = generator(context.seed_of("beyond3", "yardstick")).random((2, 500, 500))
    return lambda: a @ b


def _seconds(work: Callable[[], object]) -> float:
    """Processor time of all threads, which others on the machine disturb less than the clock.

    The best of at least three runs; of more if they are short, of fewer if they are long.
    """
    times: list[float] = []
    while sum(times) < FEW_SECONDS or (len(times) < REPEATS and sum(times) < MANY_SECONDS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def _exponent(table: Table, grows: str) -> float:
    x, y = np.log(table.column(grows)), np.log(table.column("seconds"))
    return float(np.polyfit(x, y, 1)[0])
