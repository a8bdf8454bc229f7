"""The largest check-in city at full size, once: 219 793 users, 1000 places, 100 iterations.

`python benchmarks/check_in_city.py [--zeros expected|sampled] [--users N]` prints a log.
"""

from __future__ import annotations

import argparse
import resource
import time

from bench_synth import random_tensors
from tracecup.engine import thread_count
from tracecup.synth import PPMTF

BLOCK = 20_000  # users whose traces are made, counted and dropped at a time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zeros", choices=["expected", "sampled"], default="expected")
    parser.add_argument("--users", type=int, default=219_793)
    given = parser.parse_args()
    begun = time.perf_counter()

    def log(text: str) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        wall, processor = time.perf_counter() - begun, time.process_time()
        print(f"{wall:7.1f} s {processor:7.1f} CPU s {peak:5.2f} GB  {text}", flush=True)

    method = PPMTF(zeros=given.zeros)
    log(f"{method} on {thread_count()} threads")
    tensors = random_tensors(given.users)
    log(f"{tensors.n_users} users, {tensors.n_locations} places, {len(tensors.value)} counts")

    def progress(done: int, total: int, left: float) -> None:
        if done % 10 == 0:
            log(f"iteration {done} of {total}, {left:.0f} s left")

    model = method.fit_tensors(tensors, rng=1, progress=progress)
    records = 0
    for first in range(0, given.users, BLOCK):
        count = min(BLOCK, given.users - first)
        traces = model.sample(count, 20, rng=1, instants=2, first_user=first)
        records += traces.regions.size
    log(f"{records} synthetic records: {given.users} users, 20 days, 24 instants")


if __name__ == "__main__":
    main()
