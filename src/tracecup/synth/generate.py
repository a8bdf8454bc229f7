"""Traces from PPMTF factors: one Metropolis-Hastings step per instant, rows on demand.

A user's N x N proposal matrix is never built; a row is summed when somebody proposes from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup.errors import InvalidParameter
from tracecup.kernels import inlined, kernel
from tracecup.streams import ONE, TWO, child, uniform
from tracecup.synth.factors import Factors
from tracecup.synth.features import WALKS, widened
from tracecup.synth.lanes import BLOCK, block_weights, dot_rows, in_blocks, multiply_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Layout = tuple[Floats, Floats, Floats, Floats, Floats]  # B, C, D, C in blocks, row bounds
Support = tuple[bool, Ints, NDArray[np.int32], NDArray[np.bool_]]

FLOOR = 1e-8  # delta of the paper
SURE = 1.0 - 1e-9  # a bound must miss by more than rounding before it decides
NO_HOME, OWN_HOME, POPULATION_HOME = 0, 1, 2
HOMES = {"none": NO_HOME, "own": OWN_HOME, "population": POPULATION_HOME}


@dataclass(frozen=True, eq=False)
class Generator:
    """Factors laid out for the kernels; one for any number of users and threads.

    With `masks`, places and moves that no training user ever showed keep the weight FLOOR
    (section 6.3). `home` is "none", "own" (drawn from the user's own first slot) or "population"
    (from that of the training users); its probability grows by `gamma` in the first two and the
    last two slots. `floor` is what negative weights of places and moves become.
    """

    factors: Factors
    masks: bool = False
    home: str = "none"
    gamma: float = 20.0
    floor: float = FLOOR

    @cached_property
    def _layout(self) -> Layout:
        factors = self.factors
        B, C, D = (widened(X) for X in (factors.B, factors.C, factors.D))
        bounds = C.sum(axis=0, keepdims=True)
        if self.masks:
            # Row i: the sum of c_j over the moves i -> j that were seen.
            targets, starts = factors.support.targets, factors.support.starts
            seen = sparse.csr_array((np.ones(len(targets)), targets, starts), (len(C), len(C)))
            bounds = seen @ C
        return B, C, D, in_blocks(factors.C), bounds

    @cached_property
    def _population(self) -> Floats:
        """Cumulated visits of the training users in the first slot."""
        cumulated: Floats = np.cumsum(self.factors.population)
        if self.home == "population" and cumulated[-1] <= 0:
            raise InvalidParameter(
                "homes from the population need training records in the first slot"
            )
        return cumulated

    def walk(
        self,
        features: Floats,
        first_user: int,
        days: int,
        instants: int,
        kept: NDArray[np.bool_],
        key: tuple[np.uint64, np.uint64],
        out: NDArray[np.int32],
    ) -> None:
        """Days of the users with the given feature vectors (padded), numbers first_user, ...

        `out` has shape (users, days, kept instants).
        """
        support = self.factors.support
        key0, key1 = child(*key, WALKS)
        _walk_users(
            features,
            first_user,
            self._layout,
            (self.masks, support.starts, support.targets, support.visited),
            HOMES[self.home],
            self.gamma,
            self.floor,
            self._population,
            days,
            instants,
            kept,
            np.uint64(key0),
            np.uint64(key1),
            out,
        )


@kernel
def _walk_users(
    features: Floats,
    first: int,
    layout: Layout,
    support: Support,
    home_kind: int,
    gamma: float,
    floor: float,
    population: Floats,
    days: int,
    instants: int,
    kept: NDArray[np.bool_],
    key0: np.uint64,
    key1: np.uint64,
    out: NDArray[np.int32],
) -> None:
    """Sections 6.1 to 6.3 by propose and accept.

    pi_t(i) = v[t, i] / sum, v[t, i] = (a * d_t) . b_i with negative values set to floor;
    q(i, j) = w[i, j] / s_i, w[i, j] = max((a * b_i) . c_j, floor), s_i the row sum. From i in
    slot t: propose j ~ q(i, .), move if U pi_t(i) q(i, j) < pi_t(j) q(j, i).
    """
    B, C, D, blocks, bounds = layout
    masked, starts, targets, visited = support
    locations, slots = B.shape[0], D.shape[0]
    origin, slot_of = np.empty_like(B), np.empty_like(D)
    opening, bonus = np.empty(locations), np.zeros(slots)
    # Rows met so far: whose they are, their sums s_i, and what to search in them: with masks the
    # cumulated weights of the moves seen, otherwise sums over blocks of BLOCK places, whose
    # members are computed again when needed.
    filled, total = np.full(locations, -1), np.empty(locations)
    sums = np.empty((1, len(targets)) if masked else (locations, blocks.shape[0]))
    members = np.empty(BLOCK)
    for u in range(features.shape[0]):
        user0, user1 = child(key0, key1, np.uint64(first + u))
        chance = uniform(user0, user1, np.uint64(0))
        home = _begin_user(
            features,
            u,
            layout,
            support,
            home_kind,
            gamma,
            floor,
            population,
            chance,
            origin,
            slot_of,
            opening,
            bonus,
        )
        n = np.uint64(1)
        for day in range(days):
            chance = uniform(user0, user1, n)
            n += ONE
            x = first_above(opening, 0, locations, chance * opening[locations - 1])
            place = 0
            for t in range(slots):
                here = _target(slot_of, t, B, x, masked, visited, floor, home, bonus)
                for instant in range(t * instants, (t + 1) * instants):
                    if instant > 0:
                        if filled[x] != u:
                            total[x] = _fill_row(
                                x, origin, C, blocks, support, floor, sums, members
                            )
                            filled[x] = u
                        left = uniform(user0, user1, n) * total[x]
                        chance = uniform(user0, user1, n + ONE)
                        n += TWO
                        if masked:
                            j, weight, n = _propose_seen(
                                x, left, origin, C, starts, targets, floor, sums, user0, user1, n
                            )
                        else:
                            j, weight = _propose(
                                x, left, origin, blocks, locations, floor, sums, members
                            )
                        if j != x:
                            there = _target(slot_of, t, B, j, masked, visited, floor, home, bonus)
                            back = _back(origin, j, C, x, masked, starts, targets, floor)
                            gain, wanted = there * back, chance * here * weight / total[x]
                            # s_j is at least the sum of its weights before the floor: often
                            # enough to refuse without summing the row.
                            if filled[j] != u and gain > wanted * SURE * dot_rows(
                                origin, j, bounds, j if masked else 0
                            ):
                                total[j] = _fill_row(
                                    j, origin, C, blocks, support, floor, sums, members
                                )
                                filled[j] = u
                            if filled[j] == u and wanted * total[j] < gain:
                                x, here = j, there
                    if kept[instant]:
                        out[u, day, place] = x
                        place += 1


@kernel
def _begin_user(
    features: Floats,
    u: int,
    layout: Layout,
    support: Support,
    home_kind: int,
    gamma: float,
    floor: float,
    population: Floats,
    chance: float,
    origin: Floats,
    slot_of: Floats,
    opening: Floats,
    bonus: Floats,
) -> int:
    """Fill origin = a * b_i, slot_of = a * d_t, opening = cumulated v[0, :] with the home in it,
    bonus[t] = what the home adds to v[t, home]; returns the home or -1.
    """
    B, _, D, _, _ = layout
    masked, _, _, visited = support
    locations, slots = B.shape[0], D.shape[0]
    for i in range(locations):
        multiply_rows(features, u, B, i, origin, i)
    for t in range(slots):
        multiply_rows(features, u, D, t, slot_of, t)
    running = 0.0
    for i in range(locations):
        running += _visit(slot_of, 0, B, i, masked, visited, floor)
        opening[i] = running
    if home_kind == NO_HOME:
        return -1
    law = opening if home_kind == OWN_HOME else population
    home = first_above(law, 0, locations, chance * law[locations - 1])
    for t in range(slots):
        if t < 2 or t >= slots - 2:
            running = 0.0
            for i in range(locations):
                running += _visit(slot_of, t, B, i, masked, visited, floor)
            bonus[t] = gamma * running
    for i in range(home, locations):
        opening[i] += bonus[0]
    return home


@inlined
def _propose(
    x: int,
    left: float,
    origin: Floats,
    blocks: Floats,
    locations: int,
    floor: float,
    sums: Floats,
    members: Floats,
) -> tuple[int, float]:
    """The place at which the cumulated weights of row x pass `left`, and its weight."""
    k = 0
    while k < blocks.shape[0] - 1 and left >= sums[x, k]:
        left -= sums[x, k]
        k += 1
    block_weights(origin, x, blocks, k, floor, members)
    last = min(BLOCK, locations - BLOCK * k) - 1
    member = 0
    while member < last and left >= members[member]:
        left -= members[member]
        member += 1
    return BLOCK * k + member, members[member]


@inlined
def _propose_seen(
    x: int,
    left: float,
    origin: Floats,
    C: Floats,
    starts: Ints,
    targets: NDArray[np.int32],
    floor: float,
    sums: Floats,
    user0: np.uint64,
    user1: np.uint64,
    n: np.uint64,
) -> tuple[int, float, np.uint64]:
    """The same with masks: a move that was seen, or one of the others, which are all alike."""
    low, high = starts[x], starts[x + 1]
    weight = floor
    if high > low and left < sums[0, high - 1]:
        j = int(targets[first_above(sums[0], low, high, left)])
        weight = max(dot_rows(origin, x, C, j), floor)
    else:
        locations = C.shape[0]
        j = int(uniform(user0, user1, n) * locations)
        n += ONE
        while high - low < locations and _holds(targets, low, high, j):
            j = int(uniform(user0, user1, n) * locations)
            n += ONE
    return j, weight, n


@inlined
def _visit(
    slot_of: Floats,
    t: int,
    B: Floats,
    i: int,
    masked: bool,
    visited: NDArray[np.bool_],
    floor: float,
) -> float:
    """v[t, i]: negative values become floor, values from 0 to floor stay."""
    value = floor
    if not masked or visited[t, i]:
        value = dot_rows(slot_of, t, B, i)
        if value < 0.0:
            value = floor
    return value


@inlined
def _target(
    slot_of: Floats,
    t: int,
    B: Floats,
    i: int,
    masked: bool,
    visited: NDArray[np.bool_],
    floor: float,
    home: int,
    bonus: Floats,
) -> float:
    """pi_t(i) but for the sum over i."""
    value = _visit(slot_of, t, B, i, masked, visited, floor)
    return value + bonus[t] if i == home else value


@inlined
def _back(
    origin: Floats,
    j: int,
    C: Floats,
    x: int,
    masked: bool,
    starts: Ints,
    targets: NDArray[np.int32],
    floor: float,
) -> float:
    """w[j, x], the weight of the way back."""
    weight = floor
    if not masked or _holds(targets, starts[j], starts[j + 1], x):
        weight = max(dot_rows(origin, j, C, x), floor)
    return weight


@kernel
def _fill_row(
    i: int,
    origin: Floats,
    C: Floats,
    blocks: Floats,
    support: Support,
    floor: float,
    sums: Floats,
    members: Floats,
) -> float:
    """Sum row i of the proposal weights into `sums`; returns s_i."""
    masked, starts, targets, _ = support
    locations = C.shape[0]
    total = 0.0
    if masked:
        for k in range(starts[i], starts[i + 1]):
            total += max(dot_rows(origin, i, C, targets[k]), floor)
            sums[0, k] = total
        return float(total + floor * (locations - (starts[i + 1] - starts[i])))
    for k in range(blocks.shape[0]):
        part = block_weights(origin, i, blocks, k, floor, members)
        if BLOCK * (k + 1) > locations:
            part = 0.0
            for member in range(locations - BLOCK * k):
                part += members[member]
        sums[i, k] = part
        total += part
    return total


@inlined
def first_above(cumulated: Floats, low: int, high: int, value: float) -> int:
    """The first k in low..high-1 with value < cumulated[k]; the last one if rounding ran over."""
    first, last = low, high - 1
    while first < last:
        middle = (first + last) // 2
        if value < cumulated[middle]:
            last = middle
        else:
            first = middle + 1
    return first


@inlined
def _holds(values: NDArray[np.int32], low: int, high: int, wanted: int) -> bool:
    """Whether the ascending values[low:high] hold `wanted`."""
    first, last = low, high
    while first < last:
        middle = (first + last) // 2
        if values[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first < high and values[first] == wanted
