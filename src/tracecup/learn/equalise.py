"""Likelihood equalising on the device: the defence of a race, for some teams at a time.

The same problem that `tracecup.obfuscate.equalise` solves with numba: every score that an attacker
may compute shall be the same for all members of a group, at the price of utility.
"""

from __future__ import annotations

from collections.abc import Sequence
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

Groups = Sequence[NDArray[np.int64]]

FORBIDDEN = 50.0
"""Price of an answer that is not allowed; every other price is at most 1."""

TEAMS_AT_ONCE = 4
"""Teams of one descent: its steps are short, and a GPU waits between them."""

NOISE = 22.0
"""About the spread that 400 cells drawn from a group's habits have by themselves. Closer targets
protect less at the same utility: with 15 a retrained attacker leaves 0.78, with this 0.81."""

MODELS_STEP = 4
"""Room for models grows by so many, empty ones score nothing: a new shape has to be compiled."""


@dataclass(frozen=True)
class Equaliser:
    """Settings: users in a group, noise on the targets, sweeps over all cells, forced hospitals."""

    group: int = 25
    noise: float = NOISE
    sweeps: int = 12
    shift_from: int = 4
    hospitals: bool = True


class Stakes(NamedTuple):
    """Scores of teams' groups: `scores` (T, n, K, N), their squared norms `square` (T, n, N).

    K = room for models x members; each is centred over the members and under the group's own
    habits. Only the first `used` of K are scores of a model, the others are zero. Slots stand
    first: a descent takes one at a time, and what lies together need not be copied for it.
    """

    scores: Array
    square: Array
    used: int


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
    groups: Groups,
    prior: Network,
    portfolio: list[Network],
    weight: float,
    settings: Equaliser,
    seed: int,
) -> tuple[Regions, list[float], float]:
    """Released regions of teams (teams, U, events), utility s_U of each, residual of targets (rms).

    Minimises sum_j price(x_j, y_j) + weight |sum_j L[t_j, y_j] - target|^2 for every user, cell by
    cell in random order; targets are noise, and shift by the residual every second sweep.
    References and originals are (teams, U, events), groups those of `team_groups`.
    """
    parts = [_stakes(ground, reference[k], groups[k], prior, portfolio) for k in range(len(groups))]
    scores = jnp.concatenate([part.scores for part in parts], 1)
    stakes = Stakes(scores, jnp.concatenate([p.square for p in parts], 1), parts[0].used)
    cells = np.concatenate([own[at] for own, at in zip(original, groups, strict=True)])
    answer, residual = _descend(
        stakes, jnp.asarray(cells, jnp.int32), prices(ground, settings.hospitals), weight,
        jax.random.key(seed), settings,
    )  # fmt: skip
    found = np.asarray(answer, np.int16).reshape(len(groups), -1, original.shape[2])
    released = np.empty_like(original)
    for own, at, rows in zip(released, groups, found, strict=True):
        own[at.ravel()] = rows
    loss = np.minimum(1.0, np.asarray(ground.distance)[original, released] / REACH_KM)
    utility = 1 - loss.mean((1, 2), dtype=np.float64)
    return released, [float(value) for value in utility], float(residual)


def team_groups(
    ground: Ground, reference: Regions, prior: Network, settings: Equaliser
) -> NDArray[np.int64]:
    """Users of a team who shall be taken for each other, (groups, members).

    A group that is one short names its first member twice.
    """
    habit = _log_p(prior, habits(ground, jnp.asarray(reference, jnp.int32), jnp.bfloat16))
    blurred = np.sqrt(np.asarray(jnp.exp(habit).mean(1) @ ground.blurs[1]))
    groups = similar_groups(blurred, settings.group)
    size = max(len(group) for group in groups)
    return np.stack([np.concatenate([g, g[:1]])[:size] if len(g) < size else g for g in groups])


_log_p = jax.jit(log_probabilities)


def _stakes(
    ground: Ground,
    reference: Regions,
    groups: NDArray[np.int64],
    prior: Network,
    portfolio: list[Network],
) -> Stakes:
    seen = habits(ground, jnp.asarray(reference, jnp.int32), jnp.bfloat16)
    habit, at = _log_p(prior, seen), jnp.asarray(groups)
    parts = [_centred(habit, table, at) for table in (habit, *(_log_p(n, seen) for n in portfolio))]
    empty = [jnp.zeros_like(parts[0])] * (-len(parts) % MODELS_STEP)
    scores = jnp.concatenate([*parts, *empty], 1).transpose(2, 0, 1, 3)
    return Stakes(scores, _square(scores), len(parts) * groups.shape[1])


@jax.jit
def _centred(habit: Array, table: Array, groups: Array) -> Array:
    """Scores of a model for the members of every group, (n, members, T, N)."""
    own = jnp.exp(habit[groups]).mean(1)
    x = table[groups]
    x = x - x.mean(1, keepdims=True)
    x = x - (x * own[:, None]).sum(-1, keepdims=True)
    spread = (x * x * own[:, None]).sum(-1).mean((1, 2))
    return (x / jnp.sqrt(spread + 1e-12)[:, None, None, None]).astype(jnp.bfloat16)


@jax.jit
def _square(scores: Array) -> Array:
    return (scores.astype(jnp.float32) ** 2).sum(2)


@partial(jax.jit, static_argnames="settings")
def _descend(
    stakes: Stakes, cells: Array, price: Array, weight: Array, key: Array, settings: Equaliser
) -> tuple[Array, Array]:
    n, members, events = cells.shape
    slots, size = stakes.scores.shape[0], stakes.scores.shape[2]

    def taken(slot: Array, answer: Array) -> Array:
        rows = jnp.take_along_axis(stakes.scores[slot], answer[:, None, :], axis=2)
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
                (2 * (rest - target)).astype(jnp.bfloat16), stakes.scores[j % slots],
                preferred_element_type=jnp.float32,
            ) + stakes.square[j % slots][:, None]  # fmt: skip
            best = jnp.argmin(price[cells[:, :, j]] + weight * pull, -1).astype(jnp.int32)
            return answer.at[:, :, j].set(best), rest + taken(j % slots, best)

        answer, total = jax.lax.fori_loop(0, events, cell, (answer, total))
        return answer, total, target

    answer, total, _ = jax.lax.fori_loop(0, settings.sweeps, sweep, (cells, total, noise))
    left = ((total - noise) ** 2).sum((0, 1))
    share = (jnp.arange(size) < stakes.used) / (n * members * stakes.used)
    return answer, jnp.sqrt((left * share).sum())
