"""Factors of the (user x from x to) tensor of moves: non-negative ones, or PPMTF's Gaussian ones.

Few moves of one user are completed by what users like her do (after Murakami, PoPETs 2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup.attack.markov.chains import FLOOR, Chains, Moves
from tracecup.engine import map_blocks, threads
from tracecup.kernels import kernel
from tracecup.rng import Rng, generator
from tracecup.streams import stream_key
from tracecup.synth.sampler import Posterior, Sampler, State
from tracecup.synth.tensors import move_tensor

WEIGHT_PRIOR = 1e-3
PLACE_PRIOR = 0.01
BLOCKS = 16
"""Parts of the moves whose sums are added in order; fixed, so that threads do not matter."""


@dataclass(frozen=True, eq=False)
class Factors:
    """rate(u, i, j) = sum_k weights[u, k] left[i, k] right[j, k], at least `floor`.

    By expectation maximisation: columns of left and right sum to 1, no floor is needed, and
    `objective` holds, for every iteration, the penalised log-likelihood before it. Gaussian
    factors may be negative and have a floor.
    """

    weights: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    objective: tuple[float, ...] = ()
    floor: float = 0.0


def factorise(
    moves: Moves, n_regions: int, z: int = 16, iterations: int = 50, rng: Rng = None
) -> Factors:
    """Factors by EM from a uniform random start; O(entries x z) an iteration, O(X z) memory.

    E: g_k(u,i,j) = c_u(i,j) A[u,k] B[i,k] C[j,k] / rate(u,i,j) on the counted moves.
    M: A[u,k] = sum_ij g_k + 0.001; B[i,k] ~ sum_uj g_k + 0.01; C[j,k] ~ sum_ui g_k + 0.01.
    The log-likelihood of the counts with the logarithms of the factors, weighted by those
    pseudo-counts, never falls.
    """
    random = generator(rng)
    n_users = len(moves.user_rows) - 1
    weights = random.random((n_users, z)) + WEIGHT_PRIOR
    left, right = (random.random((n_regions, z)) + PLACE_PRIOR for _ in range(2))
    left /= left.sum(axis=0)
    right /= right.sum(axis=0)
    row = moves.row_of_move
    user = moves.user_of_row[row]
    before = moves.left[row]
    bounds = np.linspace(0, n_users, BLOCKS + 1).astype(np.int64)
    objective = []
    for _ in range(iterations):
        shares = np.zeros_like(weights)
        lefts, rights = (np.zeros((BLOCKS, n_regions, z)) for _ in range(2))
        gains = np.zeros(BLOCKS)

        def expect(
            low: int,
            high: int,
            a: NDArray[np.float64] = weights,
            b: NDArray[np.float64] = left,
            c: NDArray[np.float64] = right,
            sums: tuple[NDArray[np.float64], ...] = (shares, lefts, rights, gains),
        ) -> None:
            for part in range(low, high):
                entries = slice(*np.searchsorted(user, bounds[part : part + 2]))
                sums[3][part] = _share_counts(
                    user[entries], before[entries], moves.to[entries], moves.count[entries],
                    a, b, c, sums[0], sums[1][part], sums[2][part],
                )  # fmt: skip

        map_blocks(expect, BLOCKS)
        prior = WEIGHT_PRIOR * np.log(weights).sum() - weights.sum()
        prior += PLACE_PRIOR * (np.log(left).sum() + np.log(right).sum())
        objective.append(float(gains.sum() + prior))
        weights = shares + WEIGHT_PRIOR
        left, right = lefts.sum(axis=0) + PLACE_PRIOR, rights.sum(axis=0) + PLACE_PRIOR
        left /= left.sum(axis=0)
        right /= right.sum(axis=0)
    return Factors(weights, left, right, tuple(objective))


def gaussian_factors(
    moves: Moves, n_regions: int, z: int = 16, iterations: int = 50, rng: Rng = None
) -> Factors:
    """Factors of PPMTF's posterior for the moves alone: one draw after `iterations` sweeps.

    c_u(i,j), at most 10, of at most 100 random moves of a user, and zero at 1000 random others,
    are normal about sum_k A[u,k] B[i,k] C[j,k] with precision 200; rows of A, B and C have normal
    priors (`synth.sampler`). Rates below 1e-8 count as 1e-8. O(sweeps x users x 1000 z^2).

    >>> from tracecup.traces import Traces
    >>> moves = Moves.of_traces(Traces.of([[0, 1, 0, 1]] * 9), 3)
    >>> factors = gaussian_factors(moves, 3, z=2, rng=1)
    >>> (factors.left * factors.weights[0] @ factors.right.T).round().astype(int).tolist()
    [[0, 2, 0], [1, 0, 0], [0, 0, 0]]
    """
    random = generator(rng)
    row = moves.row_of_move
    tensor = move_tensor(
        moves.user_of_row[row], moves.left[row], moves.to, moves.count,
        len(moves.user_rows) - 1, n_regions, rng=random,
    )  # fmt: skip
    key = stream_key(random)
    state = State.initial(tensor, z, random)
    sampler = Sampler(tensor, Posterior(z), key)
    with threads() as pool:
        for _ in range(iterations):
            sampler.sweep(state, pool)
    a, b, c = (np.ascontiguousarray(x[:, :z]) for x in (state.A, state.B, state.CD))
    return Factors(a, b, c, floor=FLOOR)


def factored_chains(moves: Moves, factors: Factors, b: float = 20.0) -> Chains:
    """P_u(i,j) = (c_u(i,j) + b F_u(i,j)) / (c_u(i) + b), F_u = rate / its sum over j.

    b -> 0 gives plain shares of moves, b -> infinity the factors alone.
    """
    n_regions = len(factors.left)
    keep = b / (moves.total + b)
    own = moves.count / (moves.total[moves.row_of_move] + b)
    nothing = sparse.csr_array((n_regions, n_regions), dtype=np.float64)
    return Chains(
        moves, keep, own, factors.weights, factors.left, factors.right, nothing, per_user=True,
        floor=factors.floor,
    )  # fmt: skip


@kernel
def _share_counts(
    user: NDArray[np.int64],
    before: NDArray[np.int32],
    after: NDArray[np.int32],
    count: NDArray[np.float64],
    weights: NDArray[np.float64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    shares: NDArray[np.float64],
    lefts: NDArray[np.float64],
    rights: NDArray[np.float64],
) -> float:
    """Add each count, divided among the factors, to three sums; sum of count x log(rate)."""
    z = weights.shape[1]
    part = np.empty(z)
    gain = 0.0
    for e in range(len(user)):
        u, i, j = user[e], before[e], after[e]
        rate = 0.0
        for k in range(z):
            part[k] = weights[u, k] * left[i, k] * right[j, k]
            rate += part[k]
        gain += count[e] * np.log(rate)
        for k in range(z):
            g = count[e] * part[k] / rate
            shares[u, k] += g
            lefts[i, k] += g
            rights[j, k] += g
    return gain
