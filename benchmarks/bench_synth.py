"""Training and generation: against NumPy's matrix products, full matrices, assignments."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from harness import Bench
from tracecup import Clock, Grid, Traces
from tracecup.engine import map_blocks, thread_count, threads
from tracecup.kernels import kernel
from tracecup.records import Timetable
from tracecup.streams import ONE, TWO, child, stream_key, uniform
from tracecup.synth import (
    PPMTF,
    SGLT,
    ContestShape,
    PpmtfModel,
    PPMTFPlus,
    SgltModel,
    Tensors,
    Training,
    make_tensors,
    team_data,
)
from tracecup.synth.factors import Factors
from tracecup.synth.generate import FLOOR

Floats = NDArray[np.float64]
R = TypeVar("R")
SIDE = 2000  # of the yardstick's matrices
PF_GFLOP = 84.0  # 100 iterations of 3 visits to 1.02 million observations, z (z + 1) flops each


def run(bench: Bench) -> None:
    model = people_flow(bench)
    generation(bench, model)
    contest(bench)
    check_ins(bench)
    retelling(bench)


def walks(seed: int, users: int, steps: int, side: int) -> NDArray[np.int64]:
    """Lazy walks on a square grid: six of ten steps stay, as in the people-flow data."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(side / 2, side / 5, (users, 2))
    at = np.clip(centre, 0, side - 1).astype(np.int64)
    out = np.empty((users, steps), dtype=np.int64)
    for t in range(steps):
        out[:, t] = at[:, 1] * side + at[:, 0]
        moving = rng.random((users, 1)) < 0.4
        at = np.clip(at + moving * rng.integers(-3, 4, (users, 2)), 0, side - 1)
    return out


def people_flow(bench: Bench) -> PpmtfModel:
    """500 users, 400 places, 30 slots, z = 16, 100 iterations: the size of the public data."""
    iterations = 10 if bench.quick else 100
    a = np.random.default_rng(1).random((SIDE, SIDE))
    product = bench.measure("NumPy multiplies float64 matrices", "16 Gflop", lambda: a @ a)
    unit = product / (2 * SIDE**3) * 1e9 * PF_GFLOP * iterations / 100
    training = Training.of_traces(
        Traces.of(walks(1, 500, 30, 20), Clock.regular(1, 30, 540, 20)), 400
    )
    tensors = make_tensors(training, rng=1)
    size = f"500 x 400 x 30, z 16, {iterations} it."
    gflop = PF_GFLOP * iterations / 100
    for zeros in ("sampled", "expected"):
        method = PPMTF(zeros=zeros, iterations=iterations)
        bench.measure(
            f"PPMTF training, {zeros} zeros",
            size,
            lambda method=method: method.fit_tensors(tensors, rng=1),
            yardstick=(f"NumPy, {gflop:g} Gflop", unit),
        )
    model, trained = cpu_seconds(lambda: PPMTF(iterations=iterations).fit_tensors(tensors, rng=1))
    _, multiplied = cpu_seconds(lambda: [a @ a for _ in range(5)])
    multiplied *= gflop / (5 * 2 * SIDE**3 / 1e9)
    bench.note(
        f"the same in processor time, which other programs disturb less: {trained:.2f} s against "
        f"{multiplied:.2f} s, {trained / multiplied:.2f} x"
    )
    return model


def cpu_seconds(work: Callable[[], R]) -> tuple[R, float]:
    """What `work` returns, and the processor seconds of all threads that it took."""
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def generation(bench: Bench, model: PpmtfModel) -> None:
    """Rows on demand against one BLAS product per user."""
    against_blas(bench, model, "500 users x 10 days, N 400", 500, 1)
    city = contest_model(users=2000, iterations=3 if bench.quick else 20)
    copies = city.using(PPMTF(z=32, masks=True))
    against_blas(bench, copies, "500 users x 10 days, N 1024, masks", 500, 1)


def against_blas(bench: Bench, model: PpmtfModel, size: str, users: int, instants: int) -> None:
    days = 10
    layout = BlasLayout(model)
    full = bench.measure(
        "full proposal matrices by BLAS",
        size,
        lambda: layout.sample(users, days, instants),
    )
    bench.measure(
        "PPMTF generation, rows on demand",
        size,
        lambda: model.sample(users, days, rng=1, instants=instants),
        yardstick=("full matrices", full),
    )


def contest_model(users: int, iterations: int) -> PpmtfModel:
    """z = 32 on 32 x 32 regions, twelve hours from 6:00, records every half hour."""
    clock = Clock.regular(1, 24, 360, 30)
    training = Training.of_traces(Traces.of(walks(2, users, 24, 32), clock), 1024, 2)
    method = PPMTFPlus(z=32, masks=True, home="own", iterations=iterations)
    return method.fit(training, rng=1)


