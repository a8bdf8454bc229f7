"""Seconds of one training step of a learned attack on whatever device JAX finds, with the flop/s.

`python benchmarks/learning.py --out FILE`: 1000 users of a team of 2000 x 400, as `attack train`
has them. Needs tracecup[learn].
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import time
from pathlib import Path

import jax
import numpy as np

from tracecup.attack.learned.shape import NetworkShape
from tracecup.contest.worlds import BuiltinWorld
from tracecup.learn.attack import Schedule, train_prior, train_release
from tracecup.learn.habits import Ground
from tracecup.learn.pool import Pool
from tracecup.learn.teach import PRIOR_SIZE, RELEASE_SIZE

SLOTS, DAYS, USERS = 20, 20, 2000
STEPS_OF_THE_GUIDE = 1500


def seconds_of_a_step(steps: int, precision: str) -> dict[str, float]:
    """Seconds of a step by the difference of two runs of the same program, the first compiles."""
    city = BuiltinWorld().city
    random = np.random.default_rng(1)
    regions = random.integers(0, city.n_regions, (3, 1, USERS, SLOTS * DAYS)).astype(np.int16)
    pool = Pool(*regions, np.zeros(1, np.int32), SLOTS)
    ground = Ground.of(city, SLOTS)
    sizes = (city.n_regions, SLOTS)
    quick = Schedule(steps=1, users=64, precision=precision)
    prior = train_prior(ground, pool, NetworkShape(*sizes, *PRIOR_SIZE), quick)
    schedule = Schedule(steps=steps, precision=precision)
    taken = []
    for _ in range(2):
        started = time.perf_counter()
        jax.block_until_ready(
            train_release(ground, pool, NetworkShape(*sizes, *RELEASE_SIZE), prior, schedule)
        )
        taken.append(time.perf_counter() - started)
    return {"first run": taken[0], "seconds of a step": taken[1] / steps}


def main() -> None:
    """Measure, print, write."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--steps", type=int, default=2)
    asked.add_argument("--out", type=Path)
    given = asked.parse_args()
    device = jax.devices()[0]
    precision = "float32" if device.platform == "cpu" else "bfloat16"
    found = seconds_of_a_step(given.steps, precision)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    result = {
        "commit": commit,
        "device": f"{device.device_kind}, {os.cpu_count()} cores of {platform.machine()}",
        "command": f"python benchmarks/learning.py --steps {given.steps}",
        "precision": precision,
        **found,
        f"hours of {STEPS_OF_THE_GUIDE} steps": (
            STEPS_OF_THE_GUIDE * found["seconds of a step"] / 3600
        ),
    }
    print(json.dumps(result, indent=1))
    if given.out:
        given.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
