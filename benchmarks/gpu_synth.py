"""Synthesis and fuzzy counting on a GPU against the cores beside it, with answers compared.

`python benchmarks/gpu_synth.py --out FILE` measures a step of PPMTF+ training, the generation of a
team and Fuzzy-R. Needs numpy, SciPy, numba and JAX; without a GPU it runs on JAX's CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

import standins  # noqa: F401 - before the imports below, which need what it stands in for
from bench_synth import contest_model, walks
from gpu_reid import visits
from tracecup import Clock, Grid, Traces
from tracecup.attack.models import products
from tracecup.attack.models.fuzzy import FuzzyR
from tracecup.city import City
from tracecup.device import Found, JaxArrays, best_matches
from tracecup.device.fused import fused_tops
from tracecup.engine import thread_count, threads
from tracecup.streams import (
    FIRST_FACTOR,
    GOLDEN,
    SECOND_FACTOR,
    UNIT,
    child,
    stream_key,
)
from tracecup.synth import PpmtfModel, PPMTFPlus, Training, make_tensors
from tracecup.synth.features import WALKS
from tracecup.synth.generate import FLOOR
from tracecup.synth.lanes import BLOCK
from tracecup.synth.ondevice import DeviceSampler
from tracecup.synth.sampler import Posterior, Sampler, State
from tracecup.traces.visitfiles import VisitCounts

Floats = NDArray[np.float64]
PARTS = ("training", "generation", "fuzzy")


def training(small: bool, budget: float) -> dict[str, Any]:
    """Seconds of a Gibbs iteration of the contest's size in both places, from equal states."""
    users, side, z = (60, 8, 8) if small else (2000, 32, 32)
    clock = Clock.regular(1, 24, 360, 30)
    records = Training.of_traces(Traces.of(walks(2, users, 24, side), clock), side * side, 2)
    tensors, key, posterior = make_tensors(records, rng=1), stream_key(5), Posterior(z=z)
    here = State.initial(tensors, z, np.random.default_rng(3))
    there = State.initial(tensors, z, np.random.default_rng(3))
    host, took_host = _timed(lambda: Sampler(tensors, posterior, key))
    device, took_device = _timed(lambda: DeviceSampler(tensors, posterior, key))
    seconds: dict[str, list[float]] = {"host": [], "device": []}
    began = time.perf_counter()
    with threads() as pool:
        while here.iteration < 100 and time.perf_counter() - began < budget:
            seconds["host"].append(_timed(lambda: host.sweep(here, pool))[1])
            seconds["device"].append(_timed(lambda: device.sweep(there))[1])
    off = {
        name: float(np.abs(getattr(here, name) - getattr(there, name)).max())
        for name in ("A", "B", "CD")
    }
    largest = max(float(np.abs(X).max()) for X in (here.A, here.B, here.CD))
    return {
        "size": f"{users} users, {side * side} places, z {z}, 1000 zeros a user and tensor",
        "iterations": here.iteration,
        "host_set_up": took_host,
        "device_set_up": took_device,
        "device_first_iteration": seconds["device"][0],
        "host_iteration": float(np.median(seconds["host"][1:])),
        "device_iteration": float(np.median(seconds["device"][1:])),
        "factors_off": off,
        "largest_factor": largest,
    }


def generation(small: bool, budget: float) -> dict[str, Any]:
    """A team's days: users x days chains of Metropolis-Hastings steps, all at once on the device.

    Without masks and homes, where every draw has its number beforehand; days of a user are then
    independent, which is the most that a device could gain.
    """
    users, days = (40, 2) if small else (2000, 40)
    trained = contest_model(users=100 if small else 2000, iterations=3 if small else 20)
    plain = trained.using(PPMTFPlus(z=32))
    told: dict[str, Any] = {"size": f"{users} users x {days} days x 144 instants, 1024 places"}
    for name, model in (("masks and homes", trained), ("neither", plain)):
        run = partial(model.sample, users, days, rng=1, instants=12)
        run()
        made, told[f"host, {name}"] = _timed(run)
    work = partial(walk_on_device, plain, users, days, 12, 1)
    found, told["device_first"] = _timed(work)
    found, told["device"] = _timed(work)
    told["cells_equal"] = float((found == made.regions.reshape(found.shape)).mean())
    return told


def walk_on_device(
    model: PpmtfModel, users: int, days: int, instants: int, seed: int
) -> NDArray[np.int32]:
    """What `model.sample` makes without masks and homes, shape (users, days, instants a day)."""
    key, factors = stream_key(seed), model.factors
    z = factors.B.shape[1]
    features = model.features(0, users, key)[:, :z]
    with jax.enable_x64(True):
        own = np.array(child(*key, WALKS), np.uint64)
        return np.asarray(_walk(features, factors.B, factors.C, factors.D, own, days, instants))


