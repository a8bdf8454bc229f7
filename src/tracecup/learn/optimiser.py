"""AdamW with a one-cycle learning rate: what all trainings here use.

Plain functions on trees of arrays, so that a checkpoint is a folder of arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

Array = Any
Tree = Any

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class State(NamedTuple):
    """Steps done and the two moments of every array."""

    step: Array
    first: Tree
    second: Tree


def start(params: Tree) -> State:
    """The state before the first step."""
    zeros = jax.tree.map(jnp.zeros_like, params)
    return State(jnp.zeros((), jnp.int32), zeros, zeros)


def one_cycle(step: Array, steps: int, peak: float, warm: float = 0.3) -> Array:
    """From peak/25 up to peak over the first `warm` share of the steps, then down to nearly 0."""
    at = step / max(1, steps - 1)
    up = 0.5 * (1 - jnp.cos(jnp.pi * jnp.minimum(at / warm, 1.0)))
    down = 0.5 * (1 + jnp.cos(jnp.pi * jnp.clip((at - warm) / (1 - warm), 0.0, 1.0)))
    return jnp.where(at < warm, peak / 25 + (peak - peak / 25) * up, peak * (1e-4 + down))


def step(
    params: Tree,
    gradients: Tree,
    state: State,
    rates: Tree,
    decay: float,
    clip: float | None = None,
) -> tuple[Tree, State]:
    """One step of AdamW; `rates` has a learning rate for every array, `clip` bounds the norm."""
    if clip is not None:
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
        gradients = jax.tree.map(lambda g: g * jnp.minimum(1.0, clip / (norm + 1e-6)), gradients)
    count = state.step + 1
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, state.first, gradients)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, state.second, gradients)
    scale1, scale2 = 1 - BETA1**count, 1 - BETA2**count

    def moved(p: Array, m: Array, v: Array, rate: Array) -> Array:
        return p - rate * (m / scale1 / (jnp.sqrt(v / scale2) + EPSILON) + decay * p)

    return jax.tree.map(moved, params, first, second, rates), State(count, first, second)
