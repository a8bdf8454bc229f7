"""Attacks on a contest-sized case, against one float32 product and a loop over cells.

The loop is run on 20 pseudonyms and its time multiplied; everything else is measured whole.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from harness import Bench
from tracecup import City, Clock, Grid, SetTraces, Traces
from tracecup.attack import (
    BayesR,
    BayesT,
    Case,
    FuzzyR,
    FuzzyT,
    HomeProbR,
    HomeProbT,
    PriorT,
    VisitProbR,
    VisitProbT,
    assignment_table,
    soft_links,
)
from tracecup.attack.prior.mixture import fit_prior

LOOPED = 20


def inhabitants(users: int, clock: Clock, places: int) -> tuple[Traces, Traces]:
    """Two traces of the same users; each has her own places, some far more usual than others."""
    random = np.random.default_rng(places)
    popularity = random.dirichlet(np.full(1024, 0.3))
    usual = 1.0 / np.arange(1, places + 1)
    parts = [np.empty((users, clock.times), dtype=np.int32) for _ in range(2)]
    for user in range(users):
        own = random.choice(1024, places, p=popularity)
        for part in parts:
            part[user] = random.choice(own, clock.times, p=usual / usual.sum())
    return Traces.of(parts[0], clock), Traces.of(parts[1], clock)


def blocks_half_deleted(traces: Traces) -> SetTraces:
    """What MRLH(2,2,0.5) makes: a block of 4 x 4 regions, or nothing."""
    random = np.random.default_rng(1)
    corner_x, corner_y = traces.regions % 32 // 4 * 4, traces.regions // 32 // 4 * 4
    step = np.arange(4)
    x, y = corner_x[..., None, None] + step, corner_y[..., None, None] + step[:, None]
    members = (y * 32 + x).reshape(*traces.shape, 16)
    kept = random.random(traces.shape) >= 0.5
    offsets = np.concatenate([[0], np.cumsum(np.where(kept, 16, 0))])
    return SetTraces(offsets, members[kept].ravel(), traces.users, traces.clock)


def distinct_sets(users: int, clock: Clock) -> SetTraces:
    """Every cell another random list of 2 to 16 regions."""
    random = np.random.default_rng(2)
    sizes = random.integers(2, 17, size=users * clock.times)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    regions = random.integers(1024, size=int(offsets[-1]), dtype=np.int32)
    return SetTraces(offsets, regions, np.arange(1, users + 1), clock)


def loop_over_cells(case: Case, pseudonyms: int) -> list[int]:
    """The obvious program: every cell of every pseudonym under every user, in plain Python."""
    probabilities: list[dict[int, float]] = []
    for row in case.reference.regions.tolist():
        share: dict[int, float] = {}
        for region in row:
            share[region] = share.get(region, 0.0) + 1.0 / len(row)
        probabilities.append(share)
    answer = []
    for k in range(pseudonyms):
        cells = [case.released.cell(k, j).tolist() for j in range(case.released.times)]
        best, most_likely = -math.inf, 0
        for user, share in enumerate(probabilities):
            total = 0.0
            for cell in cells:
                if cell:
                    mean = sum(share.get(region, 1e-8) for region in cell) / len(cell)
                    total += math.log(mean)
            if total > best:
                best, most_likely = total, user
        answer.append(most_likely)
    return answer


def run(bench: Bench) -> None:
    grid = Grid.from_box(32, 32, south=35.65, north=35.75, west=139.68, east=139.80)
    city = City(grid, hospitals=range(5, 1024, 28))
    users, clock = 2000, Clock.regular(2 if bench.quick else 20)
    size = f"{users} users x {clock.times} events"
    reference, original = inhabitants(users, clock, 400)
    single = Case(city, reference, SetTraces.of_traces(original))
    random = np.random.default_rng(3)
    uniform: list[NDArray[np.int64]] = [
        random.integers(1024, size=(users, clock.times)) for _ in "ab"
    ]
    noise = Case(
        city, Traces.of(uniform[0], clock), SetTraces.of_traces(Traces.of(uniform[1], clock))
    )
    blocks = Case(city, reference, blocks_half_deleted(original))

    left = random.random((2000, 1024), dtype=np.float32)
    right = random.random((1024, 2000), dtype=np.float32)
    product = bench.measure(
        "one float32 product", "2000x1024 by 1024x2000", lambda: left @ right, repeat=9
    )
    stick = ("product", product)
    fast = bench.measure(
        "VisitProb-R, single regions", size, lambda: VisitProbR().identify(single),
        yardstick=stick, repeat=9,
    )  # fmt: skip
    bench.measure(
        "VisitProb-R, uniformly random traces", size, lambda: VisitProbR().identify(noise),
        yardstick=stick, repeat=9,
    )  # fmt: skip
    bench.measure(
        "VisitProb-R, MRLH(2,2,0.5)", size, lambda: VisitProbR().identify(blocks),
        yardstick=("VisitProb-R, single regions", fast), repeat=9,
    )  # fmt: skip
    bench.measure("HomeProb-R", size, lambda: HomeProbR().identify(single), yardstick=stick)
    bench.measure("Fuzzy-R(0.33,1)", size, lambda: FuzzyR().identify(single), yardstick=stick)

    started = time.perf_counter()
    slow = loop_over_cells(single, LOOPED)
    loop = (time.perf_counter() - started) * users / LOOPED
    same = VisitProbR().identify(single).users[:LOOPED].tolist() == slow
    bench.note(
        f"a loop over cells in Python: {loop:.0f} s ({LOOPED} pseudonyms measured, times "
        f"{users // LOOPED}); VisitProb-R is {loop / fast:.0f} times as fast, same users: {same}"
    )

    for name, attack in (
        ("VisitProb-T", VisitProbT()),
        ("HomeProb-T", HomeProbT()),
        ("Fuzzy-T(0.33,1,0)", FuzzyT()),
        ("Prior-T", PriorT()),
    ):
        bench.measure(name, size, lambda a=attack: a.infer(single, 1), yardstick=stick)
    scores = VisitProbR().scores(single)
    bench.measure(
        "optimal assignment", f"{users} x {users}", lambda: assignment_table(scores),
        yardstick=stick, repeat=1, warm=False,
    )  # fmt: skip
    bench.measure(
        "soft links, 60 sweeps", f"{users} x {users}", lambda: soft_links(scores, 2.0),
        yardstick=stick, repeat=1,
    )  # fmt: skip
    bench.measure(
        "slot-aware prior", size, lambda: fit_prior(city, reference), yardstick=stick, repeat=1
    )
    bench.measure("Bayes-R", size, lambda: BayesR().identify(single), yardstick=stick, repeat=1)
    bench.measure("Bayes-T", size, lambda: BayesT().infer(single), yardstick=stick, repeat=1)

    sets = Case(city, reference, distinct_sets(users, clock))
    bench.measure(
        "VisitProb-R, all sets different", f"{users * clock.times} sets of 2 to 16 regions",
        lambda: VisitProbR().identify(sets), yardstick=stick, repeat=1,
    )  # fmt: skip
