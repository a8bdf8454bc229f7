"""The Markov attacks that the paper compares fuzzy counting with, in their textbook form.

Transition matrices of every user, dense: what they cost is the question, not how to avoid it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tracecup.attack import Case
from tracecup.attack.models.cellwise import FLOOR, LOG_FLOOR
from tracecup.attack.scores import MatrixScores
from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.traces import IdTable, Traces

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


def markov_identify(case: Case) -> IdTable:
    """The user under whose transitions the released trace is most likely; single regions only.

    S[k, u] = sum over steps within a day of log P_u[a, b], P_u the relative frequencies of the
    reference trace with 1e-8 for steps never seen (Gambs et al. 2014). For m users, l events and
    n regions O(m (l + n^2)) for the models and O(m^2 l) for the scores.

    >>> from tracecup.city import City, Clock, Grid
    >>> from tracecup.traces import SetTraces
    >>> city = City(Grid.from_metres(3, 1, width_m=300, height_m=300))
    >>> reference, clock = Traces.of([[0, 1, 0], [0, 2, 0]]), Clock.unknown(3)
    >>> markov_identify(Case(city, reference, SetTraces.of_cells([[[2], [0], [2]]] * 2))).users
    array([1, 1], dtype=int32)
    """
    released = _single(case)
    slots, n = released.clock.slots, case.city.n_regions
    by_user = np.empty((case.n_users, released.n_users))

    def work(low: int, high: int) -> None:
        reference = case.reference.regions[low:high]
        _score_users(reference, released.regions, slots, n, by_user[low:high])

    map_blocks(work, case.n_users)
    return IdTable(MatrixScores(by_user.T).best())


def markov_track(case: Case, owner: IdTable, noise: Floats) -> Traces:
    """The most likely region of every user at every event, given her whole released trace.

    Forward-backward on the user's own chain; `noise[a, r]` is the probability that region r is
    released as a (Shokri et al. 2011). `owner` tells the user behind each pseudonym, one to one.
    O(m l n^2): the cost that the paper names.
    """
    released = _single(case)
    slots, n = released.clock.slots, case.city.n_regions
    shown = released.regions[owner.inverse()]
    inferred = np.empty(shown.shape, dtype=np.int32)
    likely = np.ascontiguousarray(noise, dtype=np.float64)

    def work(low: int, high: int) -> None:
        reference = case.reference.regions[low:high]
        _track_users(reference, shown[low:high], slots, n, likely, inferred[low:high])

    map_blocks(work, case.n_users)
    return Traces(inferred, case.reference.users, released.clock)


def _single(case: Case) -> Traces:
    if not case.released.is_single:
        raise InvalidTraces("the Markov attacks here take releases of single regions only")
    return case.released.as_traces()


@kernel
def _count_steps(trace: Ints, slots: int, steps: Floats, total: Floats) -> None:
    """steps[a, b] = steps from a to b within a day, total[a] = those from a; both start at 0."""
    for j in range(len(trace) - 1):
        if (j + 1) % slots and trace[j] >= 0 and trace[j + 1] >= 0:
            steps[trace[j], trace[j + 1]] += 1.0
            total[trace[j]] += 1.0


@kernel
def _score_users(reference: Ints, released: Ints, slots: int, n: int, by_user: Floats) -> None:
    logs, total = np.empty((n, n)), np.empty(n)
    for u in range(reference.shape[0]):
        logs[:] = 0.0
        total[:] = 0.0
        _count_steps(reference[u], slots, logs, total)
        for a in range(n):
            for b in range(n):
                logs[a, b] = math.log(logs[a, b] / total[a]) if logs[a, b] > 0 else LOG_FLOOR
        for k in range(released.shape[0]):
            score = 0.0
            for j in range(released.shape[1] - 1):
                if (j + 1) % slots:
                    score += logs[released[k, j], released[k, j + 1]]
            by_user[u, k] = score


@kernel
def _track_users(
    reference: Ints, shown: Ints, slots: int, n: int, noise: Floats, inferred: Ints
) -> None:
    chain, total, visits = np.empty((n, n)), np.empty(n), np.empty(n)
    ahead, message = np.empty((slots, n)), np.empty(n)
    for u in range(reference.shape[0]):
        chain[:] = 0.0
        total[:] = 0.0
        _count_steps(reference[u], slots, chain, total)
        for a in range(n):
            for b in range(n):
                chain[a, b] = chain[a, b] / total[a] if chain[a, b] > 0 else FLOOR
        visits[:] = FLOOR
        for r in reference[u]:
            if r >= 0:
                visits[r] += 1.0 / len(reference[u])
        for first in range(0, shown.shape[1], slots):
            day = shown[u, first : first + slots]
            message[:] = visits
            for j in range(len(day)):
                ahead[j] = message * noise[day[j]]
                ahead[j] /= ahead[j].sum()
                _step_ahead(ahead[j], chain, message)
            message[:] = 1.0
            for j in range(len(day) - 1, -1, -1):
                inferred[u, first + j] = np.argmax(ahead[j] * message)
                _step_back(chain, message * noise[day[j]], message)
                message /= message.sum()


@kernel
def _step_ahead(now: Floats, chain: Floats, after: Floats) -> None:
    """after[b] = sum over a of now[a] chain[a, b]; no library, so no threads of its own."""
    after[:] = 0.0
    for a in range(len(now)):
        for b in range(len(now)):
            after[b] += now[a] * chain[a, b]


@kernel
def _step_back(chain: Floats, after: Floats, now: Floats) -> None:
    """now[a] = sum over b of chain[a, b] after[b]."""
    for a in range(len(now)):
        total = 0.0
        for b in range(len(now)):
            total += chain[a, b] * after[b]
        now[a] = total
