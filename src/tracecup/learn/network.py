"""The networks of a learned attack in JAX: release model, prior, channel.

log p(y | references of u, slot t) = log-softmax over y of a pointwise network on the cell's
features, a linear skip, a low-rank term of the user's whole pattern, and a bias.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tracecup.attack.learned.shape import COUNT_SCALE, NetworkShape
from tracecup.learn.habits import Array, Ground, Habits

Network = dict[str, Array]

SKIP_START = (0.0, 0.3, 0.2, 0.0, 0.2, 0.1, 0.0, 0.0, 0.2)


def hard_swish(x: Array) -> Array:
    """x clip(x / 6 + 1/2, 0, 1): nearly x sigmoid(x), without an exponential."""
    return x * jnp.clip(x / 6 + 0.5, 0, 1)


def new_network(shape: NetworkShape, key: Array) -> Network:
    """Random weights of usual size; what enters the logits starts near zero."""
    names = list(shape.arrays)
    keys = dict(zip(names, jax.random.split(key, len(names)), strict=True))
    net = {name: jnp.zeros(size, jnp.float32) for name, size in shape.arrays.items()}
    for name in ("first", "second", "day_embedding", "slot_embedding", "mix"):
        size = shape.arrays[name]
        net[name] = jax.random.normal(keys[name], size) / jnp.sqrt(size[0])
    net["slot_shift"] = 0.02 * jax.random.normal(keys["slot_shift"], shape.arrays["slot_shift"])
    net["out"] = 0.1 * jax.random.normal(keys["out"], shape.arrays["out"])
    net["skip"] = jnp.asarray(SKIP_START, jnp.float32)
    return net


def logits(net: Network, seen: Habits) -> Array:
    """What the softmax is taken of, (U, T, N) float32; products in the features' precision."""
    kind, cells = seen.features.dtype, seen.features.shape[1:]

    def product(a: Array, b: Array, out: jnp.dtype = jnp.float32) -> Array:
        return jnp.matmul(a.astype(kind), b.astype(kind), preferred_element_type=out)

    seen_by_cell = seen.features.reshape(len(seen.features), -1)
    slot = net["slot"].T[:, None, :, None].astype(kind)
    hidden = product(net["first"].T, seen_by_cell, kind).reshape(-1, *cells) + slot
    hidden = hard_swish(hidden).reshape(len(hidden), -1)
    bias = net["second_bias"][:, None].astype(kind)
    hidden = hard_swish(product(net["second"].T, hidden, kind) + bias)
    pointwise = product(net["out"][None], hidden) + product(net["skip"][None], seen_by_cell)
    day = product(jnp.log1p(COUNT_SCALE * seen.day), net["day_embedding"])
    near = product(jnp.log1p(COUNT_SCALE * seen.near), net["slot_embedding"])
    pattern = product(hard_swish(day[:, None] + near + net["slot_shift"]), net["mix"])
    return pointwise.reshape(cells) + product(pattern, net["regions"].T) + net["bias"]


def log_probabilities(net: Network, seen: Habits) -> Array:
    """log p(y | u, t), (U, T, N)."""
    return jax.nn.log_softmax(logits(net, seen), axis=-1)


def new_channel(ground: Ground) -> Network:
    """A channel that falls with distance: kernels for hospital and other origins, and a table."""
    n_regions = ground.distance.shape[0]
    offsets = int(ground.offset.max()) + 1
    return {
        "kernel": jnp.zeros((2, offsets), jnp.float32),
        "slope": jnp.ones((), jnp.float32),
        "table": jnp.zeros((n_regions, n_regions), jnp.float32),
    }


def channel_logits(channel: Network, ground: Ground) -> Array:
    """log Q[x, y] up to a constant of each y: rows are origins, columns released regions."""
    kernel = channel["kernel"][ground.hospital.astype(jnp.int32)[:, None], ground.offset]
    return kernel - channel["slope"] * ground.distance + channel["table"]