@partial(jax.jit, static_argnames=("days", "instants"))
def _walk(
    features: Any, B: Any, C: Any, D: Any, key: Any, days: int, instants: int
) -> NDArray[np.int32]:
    users, locations, z = features.shape[0], B.shape[0], B.shape[1]
    blocks = C.reshape(locations // BLOCK, BLOCK, z)

    def block_sums(a: Any) -> Any:
        weights = jnp.maximum((a * B) @ C.T, FLOOR)
        return weights.reshape(locations, -1, BLOCK).sum(axis=-1)

    sums = lax.map(block_sums, features, batch_size=16)
    total = sums.sum(axis=-1)
    opening = jnp.cumsum(_floored((features * D[0]) @ B.T), axis=1)
    user = jnp.repeat(jnp.arange(users), days)
    own = _word(key[0], key[1], 2 * user), _word(key[0], key[1], 2 * user + 1)
    length = D.shape[0] * instants
    first = 1 + jnp.tile(jnp.arange(days), users) * (2 * length - 1)
    a = features[user]

    def drawn(n: Any) -> Any:
        return (_word(*own, n) >> 11).astype(jnp.float64) * UNIT

    def visit(t: Any, i: Any) -> Any:
        return _floored((a * D[t] * B[i]).sum(axis=1))

    x = _first_above(opening[user], drawn(first) * opening[user, -1])

    def step(x: Any, instant: Any) -> Any:
        t, n = instant // instants, first + 2 * instant - 1
        left = drawn(n) * total[user, x]
        row = jnp.cumsum(sums[user, x], axis=1)
        k = _first_above(row, left)
        left -= jnp.where(k > 0, jnp.take_along_axis(row, (k - 1)[:, None], 1)[:, 0], 0.0)
        members = jnp.maximum(((a * B[x])[:, None, :] * blocks[k]).sum(axis=-1), FLOOR)
        within = _first_above(jnp.cumsum(members, axis=1), left)
        j = k * BLOCK + within
        weight = jnp.take_along_axis(members, within[:, None], 1)[:, 0]
        back = jnp.maximum((a * B[j] * C[x]).sum(axis=1), FLOOR)
        wanted = drawn(n + 1) * visit(t, x) * weight / total[user, x]
        moves = (j != x) & (wanted * total[user, j] < visit(t, j) * back)
        x = jnp.where(moves, j, x)
        return x, x.astype(jnp.int32)

    _, later = lax.scan(step, x, jnp.arange(1, length))
    every = jnp.concatenate([x[None].astype(jnp.int32), later])
    return every.T.reshape(users, days, length)


def _word(key0: Any, key1: Any, n: Any) -> Any:
    """`tracecup.streams.word` on the device."""
    return _mixed(_mixed(n.astype(jnp.uint64) * GOLDEN + key0) ^ key1)


def _mixed(x: Any) -> Any:
    x = (x ^ (x >> 30)) * FIRST_FACTOR
    x = (x ^ (x >> 27)) * SECOND_FACTOR
    return x ^ (x >> 31)


def _floored(values: Any) -> Any:
    return jnp.where(values < 0.0, FLOOR, values)


def _first_above(cumulated: Any, value: Any) -> Any:
    """Per row the first place above the value; the last one if rounding ran over."""
    last = cumulated.shape[1] - 1
    return jnp.minimum((cumulated <= value[:, None]).sum(axis=1), last)


def fuzzy(small: bool, budget: float) -> dict[str, Any]:
    """Fuzzy-R with arg-max: every pseudonym against every user in both places, tables compared."""
    users = 300 if small else 50_000
    released, known, order = visits(users, 1024, 30, 400, 1)
    theirs, ours = (
        VisitCounts(rows.offsets, rows.columns, rows.values.astype(np.int32))
        for rows in (released, known)
    )
    city = City(Grid.from_metres(32, 32, width_m=300, height_m=300))
    scores = FuzzyR().scores_of_counts(city, ours, theirs)
    best, host = _timed(scores.best)
    on_cpu = jax.devices()[0].platform == "cpu"
    arrays = JaxArrays(product=None if on_cpu else fused_tops)
    searches: list[Found] = []

    def noted(*given: Any, **named: Any) -> Found:
        searches.append(best_matches(*given, **named))
        return searches[-1]

    products.best_matches, original = noted, products.best_matches
    try:
        _, first = _timed(lambda: scores.best_on(arrays))
        found, device = _timed(lambda: scores.best_on(arrays))
    finally:
        products.best_matches = original
    return {
        "size": f"{users} users x 1024 regions, {len(known.columns) / users:.0f} visited a user",
        "host": host,
        "device_first": first,
        "device": device,
        "device_parts": searches[-1].seconds,
        "certified": searches[-1].certified,
        "ranked_in_float64": searches[-1].ranked,
        "tables_equal": float((found == best).mean()),
        "right_users": float((best == order).mean()),
    }


def _timed(work: Any) -> tuple[Any, float]:
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def main() -> None:
    """Compile kernels in processes side by side, then measure one part after the other."""
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--out", type=Path)
    told.add_argument("--only", choices=PARTS)
    told.add_argument("--small", action="store_true", help="tiny sizes, to see whether it runs")
    told.add_argument("--budget", type=float, default=10.0, help="most seconds of training")
    asked = told.parse_args()
    parts = [asked.only] if asked.only else list(PARTS)
    began = time.perf_counter()
    if not asked.small:
        alone = {**os.environ, "JAX_PLATFORMS": "cpu"}
        command = [sys.executable, __file__, "--small", "--only"]
        warming = [
            subprocess.Popen([*command, part], env=alone, stdout=subprocess.DEVNULL)
            for part in parts
        ]
        for process in warming:
            process.wait()
        print(f"kernels compiled in {time.perf_counter() - began:.1f} s", flush=True)
    where = jax.devices()[0]
    found: dict[str, Any] = {
        "room": "synthesis and fuzzy counting on a GPU",
        "command": "python benchmarks/gpu_synth.py",
        "device": where.device_kind,
        "jax": jax.__version__,
        "threads": thread_count(),
    }
    for part in parts:
        work = {"training": training, "generation": generation, "fuzzy": fuzzy}[part]
        try:
            found[part] = work(asked.small, asked.budget)
        except Exception as error:  # the other parts are measured all the same
            found[part] = {"failed": f"{type(error).__name__}: {error}"[:400]}
        print(json.dumps({part: found[part]}, indent=1), flush=True)
        if asked.out:
            asked.out.write_text(json.dumps(found, indent=1))
    print(f"{time.perf_counter() - began:.1f} s in all")


if __name__ == "__main__":
    main()
