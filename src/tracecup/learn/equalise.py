"""Likelihood equalising on the device: the defence of a race, for one team at a time.

The same problem that `tracecup.obfuscate.equalise` solves with numba: every score that an attacker
may compute shall be the same for all members of a group, at the price of utility.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from tracecup.learn.habits import Array, Ground, habits
from tracecup.learn.network import Network, log_probabilities
from tracecup.learn.pool import Regions
from tracecup.obfuscate.grouping import similar_groups
from tracecup.score import REACH_KM

FORBIDDEN = 50.0
"""Price of an answer that is not allowed; every other price is at most 1."""


@dataclass(frozen=True)
class Equaliser:
    """Settings: users in a group, noise on the targets, sweeps over all cells, forced hospitals."""

    group: int = 25
    noise: float = 15.0
    sweeps: int = 12
    shift_from: int = 4
    hospitals: bool = True


class Stakes(NamedTuple):
    """Scores of a team's groups: `scores` (n, T, K, N), their squared norms `square` (n, T, N).

    K = models x members; each is centred over the members and under the group's own habits.
    """

    scores: Array
    square: Array


def prices(ground: Ground, hospitals: bool) -> Array:
    """Loss of utility min(1, d / 2 km) of answering y for x, (N, N).

    With `hospitals`, a hospital region may only become another kind of region out of reach.
    """
    price = jnp.minimum(1.0, ground.distance / REACH_KM)
    if not hospitals:
        return price
    near = (ground.distance < REACH_KM) | ground.hospital[None, :]
    return jnp.where(ground.hospital[:, None] & near, FORBIDDEN, price)


def equalise(
    ground: Ground,
    reference: Regions,
    original: Regions,
    prior: Network,
    portfolio: list[Network],
    weight: float,
    settings: Equaliser,
    seed: int,
) -> tuple[Regions, float, float]:
    """Released regions (U, events), utility s_U, and the residual of the targets (rms).

    Minimises sum_j price(x_j, y_j) + weight |sum_j L[t_j, y_j] - target|^2 for every user, cell by
    cell in random order; targets are noise, and shift by the residual every second sweep.
    """
    seen = habits(ground, jnp.asarray(reference, jnp.int32), jnp.bfloat16)
    habit = log_probabilities(prior, seen)
    blurred = np.sqrt(np.asarray(jnp.exp(habit).mean(1) @ ground.blurs[1]))
    groups = _padded(similar_groups(blurred, settings.group))
    stakes = _stakes(ground, habit, [_log_p(net, seen) for net in portfolio], jnp.asarray(groups))
    key = jax.random.key(seed)
    cells = jnp.asarray(original, jnp.int32)[groups]
    answer, residual = _descend(
        stakes, cells, prices(ground, settings.hospitals), weight, key, settings
    )
    released = np.empty_like(original)
    released[groups.ravel()] = np.asarray(answer, np.int16).reshape(-1, original.shape[1])
    loss = np.minimum(1.0, np.asarray(ground.distance)[original, released] / REACH_KM)
    return released, float(1 - loss.mean(dtype=np.float64)), float(residual)


_log_p = jax.jit(log_probabilities)


def _padded(groups: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Groups as one array; a group that is one short names its first member twice."""
    size = max(len(group) for group in groups)
    return np.stack([np.concatenate([g, g[:1]])[:size] if len(g) < size else g for g in groups])


@jax.jit
def _stakes(ground: Ground, habit: Array, models: list[Array], groups: Array) -> Stakes:
    own = jnp.exp(habit[groups]).mean(1)
    parts = []
    for table in (habit, *models):
        x = table[groups]
        x = x - x.mean(1, keepdims=True)
        x = x - (x * own[:, None]).sum(-1, keepdims=True)
        spread = (x * x * own[:, None]).sum(-1).mean((1, 2))
        parts.append((x / jnp.sqrt(spread + 1e-12)[:, None, None, None]).astype(jnp.bfloat16))
    scores = jnp.concatenate(parts, 1).transpose(0, 2, 1, 3)
    return Stakes(scores, (scores.astype(jnp.float32) ** 2).sum(2))


@partial(jax.jit, static_argnames="settings")
def _descend(
    stakes: Stakes, cells: Array, price: Array, weight: Array, key: Array, settings: Equaliser
) -> tuple[Array, Array]:
    n, members, events = cells.shape
    slots, size = stakes.scores.shape[1], stakes.scores.shape[2]

    def taken(slot: Array, answer: Array) -> Array:
        rows = jnp.take_along_axis(stakes.scores[:, slot], answer[:, None, :], axis=2)
        return rows.transpose(0, 2, 1).astype(jnp.float32)

    def add(j: Array, total: Array) -> Array:
        return total + taken(j % slots, cells[:, :, j])

    draw, shuffle = jax.random.split(key)
    noise = settings.noise * jax.random.normal(draw, (n, members, size))
    total = jax.lax.fori_loop(0, events, add, jnp.zeros((n, members, size)))

    def sweep(s: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        answer, total, target = state
        shift = (s >= settings.shift_from) & (s % 2 == 0)
        target = jnp.where(shift, target + (noise - total), target)
        order = jax.random.permutation(jax.random.fold_in(shuffle, s), events)

        def cell(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
            answer, total = state
            j = order[k]
            rest = total - taken(j % slots, answer[:, :, j])
            pull = jnp.matmul(
                (2 * (rest - target)).astype(jnp.bfloat16), stakes.scores[:, j % slots],
                preferred_element_type=jnp.float32,
            ) + stakes.square[:, j % slots][:, None]  # fmt: skip
            best = jnp.argmin(price[cells[:, :, j]] + weight * pull, -1).astype(jnp.int32)
            return answer.at[:, :, j].set(best), rest + taken(j % slots, best)

        answer, total = jax.lax.fori_loop(0, events, cell, (answer, total))
        return answer, total, target

    answer, total, _ = jax.lax.fori_loop(0, settings.sweeps, sweep, (cells, total, noise))
    return answer, jnp.sqrt(((total - noise) ** 2).mean())
