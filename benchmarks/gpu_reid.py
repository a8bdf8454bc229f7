"""Exact re-identification on a GPU: every pseudonym against every user, checked against float64.

`python benchmarks/gpu_reid.py --users 1500000 --out gpu.json` tries block sizes and kernels, runs
the fastest whole, and compares a sample with float64. Needs numpy and JAX alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

# the device rooms need no numba, which a GPU machine may lack: without the package's front door
_package = ModuleType("tracecup")
_package.__path__ = [str(Path(__file__).resolve().parent.parent / "src" / "tracecup")]
sys.modules.setdefault("tracecup", _package)

import jax  # noqa: E402 - after the stand-in
import jax.numpy as jnp  # noqa: E402 - after the stand-in

from tracecup.device import JaxArrays, SparseRows, best_matches  # noqa: E402 - after the stand-in
from tracecup.device.fused import Tile, fused_tops  # noqa: E402 - after the stand-in

FLOOR = 1e-8
TIE = 1e-9
PLAIN = [(4096, 4096), (8192, 4096), (16384, 8192), (32768, 2048)]
FUSED = [
    Tile(128, 256, 128, 8, 3),
    Tile(128, 256, 128, 8, 4),
    Tile(128, 128, 128, 4, 4),
    Tile(256, 128, 128, 8, 3),
    Tile(128, 256, 64, 8, 4),
    Tile(128, 256, 256, 8, 2),
]


def visits(
    users: int, width: int, places: int, events: int, seed: int
) -> tuple[SparseRows, SparseRows, NDArray[np.int64]]:
    """Counts of shuffled pseudonyms, counts of the users, and who is who.

    Everybody has `places` places of her own, popular ones more often, visited by Zipf's law; the
    release has the same places, drawn anew, and a tenth as many visits where others go.
    """
    random = np.random.default_rng(seed)
    popular = np.cumsum(random.dirichlet(np.full(width, 0.3)))
    own = np.searchsorted(popular, random.random((users, places))).clip(0, width - 1)
    usual = 1.0 / np.arange(1, places + 1)
    usual *= events / usual.sum()
    known = _merged(own, random.poisson(usual, own.shape), width)
    stray = np.searchsorted(popular, random.random((users, 8))).clip(0, width - 1)
    often = [random.poisson(usual, own.shape), random.poisson(events / 80, stray.shape)]
    released = _merged(np.concatenate([own, stray], axis=1), np.concatenate(often, axis=1), width)
    order = random.permutation(users)
    return released.take(order), known, order


def synthetic(users: int, width: int, places: int, events: int, seed: int) -> tuple[Any, Any, Any]:
    """Weights of shuffled pseudonyms, the table of log-likelihoods, and who is who."""
    released, known, order = visits(users, width, places, events, seed)
    totals = np.add.reduceat(known.values, known.offsets[:-1])
    shares = known.values / np.repeat(totals, known.lengths)
    table = SparseRows(known.offsets, known.columns, np.log(shares / FLOOR), width)
    return released, table, order


def _merged(columns: NDArray[Any], counts: NDArray[Any], width: int) -> SparseRows:
    """One entry per row and column with the counts added; a row without any gets one visit."""
    counts[:, 0] = np.maximum(counts[:, 0], 1)
    n = len(columns)
    order = np.argsort(columns, axis=1)
    keys = np.take_along_axis(columns, order, axis=1) + np.arange(n)[:, None] * width
    keys, amounts = keys.ravel(), np.take_along_axis(counts, order, axis=1).ravel()
    keys, amounts = keys[amounts > 0], amounts[amounts > 0]
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    merged, rows = np.add.reduceat(amounts, begins), keys[begins] // width
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return SparseRows(
        offsets, (keys[begins] % width).astype(np.int32), merged.astype(np.float64), width
    )


def variants(interpret: bool) -> list[tuple[str, str, JaxArrays]]:
    """Name, type and arrays of everything that is tried; types and kernels take turns."""
    groups: list[list[tuple[str, str, JaxArrays]]] = []
    for dtype in ("int8", "float16"):
        groups += [[], []]
        for tile in FUSED:
            product = partial(fused_tops, tile=tile, interpret=interpret)
            name = (
                f"{dtype} fused {tile.rows}x{tile.users}x{tile.depth}B {tile.warps}w {tile.stages}s"
            )
            groups[-2].append((name, dtype, JaxArrays(16384, 4096, product)))
        for block, chunk in PLAIN:
            groups[-1].append((f"{dtype} plain {block}x{chunk}", dtype, JaxArrays(block, chunk)))
    turns = zip_longest(*groups)
    return [one for turn in turns for one in turn if one is not None]


def tune(
    weights: SparseRows, table: SparseRows, chosen: list[tuple[str, str, JaxArrays]], budget: float
) -> dict[str, dict[str, Any]]:
    """Seconds of each variant on a part, right ones only; `budget` seconds for all."""
    n, users = min(len(weights), 65536), min(len(table), 262144)
    part, known = weights.take(np.arange(n)), table.take(np.arange(users))
    light = part.values <= 127
    part = SparseRows(part.offsets, part.columns, np.where(light, part.values, 127.0), part.width)
    placed, wanted, results = {}, {}, {}
    for dtype in ("int8", "float16"):
        scale = 127 / known.values.max() if dtype == "int8" else 1.0
        plain = JaxArrays(16384, 8192)
        placed[dtype] = (
            plain.place(part, dtype, 1.0, 32768),
            plain.place(known, dtype, scale, 16384),
        )
        wanted[dtype] = plain.chunk_tops(*placed[dtype], n, 1)[0][:, 0]
    began = time.perf_counter()
    flops = 2.0 * n * len(placed["int8"][1]) * weights.width
    for name, dtype, arrays in chosen:
        if time.perf_counter() - began > budget:
            print(f"  {name:44s} not tried: time is up")
            continue
        try:
            left, right = placed[dtype]
            found = arrays.chunk_tops(left, right, n, 8)[0][:, 0]
            seconds = []
            for _ in range(3):
                started = time.perf_counter()
                arrays.chunk_tops(left, right, n, 8)
                seconds.append(time.perf_counter() - started)
            off = float(np.abs(found / np.maximum(wanted[dtype], 1) - 1).max())
            right_one = off <= (0.0 if dtype == "int8" else 1e-5)
            took = sorted(seconds)[1]
            results[name] = {"seconds": took, "tflops": flops / took / 1e12, "off": off}
            print(f"  {name:44s} {took:8.4f} s {flops / took / 1e12:8.1f} T/s, off {off:.1e}")
            if not right_one:
                del results[name]
                print(f"  {name:44s} is WRONG and left out")
        except Exception as error:  # a kernel that this device or version refuses is a result too
            told = str(error).strip().splitlines() or [type(error).__name__]
            print(f"  {name:44s} failed: {type(error).__name__}: {told[0][:150]}")
            if "--trace" in sys.argv:
                traceback.print_exc()
        sys.stdout.flush()
    return results


def exact_sample(weights: SparseRows, table: SparseRows, rows: NDArray[np.int64]) -> NDArray[Any]:
    """The answers of some rows by float64 alone, on the device; ties to the smallest."""
    jax.config.update("jax_enable_x64", True)
    plain, step = JaxArrays(), 32768
    left = plain.place(weights.take(rows), "float64", 1.0, 1)

    @jax.jit
    def highest(left: Any, right: Any) -> Any:
        return jnp.matmul(left, right.T, precision="highest").max(axis=1)

    @jax.jit
    def first_good(left: Any, right: Any, top: Any) -> Any:
        good = jnp.matmul(left, right.T, precision="highest") >= top[:, None] - TIE
        return jnp.where(good.any(axis=1), good.argmax(axis=1), -1)

    blocks = [
        table.take(np.arange(low, min(low + step, len(table))))
        for low in range(0, len(table), step)
    ]
    top = jnp.full(len(rows), -jnp.inf)
    for block in blocks:
        top = jnp.maximum(top, highest(left, plain.place(block, "float64", 1.0, step)))
    best = np.full(len(rows), -1)
    for number, block in enumerate(blocks):
        found = np.asarray(first_good(left, plain.place(block, "float64", 1.0, step), top))
        here = (best < 0) & (found >= 0)
        best[here] = found[here] + number * step
    jax.config.update("jax_enable_x64", False)
    return best


def report(name: str, found: Any, users: int, width: int) -> dict[str, Any]:
    """Print the parts of a whole run; device seconds are those of both looks."""
    device = found.seconds.get("first look", 0.0) + found.seconds.get("second look", 0.0)
    flops = 2.0 * users * users * width
    for part, seconds in found.seconds.items():
        print(f"  {part:44s} {seconds:8.3f} s")
    print(
        f"  {name}: {device:.2f} s on the device ({flops / device / 1e12:.0f} T/s, both looks), "
        f"certified {found.certified:.6f}, {found.pairs / users:.3f} chunks opened per row, "
        f"{found.ranked} rows ranked in float64, {found.asked_again} computed whole"
    )
    sys.stdout.flush()
    return {
        "device_seconds": device,
        "tflops": flops / device / 1e12,
        "certified": found.certified,
        "pairs": found.pairs,
        "ranked": found.ranked,
        "asked_again": found.asked_again,
        "parts": found.seconds,
    }


def main() -> None:
    """Generate, tune, run whole, compare with float64, print and write."""
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--users", type=int, default=1_500_000)
    told.add_argument("--width", type=int, default=1024)
    told.add_argument("--places", type=int, default=30)
    told.add_argument("--events", type=int, default=400)
    told.add_argument("--sample", type=int, default=10_000)
    told.add_argument("--seed", type=int, default=1)
    told.add_argument("--budget", type=float, default=150.0, help="seconds for trying variants")
    told.add_argument("--deadline", type=float, default=500.0, help="no run begins after these")
    told.add_argument("--only", default="", help="try variants whose name has this only")
    told.add_argument("--out", type=Path)
    told.add_argument("--trace", action="store_true", help="print why a variant failed")
    asked = told.parse_args()
    kind = jax.devices()[0]
    print(f"jax {jax.__version__} on {kind.device_kind} ({kind.platform})")
    started = time.perf_counter()
    weights, table, order = synthetic(
        asked.users, asked.width, asked.places, asked.events, asked.seed
    )
    print(
        f"{asked.users} users x {asked.width} regions, {len(weights.columns) / asked.users:.1f} "
        f"and {len(table.columns) / asked.users:.1f} entries a row, "
        f"made in {time.perf_counter() - started:.1f} s"
    )
    chosen = [v for v in variants(kind.platform == "cpu") if asked.only in v[0]]
    results = tune(weights, table, chosen, asked.budget)
    told_all: dict[str, Any] = {
        "device": kind.device_kind, "jax": jax.__version__, "users": asked.users,
        "width": asked.width, "variants": results, "runs": {},
    }  # fmt: skip
    rows = np.random.default_rng(2).choice(
        asked.users, min(asked.sample, asked.users), replace=False
    )
    wanted = None
    for dtype in ("int8", "float16"):
        mine = {name: r["seconds"] for name, r in results.items() if name.startswith(dtype)}
        if not mine:
            continue
        name = min(mine, key=lambda n: mine[n])
        arrays = next(v[2] for v in chosen if v[0] == name)
        for turn in ("first, with compiling", "second"):
            if name in told_all["runs"] and time.perf_counter() - started > asked.deadline:
                break
            print(f"whole run with {name} ({turn})")
            found = best_matches(arrays, weights, table, TIE, int8=dtype == "int8")
            told_all["runs"][name] = report(name, found, asked.users, asked.width)
        if wanted is None:
            began = time.perf_counter()
            wanted = exact_sample(weights, table, rows)
            print(f"float64 for {len(rows)} rows took {time.perf_counter() - began:.1f} s")
        equal = float((found.best[rows] == wanted).mean())
        hits = float((found.best == order).mean())
        print(f"  equal to float64 on {len(rows)} rows: {equal:.6f}; right users: {hits:.4f}")
        told_all["runs"][name] |= {"equal": equal, "hits": hits, "sample": len(rows)}
        if asked.out:
            asked.out.write_text(json.dumps(told_all, indent=1))


if __name__ == "__main__":
    main()
