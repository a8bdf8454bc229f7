"""The Bayes decision: from beliefs about a user and soft links to the answers of least loss.

Given where she may be, who may be her pseudonym and what a defence does to a region.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.attack.match.soft import heaviest
from tracecup.attack.scores import TIE
from tracecup.attack.stencil import gain_stencil
from tracecup.attack.usertables import UserTables, tables_of, user_blocks
from tracecup.city import City, Clock
from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.score import HOSPITAL_WEIGHT
from tracecup.traces import IdTable, SetTraces

MOST = 12
LEAST = 0.01
LANES = 16
NEGLIGIBLE = 1e-3
"""Regions with less than this part of the belief's weight are left out of the decision."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """For each user, which pseudonyms may be hers: rows of `pseudonyms` (users, c), -1 for none.

    `weights` has the same shape; what a user's weights lack to 1 is the weight of "none of them".
    """

    pseudonyms: NDArray[np.int32]
    weights: NDArray[np.float32]

    @classmethod
    def of_links(
        cls, links: NDArray[np.float64], most: int = MOST, least: float = LEAST
    ) -> Candidates:
        """The `most` heaviest links of each user with a weight above `least`.

        `links` is M[pseudonym, user] of `soft_links`, whose columns sum to 1.

        >>> Candidates.of_links(np.array([[0.75, 0.0], [0.25, 1.0]])).pseudonyms.tolist()
        [[0, 1], [1, -1]]
        """
        best, weights = heaviest(links, most)
        kept = weights > least
        width = max(1, int(kept.sum(axis=1).max(initial=0)))
        pseudonyms = np.where(kept, best, -1)[:, :width]
        return cls(
            np.ascontiguousarray(pseudonyms, dtype=np.int32),
            np.ascontiguousarray(np.where(kept, weights, 0.0)[:, :width], dtype=np.float32),
        )

    @classmethod
    def nobody(cls, users: int) -> Candidates:
        """No pseudonym for any user: the prior alone decides."""
        none = np.full((users, 1), -1, dtype=np.int32)
        return cls(none, np.zeros((users, 1), dtype=np.float32))

    @classmethod
    def of_table(cls, table: IdTable) -> Candidates:
        """One certain pseudonym for every user, from a one-to-one table."""
        pseudonyms = table.inverse().astype(np.int32)[:, None]
        return cls(pseudonyms, np.ones(pseudonyms.shape, dtype=np.float32))


def decide(
    city: City,
    prior: UserTables | NDArray[np.float32],
    candidates: Candidates,
    channel: NDArray[np.float32],
    released: SetTraces,
    *,
    hospital_weight: float = HOSPITAL_WEIGHT,
    apart: bool = False,
) -> NDArray[np.int32]:
    """The regions of least expected contest loss, shape (users, times).

    `prior` is P[u, t, x] (users, slots, regions), `channel` Q[x, y] = probability that region x
    is released as y (rows may leave something over), `candidates` the soft links. The belief
    about user u at an event of slot t is

        q(x) = sum_p M[p, u] P[u, t, x] Q[x, Y_p] / sum_x' P[u, t, x'] Q[x', Y_p] + rest P[u, t, x]

    where Y_p is the cell of pseudonym p at that event and Q[x, Y] the sum over its members. With
    `apart` a set is the mean over its members of what each of them says alone: right for a channel
    whose columns are known up to a factor each, which would weigh the members of a sum. A deleted
    cell, and one that is impossible under the prior, leaves P as it is. The answer maximises
    sum_x w(x) q(x) max(0, 1 - d(x, z) / 2 km), w = 10 on hospital regions.

    Parts of the belief below 1e-3 of its weight are left out. O(events (candidates regions +
    regions in the belief x stencil)), memory of one block of users' prior, one belief per thread
    and the transposed channel.
    """
    tables = tables_of(prior)
    users, slots, regions = tables.shape
    shapes = (users, slots, regions) == (
        released.n_users,
        released.clock.slots,
        city.n_regions,
    ) and channel.shape == (regions, regions)
    inside = len(candidates.pseudonyms) == users and candidates.pseudonyms.max(initial=-1) < users
    if not (shapes and inside and candidates.weights.shape == candidates.pseudonyms.shape):
        raise InvalidTraces(
            f"a prior of shape {tables.shape}, a channel of {channel.shape} and candidates of "
            f"{candidates.pseudonyms.shape} do not fit "
            f"{released.n_users} users, {released.clock.slots} slots and {city.n_regions} regions"
        )
    weight = np.where(city.is_hospital, hospital_weight, 1.0).astype(np.float32)
    stencil = centred_stencil(city)
    towards = np.ascontiguousarray(channel.T, dtype=np.float32)
    answers = scratch.empty((users, released.times), np.int32)
    for begin, end in scratch.stepped(user_blocks(tables)):
        here = np.ascontiguousarray(tables.block(begin, end), dtype=np.float32)

        def work(low: int, high: int, here: NDArray[np.float32] = here, begin: int = begin) -> None:
            at = slice(begin + low, begin + high)
            _decide(
                here[low:high], candidates.pseudonyms[at], candidates.weights[at], towards,
                released.offsets, released.regions, apart, weight, stencil, city.grid.nx,
                answers[at],
            )  # fmt: skip

        map_blocks(work, end - begin, blocks=max(1, (end - begin) // 32))
    return answers


def centred_stencil(city: City) -> NDArray[np.float32]:
    """`gain_stencil` for all offsets to both sides, the region itself in the middle."""
    quarter = gain_stencil(city).astype(np.float32)
    half = np.concatenate([quarter[:0:-1], quarter])
    return np.ascontiguousarray(np.concatenate([half[:, :0:-1], half], axis=1))


def prior_answers(city: City, prior: UserTables | NDArray[np.float32]) -> NDArray[np.int32]:
    """The answers of least expected loss without any release, shape (users, slots)."""
    users, slots, regions = prior.shape
    deleted = np.zeros(users * slots + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    nothing = SetTraces(*deleted, np.arange(1, users + 1), Clock.regular(1, slots, 0, 1))
    nobody, anything = Candidates.nobody(users), np.eye(regions, dtype=np.float32)
    return decide(city, prior, nobody, anything, nothing)


@kernel
def product_sum(a: NDArray[np.float32], b: NDArray[np.float32], out: NDArray[np.float32]) -> float:
    """out = a * b; returns its sum, added up in lanes, which the compiler makes vector code of."""
    lanes = np.zeros(LANES, dtype=np.float32)
    whole = len(a) - len(a) % LANES
    for begin in range(0, whole, LANES):
        for q in range(LANES):
            product = a[begin + q] * b[begin + q]
            out[begin + q] = product
            lanes[q] += product
    total = lanes.sum()
    for x in range(whole, len(a)):
        out[x] = a[x] * b[x]
        total += out[x]
    return float(total)


@kernel
def best_answer(
    belief: NDArray[np.float32],
    weight: NDArray[np.float32],
    stencil: NDArray[np.float32],
    nx: int,
    weighed: NDArray[np.float32],
    gain: NDArray[np.float32],
) -> int:
    """The region of the largest expected gain under a belief; ties to the smallest.

    `stencil` is centred; `weighed` and `gain` are room to work in.
    """
    regions, ny = len(belief), len(belief) // nx
    up, side = stencil.shape[0] // 2, stencil.shape[1] // 2
    cut = np.float32(product_sum(belief, weight, weighed) * NEGLIGIBLE)
    gain[:] = 0.0
    for r in range(regions):
        amount = weighed[r]
        if amount <= cut:
            continue
        x, y = r % nx, r // nx
        low, high = max(0, x - side), min(nx, x + side + 1)
        for qy in range(max(0, y - up), min(ny, y + up + 1)):
            row = stencil[qy - y + up, low - x + side : high - x + side]
            out = gain[qy * nx + low : qy * nx + high]
            for q in range(len(out)):
                out[q] += amount * row[q]
    best = 0
    for z in range(1, regions):
        if gain[z] > gain[best] + np.float32(TIE):
            best = z
    return best


@kernel
def _add_posterior(
    prior: NDArray[np.float32],
    towards: NDArray[np.float32],
    members: NDArray[np.int32],
    share: float,
    together: NDArray[np.float32],
    posterior: NDArray[np.float32],
    belief: NDArray[np.float32],
) -> None:
    """belief += share * P Q[., Y] / norm; an impossible or deleted cell adds share * P.

    `together` and `posterior` are room to work in.
    """
    total = 0.0
    if len(members) == 1:
        total = product_sum(prior, towards[members[0]], posterior)
    elif len(members) > 1:
        together[:] = towards[members[0]]
        for r in members[1:]:
            row = towards[r]
            for x in range(len(row)):
                together[x] += row[x]
        total = product_sum(prior, together, posterior)
    source = posterior if total > 0.0 else prior
    scale = np.float32(share / total if total > 0.0 else share)
    for x in range(len(belief)):
        belief[x] += scale * source[x]


@kernel
def _decide(
    prior: NDArray[np.float32],
    pseudonyms: NDArray[np.int32],
    weights: NDArray[np.float32],
    towards: NDArray[np.float32],
    offsets: NDArray[np.int64],
    members: NDArray[np.int32],
    apart: bool,
    weight: NDArray[np.float32],
    stencil: NDArray[np.float32],
    nx: int,
    answers: NDArray[np.int32],
) -> None:
    slots, regions, times = prior.shape[1], prior.shape[2], answers.shape[1]
    belief = np.empty(regions, dtype=np.float32)
    room = np.empty((2, regions), dtype=np.float32)
    for u in range(len(prior)):
        rest = 1.0
        for c in range(pseudonyms.shape[1]):
            rest -= weights[u, c] if pseudonyms[u, c] >= 0 else 0.0
        rest = max(rest, 0.0)
        for j in range(times):
            here = prior[u, j % slots]
            for x in range(regions):
                belief[x] = np.float32(rest) * here[x]
            for c in range(pseudonyms.shape[1]):
                k = pseudonyms[u, c]
                if k >= 0:
                    cell = k * times + j
                    inside = members[offsets[cell] : offsets[cell + 1]]
                    parts = len(inside) if apart and len(inside) > 1 else 1
                    for part in range(parts):
                        some = inside[part : part + 1] if parts > 1 else inside
                        share = weights[u, c] / np.float32(parts)
                        _add_posterior(here, towards, some, share, room[0], room[1], belief)
            answers[u, j] = best_answer(belief, weight, stencil, nx, room[0], room[1])
