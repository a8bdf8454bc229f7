"""The Gibbs sampler of PPMTF: hyper-parameters, then users, origins, destinations and slots.

Blocks of users are the unit of parallel work; their sums are added in a fixed order.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.engine import map_blocks
from tracecup.kernels import block_bounds
from tracecup.streams import child
from tracecup.synth import gibbs
from tracecup.synth.lanes import padded
from tracecup.synth.tensors import MoveTensor

Floats = NDArray[np.float64]
Key = tuple[np.uint64, np.uint64]
Hyper = tuple[Floats, Floats]
BETA0 = 2.0  # prior weight of the mean mu0 = 0; W0 = I and nu0 = z
STORED_BYTES = 128 << 20  # sampled zeros up to this size are kept instead of made again
PARTIAL_BYTES = 512 << 20  # more blocks of users only if their sums stay below this
# Users are taken together until a row of B or C has so many observations on average: then its
# sums come into the registers often enough to be worth it. Does not change any sum.
PER_ROW, MOST_USERS = 64, 1024
# Purposes below the key of a training.
ZEROS, HYPER, ROWS = np.uint64(0), np.uint64(1), np.uint64(2)


@dataclass(frozen=True)
class Posterior:
    """What is sampled from: factors z, precision alpha, zeros, and the scatter of the hyper step.

    `zeros` is "sampled" or "expected", `rho` the number of zeros per user and tensor. `scatter`
    is "uncentred" (as the published numbers were made) or "centred" (the conjugate update).
    """

    z: int = 16
    alpha: float = 200.0
    rho: int = 1000
    zeros: str = "sampled"
    scatter: str = "uncentred"


@dataclass
class State:
    """Where a training stands: `iteration` done, the factors after it (rows padded with zeros to
    a multiple of eight), and the (mu, Lambda) of A drawn at its start.
    """

    iteration: int
    A: Floats
    B: Floats
    CD: Floats
    mean: Floats
    precision: Floats

    @classmethod
    def initial(cls, tensors: MoveTensor, z: int, random: np.random.Generator) -> State:
        """All entries uniform on [0, 1)."""
        n, locations, slots = tensors.n_users, tensors.n_locations, tensors.slots

        def matrix(rows: int) -> Floats:
            padded_rows = np.zeros((rows, padded(z)))
            padded_rows[:, :z] = random.random((rows, z))
            return padded_rows

        A, B, CD = matrix(n), matrix(locations), matrix(locations + slots)
        return cls(0, A, B, CD, np.zeros(z), np.eye(z))


class Sampler:
    """Runs sweeps over a `State` in place; the result depends on tensors, posterior and key only.

    Every draw comes from a stream named by (key, iteration, matrix, row), so that neither the
    number of threads nor a stop in between changes it. Memory: the tensors, the factors, 8 or 16
    partial sums of (N + T) z^2 numbers, and the zeros where they take less than STORED_BYTES.
    """

    def __init__(
        self,
        tensors: MoveTensor,
        posterior: Posterior,
        key: Key,
        stored_bytes: int = STORED_BYTES,
    ) -> None:
        n, locations, slots = tensors.n_users, tensors.n_locations, tensors.slots
        self._posterior = posterior
        self._key = key
        self._locations, self._slots = locations, slots
        self._elements = (
            tensors.offsets,
            tensors.transitions,
            tensors.origin,
            tensors.context,
            tensors.value,
        )
        # Few blocks keep few partial sums, enough of them keep many cores busy.
        zp, blocks = padded(posterior.z), 8 if n < 4096 else 16
        while blocks > 2 and 8 * blocks * (locations + slots) * zp**2 > PARTIAL_BYTES:
            blocks //= 2
        self._users = block_bounds(n, blocks)
        self._precision = np.zeros((len(self._users), locations + slots, zp, zp))
        self._shifts = np.zeros((len(self._users), locations + slots, zp))
        counts = np.stack([tensors.transitions, tensors.visits], axis=1).astype(np.int64)
        absent = np.array([locations * locations, locations * slots]) - counts
        rho = min(posterior.rho, locations * max(locations, slots))
        zeros = np.minimum(rho, absent)
        self._rates = np.zeros((n, 2))
        if posterior.zeros == "expected":
            np.divide(zeros, absent, out=self._rates, where=absent > 0)
            rho, zeros = 0, np.zeros_like(zeros)
        self._weights = 1.0 - self._rates
        most = int(counts.sum(axis=1).max())
        total = int(counts.sum() + zeros.sum())
        chunk = int(np.clip(PER_ROW * (locations + slots) * n // max(total, 1), 16, MOST_USERS))
        self._zeros = (rho, most, locations, slots, chunk, *named(key, ZEROS))
        empty = np.empty(0, dtype=np.uint16)
        self._stored = (np.zeros(1, dtype=np.int64), empty, empty)
        if rho and 4 * total <= stored_bytes:
            ends = np.concatenate([[0], np.cumsum(counts + zeros)]).astype(np.int64)
            stored = (ends, np.empty(total, np.uint16), np.empty(total, np.uint16))

            def fill(low: int, high: int) -> None:
                gibbs.store_observations(
                    low, high, self._elements, self._zeros, self._stored, stored
                )

            map_blocks(fill, n)
            self._stored = stored

    def sweep(self, state: State, executor: Executor | None = None) -> None:
        """One iteration: hyper-parameters of all four matrices, then A, B, C, D (section 4)."""
        iteration = state.iteration + 1
        z, locations = self._posterior.z, self._locations
        A, B, CD = state.A, state.B, state.CD
        random = np.random.Generator(
            np.random.Philox(key=np.array(named(self._key, HYPER, iteration)))
        )
        hyper_a, hyper_b, hyper_c, hyper_d = (
            draw_hyper(X, z, self._posterior.scatter == "centred", random)
            for X in (A, B, CD[:locations], CD[locations:])
        )
        state.mean, state.precision = hyper_a
        key = named(self._key, ROWS, iteration)

        origins, targets, slots = scatter(B), scatter(CD[:locations]), scatter(CD[locations:])
        common = np.stack([origins * targets, origins * slots])
        self._draw_users(state, hyper_a, common, named(key, 0), executor)
        by_rate = [scatter(A, self._rates[:, kind]) for kind in range(2)]
        common = by_rate[0] * targets + by_rate[1] * slots
        self._draw_rows(0, hyper_b, common, named(key, 1), B, executor)

        self._add_contexts(state, executor)
        origins = scatter(B)
        common = by_rate[0] * origins
        self._draw_rows(0, hyper_c, common, named(key, 2), CD[:locations], executor)
        common = by_rate[1] * origins
        self._draw_rows(locations, hyper_d, common, named(key, 3), CD[locations:], executor)
        state.iteration = iteration

    def _draw_users(
        self, state: State, hyper: Hyper, common: Floats, key: Key, executor: Executor | None
    ) -> None:
        """A, and what the users say about B."""
        prior, shift = _prior(hyper)

        def work(first: int, last: int) -> None:
            for block in range(first, last):
                gibbs.user_pass(
                    *self._users[block],
                    self._elements,
                    self._zeros,
                    self._stored,
                    self._weights,
                    self._rates,
                    state.B,
                    state.CD,
                    common,
                    prior,
                    shift,
                    self._posterior.alpha,
                    self._posterior.z,
                    *key,
                    state.A,
                    self._precision[block, : self._locations],
                    self._shifts[block, : self._locations],
                )

        map_blocks(work, len(self._users), blocks=len(self._users), executor=executor)

    def _add_contexts(self, state: State, executor: Executor | None) -> None:
        """What the users say about C and D."""

        def work(first: int, last: int) -> None:
            for block in range(first, last):
                gibbs.context_pass(
                    *self._users[block],
                    self._elements,
                    self._zeros,
                    self._stored,
                    self._weights,
                    state.A,
                    state.B,
                    self._precision[block],
                    self._shifts[block],
                )

        map_blocks(work, len(self._users), blocks=len(self._users), executor=executor)

    def _draw_rows(
        self,
        first_row: int,
        hyper: Hyper,
        common: Floats,
        key: Key,
        X: Floats,
        executor: Executor | None,
    ) -> None:
        """The rows of one matrix, from the blocks' sums from `first_row` on."""
        prior, shift = _prior(hyper)
        precision, shifts = self._precision[:, first_row:], self._shifts[:, first_row:]

        def work(low: int, high: int) -> None:
            gibbs.draw_rows(
                low,
                high,
                precision,
                shifts,
                common,
                prior,
                shift,
                self._posterior.alpha,
                self._posterior.z,
                *key,
                X,
            )

        map_blocks(work, len(X), executor=executor)


