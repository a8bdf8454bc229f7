"""The most likely walk through sets of places, under a chain that is shaken a little.

Viterbi's algorithm over the allowed places only; noise is a function of (slot, from, to).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import inlined, kernel
from tracecup.streams import uniform
from tracecup.synth.training import Training

LEAST_KM = 1.0
HOPELESS = 1.5e-154
"""Likelihood of a place outside an empty set in the published program (the option `compat`)."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]


def mobility(training: Training) -> tuple[Floats, Floats]:
    """The chain common to all users: M (N, N) with rows that sum to 1, and its stationary law.

    M = (C + H) / 2 with C(i, j) = 1/N + steps from i to j, H(i, j) = 1 / max(d(i, j), 1 km)^2,
    rows normalised. The last instant of a day counts as followed by its first, where both are
    known. Without positions of the places M = C. O(records + N^3).
    """
    n = training.n_locations
    _, before, after = training.steps()
    first, last = training.day_ends()
    end = training.slots * training.instants_per_slot - 1
    whole = (training.instant[first] == 0) & (training.instant[last] == end)
    M = np.full((n, n), 1.0 / n)
    np.add.at(M, (before, after), 1.0)
    np.add.at(M, (training.location[last[whole]], training.location[first[whole]]), 1.0)
    M /= M.sum(axis=1, keepdims=True)
    if training.positions is not None:
        x, y = training.positions.T
        km2 = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2
        near = 1.0 / np.maximum(km2, LEAST_KM**2)
        M += near / near.sum(axis=1, keepdims=True)
        M /= 2.0
    return M, stationary(M)


def stationary(M: Floats) -> Floats:
    """The law pi with pi M = pi of a chain that can go everywhere; O(N^3).

    >>> stationary(np.array([[0.5, 0.5], [0.25, 0.75]])).round(6).tolist()
    [0.333333, 0.666667]
    """
    equations = M.T - np.eye(len(M))
    equations[-1] = 1.0
    right = np.zeros(len(M))
    right[-1] = 1.0
    law: Floats = np.maximum(np.linalg.solve(equations, right), 0.0)
    law /= law.sum()
    return law


@kernel
def decode(
    starts: Ints,
    places: Places,
    pi: Floats,
    M: Floats,
    shake: float,
    compat: bool,
    key0: np.uint64,
    key1: np.uint64,
    out: Places,
) -> None:
    """Write the walk y with y_t in `places[starts[t] : starts[t + 1]]` that maximises
    pi(y_0) U prod_t M(y_t-1, y_t) U, each U uniform on [1, shake]; ties to the smaller place.

    O(sum_t |S_t-1| |S_t|) instead of O(T N^2). With `compat`, places outside the set have the
    likelihood 1.5e-154 of the published program, which never prefers anything to place 0 there.
    """
    slots = len(out)
    value = np.empty(len(places))
    least = np.zeros(slots)
    floor = HOPELESS if compat else 0.0
    for t in range(slots):
        top = floor
        for k in range(starts[t], starts[t + 1]):
            j = places[k]
            if t == 0:
                value[k] = max(pi[j] * _noise(shake, key0, key1, j), floor)
            else:
                value[k], _ = _before(starts, places, value, M, shake, floor, key0, key1, t, j)
            top = max(top, value[k])
        for k in range(starts[t], starts[t + 1]):
            value[k] /= top
        floor /= top
        least[t] = floor
    best, y = floor, 0
    for k in range(starts[slots - 1], starts[slots]):
        if value[k] > best or (value[k] == best and not compat and places[k] < y):
            best, y = value[k], places[k]
    out[slots - 1] = y
    for t in range(slots - 1, 0, -1):
        _, y = _before(starts, places, value, M, shake, least[t - 1], key0, key1, t, y)
        out[t - 1] = y


@kernel
def _before(
    starts: Ints,
    places: Places,
    value: Floats,
    M: Floats,
    shake: float,
    floor: float,
    key0: np.uint64,
    key1: np.uint64,
    t: int,
    j: int,
) -> tuple[float, int]:
    """The best way to be at j in slot t: its likelihood, and the place in the slot before."""
    n = len(M)
    best, place = floor, 0
    for k in range(starts[t - 1], starts[t]):
        i = places[k]
        found = value[k] * M[i, j] * _noise(shake, key0, key1, (t * n + i) * n + j)
        if found > best or (found == best and floor == 0.0 and i < place):
            best, place = found, i
    if floor > 0.0 and best < floor * shake:
        for i in range(n):
            if M[i, j] * shake > 1.0:
                found = floor * M[i, j] * _noise(shake, key0, key1, (t * n + i) * n + j)
                if found > best:
                    best, place = found, i
    return best, place


@inlined
def _noise(shake: float, key0: np.uint64, key1: np.uint64, n: int) -> float:
    factor = 1.0
    if shake > 1.0:
        factor += (shake - 1.0) * uniform(key0, key1, np.uint64(n))
    return factor
