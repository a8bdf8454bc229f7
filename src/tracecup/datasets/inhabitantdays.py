"""The days of an inhabitant: work, meals, errands and evenings, one after the other.

Compiled kernels; every inhabitant has a random stream of her own for each day.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.datasets.destinations import (
    MAX_KNOWN,
    Ground,
    Memory,
    choose,
    draw,
    errand_purpose,
    geometric,
    lognormal,
    normal,
)
from tracecup.datasets.inhabitants import DESK, FIELD, STUDENT, VISITOR
from tracecup.datasets.travelling import Window, drift, stay, travel, travel_minutes
from tracecup.kernels import kernel
from tracecup.streams import child

MIDNIGHT = 1440.0
MEAL, SHOP, EVENING, LEISURE, BUSINESS, CARE = range(6)
LUNCH_RANGE_KM = 0.5
MAX_ERRANDS = 40
# Columns of the table of habits, in this order.
HABITS = (
    "occupation",
    "home",
    "work",
    "range_km",
    "leave",
    "hours",
    "latest",
    "lunch",
    "errands",
    "rounds",
    "trips",
    "stroll",
)
RANGE, LEAVE, HOURS, LATEST, LUNCH, ERRANDS, ROUNDS, TRIPS, STROLL = range(3, 12)


@kernel
def simulate(
    key0: np.uint64,
    key1: np.uint64,
    first_user: int,
    warm_up: int,
    workdays: NDArray[np.bool_],
    habits: NDArray[np.float64],
    ground: Ground,
    window: Window,
    out: NDArray[np.int32],
) -> None:
    """Fill `out[u, d * instants + k]` with the region of person u at instant k of day d.

    `habits[u]` holds the columns HABITS of person `first_user + u`. Before the first day she
    makes `warm_up` errands, so that she knows the city. Day d uses stream (person, d + 1), so
    that fewer days or people give the beginning of the same record.
    """
    stream = np.zeros(3, dtype=np.uint64)
    memory = Memory(
        np.zeros(MAX_KNOWN, dtype=np.int64),
        np.zeros(MAX_KNOWN, dtype=np.int64),
        np.zeros(MAX_KNOWN),
        np.zeros(1, dtype=np.int64),
    )
    for u in range(len(habits)):
        person = habits[u]
        own0, own1 = child(key0, key1, np.uint64(first_user + u))
        memory.size[0] = 0
        stream[0], stream[1] = child(own0, own1, np.uint64(0))
        stream[2] = 0
        _warm_up(stream, ground, memory, person, warm_up)
        for day in range(len(workdays)):
            stream[0], stream[1] = child(own0, own1, np.uint64(day + 1))
            stream[2] = 0
            row = out[u, day * window.instants : (day + 1) * window.instants]
            row[:] = int(person[1])
            at_work = workdays[day] and person[0] <= FIELD
            if not at_work:
                _free_day(stream, ground, memory, person, row, window)
            elif person[0] == FIELD:
                _field_day(stream, ground, memory, person, row, window)
            else:
                _desk_day(stream, ground, memory, person, row, window)


@kernel
def _warm_up(
    stream: NDArray[np.uint64],
    ground: Ground,
    memory: Memory,
    person: NDArray[np.float64],
    errands: int,
) -> None:
    home, work = int(person[1]), int(person[2])
    for _ in range(errands):
        here = work if draw(stream) < 0.5 else home
        if person[0] == FIELD and draw(stream) < 0.6:
            here = choose(stream, ground, memory, here, person[RANGE], BUSINESS)
        purpose = errand_purpose(stream, 480.0 + 780.0 * draw(stream))
        choose(stream, ground, memory, here, person[RANGE], purpose)


@kernel
def _desk_day(
    stream: NDArray[np.uint64],
    ground: Ground,
    memory: Memory,
    person: NDArray[np.float64],
    row: NDArray[np.int32],
    window: Window,
) -> None:
    home, work = int(person[1]), int(person[2])
    now = max(240.0, person[LEAVE] + 12.0 * normal(stream))
    stay(row, window, 0.0, now, home)
    here = home
    if draw(stream) < 0.15:
        purpose = MEAL if draw(stream) < 0.5 else SHOP
        now, here = _go(stream, ground, memory, person, row, window, now, here, purpose, 8.0, 0.0)
    now = travel(ground, row, window, now, here, work)
    end = min(now + max(120.0, person[HOURS] + 25.0 * normal(stream)), 1380.0)
    lunch = 725.0 + 20.0 * normal(stream)
    if not now < lunch < end - 30.0 or draw(stream) >= person[LUNCH]:
        lunch = MIDNIGHT
    trips = min(geometric(stream, person[TRIPS]), 6)
    while now < end:
        trip = MIDNIGHT
        if trips:
            trip = now + (end - now) / (trips + 1.0) * (0.5 + draw(stream))
        following = min(end, lunch, trip)
        now = stay(row, window, now, following, work)
        if following == lunch and lunch < MIDNIGHT:
            now, here = _near(stream, ground, memory, row, window, now, work)
            now = travel(ground, row, window, now, here, work)
            lunch = MIDNIGHT
        elif following == trip and trips:
            trips -= 1
            now, here = _go(
                stream, ground, memory, person, row, window, now, work, BUSINESS, 45.0, 0.0
            )
            now = travel(ground, row, window, now, here, work)
    _evening(stream, ground, memory, person, row, window, now, work)


@kernel
def _field_day(
    stream: NDArray[np.uint64],
    ground: Ground,
    memory: Memory,
    person: NDArray[np.float64],
    row: NDArray[np.int32],
    window: Window,
) -> None:
    home, here = int(person[1]), int(person[1])
    now = max(240.0, person[LEAVE] + 15.0 * normal(stream))
    stay(row, window, 0.0, now, home)
    end = min(now + max(180.0, person[HOURS] + 40.0 * normal(stream)), 1380.0)
    if draw(stream) < 0.6:
        now = travel(ground, row, window, now, here, int(person[2]))
        here = int(person[2])
        now = stay(row, window, now, now + lognormal(stream, 20.0, 0.5), here)
    pause = 725.0 + 30.0 * normal(stream)
    pace = lognormal(stream, 22.0, 0.4)
    while now < end:
        if now >= pause:
            pause = MIDNIGHT
            now, here = _near(stream, ground, memory, row, window, now, here)
        else:
            now, here = _go(
                stream, ground, memory, person, row, window, now, here, BUSINESS, pace, 0.0
            )
    _evening(stream, ground, memory, person, row, window, now, here)


@kernel
def _free_day(
    stream: NDArray[np.uint64],
    ground: Ground,
    memory: Memory,
    person: NDArray[np.float64],
    row: NDArray[np.int32],
    window: Window,
) -> None:
    home = int(person[1])
    now = max(300.0, person[LEAVE] + 50.0 * normal(stream))
    stay(row, window, 0.0, now, home)
    if person[0] == DESK or person[0] == STUDENT or person[0] == FIELD:
        now = stay(row, window, now, now + lognormal(stream, 90.0, 0.6), home)
    rounds = 1 + geometric(stream, person[ROUNDS])
    if person[0] != VISITOR and draw(stream) < 0.08:
        rounds = 0
    for _ in range(rounds):
        if now >= person[LATEST]:
            break
        here = home
        for _ in range(1 + min(geometric(stream, person[ERRANDS]), MAX_ERRANDS)):
            if now >= person[LATEST]:
                break
            purpose = errand_purpose(stream, now)
            now, here = _go(
                stream, ground, memory, person, row, window, now, here, purpose, 35.0, 1.0
            )
        now = travel(ground, row, window, now, here, home)
        now = stay(row, window, now, now + lognormal(stream, 80.0, 0.7), home)
    stay(row, window, now, MIDNIGHT, home)


@kernel
def _evening(
    stream: NDArray[np.uint64],
    ground: Ground,
    memory: Memory,
    person: NDArray[np.float64],
    row: NDArray[np.int32],
    window: Window,
    now: float,
    here: int,
) -> None:
    """Errands on the way home, then home; sometimes out again."""
    home = int(person[1])
    for _ in range(min(geometric(stream, person[ERRANDS]), MAX_ERRANDS)):
        if now >= person[LATEST]:
            break
        purpose = errand_purpose(stream, now)
        now, here = _go(stream, ground, memory, person, row, window, now, here, purpose, 35.0, 0.7)
    now = travel(ground, row, window, now, here, home)
    if now < person[LATEST] - 60.0 and draw(stream) < 0.15:
        now = stay(row, window, now, now + lognormal(stream, 50.0, 0.5), home)
        purpose = errand_purpose(stream, now)
        now, here = _go(stream, ground, memory, person, row, window, now, home, purpose, 50.0, 0.5)
        now = travel(ground, row, window, now, here, home)
    stay(row, window, now, MIDNIGHT, home)


@kernel
def _go(
    stream: NDArray[np.uint64],
    ground: Ground,
    memory: Memory,
    person: NDArray[np.float64],
    row: NDArray[np.int32],
    window: Window,
    now: float,
    here: int,
    purpose: int,
    median: float,
    leisurely: float,
) -> tuple[float, int]:
    """Go somewhere for a purpose and stay a log-normal while; returns (minute, region)."""
    goal = choose(stream, ground, memory, here, person[RANGE], purpose)
    now = travel(ground, row, window, now, here, goal)
    until = now + min(max(5.0, lognormal(stream, median, 0.6)), 300.0)
    goal = drift(stream, ground, row, window, now, until, goal, leisurely * person[STROLL], purpose)
    return until, goal


@kernel
def _near(
    stream: NDArray[np.uint64],
    ground: Ground,
    memory: Memory,
    row: NDArray[np.int32],
    window: Window,
    now: float,
    here: int,
) -> tuple[float, int]:
    """Eat out close by; returns (minute, region)."""
    goal = choose(stream, ground, memory, here, LUNCH_RANGE_KM, MEAL)
    minutes, _ = travel_minutes(ground, here, goal)
    if minutes > 25.0:
        goal = here
    now = travel(ground, row, window, now, here, goal)
    return stay(row, window, now, now + lognormal(stream, 35.0, 0.3), goal), goal
