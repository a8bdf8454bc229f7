"""What a network sees of a user's reference traces, as JAX arrays.

The same features as `tracecup.attack.learned.network` computes with numba, for many users at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tracecup.attack.learned.shape import BLURS_KM, FEATURES
from tracecup.city import City

Array = Any
"""A `jax.Array`; JAX need not be installed where types are checked."""


class Ground(NamedTuple):
    """What a city and a timetable give to every network: kernels over slots and over space.

    `slot_kernel` (T, T) and the rows of `blurs` (3, N, N) sum to 1; `distance` (N, N) in km;
    `hospital` (N,); `offset` (N, N) numbers the displacements of the grid.
    """

    slot_kernel: Array
    blurs: Array
    distance: Array
    hospital: Array
    offset: Array

    @classmethod
    def of(cls, city: City, slots: int) -> Ground:
        """The ground of a city whose day has `slots` slots."""
        near = np.exp(-np.abs(np.subtract.outer(np.arange(slots), np.arange(slots))))
        km = np.asarray(city.grid.distances)
        blurs = np.stack([np.exp(-km / reach) for reach in BLURS_KM])
        x, y, nx, ny = city.grid.x, city.grid.y, city.grid.nx, city.grid.ny
        offset = (
            (np.subtract.outer(y, y) + ny - 1) * (2 * nx - 1) + np.subtract.outer(x, x) + nx - 1
        )
        return cls(
            jnp.asarray(near / near.sum(1, keepdims=True), jnp.float32),
            jnp.asarray(blurs / blurs.sum(2, keepdims=True), jnp.float32),
            jnp.asarray(km, jnp.float32),
            jnp.asarray(city.is_hospital),
            jnp.asarray(offset, jnp.int32),
        )


class Habits(NamedTuple):
    """Features (F, U, T, N) and the visits a day behind them.

    Features stand first: products with long rows take a third of the time on a GPU. `near` are
    those at near slots (U, T, N), `day` those of the whole day (U, N).
    """

    features: Array
    near: Array
    day: Array


def cell_counts(regions: Array, slots: int, n_regions: int) -> Array:
    """Visits by slot and region, (U, T, N) float32; events of -1 are skipped."""
    users, times = regions.shape
    slot = jnp.arange(times) % slots
    seen = (regions >= 0).astype(jnp.float32)
    empty = jnp.zeros((users, slots, n_regions), jnp.float32)
    return empty.at[jnp.arange(users)[:, None], slot[None, :], regions].add(seen, mode="drop")


def habits(ground: Ground, reference: Array, precision: jnp.dtype = jnp.float32) -> Habits:
    """Features of every (user, slot, region) from reference traces (U, events), -1 = unobserved."""
    slots, n_regions = ground.slot_kernel.shape[0], ground.distance.shape[0]
    days = reference.shape[1] / slots
    own = cell_counts(reference, slots, n_regions) / days
    near = jnp.einsum("ts,usy->uty", ground.slot_kernel, own)
    day = own.mean(1)
    crowd = jnp.einsum("ts,sy->ty", ground.slot_kernel, own.mean(0))
    small, blurs = near.astype(precision), ground.blurs.astype(precision)
    near_blurred = [
        jnp.matmul(small, blur, preferred_element_type=jnp.float32) for blur in blurs[:2]
    ]
    day_blurred = [jnp.matmul(day, blur) for blur in ground.blurs]
    wide = [jnp.broadcast_to(x[:, None, :], own.shape) for x in [day, *day_blurred]]
    columns = [own, near, *near_blurred, *wide, jnp.broadcast_to(crowd[None], own.shape)]
    logs = [
        jnp.log(c + eps).astype(precision) for c, (_, eps) in zip(columns, FEATURES, strict=True)
    ]
    return Habits(jnp.stack(logs), near, day)
