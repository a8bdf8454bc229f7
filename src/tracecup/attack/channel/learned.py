"""An unknown program: learn the channel from the release itself, by expectation maximisation.

Links and channel help each other: better links show the channel, a better channel the links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.channel.known import hospital_numbers
from tracecup.attack.channel.table import Displacements, ExpectedReleases, first_channel
from tracecup.attack.decision import product_sum
from tracecup.attack.match.soft import heaviest, soft_links
from tracecup.attack.models.slotwise import slot_likelihoods
from tracecup.attack.scores import Scores
from tracecup.attack.usertables import HeldTables, UserTables, tables_of, tables_of_some
from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.traces import SetTraces

ROUNDS = 5
STEPS = 20
SWEEPS = 20
ENOUGH = 2e-3
"""Learning ends when the share of regions that stay changes less than this in a round."""
KERNEL_WEIGHT = 50.0
BORROWED = 0.3
PAIRS = 200
NEGLIGIBLE = 1e-4
"""Origins with a smaller part of the posterior are left out of the counts."""
TAU = 2.0
BLOCKS = 16
UNIFORM = 0.01


@dataclass(frozen=True, eq=False)
class Learned:
    """A channel learnt from a release, the scores it gives, and how it came about.

    `stay` has the share of regions that stay where they are, after each round; `converged` says
    whether it had come to rest, in the last round and in its last step, when learning ended.
    """

    channel: NDArray[np.float32]
    scores: Scores
    stay: tuple[float, ...]
    converged: bool = True


def learn_channel(
    city: City,
    prior: UserTables | NDArray[np.float32],
    released: SetTraces,
    rounds: int = ROUNDS,
) -> Learned:
    """Alternate links and channel until the channel stays as it is, at most `rounds` times.

    A round scores all pairs under the channel, links softly, takes 200 pairs of the surer half of
    all links, and with these runs EM steps on the channel: the expected number of each
    displacement under the posterior of the origin, q(x, y) proportional to P[u, t, x] Q[x, y] for
    the members y of the cell. That is exact for sets if regions are moved first and generalised
    after, and for deletions that do not look at the region. O(rounds (users slots regions^2 +
    users^2 slots days) + steps pairs times regions).
    """
    tables = tables_of(prior)
    channel, stay, converged = first_channel(city), [0.0], False
    scores = slot_likelihoods(ExpectedReleases(tables, channel), released)
    for _ in range(rounds):
        pseudonyms, links = heaviest(soft_links(scores, TAU, SWEEPS), 1)
        best, weight = pseudonyms[:, 0], links[:, 0]
        surer = np.argsort(-weight, kind="stable")[: (len(best) + 1) // 2]
        users = surer[:: max(1, len(surer) // PAIRS)]
        pairs = (np.arange(len(users), dtype=np.int64), best[users], weight[users])
        some = tables_of_some(tables, users)
        channel, share, settled = _converge(city, some, released, pairs, channel)
        scores = slot_likelihoods(ExpectedReleases(tables, channel), released)
        stay.append(share)
        if abs(stay[-1] - stay[-2]) < ENOUGH:
            converged = settled
            break
    return Learned(channel, scores, tuple(stay[1:]), converged)


def _converge(
    city: City,
    prior: HeldTables,
    released: SetTraces,
    pairs: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]],
    channel: NDArray[np.float32],
) -> tuple[NDArray[np.float32], float, bool]:
    """At most `STEPS` EM steps with links as they are, until the share that stays is at rest.

    Returns the channel, that share, and whether it came to rest.
    """
    before, settled = -1.0, False
    for _ in range(STEPS):
        found = expected_displacements(city, prior.held, released, *pairs, channel)
        # Part of a hospital's displacements is borrowed from other regions: few visits show them.
        borrowed = found.shifts[0] / max(found.shifts[0].sum(), 1e-300) * found.shifts[1].sum()
        shifts = np.stack([found.shifts[0], found.shifts[1] + BORROWED * borrowed])
        channel = Displacements(shifts, found.hospitals).channel(city, UNIFORM, KERNEL_WEIGHT)
        share = found.stay
        settled = abs(share - before) < ENOUGH / 2
        if settled:
            break
        before = share
    return channel, share, settled


def expected_displacements(
    city: City,
    prior: NDArray[np.float32],
    released: SetTraces,
    users: NDArray[np.int64],
    pseudonyms: NDArray[np.int32],
    weights: NDArray[np.float64],
    channel: NDArray[np.float32],
) -> Displacements:
    """The E-step: expected displacements of linked pairs, each pair with its weight.

    Added up in a fixed number of blocks, so that threads change no bit.
    """
    grid, number = city.grid, hospital_numbers(city)
    towards = np.ascontiguousarray(channel.T)

    def work(low: int, high: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        shifts = np.zeros((2, 2 * grid.ny - 1, 2 * grid.nx - 1))
        hospitals = np.zeros((max(1, len(city.hospitals)), city.n_regions))
        _expect(
            prior, released.offsets, released.regions, released.times, users[low:high],
            pseudonyms[low:high], weights[low:high], towards, number, grid.nx, grid.ny, shifts,
            hospitals,
        )  # fmt: skip
        return shifts, hospitals

    parts = map_blocks(work, len(users), blocks=BLOCKS)
    shifts = np.sum([part[0] for part in parts], axis=0)
    hospitals = np.sum([part[1] for part in parts], axis=0)
    return Displacements(shifts, hospitals[: len(city.hospitals)])


@kernel
def _expect(
    prior: NDArray[np.float32],
    offsets: NDArray[np.int64],
    members: NDArray[np.int32],
    times: int,
    users: NDArray[np.int64],
    pseudonyms: NDArray[np.int32],
    weights: NDArray[np.float64],
    towards: NDArray[np.float32],
    number: NDArray[np.int32],
    nx: int,
    ny: int,
    shifts: NDArray[np.float64],
    hospitals: NDArray[np.float64],
) -> None:
    slots, regions, widest = prior.shape[1], prior.shape[2], 1
    for i in range(len(users)):
        for cell in range(pseudonyms[i] * times, (pseudonyms[i] + 1) * times):
            widest = max(widest, offsets[cell + 1] - offsets[cell])
    posterior = np.empty((widest, regions), dtype=np.float32)
    for i in range(len(users)):
        for j in range(times):
            here = prior[users[i], j % slots]
            cell = pseudonyms[i] * times + j
            first = offsets[cell]
            total = 0.0
            for at in range(first, offsets[cell + 1]):
                total += product_sum(here, towards[members[at]], posterior[at - first])
            if total <= 0.0:
                continue
            cut, scale = np.float32(total * NEGLIGIBLE), weights[i] / total
            for at in range(first, offsets[cell + 1]):
                y, likely = members[at], posterior[at - first]
                down, right = y // nx + ny - 1, y % nx + nx - 1
                for x in range(regions):
                    if likely[x] > cut:
                        kind = 1 if number[x] >= 0 else 0
                        amount = scale * likely[x]
                        shifts[kind, down - x // nx, right - x % nx] += amount
                        if kind == 1:
                            hospitals[number[x], y] += amount
