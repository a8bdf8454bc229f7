"""Staying, drifting and travelling: writes where a person is at every instant of the record.

Compiled kernels used by `days`; minutes are floats from midnight, records are instants.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracecup.datasets.destinations import Ground, distance_km, draw
from tracecup.kernels import kernel

WALK_MIN_PER_KM = 13.5
WALK_KM = 1.0
STREET_MIN_PER_KM, STREET_WAIT = 5.0, 4.0
RAIL_MIN_PER_KM, RAIL_WAIT = 1.8, 7.0
DRIFT_MINUTES = 10.0


class Window(NamedTuple):
    """Which minutes of a day are recorded: `instants` of them from `start`, `interval` apart."""

    start: int
    interval: int
    instants: int


@kernel
def stay(row: NDArray[np.int32], window: Window, begin: float, end: float, region: int) -> float:
    """Record `region` from minute `begin` until `end` (exclusive); returns `end`."""
    low = max(0, math.ceil((begin - window.start) / window.interval))
    high = min(window.instants, math.ceil((end - window.start) / window.interval))
    for k in range(low, high):
        row[k] = region
    return end


@kernel
def drift(
    stream: NDArray[np.uint64],
    ground: Ground,
    row: NDArray[np.int32],
    window: Window,
    begin: float,
    end: float,
    region: int,
    chance: float,
    purpose: int,
) -> int:
    """Stay around `region` until `end`: every ten minutes perhaps a step to the next region.

    The step goes to one of the eight neighbours by attraction; returns where it ended.
    """
    while begin < end:
        until = min(end, begin + DRIFT_MINUTES)
        begin = stay(row, window, begin, until, region)
        if begin < end and draw(stream) < chance:
            region = _neighbour(stream, ground, region, purpose)
    return region


@kernel
def _neighbour(stream: NDArray[np.uint64], ground: Ground, region: int, purpose: int) -> int:
    x, y = region % ground.nx, region // ground.nx
    total = 0.0
    for ny in range(max(0, y - 1), min(ground.ny, y + 2)):
        for nx in range(max(0, x - 1), min(ground.nx, x + 2)):
            if nx != x or ny != y:
                total += ground.attraction[purpose, ny * ground.nx + nx]
    left = draw(stream) * total
    for ny in range(max(0, y - 1), min(ground.ny, y + 2)):
        for nx in range(max(0, x - 1), min(ground.nx, x + 2)):
            if nx != x or ny != y:
                left -= ground.attraction[purpose, ny * ground.nx + nx]
                if left < 0.0:
                    return ny * ground.nx + nx
    return region


@kernel
def travel_minutes(ground: Ground, a: int, b: int) -> tuple[float, bool]:
    """How long it takes from region a to b, and whether the train is taken.

    On foot up to WALK_KM; beyond, by bus or bicycle or, if that is quicker, on foot to the
    nearest station, by train, and on foot from the station nearest to the goal.
    """
    km = distance_km(ground, a, b)
    if km <= WALK_KM:
        return max(2.0, WALK_MIN_PER_KM * km), False
    street = STREET_WAIT + STREET_MIN_PER_KM * km
    first, last = ground.station_of[a], ground.station_of[b]
    on_foot = distance_km(ground, a, first) + distance_km(ground, last, b)
    ride = distance_km(ground, first, last)
    rail = RAIL_WAIT + WALK_MIN_PER_KM * on_foot + RAIL_MIN_PER_KM * ride
    if first != last and rail < street:
        return rail, True
    return street, False


@kernel
def travel(
    ground: Ground,
    row: NDArray[np.int32],
    window: Window,
    begin: float,
    a: int,
    b: int,
) -> float:
    """Record the way from a to b, straight or by way of two stations; returns the arrival."""
    if a == b:
        return begin
    minutes, by_rail = travel_minutes(ground, a, b)
    if not by_rail:
        _line(ground, row, window, begin, begin + minutes, a, b)
        return begin + minutes
    first, last = ground.station_of[a], ground.station_of[b]
    to_train = begin + WALK_MIN_PER_KM * distance_km(ground, a, first)
    off_train = begin + minutes - WALK_MIN_PER_KM * distance_km(ground, last, b)
    _line(ground, row, window, begin, to_train, a, first)
    stay(row, window, to_train, to_train + RAIL_WAIT, first)
    _line(ground, row, window, to_train + RAIL_WAIT, off_train, first, last)
    _line(ground, row, window, off_train, begin + minutes, last, b)
    return begin + minutes


@kernel
def _line(
    ground: Ground,
    row: NDArray[np.int32],
    window: Window,
    begin: float,
    end: float,
    a: int,
    b: int,
) -> None:
    """A straight way at constant speed."""
    if end <= begin:
        return
    low = max(0, math.ceil((begin - window.start) / window.interval))
    high = min(window.instants, math.ceil((end - window.start) / window.interval))
    ax, ay, bx, by = a % ground.nx, a // ground.nx, b % ground.nx, b // ground.nx
    for k in range(low, high):
        share = (window.start + k * window.interval - begin) / (end - begin)
        x = math.floor(ax + share * (bx - ax) + 0.5)
        y = math.floor(ay + share * (by - ay) + 0.5)
        row[k] = y * ground.nx + x
