"""What a trained attack gets from a release of known truth: s_R, s_T and what bounds them.

On the device, for the log of a training; the judge's own numbers come from the methods that answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from tracecup.learn.habits import Array, Ground, cell_counts, habits
from tracecup.learn.network import Network, channel_logits, log_probabilities
from tracecup.learn.pool import Regions
from tracecup.score import HOSPITAL_WEIGHT, REACH_KM

SWEEPS, CANDIDATES, LEAST_SHARE = 60, 12, 0.01
USERS_AT_ONCE = 40


@dataclass(frozen=True)
class Verdict:
    """Scores of one attack on one release (smaller = stronger): assignment, arg-max, traces.

    `prior` and `true_link` are the s_T of an attacker who never looks, and of one who knows who
    is who.
    """

    reid: float
    argmax: float
    trace: float
    prior: float
    true_link: float


def scores_of(ground: Ground, net: Network, reference: Regions, released: Regions) -> Array:
    """S[p, u] = sum_j log p(y_pj | u, t_j) in float32, all pairs of a team."""
    seen = habits(ground, jnp.asarray(reference, jnp.int32), jnp.bfloat16)
    return _scores(log_probabilities(net, seen), jnp.asarray(released, jnp.int32))


@jax.jit
def _scores(log_p: Array, released: Array) -> Array:
    slots, n_regions = log_p.shape[1:]
    counts = cell_counts(released, slots, n_regions)
    exact = jax.lax.Precision.HIGHEST
    return jnp.einsum("pty,uty->pu", counts, log_p, precision=exact)


def misses(scores: NDArray[np.float32] | Array) -> tuple[float, float]:
    """Shares of pseudonyms (in the order of users) that assignment and arg-max get wrong."""
    held = np.asarray(scores, np.float64)
    truth = np.arange(len(held))
    _, users = linear_sum_assignment(held, maximize=True)
    return float(np.mean(users != truth)), float(np.mean(held.argmax(1) != truth))


def judge(
    ground: Ground,
    scores: Array,
    channel: Network,
    prior: Network,
    reference: Regions,
    released: Regions,
    original: Regions,
    taus: tuple[float, ...] = (1.0, 2.0),
) -> Verdict:
    """Attack a release whose row k is user k; the best of the temperatures counts for s_T.

    `scores` (pseudonyms, users) link, `prior` and `channel` say where a linked user was.
    """
    assigned, argmax = misses(scores)
    seen = habits(ground, jnp.asarray(reference, jnp.int32), jnp.bfloat16)
    habit = _log_p(prior, seen)
    towards = channel_logits(channel, ground).T
    rel, org = jnp.asarray(released, jnp.int32), jnp.asarray(original, jnp.int32)
    best, users = np.inf, len(rel)
    for tau in taus:
        share, who = _candidates(scores, tau)
        sums = np.zeros(4)
        for low in range(0, users, USERS_AT_ONCE):
            at = slice(low, low + USERS_AT_ONCE)
            sums += np.asarray(
                _losses(ground, habit[at], towards, rel[at], rel[who[:, at]], share[:, at], org[at])
            )
        best = min(best, sums[0] / sums[3])
    return Verdict(assigned, argmax, float(best), *(float(s / sums[3]) for s in sums[1:3]))


_log_p = jax.jit(log_probabilities)


@jax.jit
def _candidates(scores: Array, tau: float) -> tuple[Array, Array]:
    """Shares and pseudonyms of the likeliest candidates of each user, (candidates, U)."""

    def scale(_: int, x: Array) -> Array:
        x = x - jax.nn.logsumexp(x, axis=1, keepdims=True)
        return x - jax.nn.logsumexp(x, axis=0, keepdims=True)

    share = jnp.exp(jax.lax.fori_loop(0, SWEEPS, scale, scores / tau))
    top, who = jax.lax.top_k(share.T, min(CANDIDATES, len(scores)))
    return jnp.where(top > LEAST_SHARE, top, 0.0).T, who.T


@partial(jax.jit)
def _losses(
    ground: Ground,
    habit: Array,
    towards: Array,
    own: Array,
    cells: Array,
    share: Array,
    original: Array,
) -> Array:
    """Summed losses of the attack, of the prior alone and of the true link; and the weights."""
    weight = jnp.where(ground.hospital, HOSPITAL_WEIGHT, 1.0)
    gain = jnp.maximum(0.0, 1 - ground.distance / REACH_KM) * weight[:, None]
    slots = habit.shape[1]
    log_prior = habit[:, jnp.arange(original.shape[1]) % slots]
    before = jnp.exp(log_prior)

    def after(released: Array) -> Array:
        evidence = jnp.where((released >= 0)[..., None], towards[jnp.maximum(released, 0)], 0.0)
        return jax.nn.softmax(log_prior + evidence, axis=-1)

    def add(k: int, belief: Array) -> Array:
        return belief + share[k][:, None, None] * after(cells[k])

    belief = before * (1 - share.sum(0))[:, None, None]
    belief = jax.lax.fori_loop(0, len(cells), add, belief)

    def loss(belief: Array) -> Array:
        answer = jnp.argmax(belief @ gain, -1)
        miss = jnp.minimum(1.0, ground.distance[original, answer] / REACH_KM)
        return (weight[original] * miss).sum()

    return jnp.stack([loss(belief), loss(before), loss(after(own)), weight[original].sum()])
