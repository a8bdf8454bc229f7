"""How an inhabitant decides: random draws, jumps, exploration and preferential return.

Compiled kernels used by `days`; all draws come from one counted stream per person and day.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.streams import uniform

# Exploration with probability RHO S^-GAMMA after S places (Song et al., Nature Physics 2010).
RHO, GAMMA = 0.6, 0.21
# Jumps have a density ~ (r + r0)^-1.75 with a cut-off (Gonzalez et al., Nature 2008).
JUMP_TAIL = 0.75
JUMP_OFFSET, JUMP_CUT = 0.4, 4.0
# A jump lands in a window of 2 WINDOW + 1 regions squared, where attraction decides.
WINDOW = 2
TRIES = 24
MAX_KNOWN = 160
ONE = np.uint64(1)


class Ground(NamedTuple):
    """The city as the kernels see it."""

    attraction: NDArray[np.float64]
    cumulative: NDArray[np.float64]
    station_of: NDArray[np.int32]
    nx: int
    ny: int
    km_x: float
    km_y: float


class Memory(NamedTuple):
    """Places a person knows: region, purpose, number of visits; `size[0]` are in use."""

    region: NDArray[np.int64]
    purpose: NDArray[np.int64]
    visits: NDArray[np.float64]
    size: NDArray[np.int64]


@kernel
def draw(stream: NDArray[np.uint64]) -> float:
    """The next number in [0, 1) of the stream (key, key, counter)."""
    value = uniform(stream[0], stream[1], stream[2])
    stream[2] += ONE
    return value


@kernel
def normal(stream: NDArray[np.uint64]) -> float:
    """A standard normal (Box-Muller, one of the pair)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - draw(stream)))
    return radius * math.cos(2.0 * math.pi * draw(stream))


@kernel
def lognormal(stream: NDArray[np.uint64], median: float, sigma: float) -> float:
    """A log-normal number by its median."""
    return median * math.exp(sigma * normal(stream))


@kernel
def geometric(stream: NDArray[np.uint64], mean: float) -> int:
    """A whole number >= 0 with the given mean, geometric law."""
    if mean <= 0.0:
        return 0
    return int(math.log(1.0 - draw(stream)) / math.log(mean / (1.0 + mean)))


@kernel
def distance_km(ground: Ground, a: int, b: int) -> float:
    """Distance between the centres of two regions."""
    dx = (a % ground.nx - b % ground.nx) * ground.km_x
    dy = (a // ground.nx - b // ground.nx) * ground.km_y
    return math.sqrt(dx * dx + dy * dy)


@kernel
def choose(
    stream: NDArray[np.uint64],
    ground: Ground,
    memory: Memory,
    here: int,
    range_km: float,
    purpose: int,
) -> int:
    """The region to go to next for `purpose`: a known one or, with RHO S^-GAMMA, a new one.

    A known place is taken with probability proportional to its visits, damped by the distance
    from here; the choice is remembered.
    """
    size = memory.size[0]
    if size and draw(stream) >= RHO * size**-GAMMA:
        found = _return(stream, ground, memory, here, range_km, purpose)
        if found >= 0:
            memory.visits[found] += 1.0
            return int(memory.region[found])
    region = explore(stream, ground, here, range_km, purpose)
    remember(memory, region, purpose)
    return region


@kernel
def remember(memory: Memory, region: int, purpose: int) -> None:
    """Count a visit; a new place is forgotten at once when memory is full."""
    size = memory.size[0]
    for k in range(size):
        if memory.region[k] == region and memory.purpose[k] == purpose:
            memory.visits[k] += 1.0
            return
    if size < len(memory.region):
        memory.region[size] = region
        memory.purpose[size] = purpose
        memory.visits[size] = 1.0
        memory.size[0] = size + 1


@kernel
def _return(
    stream: NDArray[np.uint64],
    ground: Ground,
    memory: Memory,
    here: int,
    range_km: float,
    purpose: int,
) -> int:
    total = 0.0
    for k in range(memory.size[0]):
        if memory.purpose[k] == purpose:
            total += _pull(ground, memory, here, range_km, k)
    if total <= 0.0:
        return -1
    left = draw(stream) * total
    last = -1
    for k in range(memory.size[0]):
        if memory.purpose[k] == purpose:
            last = k
            left -= _pull(ground, memory, here, range_km, k)
            if left < 0.0:
                break
    return last


@kernel
def _pull(ground: Ground, memory: Memory, here: int, range_km: float, k: int) -> float:
    d = distance_km(ground, here, memory.region[k])
    return float(memory.visits[k] * math.exp(-0.5 * d / range_km))


@kernel
def explore(
    stream: NDArray[np.uint64], ground: Ground, here: int, range_km: float, purpose: int
) -> int:
    """A region by a jump: heavy-tailed length, any direction, then by attraction nearby.

    A landing in a dull or watery window is mostly rejected; after TRIES rejections a region is
    drawn by attraction alone. O(1) on average.
    """
    usual = (2 * WINDOW + 1) ** 2 / (ground.nx * ground.ny)
    for _ in range(TRIES):
        length = JUMP_OFFSET * range_km * ((1.0 - draw(stream)) ** (-1.0 / JUMP_TAIL) - 1.0)
        angle = 2.0 * math.pi * draw(stream)
        if draw(stream) > math.exp(-length / (JUMP_CUT * range_km)):
            continue
        column = here % ground.nx + math.floor(length * math.cos(angle) / ground.km_x + 0.5)
        row = here // ground.nx + math.floor(length * math.sin(angle) / ground.km_y + 0.5)
        if not (0 <= column < ground.nx and 0 <= row < ground.ny):
            continue
        total = 0.0
        for y in range(max(0, row - WINDOW), min(ground.ny, row + WINDOW + 1)):
            for x in range(max(0, column - WINDOW), min(ground.nx, column + WINDOW + 1)):
                total += ground.attraction[purpose, y * ground.nx + x]
        if draw(stream) * (total + usual) >= total:
            continue
        left = draw(stream) * total
        for y in range(max(0, row - WINDOW), min(ground.ny, row + WINDOW + 1)):
            for x in range(max(0, column - WINDOW), min(ground.nx, column + WINDOW + 1)):
                left -= ground.attraction[purpose, y * ground.nx + x]
                if left < 0.0:
                    return y * ground.nx + x
    found = np.searchsorted(ground.cumulative[purpose], draw(stream), side="right")
    return min(int(found), ground.nx * ground.ny - 1)


@kernel
def errand_purpose(stream: NDArray[np.uint64], minute: float) -> int:
    """What a free person goes out for at that minute: meals at noon and night, bars late."""
    chance = draw(stream)
    if 690.0 <= minute < 810.0 or 1065.0 <= minute < 1200.0:
        limits = (0.55, 0.75, 0.85, 0.99)
    elif minute >= 1065.0:
        limits = (0.20, 0.40, 0.85, 0.99)
    else:
        limits = (0.12, 0.60, 0.62, 0.95)
    for purpose, limit in enumerate(limits):
        if chance < limit:
            return purpose
    return 5
