"""The people of a generated city: where they live and work, how far and how often they go out.

Habits are strongly uneven: ranges, errands and hours come from heavy-tailed or wide laws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.datasets.townplan import Townplan
from tracecup.engine import map_blocks
from tracecup.errors import InvalidParameter
from tracecup.kernels import kernel
from tracecup.rng import Rng, generator

OCCUPATIONS = ("desk", "student", "field", "home", "visitor")
DESK, STUDENT, FIELD, HOME, VISITOR = range(5)
# People as position data show them, who are out and about; not the shares of a census.
SHARES = (0.22, 0.10, 0.38, 0.15, 0.15)
COMMUTE_KM, COMMUTE_SIGMA = 0.6, 1.5
RANGE_SIGMA = 1.3


@dataclass(frozen=True, eq=False)
class Inhabitants:
    """Habits of n people, one array each, shape (n,).

    `home` and `work` are regions (school of a student, depot of a field worker; those who do
    not work have their home there). `range_km` scales the distances of errands, `errands` is
    their mean number in a round, `rounds` the mean number of rounds of those who are free.
    `leave` and `hours` are the usual minute of setting out and the minutes spent at work,
    `latest` the minute after which nothing new is begun, `lunch` the chance of eating out,
    `trips` the mean number of business trips a day, `stroll` the chance of drifting to a
    neighbouring region every ten minutes when out without hurry.
    """

    occupation: NDArray[np.int64]
    home: NDArray[np.int64]
    work: NDArray[np.int64]
    range_km: NDArray[np.float64]
    leave: NDArray[np.float64]
    hours: NDArray[np.float64]
    latest: NDArray[np.float64]
    lunch: NDArray[np.float64]
    errands: NDArray[np.float64]
    rounds: NDArray[np.float64]
    trips: NDArray[np.float64]
    stroll: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.home)


def settle(
    plan: Townplan, n: int, *, shares: tuple[float, ...] = SHARES, rng: Rng = None
) -> Inhabitants:
    """Settle `n` people in the city; O(n x regions) for the choice of workplaces.

    Homes follow the density of homes (visitors: of hotels). The workplace w of someone living
    at h has probability proportional to jobs(w) exp(-d(h, w) / c), with a personal commuting
    scale c (log-normal, median 0.6 km, sigma 1.5: many work near home, some anywhere). Ranges
    of errands are log-normal with sigma 1.3: a few people roam the whole city, most stay in
    their quarter.

    >>> from tracecup.datasets.townplan import make_townplan
    >>> people = settle(make_townplan(8, 8, rng=1), 5, rng=2)
    >>> len(people), people.home.shape
    (5, (5,))
    """
    if n < 1:
        raise InvalidParameter(f"a city needs at least one inhabitant, got {n}")
    if len(shares) != len(OCCUPATIONS) or min(shares) < 0 or not math.isclose(sum(shares), 1):
        raise InvalidParameter(
            f"shares must be {len(OCCUPATIONS)} numbers >= 0 that sum to 1 "
            f"({', '.join(OCCUPATIONS)}), got {shares}"
        )
    random = generator(rng)
    occupation = random.choice(len(OCCUPATIONS), n, p=shares)
    home = np.where(
        occupation == VISITOR,
        random.choice(len(plan.lodging), n, p=plan.lodging),
        random.choice(len(plan.homes), n, p=plan.homes),
    )
    commute = random.lognormal(math.log(COMMUTE_KM), COMMUTE_SIGMA, n)
    work = _workplaces(plan, home, commute, occupation, random.random(n))

    def by_occupation(*values: float) -> NDArray[np.float64]:
        return np.array(values)[occupation]

    leave = by_occupation(500, 465, 470, 590, 545) + random.normal(0, 1, n) * by_occupation(
        55, 25, 50, 80, 50
    )
    shift = (occupation == DESK) & (random.random(n) < 0.12)
    leave = np.where(shift, random.uniform(330, 900, n), leave)
    return Inhabitants(
        occupation=occupation,
        home=home,
        work=work,
        range_km=np.clip(
            by_occupation(0.9, 1.0, 1.6, 0.6, 1.6) * random.lognormal(0, RANGE_SIGMA, n), 0.15, 15.0
        ),
        leave=np.clip(leave, 300, 960),
        hours=np.clip(by_occupation(500, 400, 530, 0, 0) + random.normal(0, 45, n), 0, 720),
        latest=np.clip(random.normal(1260, 70, n), 1020, 1380),
        lunch=random.beta(1.2, 1.2, n),
        errands=by_occupation(1.0, 1.2, 0.9, 2.1, 6.5) * random.lognormal(-0.2, 0.7, n),
        rounds=by_occupation(0.8, 0.8, 0.8, 1.4, 0.6) * random.lognormal(-0.1, 0.5, n),
        trips=by_occupation(0.35, 0.2, 0, 0, 0) * random.lognormal(-0.5, 1.0, n),
        stroll=np.clip(
            by_occupation(0.15, 0.18, 0.18, 0.18, 0.45) * random.lognormal(0, 0.6, n), 0, 0.6
        ),
    )


def _workplaces(
    plan: Townplan,
    home: NDArray[np.int64],
    scale_km: NDArray[np.float64],
    occupation: NDArray[np.int64],
    chance: NDArray[np.float64],
) -> NDArray[np.int64]:
    work = home.copy()
    x, y, km = plan.city.grid.x, plan.city.grid.y, plan.city.grid.offset_km
    for kinds, density in (((DESK, FIELD), plan.jobs), ((STUDENT,), plan.schools)):
        who = np.flatnonzero(np.isin(occupation, kinds))
        chosen = np.empty(len(who), dtype=np.int64)

        def choose(
            low: int,
            high: int,
            who: NDArray[np.int64] = who,
            density: NDArray[np.float64] = density,
            chosen: NDArray[np.int64] = chosen,
        ) -> None:
            some = who[low:high]
            choose_by_gravity(
                home[some], scale_km[some], chance[some], density, x, y, km, chosen[low:high]
            )

        map_blocks(choose, len(who))
        work[who] = chosen
    return work


@kernel
def choose_by_gravity(
    origin: NDArray[np.int64],
    scale_km: NDArray[np.float64],
    chance: NDArray[np.float64],
    density: NDArray[np.float64],
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    km: NDArray[np.float64],
    chosen: NDArray[np.int64],
) -> None:
    """Region r with probability proportional to density(r) exp(-d(origin, r) / scale)."""
    cumulative = np.empty(len(density))
    for u in range(len(origin)):
        total = 0.0
        for r in range(len(density)):
            if density[r] > 0:
                d = km[abs(y[origin[u]] - y[r]), abs(x[origin[u]] - x[r])]
                total += density[r] * math.exp(-d / scale_km[u])
            cumulative[r] = total
        found = np.searchsorted(cumulative, chance[u] * total, side="right")
        chosen[u] = min(found, len(density) - 1)
