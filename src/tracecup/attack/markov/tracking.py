"""A released trace under one user's chain: its likelihood, where she was, her likeliest way.

Forward-backward and Viterbi on the regions that a cell allows, day by day.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.decision import best_answer, centred_stencil
from tracecup.attack.markov.chains import Chains, Starts
from tracecup.attack.markov.emission import cell_support
from tracecup.attack.scores import TIE
from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.score import HOSPITAL_WEIGHT
from tracecup.traces import IdTable, SetTraces

MAX_REGIONS = 4096
"""Regions of the largest city whose transition matrices are held whole: 128 MiB a thread."""

ESTIMATES = ("bayes", "map", "viterbi")


def chain_likelihoods(
    city: City,
    released: SetTraces,
    chains: Chains,
    starts: Starts,
    stencil: NDArray[np.float64],
    wanted: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """log sum_x alpha_T(x) of pseudonym k under user u where `wanted[k, u]`; -inf elsewhere.

    alpha_1 = start_u f, alpha_t(x) = f(o_t | x) sum_y alpha_{t-1}(y) P_u(y, x), scaled to sum 1 in
    every slot; every day begins anew. Rows of P_u are scaled to sum to 1, so that what follows
    the last cell of a day that is not deleted says nothing and is left out. One matrix per user;
    O(pairs x slots x |S_t| |S_t+1|), S_t = regions that cell t allows.
    """
    _check_size(city)
    out = np.full(wanted.shape, -np.inf)

    def work(low: int, high: int) -> None:
        for u in range(low, high):
            who = np.flatnonzero(wanted[:, u])
            if len(who):
                out[who, u] = _forward_traces(
                    _stochastic(chains, u), starts(u, u + 1)[0], released.offsets,
                    released.regions, released.times, released.clock.slots, who, stencil,
                    city.grid.nx, city.grid.ny,
                )  # fmt: skip

    map_blocks(work, chains.n_users, blocks=max(1, chains.n_users // 16))
    return out


def track(
    city: City,
    released: SetTraces,
    table: IdTable,
    chains: Chains,
    starts: Starts,
    stencil: NDArray[np.float64],
    estimate: str = "bayes",
) -> NDArray[np.int32]:
    """Where each user was, given the one-to-one `table`; shape (users, times), rows = users.

    With the posterior gamma_t ~ alpha_t beta_t of the user's chain, `bayes` answers the region y
    of least expected contest loss sum_x gamma_t(x) w(x) min(1, d(x, y) / 2 km), `map` the most
    likely region, `viterbi` the regions of the most likely way through the day. Ties go to the
    smallest region. O(slots x |S_t| |S_t+1|) a user, one matrix per thread.
    """
    _check_size(city)
    m, times, slots = released.n_users, released.times, released.clock.slots
    pseudonyms = table.inverse()
    weight = np.where(city.is_hospital, HOSPITAL_WEIGHT, 1.0).astype(np.float32)
    gain = centred_stencil(city)
    out = np.empty((m, times), dtype=np.int32)

    def work(low: int, high: int) -> None:
        for u in range(low, high):
            chain, start = _stochastic(chains, u), starts(u, u + 1)[0]
            first = int(pseudonyms[u]) * times
            if estimate == "viterbi":
                _viterbi_trace(
                    np.log(chain), np.log(start), released.offsets, released.regions, first,
                    slots, stencil, city.grid.nx, city.grid.ny, out[u],
                )  # fmt: skip
            else:
                _smooth_trace(
                    chain, start, released.offsets, released.regions, first, slots, stencil,
                    city.grid.nx, city.grid.ny, estimate == "bayes", weight, gain, out[u],
                )  # fmt: skip

    map_blocks(work, m, blocks=max(1, m // 16))
    return out


def _stochastic(chains: Chains, user: int) -> NDArray[np.float64]:
    matrix = chains.matrix(user)
    matrix /= matrix.sum(axis=1, keepdims=True)
    return matrix


def _check_size(city: City) -> None:
    if city.n_regions > MAX_REGIONS:
        raise InvalidTraces(
            f"chains of a city of {city.n_regions} regions are too large to follow; at most "
            f"{MAX_REGIONS} regions (join regions, or use LPM-R(weak) or Markov0-R)"
        )


@kernel
def step_forward(
    chain: NDArray[np.float64],
    before: NDArray[np.float64],
    was: NDArray[np.int32],
    now: NDArray[np.int32],
    likelihood: NDArray[np.float64],
    after: NDArray[np.float64],
) -> float:
    """after[b] = f(now[b]) sum_a before[a] P(was[a], now[b]), scaled to sum 1; log of the scale."""
    whole = len(now) == chain.shape[0]
    after[: len(now)] = 0.0
    for a in range(len(was)):
        row, mass = chain[was[a]], before[a]
        if mass == 0.0:
            continue
        if whole:
            for b in range(len(now)):
                after[b] += mass * row[b]
        else:
            for b in range(len(now)):
                after[b] += mass * row[now[b]]
    return scale(likelihood, now, after)


@kernel
def scale(
    likelihood: NDArray[np.float64], now: NDArray[np.int32], mass: NDArray[np.float64]
) -> float:
    """mass[b] *= f(now[b]), then scaled to sum 1; the logarithm of the sum."""
    total = 0.0
    for b in range(len(now)):
        mass[b] *= likelihood[now[b]]
        total += mass[b]
    for b in range(len(now)):
        mass[b] /= total
    return math.log(total)


@kernel
def _move_all(masses: NDArray[np.float64], chain: NDArray[np.float64]) -> NDArray[np.float64]:
    """masses @ chain, a row of the chain at a time; four rows of it per pass over the result."""
    n = chain.shape[0]
    moved = np.zeros(masses.shape)
    for a in range(0, n - 3, 4):
        r0, r1, r2, r3 = chain[a], chain[a + 1], chain[a + 2], chain[a + 3]
        for c in range(masses.shape[0]):
            m0, m1, m2, m3 = masses[c, a], masses[c, a + 1], masses[c, a + 2], masses[c, a + 3]
            row = moved[c]
            for b in range(n):
                row[b] += (m0 * r0[b] + m1 * r1[b]) + (m2 * r2[b] + m3 * r3[b])
    for a in range(n - n % 4, n):
        for c in range(masses.shape[0]):
            moved[c] += masses[c, a] * chain[a]
    return moved


@kernel
def _last_kept(offsets: NDArray[np.int64], cell: int, slots: int) -> int:
    """Number of slots of the day that begins at `cell`, without deleted cells at its end."""
    n = slots
    while n > 0 and offsets[cell + n - 1] == offsets[cell + n]:
        n -= 1
    return n


@kernel
def _forward_traces(
    chain: NDArray[np.float64],
    start: NDArray[np.float64],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    times: int,
    slots: int,
    who: NDArray[np.int64],
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
) -> NDArray[np.float64]:
    """Log-likelihoods of the traces `who` under one chain, all of them slot by slot.

    Those that go from a deleted cell to a deleted cell move together, so that a row of the chain
    is read once for all of them.
    """
    n_regions = nx * ny
    out = np.zeros(len(who))
    likelihood = np.zeros(n_regions)
    support = np.empty((len(who), n_regions), dtype=np.int32)
    sizes = np.empty(len(who), dtype=np.int64)
    alpha, after = np.empty((len(who), n_regions)), np.empty(n_regions)
    now = np.empty(n_regions, dtype=np.int32)
    adrift = np.empty(len(who), dtype=np.int64)
    for day in range(0, times, slots):
        for t in range(slots):
            n_adrift = 0
            for k in range(len(who)):
                begin = who[k] * times + day
                if t >= _last_kept(offsets, begin, slots):
                    continue
                members = regions[offsets[begin + t] : offsets[begin + t + 1]]
                if t > 0 and len(members) == 0 and sizes[k] == n_regions:
                    adrift[n_adrift] = k
                    n_adrift += 1
                    continue
                n = cell_support(members, stencil, nx, ny, likelihood, now)
                if t == 0:
                    for b in range(n):
                        after[b] = start[now[b]]
                    out[k] += scale(likelihood, now[:n], after)
                else:
                    was = support[k, : sizes[k]]
                    out[k] += step_forward(chain, alpha[k], was, now[:n], likelihood, after)
                for b in range(n):
                    alpha[k, b], support[k, b] = after[b], now[b]
                    likelihood[now[b]] = 0.0
                sizes[k] = n
            if n_adrift > 0:
                moved = _move_all(alpha[adrift[:n_adrift]], chain)
                for c in range(n_adrift):
                    alpha[adrift[c]] = moved[c]
    return out


@kernel
def _forward_days(
    chain: NDArray[np.float64],
    start: NDArray[np.float64],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    first: int,
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
    likelihood: NDArray[np.float64],
    support: NDArray[np.int32],
    sizes: NDArray[np.int64],
    alpha: NDArray[np.float64],
) -> None:
    """Forward masses of every day and slot, each on its support; all days move together.

    `likelihood`, `support` and `alpha` have shape (days, slots, regions), `sizes` (days, slots).
    """
    days, slots, n_regions = alpha.shape
    adrift = np.empty(days, dtype=np.int64)
    for t in range(slots):
        n_adrift = 0
        for day in range(days):
            cell = first + day * slots + t
            members = regions[offsets[cell] : offsets[cell + 1]]
            f = likelihood[day, t]
            n = cell_support(members, stencil, nx, ny, f, support[day, t])
            sizes[day, t] = n
            now = support[day, t, :n]
            if t == 0:
                for b in range(n):
                    alpha[day, 0, b] = start[now[b]]
                scale(f, now, alpha[day, 0])
            elif len(members) == 0 and sizes[day, t - 1] == n_regions:
                adrift[n_adrift] = day
                n_adrift += 1
            else:
                was = support[day, t - 1, : sizes[day, t - 1]]
                step_forward(chain, alpha[day, t - 1], was, now, f, alpha[day, t])
        if n_adrift > 0:
            masses = np.empty((n_adrift, n_regions))
            for c in range(n_adrift):
                masses[c] = alpha[adrift[c], t - 1]
            moved = _move_all(masses, chain)
            for c in range(n_adrift):
                alpha[adrift[c], t] = moved[c]


@kernel
def _backward_days(
    chain: NDArray[np.float64],
    likelihood: NDArray[np.float64],
    support: NDArray[np.int32],
    sizes: NDArray[np.int64],
    gamma: NDArray[np.float64],
) -> None:
    """Turn forward masses into posteriors: gamma_t = alpha_t beta_t, scaled to sum 1.

    beta_t(a) = sum_b P(a, b) f(b) beta_{t+1}(b), scaled to a largest value of 1.
    """
    days, slots, n_regions = gamma.shape
    turned = chain.T.copy()
    ahead = np.empty((days, n_regions))
    beta = np.empty((days, n_regions))
    adrift = np.empty(days, dtype=np.int64)
    for t in range(slots - 1, -1, -1):
        n_adrift = 0
        for day in range(days):
            n = sizes[day, t]
            if t == slots - 1:
                beta[day, :n] = 1.0
                continue
            later = support[day, t + 1, : sizes[day, t + 1]]
            for b in range(len(later)):
                ahead[day, b] = likelihood[day, t + 1, later[b]] * beta[day, b]
            if n == n_regions and len(later) == n_regions:
                adrift[n_adrift] = day
                n_adrift += 1
            else:
                _step_back(chain, support[day, t, :n], later, ahead[day], beta[day])
        if n_adrift > 0:
            masses = np.empty((n_adrift, n_regions))
            for c in range(n_adrift):
                masses[c] = ahead[adrift[c]]
            moved = _move_all(masses, turned)
            for c in range(n_adrift):
                beta[adrift[c]] = moved[c] / moved[c].max()
        for day in range(days):
            n = sizes[day, t]
            gamma[day, t, :n] *= beta[day, :n]
            gamma[day, t, :n] /= gamma[day, t, :n].sum()


@kernel
def _smooth_trace(
    chain: NDArray[np.float64],
    start: NDArray[np.float64],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    first: int,
    slots: int,
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
    by_loss: bool,
    weight: NDArray[np.float32],
    gains: NDArray[np.float32],
    out: NDArray[np.int32],
) -> None:
    """Posteriors of every slot, and the answer each of them gives."""
    n_regions, days = nx * ny, len(out) // slots
    likelihood = np.zeros((days, slots, n_regions))
    support = np.empty((days, slots, n_regions), dtype=np.int32)
    sizes = np.empty((days, slots), dtype=np.int64)
    gamma = np.empty((days, slots, n_regions))
    _forward_days(
        chain, start, offsets, regions, first, stencil, nx, ny, likelihood, support, sizes, gamma
    )
    _backward_days(chain, likelihood, support, sizes, gamma)
    belief = np.empty(n_regions, dtype=np.float32)
    room = np.empty((2, n_regions), dtype=np.float32)
    for day in range(days):
        for t in range(slots):
            now = support[day, t, : sizes[day, t]]
            if by_loss:
                belief[:] = 0.0
                for b in range(len(now)):
                    belief[now[b]] = gamma[day, t, b]
                out[day * slots + t] = best_answer(belief, weight, gains, nx, room[0], room[1])
            else:
                out[day * slots + t] = now[_first_best(gamma[day, t], len(now))]


@kernel
def _step_back(
    chain: NDArray[np.float64],
    now: NDArray[np.int32],
    later: NDArray[np.int32],
    ahead: NDArray[np.float64],
    beta: NDArray[np.float64],
) -> None:
    """beta[a] = sum_b P(now[a], later[b]) ahead[b], scaled to a largest value of 1."""
    top = 0.0
    for a in range(len(now)):
        row, total = chain[now[a]], 0.0
        for b in range(len(later)):
            total += row[later[b]] * ahead[b]
        beta[a] = total
        top = max(top, total)
    for a in range(len(now)):
        beta[a] /= top


@kernel
def _first_best(values: NDArray[np.float64], n: int) -> int:
    """The first of n values within a hair of the largest."""
    top = values[0]
    for k in range(n):
        top = max(top, values[k])
    k = 0
    while values[k] < top - TIE:
        k += 1
    return k


@kernel
def _viterbi_trace(
    log_chain: NDArray[np.float64],
    log_start: NDArray[np.float64],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    first: int,
    slots: int,
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
    out: NDArray[np.int32],
) -> None:
    """The most likely way through every day; of equal ones that of smaller regions at the end."""
    n_regions = nx * ny
    likelihood = np.empty(n_regions)
    support = np.empty((slots, n_regions), dtype=np.int32)
    sizes = np.empty(slots, dtype=np.int64)
    came = np.empty((slots, n_regions), dtype=np.int32)
    best, new = np.empty(n_regions), np.empty(n_regions)
    for day in range(0, len(out), slots):
        for t in range(slots):
            cell = first + day + t
            likelihood[:] = 0.0
            members = regions[offsets[cell] : offsets[cell + 1]]
            n = cell_support(members, stencil, nx, ny, likelihood, support[t])
            sizes[t] = n
            now = support[t, :n]
            if t == 0:
                for b in range(n):
                    new[b] = log_start[now[b]]
            else:
                _best_step(log_chain, best, support[t - 1, : sizes[t - 1]], now, came[t], new)
            for b in range(n):
                best[b] = new[b] + math.log(likelihood[now[b]])
        at = _first_best(best, sizes[slots - 1])
        for t in range(slots - 1, -1, -1):
            out[day + t] = support[t, at]
            if t > 0:
                at = came[t, at]


@kernel
def _best_step(
    log_chain: NDArray[np.float64],
    best: NDArray[np.float64],
    was: NDArray[np.int32],
    now: NDArray[np.int32],
    came: NDArray[np.int32],
    new: NDArray[np.float64],
) -> None:
    """new[b] = max_a best[a] + log P(was[a], now[b]); `came` tells the first a that attains it."""
    new[: len(now)] = -np.inf
    for a in range(len(was)):
        row = log_chain[was[a]]
        for b in range(len(now)):
            value = best[a] + row[now[b]]
            if value > new[b]:
                new[b] = value
                came[b] = a
