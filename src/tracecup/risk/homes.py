"""Home and work by the hours of the night: whose pair is like nobody else's, whose home is found.

Home is where a user was most often at night, work where she was most often otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Clock
from tracecup.errors import InvalidParameter
from tracecup.risk.known import Sides, Visits
from tracecup.traces import SetTraces, Traces

NIGHT = (22 * 60, 7 * 60)
"""From 22:00 to 7:00, in minutes of the day."""
MINUTES_A_DAY = 24 * 60
# Distances between centres carry rounding in their last digits.
HAIR_KM = 1e-9

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HomeWork:
    """Risk of each user whose home and work are known: 1 / (people released with the same pair).

    0 where her own release shows another pair; NaN where she was never observed at night.
    `home` and `work` are the true regions, -1 where there is none.
    """

    risk: Floats
    home: Ints
    work: Ints


@dataclass(frozen=True, eq=False)
class HomesFound:
    """How far (km) the home that the release shows lies from the true one, shape (m,).

    NaN where she was never observed at night; infinite where the release shows no night.
    """

    distance_km: Floats

    def within(self, km: float) -> float:
        """Share of the users observed at night whose home is found within `km`."""
        known = self.distance_km[~np.isnan(self.distance_km)]
        return float((known <= km + HAIR_KM).mean()) if len(known) else float("nan")

    @property
    def measured(self) -> int:
        """Number of users observed at night."""
        return int((~np.isnan(self.distance_km)).sum())


def home_work_risk(
    known: Traces, released: SetTraces | None = None, *, night: tuple[int, int] = NIGHT
) -> HomeWork:
    """Risk against an attacker who knows where a user lives and works.

    Home is the region with most visits in the `night` (minutes of the day, may run over
    midnight), work the one with most visits outside it that is not home; ties go to the smallest
    region, and -1 is no such place. Gaps are left out. O(visits log visits).

    >>> clock = Clock(1, (0, 600))
    >>> home_work_risk(Traces.of([[0, 1], [0, 1], [0, 2], [-1, 2]], clock)).risk.tolist()
    [0.5, 0.5, 1.0, nan]
    """
    sides = Sides.of(known, released)
    home, work = shown_home, shown_work = _pairs(sides, sides.true, known.clock, night)
    if released is not None:
        shown_home, shown_work = _pairs(sides, released, known.clock, night)
    side = int(max(work.max(initial=0), shown_work.max(initial=0))) + 2
    code, shown = home * side + work + 1, shown_home * side + shown_work + 1
    kinds, number = np.unique(shown, return_counts=True)
    people = number[np.clip(np.searchsorted(kinds, code), 0, len(kinds) - 1)]
    risk = np.where(code == shown, 1.0 / people, 0.0)
    return HomeWork(np.where(home < 0, np.nan, risk), home, work)


def homes_found(
    city: City,
    known: Traces,
    released: SetTraces,
    *,
    night: tuple[int, int] = NIGHT,
) -> HomesFound:
    """How near the most visited region of a released trace's nights lies to the true home.

    Nobody has to be linked for this: a pseudonym's home is an address. Distances are between the
    centres of regions, so 0 means the same region. O(visits log visits).
    """
    sides = Sides.of(known, released)
    home, shown = (_pairs(sides, one, known.clock, night)[0] for one in (known, released))
    distance = city.grid.distance(np.maximum(home, 0), np.maximum(shown, 0)).astype(np.float64)
    distance = np.where(shown < 0, np.inf, distance)
    return HomesFound(np.where(home < 0, np.nan, distance))


def at_night(clock: Clock, night: tuple[int, int] = NIGHT) -> NDArray[np.bool_]:
    """Whether each event of a clock begins in the night, shape (events,)."""
    begin, end = night
    if not (0 <= begin < MINUTES_A_DAY and 0 <= end <= MINUTES_A_DAY):
        raise InvalidParameter(f"a night is two minutes of the day, got {night}")
    minute = np.array(clock.minutes) % MINUTES_A_DAY
    inside = (minute >= begin) & (minute < end)
    if end <= begin:
        inside = (minute >= begin) | (minute < end)
    return np.tile(inside, clock.days)


def _pairs(
    sides: Sides, traces: Traces | SetTraces, clock: Clock, night: tuple[int, int]
) -> tuple[Ints, Ints]:
    """Home and work of each user, block by block."""
    inside = at_night(clock, night)
    home, work = np.empty(sides.n_users, dtype=np.int64), np.empty(sides.n_users, dtype=np.int64)
    for low, high in sides.blocks():
        visits = Visits.of(traces, low, high)
        dark = inside[visits.time]
        home[low:high] = _most_visited(visits, dark)
        elsewhere = ~dark & (visits.place != home[low:high][visits.user])
        work[low:high] = _most_visited(visits, elsewhere)
    return home, work


def _most_visited(visits: Visits, rows: NDArray[np.bool_]) -> Ints:
    """Each user's most frequent place among some visits, the smallest of several; -1 without."""
    user, place, number = Visits(
        visits.user[rows], visits.place[rows], visits.time[rows], visits.n_users
    ).counts()
    order = np.lexsort((-place, number, user))
    found = np.full(visits.n_users, -1, dtype=np.int64)
    found[user[order]] = place[order]
    return found
