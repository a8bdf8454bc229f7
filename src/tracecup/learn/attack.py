"""Training of a learned attack: a prior of where people are, a release model, a channel.

Loss of the release model: negative log-likelihood of the released cells and, after a fifth of the
steps, the symmetric cross-entropy of who is behind which pseudonym.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tracecup.attack.learned.shape import NetworkShape
from tracecup.learn import optimiser
from tracecup.learn.checkpoint import fingerprint, keep, resume
from tracecup.learn.habits import Array, Ground, cell_counts, habits
from tracecup.learn.network import (
    Network,
    channel_logits,
    log_probabilities,
    new_channel,
    new_network,
)
from tracecup.learn.pool import Pool

Say = Callable[[int, int, dict[str, float]], None]
"""Called with (steps done, steps in all, losses)."""

Loss = Callable[..., tuple[Any, dict[str, Any]]]
"""(parameters, key, weight of the contrastive part, fixed, schedule) -> loss and its parts."""

SMALLEST_TAU = 0.2
DECAY = 1e-3
CHUNK = 25
KEEP_EVERY = 60.0
"""Seconds between two checkpoints."""


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to train; `users` of a team are drawn for every step.

    `warm` says that a trained network goes on, so the contrastive loss counts from the start.
    """

    steps: int = 1500
    users: int = 1000
    rate: float = 2e-3
    channel_rate: float = 1e-2
    channel_cells: int = 40
    seed: int = 0
    warm: bool = False
    precision: str = "bfloat16"


def precision() -> str:
    """Half precision where the device is made for it."""
    return "float32" if jax.default_backend() == "cpu" else "bfloat16"


class ReleaseModel(NamedTuple):
    """A release model, the temperature of its scores, and the channel from x to the released y."""

    net: Network
    tau: Array
    channel: Network


class Carry(NamedTuple):
    """What one step of a training hands to the next."""

    params: Any
    state: optimiser.State
    key: Array


class Data(NamedTuple):
    """A pool on the device."""

    reference: Array
    original: Array
    released: Array
    team: Array

    @classmethod
    def of(cls, pool: Pool) -> Data:
        """Copy a pool to the device."""
        parts = (pool.reference, pool.original, pool.released, pool.team)
        return cls(*(jnp.asarray(part) for part in parts))


class Fixed(NamedTuple):
    """What a loss needs and a training does not change; `prior` is empty while it is trained."""

    ground: Ground
    data: Data
    prior: Network


def train_prior(
    ground: Ground,
    pool: Pool,
    shape: NetworkShape,
    schedule: Schedule,
    say: Say | None = None,
    checkpoint: Path | None = None,
) -> Network:
    """A network of log p(x | references of u, slot t), by the log-likelihood of the originals."""
    net = new_network(shape, jax.random.key(schedule.seed))
    peaks = jax.tree.map(lambda _: schedule.rate, net)
    made: Network = trained(
        _prior_loss, net, peaks, schedule, Fixed(ground, Data.of(pool), {}), say, checkpoint
    )
    return made


def train_release(
    ground: Ground,
    pool: Pool,
    shape: NetworkShape,
    prior: Network,
    schedule: Schedule,
    start: ReleaseModel | None = None,
    say: Say | None = None,
    checkpoint: Path | None = None,
) -> ReleaseModel:
    """A release model and its channel for the defence(s) of the pool, new or from `start`."""
    params = start or ReleaseModel(
        new_network(shape, jax.random.key(schedule.seed)), jnp.asarray(2.0), new_channel(ground)
    )
    peaks = ReleaseModel(
        jax.tree.map(lambda _: schedule.rate, params.net),
        jnp.asarray(schedule.channel_rate),
        jax.tree.map(lambda _: schedule.channel_rate, params.channel),
    )
    fixed = Fixed(ground, Data.of(pool), prior)
    made: ReleaseModel = trained(_release_loss, params, peaks, schedule, fixed, say, checkpoint)
    return made


def _prior_loss(
    net: Network, key: Array, contrast: Array, fixed: Fixed, schedule: Schedule
) -> tuple[Array, dict[str, Array]]:
    reference, _, original = draw_users(fixed.data, key, schedule.users)
    seen = habits(fixed.ground, reference, jnp.dtype(schedule.precision))
    counts = cell_counts(original, *_sizes(fixed.ground))
    value = _mean_log_loss(log_probabilities(net, seen), counts)
    return value, {"prior": value}


def _release_loss(
    params: ReleaseModel, key: Array, contrast: Array, fixed: Fixed, schedule: Schedule
) -> tuple[Array, dict[str, Array]]:
    ground, kind = fixed.ground, jnp.dtype(schedule.precision)
    slots, n_regions = _sizes(ground)
    draw, pick = jax.random.split(key)
    reference, released, original = draw_users(fixed.data, draw, schedule.users)
    seen = habits(ground, reference, kind)
    log_p = log_probabilities(params.net, seen)
    counts = cell_counts(released, slots, n_regions)
    likely = _mean_log_loss(log_p, counts)
    scores = jnp.einsum(
        "pty,uty->pu", counts.astype(kind), log_p.astype(kind), preferred_element_type=jnp.float32
    ) / jnp.maximum(params.tau, SMALLEST_TAU)
    who = symmetric_cross_entropy(scores)
    at = jax.random.randint(pick, (schedule.channel_cells,), 0, released.shape[1])
    habit = log_probabilities(fixed.prior, seen)[:, at % slots]
    where = _channel_loss(params.channel, ground, habit, released[:, at], original[:, at])
    return likely + contrast * who + where, {"nll": likely, "link": who, "channel": where}


