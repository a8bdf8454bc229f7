"""Prior-T: the best guess from habits alone, without any look at the release.

A ceiling on s_T: no defence can be credited with more than what this attacker fails to infer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.attack.base import InferenceAttack
from tracecup.attack.case import Case
from tracecup.attack.decision import prior_answers
from tracecup.attack.models.bayes import prior_remark
from tracecup.attack.prior import slot_prior
from tracecup.attack.scores import TIE
from tracecup.attack.stencil import gain_stencil
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.registry import parameter, register
from tracecup.rng import Rng
from tracecup.score import HOSPITAL_WEIGHT
from tracecup.traces import Traces, slot_counts

USER = "weight of the user's visits at all slots, against 1 for those at the slot"
HABITS = "how habits are modelled: three weighted shares of visits, or the slot-aware mixture"
POPULATION = "weight of everybody's visits at the slot, against 1 for the user's own"


@register("inference", "Prior-T", "least expected loss under habits alone")
@dataclass(frozen=True)
class PriorT(InferenceAttack):
    """For each user and slot the region of least expected contest loss under a habit model.

    The belief that user u is in region x at slot t is proportional to
    s(u,t,x) + user * v(u,x) + population * p(t,x): the shares s of her reference visits at that
    slot, smoothed with the shares v of all her visits and p of everybody's visits at the slot. The
    answer minimises the expectation of w(x) min(1, d(x,y) / 2 km) over regions y, with w = 10
    for hospital regions; ties go to the smallest region. Every day gets the same answer.

    Since the loss is w(x) beyond two kilometres, minimising it means maximising
    sum_x q(x) w(x) max(0, 1 - d(x,y) / 2 km): each visit adds a small stencil. O(events x
    stencil + users x slots x regions), O(regions) memory per thread.

    The default weights were chosen on the two public sample data sets (2 days): s_T is 0.751,
    within 0.001 of the best found, against 0.797 without smoothing and 0.803 for Replay-T. On
    20-day traces made with PPMTF+ from one of them they are the best of the grid, too.
    `habits=mixture` takes the stronger prior of `Bayes-T` instead, which has no such weights.
    """

    user: float = parameter(3.0, USER, low=0, positional=False)
    population: float = parameter(2.0, POPULATION, low=0, positional=False)
    habits: str = parameter("shares", HABITS, words=("shares", "mixture"), positional=False)

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        """Inferred traces in user order; `rng` is not used."""
        self.check()
        if self.habits == "mixture":
            answers = prior_answers(case.city, slot_prior(case.city, case.reference))
            return _every_day(answers, case)
        city, reference, clock = case.city, case.reference, case.released.clock
        weight = np.where(city.is_hospital, HOSPITAL_WEIGHT, 1.0)
        stencil = gain_stencil(city)
        crowd = slot_counts(reference, city.n_regions).astype(np.float64)
        crowd *= self.population / np.maximum(crowd.sum(axis=1, keepdims=True), 1.0)
        base = np.zeros_like(crowd)
        nx, ny = city.grid.nx, city.grid.ny
        for slot in range(clock.slots):
            _spread_crowd(crowd[slot] * weight, stencil, nx, ny, base[slot])
        guess = np.empty((case.n_users, clock.slots), dtype=np.int32)
        map_blocks(
            lambda low, high: _least_loss(
                reference.regions[low:high], weight, stencil, nx, ny, base, self.user,
                guess[low:high],
            ),
            case.n_users,
        )  # fmt: skip
        return _every_day(guess, case)

    def remark(self, case: Case) -> str:
        """The held-out log-likelihood of the mixture; nothing for shares."""
        return prior_remark(case) if self.habits == "mixture" else ""


def _every_day(answers: NDArray[np.int32], case: Case) -> Traces:
    """The same answers (users, slots) on every day of the release."""
    clock = case.released.clock
    regions = scratch.empty((case.n_users, clock.times), np.int32)
    for low, high in scratch.parts(case.n_users, 4 * clock.times):
        regions[low:high] = np.tile(answers[low:high], (1, clock.days))
    return Traces(regions, case.reference.users, clock)


@kernel
def _add_stencil(
    gain: NDArray[np.float64],
    region: int,
    amount: float,
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
) -> None:
    """gain[y] += amount * stencil[offset from region to y] for all y within reach."""
    x, y = region % nx, region // nx
    for qy in range(max(0, y - stencil.shape[0] + 1), min(ny, y + stencil.shape[0])):
        row = stencil[abs(qy - y)]
        for qx in range(max(0, x - stencil.shape[1] + 1), min(nx, x + stencil.shape[1])):
            gain[qy * nx + qx] += amount * row[abs(qx - x)]


@kernel
def _spread_crowd(
    shares: NDArray[np.float64],
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
    gain: NDArray[np.float64],
) -> None:
    for r in range(len(shares)):
        if shares[r] > 0.0:
            _add_stencil(gain, r, shares[r], stencil, nx, ny)


@kernel
def _least_loss(
    reference: NDArray[np.int32],
    weight: NDArray[np.float64],
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
    base: NDArray[np.float64],
    user: float,
    guess: NDArray[np.int32],
) -> None:
    slots, times = base.shape[0], reference.shape[1]
    own = np.empty(nx * ny)
    gain = np.empty(nx * ny)
    for i in range(reference.shape[0]):
        observed = 0
        for j in range(times):
            observed += reference[i, j] >= 0
        own[:] = 0.0
        for j in range(times):
            r = reference[i, j]
            if r >= 0:
                _add_stencil(own, r, user * weight[r] / observed, stencil, nx, ny)
        for slot in range(slots):
            for y in range(nx * ny):
                gain[y] = own[y] + base[slot, y]
            seen = 0
            for j in range(slot, times, slots):
                seen += reference[i, j] >= 0
            for j in range(slot, times, slots):
                r = reference[i, j]
                if r >= 0:
                    _add_stencil(gain, r, weight[r] / seen, stencil, nx, ny)
            top = gain.max()
            y = 0
            while gain[y] < top - TIE:
                y += 1
            guess[i, slot] = y