def draw_hyper(X: Floats, z: int, centred: bool, random: np.random.Generator) -> Hyper:
    """(mu, Lambda) of the rows of X (padded) from their Normal-Wishart posterior, O(rows z^2).

    W*^-1 = I + S + (beta0 q / (beta0 + q)) m m^T with q rows, mean m and scatter S = sum x x^T
    ("uncentred", as the published program has it) or sum (x - m)(x - m)^T (the conjugate update);
    Lambda ~ Wishart(W*, z + q) by Bartlett's decomposition,
    mu ~ N(q m / (beta0 + q), ((beta0 + q) Lambda)^-1). Without rows that is the prior.
    """
    q = len(X)
    mean = X.sum(axis=0)[:z] / max(q, 1)
    lower = np.tril(scatter(X)[:z, :z])
    total = lower + np.tril(lower, -1).T
    if centred:
        total -= q * np.outer(mean, mean)
    inverse = np.eye(z) + total + BETA0 * q / (BETA0 + q) * np.outer(mean, mean)
    bartlett = np.tril(random.standard_normal((z, z)), -1)
    bartlett[np.diag_indices(z)] = np.sqrt(random.chisquare(z + q - np.arange(z)))
    root = np.linalg.cholesky(np.linalg.inv(inverse)) @ bartlett
    precision = root @ root.T
    noise = np.linalg.solve(np.linalg.cholesky(precision).T, random.standard_normal(z))
    return (q * mean) / (BETA0 + q) + noise / np.sqrt(BETA0 + q), precision


def scatter(X: Floats, scale: Floats | None = None) -> Floats:
    """Sum over rows of scale[r] * x_r x_r^T, lower triangle; always in the same order."""
    totals: Floats = np.zeros((1, X.shape[1], X.shape[1]))
    gibbs.add_scatter(X, np.ones(len(X)) if scale is None else np.ascontiguousarray(scale), totals)
    return totals.reshape(X.shape[1], X.shape[1])


def _prior(hyper: Hyper) -> tuple[Floats, Floats]:
    """Lambda and Lambda mu of a matrix, as a row's posterior uses them."""
    mean, precision = hyper
    return precision, precision @ mean


def named(key: Key, *names: int | np.uint64) -> Key:
    """The key below `key` that belongs to a path of numbers."""
    for name in names:
        first, second = child(*key, np.uint64(name))
        key = np.uint64(first), np.uint64(second)
    return key
