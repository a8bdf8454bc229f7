"""Training of PPMTF on an accelerator: the Gibbs sampler's sums and draws in batches, by JAX.

Random numbers come from the host's streams, so that both places draw the same up to rounding.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.streams import child, fill_normals
from tracecup.synth.sampler import HYPER, ROWS, Key, Posterior, Sampler, State, draw_hyper, named
from tracecup.synth.tensors import MoveTensor

Floats = NDArray[np.float64]
SEGMENT = 256
"""Observations whose outer products are one matrix product, (z, SEGMENT) by (SEGMENT, z)."""

SLAB_BYTES = 64 << 20
"""Vectors that are gathered at a time."""

ALL_BYTES = 1 << 62


class Segments(NamedTuple):
    """Observations of each row of a matrix, cut into segments; `slabs` of them at a time.

    `left`, `right` (slabs, segments, SEGMENT) say which rows are multiplied, `weight` and `value`
    what their outer product and they themselves count (0 where nothing is), `parts` (rows, most)
    which segments belong to a row; a segment of zeros stands behind the last one.
    """

    left: Any
    right: Any
    weight: Any
    value: Any
    parts: Any

    @classmethod
    def of(
        cls,
        bucket: NDArray[Any],
        rows: int,
        left: NDArray[Any],
        right: NDArray[Any],
        weight: Floats,
        value: Floats,
        z: int,
    ) -> Segments:
        """Sort by bucket and cut; O(observations log observations), once a training.

        >>> one = np.ones(3)
        >>> found = Segments.of(np.array([1, 0, 1]), 2, np.arange(3), np.arange(3), one, one, 2)
        >>> found.left[0, 1, :2].tolist(), found.parts.tolist()
        ([0, 2], [[0], [1]])
        """
        order = np.argsort(bucket, kind="stable")
        counts = np.bincount(bucket, minlength=rows)
        pieces = -(-counts // SEGMENT)
        first = np.concatenate([[0], np.cumsum(pieces)])
        per_slab = max(1, SLAB_BYTES // (8 * z * SEGMENT))
        slabs = max(1, -(-int(first[-1]) // per_slab))
        per_slab = max(1, -(-int(first[-1]) // slabs))
        begins = np.concatenate([[0], np.cumsum(counts)])[:-1]
        within = np.arange(len(order)) - np.repeat(begins, counts)
        place = np.repeat(first[:-1], counts) * SEGMENT + within

        def spread(values: NDArray[Any], dtype: type) -> NDArray[Any]:
            out: NDArray[Any] = np.zeros(slabs * per_slab * SEGMENT, dtype=dtype)
            out[place] = values[order]
            return out.reshape(slabs, per_slab, SEGMENT)

        most = max(1, int(pieces.max(initial=0)))
        parts = first[:-1, None] + np.arange(most)
        parts[np.arange(most) >= pieces[:, None]] = slabs * per_slab
        return cls(
            spread(left, np.int32),
            spread(right, np.int32),
            spread(weight, np.float64),
            spread(value, np.float64),
            parts.astype(np.int32),
        )


class DeviceSampler(Sampler):
    """The same sweeps as `Sampler` on the device that JAX has, in float64.

    Sums are added in another order, so that factors agree with those of `Sampler` up to
    rounding (docs/reference/scale.md says how far), not in every bit. Sampled zeros are always
    kept: 72 bytes an observation on the device.
    """

    def __init__(self, tensors: MoveTensor, posterior: Posterior, key: Key) -> None:
        import jax

        super().__init__(tensors, posterior, key, ALL_BYTES)
        z, n = posterior.z, tensors.n_users
        locations, slots = tensors.n_locations, tensors.slots
        user, row, column, kind, value = self._observed(tensors)
        weight = self._weights[user, kind]
        with jax.enable_x64(True):
            self._passes = [
                jax.device_put(Segments.of(bucket, rows, left, right, weight, value, z))
                for bucket, rows, left, right in (
                    (user, n, row, column),
                    (row, locations, user, column),
                    (column, locations + slots, user, row),
                )
            ]
            self._device_rates = jax.device_put(self._rates)

    def _observed(self, tensors: MoveTensor) -> tuple[NDArray[Any], ...]:
        """User, row, column, kind (0 moves, 1 visits) and count of every observation."""
        n = tensors.n_users
        counts = np.stack([tensors.transitions, tensors.visits], axis=1).astype(np.int64)
        ends, row, column = self._stored
        if len(ends) == 1:  # zeros in expectation: what was counted is all there is
            row, column = tensors.origin, tensors.context
            ends = np.concatenate([[0], np.cumsum(counts)])
        lengths = np.diff(ends)
        user = np.repeat(np.repeat(np.arange(n), 2), lengths)
        kind = np.repeat(np.tile([0, 1], n), lengths)
        value = np.zeros(len(row))
        flat = counts.ravel()
        begins = np.repeat(ends[:-1], flat)  # counts stand first, zeros behind them
        before = np.repeat(np.concatenate([[0], np.cumsum(flat)])[:-1], flat)
        value[begins + np.arange(flat.sum()) - before] = tensors.value
        return user, row.astype(np.int64), column.astype(np.int64), kind, value

    def sweep(self, state: State, executor: Executor | None = None) -> None:
        """One iteration; see `Sampler.sweep`."""
        import jax

        iteration = state.iteration + 1
        z, locations = self._posterior.z, self._locations
        random = np.random.Generator(
            np.random.Philox(key=np.array(named(self._key, HYPER, iteration)))
        )
        matrices = (state.A, state.B, state.CD[:locations], state.CD[locations:])
        hyper = [draw_hyper(X, z, self._posterior.scatter == "centred", random) for X in matrices]
        state.mean, state.precision = hyper[0]
        key = named(self._key, ROWS, iteration)
        noise = [row_normals(named(key, which), len(X), z) for which, X in enumerate(matrices)]
        with jax.enable_x64(True):
            found = _jitted()(
                tuple(self._passes),
                self._device_rates,
                self._posterior.alpha,
                state.B[:, :z],
                state.CD[:, :z],
                [(precision, precision @ mean) for mean, precision in hyper],
                noise,
            )
        state.A[:, :z], state.B[:, :z], state.CD[:, :z] = (np.asarray(X) for X in found)
        if not all(np.isfinite(X).all() for X in (state.A, state.B, state.CD)):
            raise np.linalg.LinAlgError("a factorisation failed on the device")
        state.iteration = iteration


def row_normals(key: Key, rows: int, z: int) -> Floats:
    """The standard normals that rows 0..rows-1 of a matrix are drawn with, shape (rows, z)."""
    noise = np.empty((rows, z))
    _fill_rows(*key, noise)
    return noise


@kernel
def _fill_rows(key0: np.uint64, key1: np.uint64, noise: Floats) -> None:
    for r in range(noise.shape[0]):
        row0, row1 = child(key0, key1, np.uint64(r))
        fill_normals(row0, row1, noise[r])


_compiled: list[Any] = []


def _jitted() -> Any:
    """The compiled sweep; made when first asked for, since JAX may be missing."""
    if not _compiled:
        import jax

        _compiled.append(jax.jit(_sweep))
    return _compiled[0]


def _sweep(
    passes: Any, rates: Any, alpha: Any, B: Any, CD: Any, hyper: Any, noise: Any
) -> tuple[Any, Any, Any]:
    """Section 4, steps 2 to 5, given hyper-parameters and standard normals."""
    import jax.numpy as jnp

    users, origins, contexts = passes
    locations = B.shape[0]
    C, D = CD[:locations], CD[locations:]
    BB, CC, DD = B.T @ B, C.T @ C, D.T @ D
    gram, h = _sums(users, B, CD)
    gram += rates[:, :1, None] * (BB * CC) + rates[:, 1:, None] * (BB * DD)
    A = _draw(gram, h, alpha, hyper[0], noise[0])
    moves, visits = ((A * rates[:, k : k + 1]).T @ A for k in range(2))
    gram, h = _sums(origins, A, CD)
    B = _draw(gram + moves * CC + visits * DD, h, alpha, hyper[1], noise[1])
    BB = B.T @ B
    gram, h = _sums(contexts, A, B)
    C = _draw(gram[:locations] + moves * BB, h[:locations], alpha, hyper[2], noise[2])
    D = _draw(gram[locations:] + visits * BB, h[locations:], alpha, hyper[3], noise[3])
    return A, B, jnp.concatenate([C, D])


def _sums(segments: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """Per row the sums of weight p p^T, (rows, z, z), and of value p, (rows, z); p = left * right.

    Segments are added in their order: no sum depends on which thread was first.
    """
    import jax.numpy as jnp
    from jax import lax

    def slab(one: Any) -> Any:
        i, j, weight, value = one
        p = left[i] * right[j]
        gram = jnp.einsum("slf,slg->sfg", p * weight[..., None], p)
        return gram, jnp.einsum("sl,slf->sf", value, p)

    z = left.shape[1]
    gram, h = lax.map(slab, (segments.left, segments.right, segments.weight, segments.value))
    gram = jnp.concatenate([gram.reshape(-1, z, z), jnp.zeros((1, z, z))])
    h = jnp.concatenate([h.reshape(-1, z), jnp.zeros((1, z))])
    return gram[segments.parts].sum(axis=1), h[segments.parts].sum(axis=1)


def _draw(gram: Any, h: Any, alpha: Any, hyper: Any, noise: Any) -> Any:
    """Rows from N(P^-1 h', P^-1), P = prior + alpha gram, h' = shift + alpha h; P = L L^T."""
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    prior, shift = hyper
    root = jnp.linalg.cholesky(prior + alpha * gram)
    forward = solve_triangular(root, (shift + alpha * h)[..., None], lower=True)
    return solve_triangular(root, forward + noise[..., None], lower=True, trans=1)[..., 0]