def _sizes(ground: Ground) -> tuple[int, int]:
    return ground.slot_kernel.shape[0], ground.distance.shape[0]


def draw_users(data: Data, key: Array, users: int) -> tuple[Array, Array, Array]:
    """Reference, release and original of some users of the team of a random release."""
    which, who = jax.random.split(key)
    release = jax.random.randint(which, (), 0, data.released.shape[0])
    team = data.team[release]
    n_users = data.reference.shape[1]
    kept = jax.random.permutation(who, n_users)[: min(users, n_users)]
    parts = (data.reference[team], data.released[release], data.original[team])
    reference, released, original = (part[kept].astype(jnp.int32) for part in parts)
    return reference, released, original


def _mean_log_loss(log_p: Array, counts: Array) -> Array:
    return -(counts * log_p).sum() / counts.sum()


def symmetric_cross_entropy(scores: Array) -> Array:
    """Mean of -log of the true pair's share in its row and in its column."""
    right = jnp.diagonal(scores)
    rows, columns = jax.nn.logsumexp(scores, axis=1), jax.nn.logsumexp(scores, axis=0)
    return (rows - right).mean() / 2 + (columns - right).mean() / 2


def _channel_loss(
    channel: Network, ground: Ground, habit: Array, released: Array, original: Array
) -> Array:
    """-log p(x | u, t, y) at the drawn cells; deleted and unobserved ones do not count."""
    seen = ((released >= 0) & (original >= 0)).astype(jnp.float32)
    towards = channel_logits(channel, ground).T[jnp.maximum(released, 0)]
    log_x = jax.nn.log_softmax(habit + towards, axis=-1)
    true = jnp.take_along_axis(log_x, jnp.maximum(original, 0)[..., None], axis=-1)[..., 0]
    return -(true * seen).sum() / jnp.maximum(seen.sum(), 1.0)


def trained(
    loss: Loss,
    params: Any,
    peaks: Any,
    schedule: Schedule,
    fixed: Fixed,
    say: Say | None,
    checkpoint: Path | None = None,
) -> Any:
    """The parameters after all steps; CHUNK steps are one call of the device.

    With a `checkpoint` the state is kept there about every minute and at the end, and a training
    that was interrupted goes on from it; the result is the same.
    """
    params = jax.tree.map(lambda x: jnp.array(x, jnp.float32), params)
    key = jax.random.key_data(jax.random.key(schedule.seed + 1))
    carry = Carry(params, optimiser.start(params), key)
    program = replace(schedule, seed=0)  # the seed is data: another one needs no compiling
    done, kept, mark = 0, time.monotonic(), ""
    if checkpoint is not None:
        given = [np.asarray(leaf) for leaf in jax.tree.leaves((params, peaks, fixed))]
        mark = fingerprint(loss.__name__, schedule, *given)
        done, carry, last = resume(checkpoint, mark, carry)
        carry = jax.tree.map(jnp.asarray, carry)
        if done == schedule.steps and say is not None:
            say(done, done, last)
    while done < schedule.steps:
        count = min(CHUNK, schedule.steps - done)
        carry, losses = _several(carry, peaks, fixed, loss, program, count)
        done += count
        last = {name: float(value) for name, value in losses.items()}
        late = done == schedule.steps or time.monotonic() - kept > KEEP_EVERY
        if checkpoint is not None and late:
            keep(checkpoint, mark, done, carry, last)
            kept = time.monotonic()
        if say is not None:
            say(done, schedule.steps, last)
    return carry.params


@partial(jax.jit, static_argnames=("loss", "schedule", "count"))
def _several(
    carry: Carry, peaks: Any, fixed: Fixed, loss: Loss, schedule: Schedule, count: int
) -> tuple[Carry, dict[str, Array]]:
    gradient = jax.value_and_grad(loss, has_aux=True)

    def one(carry: Carry, _: None) -> tuple[Carry, dict[str, Array]]:
        key, now = jax.random.split(jax.random.wrap_key_data(carry.key))
        late = carry.state.step >= (0 if schedule.warm else schedule.steps // 5)
        (_, losses), gradients = gradient(
            carry.params, now, late.astype(jnp.float32), fixed, schedule
        )
        share = optimiser.one_cycle(carry.state.step, schedule.steps, 1.0)
        rates = jax.tree.map(lambda peak: peak * share, peaks)
        moved, state = optimiser.step(carry.params, gradients, carry.state, rates, DECAY, clip=1.0)
        return Carry(moved, state, jax.random.key_data(key)), losses

    carry, losses = jax.lax.scan(one, carry, None, length=count)
    return carry, jax.tree.map(lambda x: x[-1], losses)