def contest(bench: Bench) -> None:
    """One team: 2000 users, 40 days, 144 instants a day."""
    model = contest_model(users=2000, iterations=3 if bench.quick else 20)
    shape = ContestShape(n_users=200 if bench.quick else 2000)
    steps = shape.n_users * 40 * 144
    for name, method in (
        ("masks and homes", model.method),
        ("without masks", PPMTFPlus(z=32, home="own")),
    ):
        chosen = model.using(method)
        seconds = bench.measure(
            f"one contest team, {name}",
            f"{shape.n_users} x 40 x 144, N 1024, z 32",
            lambda chosen=chosen: team_data(chosen, 1, 1, shape),
        )
        bench.note(f"{seconds / steps * 1e9:.0f} ns per step on {thread_count()} threads")


def check_ins(bench: Bench) -> None:
    """A tenth of the largest check-in city: 219 793 users, 1000 places, 50 + 50 counts each."""
    users, whole = 500 if bench.quick else 21_979, 219_793
    tensors = random_tensors(users)
    seconds = {}
    for zeros, iterations in (("sampled", 2), ("expected", 10)):
        few = PPMTF(zeros=zeros, iterations=iterations)
        more = PPMTF(zeros=zeros, iterations=2 * iterations)
        first = bench.seconds(lambda few=few: few.fit_tensors(tensors, rng=1), repeat=1)
        seconds[zeros] = (
            bench.measure(
                f"check-in training, {zeros} zeros",
                f"{users} x 1000, {2 * iterations} it.",
                lambda more=more: more.fit_tensors(tensors, rng=1),
                repeat=1,
                warm=False,
            )
            - first
        ) / iterations
    model = PPMTF(iterations=2, zeros="expected").fit_tensors(tensors, rng=1)
    part = max(1, users // 10)
    days = bench.measure(
        "check-in generation, 20 days of 24 instants",
        f"{part} users, N 1000",
        lambda: model.sample(part, 20, rng=1, instants=2),
        repeat=1,
    )
    for zeros, each in seconds.items():
        total = 100 * each * whole / users + days * whole / part
        bench.note(f"whole city, 100 iterations and 20 days, {zeros} zeros: {total / 60:.1f} min")


def retelling(bench: Bench) -> None:
    """SGLT at the size of the public data and of a contest."""
    users, days, pairs, traces = 500, 10, 10, 4
    training = retold(1, users, 30, 20)
    rng = np.random.default_rng(1)
    shares = rng.random((pairs, 2, 400)) ** 4
    gains = [np.log2(np.minimum(first[:, None], second)) for first, second in shares]
    one = bench.seconds(lambda: [linear_sum_assignment(gain, maximize=True) for gain in gains])
    bench.measure(
        "SGLT training, profiles matched by rank",
        "500 x 400 x 30, c 100",
        lambda: SGLT().fit(training, rng=1),
        yardstick=(f"SciPy, {pairs} of {users**2} pairs", one),
    )
    model = SGLT().fit(training, rng=1)
    seeds = training.location.reshape(users, 30)[:traces]
    full = bench.seconds(lambda: [full_viterbi(model, seed, rng) for seed in seeds], repeat=1)
    bench.measure(
        "SGLT generation, allowed places only",
        f"500 users x {days} days, N 400",
        lambda: model.sample(users, days, rng=1),
        yardstick=(f"all places, {traces} of {users * days} days", full),
    )
    many = 2000 if bench.quick else 10_181
    large = retold(2, many, 144, 32, 12)
    bench.measure(
        "SGLT training, classes from 2000 of them",
        f"{many} x 1024 x 144",
        lambda: SGLT().fit(large, rng=1),
        repeat=1,
    )
    told = SGLT().fit(large, rng=1)
    bench.measure(
        "SGLT generation",
        "2000 users x 1 day x 144, N 1024",
        lambda: told.sample(2000, 1, rng=1, instants=12),
        repeat=1,
    )


def retold(seed: int, users: int, steps: int, side: int, per_slot: int = 1) -> Training:
    """Walks as training data on a grid of 11 km."""
    traces = Traces.of(walks(seed, users, steps, side), Clock.regular(1, steps, 360, 5))
    metres = 11_000 / side
    grid = Grid.from_metres(side, side, width_m=metres, height_m=metres)
    return Training.of_traces(traces, side * side, per_slot).placed(grid)


def full_viterbi(model: SgltModel, seed: NDArray[np.int32], rng: np.random.Generator) -> None:
    """The plain way: every pair of places in every slot, and as many random numbers."""
    log, same = np.log(model.M), model.classes.label
    value, back = np.log(model.pi), []
    for x in seed:
        ways = value[:, None] + log + np.log(rng.uniform(1.0, 4.0, log.shape))
        back.append(ways.argmax(axis=0))
        value = np.where(same == same[x], ways.max(axis=0), -np.inf)


def random_tensors(users: int, locations: int = 1000, slots: int = 12, each: int = 50) -> Tensors:
    """Counts of 1 to 3 at random positions, `each` of them in either tensor of every user."""
    rng = np.random.default_rng(3)
    position = np.concatenate(
        [
            np.sort(rng.integers(0, locations * width, (users, 3 * each)), axis=1)[:, ::3]
            + np.arange(each)
            for width in (locations, slots)
        ],
        axis=1,
    )
    width = np.repeat([locations, slots], each)
    position = np.minimum(position, locations * width - 1)
    return Tensors(
        np.arange(users + 1, dtype=np.int64) * 2 * each,
        np.full(users, each, dtype=np.int32),
        (position // width).astype(np.uint16).ravel(),
        (position % width + np.repeat([0, locations], each)).astype(np.uint16).ravel(),
        rng.integers(1, 4, position.size).astype(np.uint8),
        locations,
        Timetable(0, 120, slots, slots),
    )


class BlasLayout:
    """The straightforward generator: W = (B diag a) C^T for every user, then the same steps.

    As fast as this way allows: the products of four users at a time on all cores into a buffer
    that is used again, then their walks on all cores, rows floored and summed at first use.
    """

    def __init__(self, model: PpmtfModel) -> None:
        self.factors: Factors = model.factors
        support = self.factors.support
        n = len(self.factors.B)
        self.unseen = np.zeros((n, n), dtype=np.bool_)
        self.unvisited = np.zeros((len(self.factors.D), n), dtype=np.bool_)
        if model.method.masks:
            self.unseen[:] = True
            row = np.repeat(np.arange(n), np.diff(support.starts))
            self.unseen[row, support.targets] = False
            self.unvisited = ~support.visited

    def sample(self, users: int, days: int, instants: int) -> NDArray[np.int32]:
        factors, batch, key = self.factors, 4, stream_key(1)
        n = len(factors.B)
        out = np.empty((users, days, len(factors.D) * instants), dtype=np.int32)
        weights = np.empty((batch, n, n))
        visits = np.empty((batch, len(factors.D), n))
        with threads() as pool:
            for first in range(0, users, batch):
                a = factors.A[first : first + batch, None, :]
                count = len(a)
                origins = (factors.B * a).reshape(count * n, -1)
                np.matmul(origins, factors.C.T, out=weights[:count].reshape(count * n, n))
                np.matmul(factors.D * a, factors.B.T, out=visits[:count])

                def work(low: int, high: int, first: int = first) -> None:
                    for k in range(low, high):
                        walk_full(
                            weights[k],
                            self.unseen,
                            visits[k],
                            self.unvisited,
                            instants,
                            *key,
                            first + k,
                            out[first + k],
                        )

                map_blocks(work, count, executor=pool)
        return out


@kernel
def walk_full(W, unseen, V, unvisited, instants, key0, key1, u, out):  # type: ignore[no-untyped-def]  # baseline only
    """Propose by binary search on cumulated rows, accept or stay."""
    n, slots = W.shape[0], V.shape[0]
    rows, total = np.empty_like(W), np.full(n, -1.0)
    for t in range(slots):
        for i in range(n):
            V[t, i] = FLOOR if unvisited[t, i] or V[t, i] < 0.0 else V[t, i]
    opening = np.cumsum(V[0])
    user0, user1 = child(key0, key1, np.uint64(u))
    count = np.uint64(0)
    for day in range(out.shape[0]):
        x = min(np.searchsorted(opening, uniform(user0, user1, count) * opening[-1]), n - 1)
        count += ONE
        out[day, 0] = x
        for instant in range(1, slots * instants):
            t = instant // instants
            if total[x] < 0.0:
                total[x] = cumulate(W[x], unseen[x], rows[x])
            left = uniform(user0, user1, count) * total[x]
            j = min(np.searchsorted(rows[x], left, side="right"), n - 1)
            chance = uniform(user0, user1, count + ONE)
            count += TWO
            if j != x:
                if total[j] < 0.0:
                    total[j] = cumulate(W[j], unseen[j], rows[j])
                forth, back = W[x, j] / total[x], W[j, x] / total[j]
                if chance * V[t, x] * forth < V[t, j] * back:
                    x = j
            out[day, instant] = x


@kernel
def cumulate(weights, unseen, out):  # type: ignore[no-untyped-def]  # baseline only
    """Floor one row in place and cumulate it; returns its sum."""
    for j in range(len(weights)):
        weights[j] = FLOOR if unseen[j] else max(weights[j], FLOOR)
    running = 0.0
    for j in range(len(weights)):
        running += weights[j]
        out[j] = running
    return running
