"""An attacker of another family: a release model with transitions inside a day.

p(y_j | u, t, y_{j-1}) is proportional to exp(z[u, t, y_j] + K[y_{j-1}, y_j]); z as in `network`.
The normaliser of every (user, slot, previous region) is a matrix product: all pairs stay cheap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tracecup.attack.learned.shape import NetworkShape
from tracecup.learn.attack import (
    SMALLEST_TAU,
    Data,
    Fixed,
    Say,
    Schedule,
    draw_users,
    symmetric_cross_entropy,
    trained,
)
from tracecup.learn.habits import Array, Ground, cell_counts, habits
from tracecup.learn.network import Network, logits, new_network
from tracecup.learn.pool import Pool, Regions


class MovingRelease(NamedTuple):
    """Logits z, temperature of the scores, and the step K: a kernel of moves and a table."""

    net: Network
    tau: Array
    step: Network


def train_moving(
    ground: Ground, pool: Pool, shape: NetworkShape, schedule: Schedule, say: Say | None = None
) -> MovingRelease:
    """A release model with transitions for the defences of the pool; no deleted cells."""
    n_regions, offsets = ground.distance.shape[0], int(ground.offset.max()) + 1
    step = {"kernel": jnp.zeros(offsets), "table": jnp.zeros((n_regions, n_regions))}
    params = MovingRelease(
        new_network(shape, jax.random.key(schedule.seed)), jnp.asarray(2.0), step
    )
    peaks = jax.tree.map(lambda _: schedule.rate, params)._replace(tau=schedule.channel_rate)
    made: MovingRelease = trained(
        _loss, params, peaks, schedule, Fixed(ground, Data.of(pool), {}), say
    )
    return made


def moving_scores(
    ground: Ground, attack: MovingRelease, reference: Regions, released: Regions
) -> Array:
    """S[p, u] up to a constant of each p, in float32, all pairs of a team."""
    seen = habits(ground, jnp.asarray(reference, jnp.int32), jnp.bfloat16)
    return _scores(ground, logits(attack.net, seen), attack.step, jnp.asarray(released, jnp.int32))


@jax.jit
def _scores(ground: Ground, z: Array, step: Network, released: Array) -> Array:
    counts = cell_counts(released, *z.shape[1:])
    return _pairs(z, _normaliser(ground, z, step, jnp.float32), counts, jnp.float32)


def _step(ground: Ground, step: Network) -> Array:
    return step["kernel"][ground.offset].T + step["table"]


def _normaliser(ground: Ground, z: Array, step: Network, kind: Any) -> Array:
    """log sum_y exp(z[u, t, y] + K[x, y]) of every slot but the first, (U, T - 1, N of x)."""
    moves = _step(ground, step)
    top, edge = z[:, 1:].max(-1, keepdims=True), moves.max(1)
    mass = jnp.matmul(
        jnp.exp(z[:, 1:] - top).astype(kind), jnp.exp(moves - edge[:, None]).T.astype(kind),
        preferred_element_type=jnp.float32,
    )  # fmt: skip
    return jnp.log(mass + 1e-20) + top + edge


def _pairs(z: Array, normaliser: Array, counts: Array, kind: Any) -> Array:
    """sum_j z[u, t_j, y_j] - log normaliser, for all pairs; the step itself names nobody."""

    def product(a: Array, b: Array) -> Array:
        return jnp.einsum(
            "pty,uty->pu", a.astype(kind), b.astype(kind), preferred_element_type=jnp.float32,
            precision=jax.lax.Precision.HIGHEST if kind == jnp.float32 else None,
        )  # fmt: skip

    first = counts[:, 0].sum(-1)[:, None] * jax.nn.logsumexp(z[:, 0], axis=-1)[None]
    # Centred, so that half precision keeps the differences between users.
    return (
        product(counts, z - z.mean(0)) - product(counts[:, :-1], normaliser - normaliser.mean(0))
        - (first - first.mean(1, keepdims=True))
    )  # fmt: skip


def _loss(
    params: MovingRelease, key: Array, contrast: Array, fixed: Fixed, schedule: Schedule
) -> tuple[Array, dict[str, Array]]:
    ground, kind = fixed.ground, jnp.dtype(schedule.precision)
    reference, released, _ = draw_users(fixed.data, key, schedule.users)
    z = logits(params.net, habits(ground, reference, kind))
    users, slots, n_regions = z.shape
    counts = cell_counts(released, slots, n_regions)
    normaliser = _normaliser(ground, z, params.step, kind)
    days = released.reshape(users, -1, slots)
    steps = _step(ground, params.step)[days[..., :-1], days[..., 1:]].sum()
    own = (counts * z).sum() - (counts[:, :-1] * normaliser).sum()
    own = own - (counts[:, 0].sum(-1) * jax.nn.logsumexp(z[:, 0], axis=-1)).sum()
    likely = -(own + steps) / released.size
    scores = _pairs(z, normaliser, counts, kind) / jnp.maximum(params.tau, SMALLEST_TAU)
    who = symmetric_cross_entropy(scores)
    return likely + contrast * who, {"nll": likely, "link": who}
