"""Strong attacks and the trained defence on a team of the built-in city, against one product."""

from __future__ import annotations

import numpy as np

from harness import Bench
from tracecup.attack import BayesR, BayesT, Case
from tracecup.attack.learned import LearnedR, LearnedT
from tracecup.obfuscate import Equalise, KMeans
from tracecup.study.context import Context


def run(bench: Bench) -> None:
    users = 200 if bench.quick else 2000
    team = Context(None).long_team(101, users)
    slots, events = team.reference.clock.slots, team.original.times
    size = f"{users} x {events}"
    left = np.random.default_rng(1).random((users, slots * 1024), dtype=np.float32)
    product = bench.measure(
        "float32 product", f"{users} x {slots * 1024} x {users}", lambda: left @ left.T
    )
    stick = ("product", product)
    released = KMeans(min(100, users // 2)).obfuscate(team.city, team.original, 1)
    days = team.reference.clock.days

    def fresh() -> Case:
        """The case with references of its own: what attacks keep of a case does not count."""
        return Case(team.city, team.reference.take_days(0, days), released)

    for name, answer in (
        ("Learned-R, shipped", lambda: LearnedR().identify(fresh())),
        ("Learned-T, shipped", lambda: LearnedT().infer(fresh())),
        ("Bayes-R", lambda: BayesR().identify(fresh())),
        ("Bayes-T", lambda: BayesT().infer(fresh())),
    ):
        bench.measure(name, size, answer, yardstick=stick, repeat=1)
    for name, method in (
        ("Equalise(25), plain habit models", Equalise(25)),
        ("Equalise(25), shipped", Equalise(25, model="shipped")),
    ):
        bench.measure(
            name,
            size,
            lambda m=method: m.obfuscate(team.city, team.original, 1, reference=team.reference),
            yardstick=stick,
            repeat=1,
            warm=False,
        )
