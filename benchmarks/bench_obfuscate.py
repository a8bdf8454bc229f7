"""Each mechanism on a contest-sized set, against one matrix product of the same size."""

from __future__ import annotations

import numpy as np

from harness import Bench
from tracecup import City, Clock, Grid, Traces
from tracecup.obfuscate import KMeans, parse_obfuscator, to_utility

MECHANISMS = ("None", "MRLH(1,1,0.2)", "RR(8)", "PL(4,1)", "Cheat(0.3)", "RareShift(3)")


def commuters(users: int, clock: Clock) -> Traces:
    """Everybody between a home, a work place and five haunts, with some wandering."""
    gen = np.random.default_rng(1)
    haunts = gen.integers(2, 30, size=(users, 7, 2))
    weights = gen.dirichlet(np.full(7, 0.5), size=users).cumsum(axis=1)
    which = (gen.random((users, clock.times))[:, :, None] > weights[:, None, :-1]).sum(axis=2)
    centre = np.take_along_axis(haunts, which[:, :, None], axis=1)
    place = np.clip(np.rint(centre + gen.normal(0, 1.5, size=centre.shape)), 0, 31).astype(int)
    return Traces.of(place[..., 1] * 32 + place[..., 0], clock)


def run(bench: Bench) -> None:
    grid = Grid.from_box(32, 32, south=35.65, north=35.75, west=139.68, east=139.80)
    city = City(grid, hospitals=range(5, 1024, 28))
    original = commuters(2000, Clock.regular(2 if bench.quick else 20))
    size = f"{original.n_users} x {original.times}"
    left = np.random.default_rng(2).random((2000, 1024), dtype=np.float32)
    product = bench.measure("float32 product", "2000x1024 by 1024x2000", lambda: left @ left.T)
    stick = ("product", product)
    for name in MECHANISMS:
        method = parse_obfuscator(name)
        bench.measure(name, size, lambda m=method: m.obfuscate(city, original, 1), yardstick=stick)
    bench.measure(
        "PL(4,1) replayed",
        size,
        lambda: parse_obfuscator("PL(4,1,replay=true)").obfuscate(city, original),
        yardstick=stick,
    )
    bench.measure(
        "RR tuned to utility 0.7",
        size,
        lambda: to_utility("RR", city, original, rng=1),
        yardstick=stick,
        repeat=1,
    )
    winner = KMeans(100)
    bench.measure("KMeans(100)", size, lambda: winner.obfuscate(city, original, 1), yardstick=stick)
    bench.note(str(winner.obfuscate_with_report(city, original, 1)[1]))
