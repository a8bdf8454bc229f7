"""Known-points risk of 1,193 users, against a sketch in NumPy of the simplest measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_usefulness import walks
from harness import Bench
from tracecup import Clock, Traces
from tracecup.risk import KINDS, home_work_risk, known_points_risk, unicity

USERS, DAYS, SLOTS, SIDE = 1_193, 20, 20, 32


def numpy_sketch(regions: NDArray[np.int32], n_regions: int) -> NDArray[np.float64]:
    """Unique-location risk with two known places: common visitors of all pairs by a product."""
    visited = np.zeros((len(regions), n_regions), dtype=np.float32)
    visited[np.arange(len(regions))[:, None], regions] = 1
    risk = np.empty(len(regions))
    for u, row in enumerate(visited):
        mine = visited[:, row > 0]
        people = mine.T @ mine
        if len(people) > 1:
            people = people[~np.eye(len(people), dtype=np.bool_)]
        risk[u] = 1 / people.min()
    return risk


def run(bench: Bench) -> None:
    users = 120 if bench.quick else USERS
    regions = walks(np.random.default_rng(1), users, DAYS * SLOTS, SIDE).astype(np.int32)
    traces = Traces.of(regions, Clock.regular(DAYS, SLOTS, 0, 60))
    size = f"{users} users x {DAYS * SLOTS}"
    places = np.mean([len(np.unique(row)) for row in regions])
    bench.note(f"{places:.0f} different places of a user in the mean")
    expected = numpy_sketch(regions, SIDE * SIDE)
    found = known_points_risk("unique location", traces, points=2)
    assert np.allclose(found.low, expected)
    sketch = bench.measure("numpy sketch, 2 places", size, lambda: numpy_sketch(regions, SIDE**2))
    yardstick = ("numpy sketch", sketch)
    for points in (1, 2, 3, 4):
        bench.measure(
            f"unique location, {points} known",
            size,
            lambda k=points: known_points_risk("unique location", traces, points=k),
            yardstick=yardstick,
        )
    for kind in KINDS[1:]:
        bench.measure(
            f"{kind}, 2 known",
            size,
            lambda k=kind: known_points_risk(k, traces, points=2),
            yardstick=yardstick,
        )
    bench.measure(
        "unicity, 4 known", size, lambda: unicity(traces, points=4, rng=1), yardstick=yardstick
    )
    bench.measure("home and work", size, lambda: home_work_risk(traces), yardstick=yardstick)
