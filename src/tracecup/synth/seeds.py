"""Days of training users as seeds: each is blurred to sets of places and told anew.

A place is kept until the next record; what nobody saw before the first record is as the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.streams import ONE, child, uniform
from tracecup.synth.allowed import Blurring, allowed_places
from tracecup.synth.decoding import decode
from tracecup.synth.likeness import Bounds, Visits, passes
from tracecup.synth.semantics import Profiles
from tracecup.synth.training import Training

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]
Records = tuple[Ints, Ints, Places, Places]


@dataclass(frozen=True, eq=False)
class Seeds:
    """User u has days `users[u] : users[u + 1]`; day d has records `days[d] : days[d + 1]`, at
    `instant[e]` of the day at `place[e]`.
    """

    users: Ints
    days: Ints
    instant: Places
    place: Places

    @classmethod
    def of_training(cls, training: Training) -> Seeds:
        """All days of all users. O(records)."""
        first, _ = training.day_ends()
        return cls(
            np.searchsorted(training.user[first], np.arange(training.n_users + 1)).astype(np.int64),
            np.append(first, len(training.user)).astype(np.int64),
            training.instant,
            training.location,
        )

    def profiles(self, n_locations: int) -> Profiles:
        """How often every user was where. O(records log records)."""
        day = np.repeat(np.arange(len(self.days) - 1), np.diff(self.days))
        user = np.searchsorted(self.users, day, side="right") - 1
        return Profiles.counted(user, self.place, len(self.users) - 1, n_locations)

    @property
    def arrays(self) -> Records:
        """As the kernel takes them."""
        return self.users, self.days, self.instant, self.place


@kernel
def seed_day(seeds: Records, user: int, chance: float, out: Places) -> None:
    """Write one of the user's days, all as likely; for a user without records anybody's day."""
    users, days, instant, place = seeds
    low, high = users[user], users[user + 1]
    if low == high:
        low, high = 0, len(days) - 1
    day = low + int(chance * (high - low))
    e, last = days[day], days[day + 1] - 1
    x = place[e]
    for t in range(len(out)):
        seen = False
        while e <= last and instant[e] <= t:
            if not seen and instant[e] == t:  # of several records of an instant the first counts
                x, seen = place[e], True
            e += 1
        out[t] = x


@kernel
def retell(
    first: int,
    seeds: Records,
    classes: tuple[Places, Ints, Places],
    blurring: Blurring,
    pi: Floats,
    M: Floats,
    shake: float,
    visits: Visits,
    bounds: Bounds,
    tries: int,
    tested: bool,
    kept: NDArray[np.bool_],
    key0: np.uint64,
    key1: np.uint64,
    out: Places,
) -> int:
    """Write days of virtual users first, first + 1, ... into out (users, days, kept instants).

    Virtual user u tells days of training user u. Every day is tried up to `tries` times; returns
    -1, or the number of a user none of whose tries passed.
    """
    slots, n = len(kept), len(pi)
    seed, told = np.empty(slots, dtype=np.int32), np.empty(slots, dtype=np.int32)
    starts, places = np.empty(slots + 1, dtype=np.int64), np.empty(slots * n, dtype=np.int32)
    for u in range(out.shape[0]):
        user0, user1 = child(key0, key1, np.uint64(first + u))
        for day in range(out.shape[1]):
            day0, day1 = child(user0, user1, np.uint64(day))
            good = False
            for attempt in range(tries):
                once0, once1 = child(day0, day1, np.uint64(attempt))
                seed_day(seeds, first + u, uniform(once0, once1, np.uint64(0)), seed)
                blur0, blur1 = child(once0, once1, ONE)
                allowed_places(seed, classes, blurring, blur0, blur1, starts, places)
                noise0, noise1 = child(once0, once1, ONE + ONE)
                decode(
                    starts, places[: starts[slots]], pi, M, shake, blurring[4], noise0, noise1, told
                )
                good = not tested or passes(told, seed, first + u, visits, n, bounds)
                if good:
                    break
            if not good:
                return first + u
            place = 0
            for t in range(slots):
                if kept[t]:
                    out[u, day, place] = told[t]
                    place += 1
    return -1
