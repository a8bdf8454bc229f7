"""Attacks with chains on a contest-sized case, against one float32 product.

Moves of the made-up inhabitants are nearly all distinct, which is the costly case for Markov-R
and TF-R; runs of deleted cells are the costly case for LPM-T.
"""

from __future__ import annotations

import time

import numpy as np

from bench_attack import blocks_half_deleted, inhabitants
from harness import Bench
from tracecup import City, Clock, Grid, SetTraces
from tracecup.attack import Case, LpmR, LpmT, Markov0R, MarkovR, MmcR, TfR, TfT


def run(bench: Bench) -> None:
    grid = Grid.from_box(32, 32, south=35.65, north=35.75, west=139.68, east=139.80)
    city = City(grid, hospitals=range(5, 1024, 28))
    users, clock = (200, Clock.regular(2)) if bench.quick else (2000, Clock.regular(20))
    size = f"{users} users x {clock.times} events"
    reference, original = inhabitants(users, clock, 60)
    single = Case(city, reference, SetTraces.of_traces(original))
    blocks = Case(city, reference, blocks_half_deleted(original))
    few = 40
    small = Case(
        city, reference.take_users(slice(0, few)), single.released.take_users(slice(0, few))
    )

    random = np.random.default_rng(3)
    left = random.random((2000, 1024), dtype=np.float32)
    right = random.random((1024, 2000), dtype=np.float32)
    product = bench.measure(
        "one float32 product", "2000x1024 by 1024x2000", lambda: left @ right, repeat=9
    )
    stick = ("product", product)
    for attack in (MarkovR(), Markov0R(start="first"), MmcR(), TfR(), LpmR("weak")):
        attack.identify(small, 1)
        for name, case in (("single regions", single), ("MRLH(2,2,0.5)", blocks)):
            bench.measure(
                f"{attack}, {name}", size, lambda a=attack, c=case: a.identify(c, 1),
                yardstick=stick, repeat=1, warm=False,
            )  # fmt: skip
    LpmR().identify(small)
    bench.measure(
        "LPM-R(strong), 50 users a pseudonym", size, lambda: LpmR().identify(single),
        yardstick=stick, repeat=1, warm=False,
    )  # fmt: skip
    for tracker in (LpmT(), LpmT("viterbi"), TfT()):
        tracker.infer(small, 1)
        bench.measure(
            f"{tracker}, single regions", size, lambda t=tracker: t.infer(single, 1),
            yardstick=stick, repeat=1, warm=False,
        )  # fmt: skip
    started, used = time.perf_counter(), time.process_time()
    LpmT().infer(blocks)
    bench.note(
        f"LPM-T(bayes), MRLH(2,2,0.5): {time.perf_counter() - started:.0f} s, "
        f"{time.process_time() - used:.0f} s of processor time"
    )
