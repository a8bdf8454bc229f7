"""Where a user was, given the trace that is linked to her: posteriors of her chain, or one way.

Forward-backward on the regions that a cell allows, day by day.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.decision import best_answer, centred_stencil
from tracecup.attack.markov.chains import Chains, Starts
from tracecup.attack.markov.emission import cell_support
from tracecup.attack.markov.forward import check_size, move_all, scale, step_forward
from tracecup.attack.markov.viterbi import first_best, viterbi_trace
from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.score import HOSPITAL_WEIGHT
from tracecup.traces import IdTable, SetTraces

ESTIMATES = ("bayes", "map", "viterbi")


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
    check_size(city)
    m, times = released.n_users, released.times
    period = chains.slot_periods(released.clock.slots)
    pseudonyms = table.inverse()
    weight = np.where(city.is_hospital, HOSPITAL_WEIGHT, 1.0).astype(np.float32)
    gain = centred_stencil(city)
    out = np.empty((m, times), dtype=np.int32)

    def work(low: int, high: int) -> None:
        for u in range(low, high):
            chain, start = chains.stochastic(u), starts(u, u + 1)[0]
            first = int(pseudonyms[u]) * times
            if estimate == "viterbi":
                viterbi_trace(
                    np.log(chain), period, np.log(start), released.offsets, released.regions, first,
                    stencil, city.grid.nx, city.grid.ny, out[u],
                )  # fmt: skip
            else:
                _smooth_trace(
                    chain, period, start, released.offsets, released.regions, first, stencil,
                    city.grid.nx, city.grid.ny, estimate == "bayes", weight, gain, out[u],
                )  # fmt: skip

    map_blocks(work, m, blocks=max(1, m // 16))
    return out


@kernel
def _forward_days(
    chain: NDArray[np.float64],
    period: NDArray[np.int64],
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
                here = chain[period[t - 1]]
                step_forward(here, alpha[day, t - 1], was, now, f, alpha[day, t])
        if n_adrift > 0:
            masses = np.empty((n_adrift, n_regions))
            for c in range(n_adrift):
                masses[c] = alpha[adrift[c], t - 1]
            moved = move_all(masses, chain[period[t - 1]])
            for c in range(n_adrift):
                alpha[adrift[c], t] = moved[c]


@kernel
def _backward_days(
    chain: NDArray[np.float64],
    period: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    support: NDArray[np.int32],
    sizes: NDArray[np.int64],
    gamma: NDArray[np.float64],
) -> None:
    """Turn forward masses into posteriors: gamma_t = alpha_t beta_t, scaled to sum 1.

    beta_t(a) = sum_b P(a, b) f(b) beta_{t+1}(b), scaled to a largest value of 1.
    """
    days, slots, n_regions = gamma.shape
    turned = np.empty(chain.shape)
    for k in range(chain.shape[0]):
        turned[k] = chain[k].T
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
                _step_back(chain[period[t]], support[day, t, :n], later, ahead[day], beta[day])
        if n_adrift > 0:
            masses = np.empty((n_adrift, n_regions))
            for c in range(n_adrift):
                masses[c] = ahead[adrift[c]]
            moved = move_all(masses, turned[period[t]])
            for c in range(n_adrift):
                beta[adrift[c]] = moved[c] / moved[c].max()
        for day in range(days):
            n = sizes[day, t]
            gamma[day, t, :n] *= beta[day, :n]
            gamma[day, t, :n] /= gamma[day, t, :n].sum()


@kernel
def _smooth_trace(
    chain: NDArray[np.float64],
    period: NDArray[np.int64],
    start: NDArray[np.float64],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    first: int,
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
    by_loss: bool,
    weight: NDArray[np.float32],
    gains: NDArray[np.float32],
    out: NDArray[np.int32],
) -> None:
    """Posteriors of every slot, and the answer each of them gives."""
    n_regions, slots = nx * ny, len(period)
    days = len(out) // slots
    likelihood = np.zeros((days, slots, n_regions))
    support = np.empty((days, slots, n_regions), dtype=np.int32)
    sizes = np.empty((days, slots), dtype=np.int64)
    gamma = np.empty((days, slots, n_regions))
    _forward_days(
        chain, period, start, offsets, regions, first, stencil, nx, ny, likelihood, support, sizes,
        gamma,
    )  # fmt: skip
    _backward_days(chain, period, likelihood, support, sizes, gamma)
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
                out[day * slots + t] = now[first_best(gamma[day, t], len(now))]


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
