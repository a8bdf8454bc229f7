"""The descent of likelihood equalising: cell by cell, all scores of a group towards their targets.

One user's cells depend on no other user's, so groups are worked on in parallel, with the same
result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.rng import child_seed, generator
from tracecup.score import REACH_KM
from tracecup.traces import Traces

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]

KEPT_BYTES = 1 << 28
"""Products of a group's scores are kept for all its sweeps where they fit; else made anew."""
TILE = 32
"""Columns whose products are made together, so that they stay in the cache."""
SHIFT_FROM = 4
RESPONSE = 0.04
"""Utility falls by about this much where the weight of the scores grows e-fold."""
LARGEST_STEP = 1.5
FORBIDDEN = np.float32(50.0)
"""Price of a hospital that is released within reach; every other price is at most 1."""
SOUNDING, TRIES, CLOSE = 8, 5, 0.004
"""The weight is sought on so many groups, in so many tries, until utility is so close."""
MENDING = 10
"""Sweeps over all groups at most, until utility has fallen below the floor."""
PUSH = 1.2
"""Few users may hold utility where it is for any weight between two; then it is pushed down."""
PUSHES = 10
"""Sweeps more where utility is left above the floor even then, each pushed harder than the last."""
BELOW = 0.002
"""The descent ends this little below the floor; giving back the dearest cells does the rest."""


@dataclass(frozen=True, eq=False)
class Stakes:
    """Scores of one group: `scores` (T, K, N), K = models x members."""

    members: NDArray[np.int64]
    scores: Floats


Scores = Callable[[NDArray[np.int64]], Floats]
"""What attackers would sum up, such as log p(y | u, t): of some users (models, users, T, N)."""


def stakes_of(
    groups: list[NDArray[np.int64]], habit: Floats, models: int, scores: Scores
) -> list[Stakes]:
    """The scores of every group under so many models.

    Every model's scores are centred over the members and under the group's mean habit
    (`habit` are probabilities, (U, T, N)), and scaled to variance 1 under it.
    """
    slots, regions = habit.shape[1:]
    made = [
        Stakes(group, np.empty((slots, models * len(group), regions), dtype=np.float32))
        for group in groups
    ]

    def fill(low: int, high: int) -> None:
        for stakes in made[low:high]:
            shares, m = habit[stakes.members].mean(axis=0), len(stakes.members)
            for k, raw in enumerate(scores(stakes.members)):
                part = raw - raw.mean(axis=0)
                part -= (part * shares).sum(axis=2, keepdims=True)
                spread = (part * part * shares).sum(axis=2).mean()
                part /= np.sqrt(spread + 1e-12)
                stakes.scores[:, k * m : (k + 1) * m] = part.transpose(1, 0, 2)

    map_blocks(fill, len(made), blocks=len(made))
    return made


def descend(
    city: City,
    original: Traces,
    stakes: list[Stakes],
    random: np.random.Generator,
    *,
    floor: float,
    noise: float,
    sweeps: int,
    weight: float,
    hospitals: bool,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> NDArray[np.int32]:
    """Released regions (U, events) with utility at the floor, less than a cell above it.

    Minimises sum_j price(x_j, y_j) + weight |sum_j L[t_j, y_j] - target|^2 for every user, price
    min(1, d / 2 km); every region is a possible answer. Targets are noise; from the fifth sweep on
    every second one shifts them by what is left (the multiplier step), because a small constant
    rest is what an assignment finds. The weight is sought on some groups and mended in last sweeps
    over all; what is missing is given back cell by cell. Where the floor leaves less than all
    hospitals cost, nothing else changes, and those hospitals are given back that help the least.
    Utility stays above the floor only where not even a large weight makes a cell move.
    O(sweeps cells N + groups T N^2 K): the second term is one product of matrices for every group
    and slot.
    """
    play = _Play.start(city, original, stakes, random, noise, hospitals, sweeps)
    goal = floor - BELOW
    some = list(range(0, len(stakes), max(1, len(stakes) // SOUNDING)))[:SOUNDING]
    steps = TRIES + sweeps + MENDING
    search = _WeightSearch()
    for done in range(TRIES):
        trial = play.copy(some)
        trial.sweep(range(sweeps), weight)
        error = trial.utility() - goal
        progress(done + 1, steps)
        if abs(error) < CLOSE:
            break
        weight = search.next_weight(weight, error)
    if len(some) == len(stakes):
        play = trial
    else:
        play.sweep(
            range(sweeps), weight, lambda part: progress(TRIES + round(part * sweeps), steps)
        )
    search, near = _WeightSearch(), CLOSE
    for s in range(sweeps, sweeps + MENDING):
        error = play.utility() - goal
        if -near < error <= floor - goal:
            break
        seeking = s < sweeps + MENDING // 2
        weight = search.next_weight(weight, error) if seeking else PUSH * weight
        near *= 2
        play.sweep([s], weight)
        progress(TRIES + s + 1, steps)
    push = PUSH
    for s in range(sweeps + MENDING, sweeps + MENDING + PUSHES):
        if play.utility() <= floor + 1 / play.original.size:
            break
        push *= PUSH
        weight *= push
        play.sweep([s], weight)
    play.give_back(floor)
    return play.answers


class _WeightSearch:
    """Seeks the weight at which utility meets its goal, by the Illinois rule on log weights."""

    def __init__(self) -> None:
        self.sides: dict[bool, tuple[float, float]] = {}
        self.last: bool | None = None

    def next_weight(self, weight: float, error: float) -> float:
        """The weight to try next, where `weight` left utility `error` above its goal."""
        above, at = error > 0, float(np.log(weight))
        if above == self.last and (not above) in self.sides:
            other, across = self.sides[not above]
            self.sides[not above] = other, across / 2  # else that end would stay for ever
        self.sides[above], self.last = (at, error), above
        if len(self.sides) == 1:
            return weight * float(np.exp(np.clip(error / RESPONSE, -LARGEST_STEP, LARGEST_STEP)))
        (low, lack), (high, rest) = self.sides.values()
        return float(np.exp(low + (high - low) * lack / (lack - rest)))


def utility_of(city: City, original: Ints, answers: Ints) -> float:
    """s_U of single regions."""
    loss = np.minimum(1.0, city.grid.distance(original, answers) / REACH_KM)
    return float(1 - loss.mean())


@dataclass(eq=False)
class _Play:
    """The state of a descent: answers, sums of scores and targets of every group.

    `groups` are the groups it is played for; the random numbers of a group do not depend on the
    others, so a trial on some groups meets the same ones. Targets shift before sweep `shifts_end`.
    """

    city: City
    original: Ints
    slots: int
    stakes: list[Stakes]
    hospital: NDArray[np.bool_]
    seed: int
    goal: list[Floats]
    answers: Ints
    total: list[Floats]
    target: list[Floats]
    groups: list[int]
    shifts_end: int

    @classmethod
    def start(
        cls,
        city: City,
        original: Traces,
        stakes: list[Stakes],
        random: np.random.Generator,
        noise: float,
        hospitals: bool,
        sweeps: int,
    ) -> _Play:
        """Everything as it is: the original regions, noise as targets."""
        seed = int(random.integers(0, 2**62))
        goal = [
            (noise * generator(child_seed(seed, "target", g)).standard_normal(
                (len(s.members), s.scores.shape[1]))).astype(np.float32)
            for g, s in enumerate(stakes)
        ]  # fmt: skip
        total = [np.zeros_like(t) for t in goal]
        regions = original.regions

        def add(low: int, high: int) -> None:
            for g in range(low, high):
                _sum_scores(stakes[g].scores, regions[stakes[g].members], total[g])

        map_blocks(add, len(stakes))
        return cls(
            city, regions, original.clock.slots, stakes, city.is_hospital & hospitals, seed, goal,
            regions.copy(), total, [t.copy() for t in goal], list(range(len(stakes))),
            sweeps,
        )  # fmt: skip

    def copy(self, groups: list[int]) -> _Play:
        """The same state for some groups, to be played without changing this one."""
        return replace(
            self,
            answers=self.answers.copy(),
            total=[t.copy() for t in self.total],
            target=[t.copy() for t in self.target],
            groups=groups,
        )

    def sweep(
        self,
        rounds: Sequence[int],
        weight: float,
        progress: Callable[[float], None] = lambda _: None,
    ) -> None:
        """Pass over all cells, once for each of `rounds`."""
        price = _prices(self.city, self.hospital)
        done = 0

        def work(low: int, high: int) -> None:
            nonlocal done
            for g in self.groups[low:high]:
                self._sweep_group(g, rounds, np.float32(weight), price)
                done += 1
                progress(done / len(self.groups))

        map_blocks(work, len(self.groups), blocks=len(self.groups))

    def _sweep_group(
        self, g: int, rounds: Sequence[int], weight: np.float32, price: Floats
    ) -> None:
        scores, members = self.stakes[g].scores, self.stakes[g].members
        total, target = self.total[g], self.target[g]
        original, answers = self.original[members], self.answers[members]
        slots, _, regions = scores.shape
        kept: dict[int, Floats] = {}
        keep = len(rounds) > 1 and slots * regions * regions * 4 <= KEPT_BYTES
        for s in rounds:
            if s >= SHIFT_FROM and s % 2 == 0 and s < self.shifts_end:
                target += self.goal[g] - total
            random = generator(child_seed(self.seed, "sweep", g, s))
            order = random.permutation(answers.shape[1]).astype(np.int32)
            for t in random.permutation(slots):
                table = scores[t]
                products = kept[t] if t in kept else _inner_products(table)
                if keep:
                    kept[t] = products
                pull = np.zeros((len(members), regions), dtype=np.float32)
                _add_product(2 * (total - target), table, pull)
                _sweep_slot(
                    table, products, np.diagonal(products).copy(), pull, price, original, answers,
                    total, order[order % slots == t], weight,
                )  # fmt: skip
        self.answers[members] = answers

    def utility(self) -> float:
        """s_U of the groups that are played."""
        users = np.concatenate([self.stakes[g].members for g in self.groups])
        return utility_of(self.city, self.original[users], self.answers[users])

    def give_back(self, floor: float) -> None:
        """Restore original regions where that costs the least until utility is at the floor.

        Hospitals stay moved unless everything else together is not enough.
        """
        sensitive = self.hospital[self.original]
        if not self._give_back(floor, ~sensitive):
            self._add_up()
            self._give_back(floor, sensitive)

    def _add_up(self) -> None:
        """The sums of scores of the answers as they are now."""
        for g, group in enumerate(self.stakes):
            self.total[g][:] = 0.0
            _sum_scores(group.scores, self.answers[group.members], self.total[g])

    def _give_back(self, floor: float, allowed: NDArray[np.bool_]) -> bool:
        """The same among some cells; whether they were enough."""
        original, answers = self.original, self.answers
        missing = (floor - self.utility()) * original.size
        if missing <= 0:
            return True
        harm = np.empty(original.shape, dtype=np.float32)

        def look(low: int, high: int) -> None:
            for g in range(low, high):
                group = self.stakes[g]
                block = np.empty((len(group.members), original.shape[1]), dtype=np.float32)
                _harm(
                    group.scores, original[group.members], answers[group.members], self.total[g],
                    self.target[g], block,
                )  # fmt: skip
                harm[group.members] = block

        map_blocks(look, len(self.stakes))
        gain = np.minimum(1.0, self.city.grid.distance(original, answers) / REACH_KM)
        usable = (gain > 0) & allowed
        rate = np.where(usable, harm / np.maximum(gain, 1e-9), np.inf).ravel()
        cheapest = np.argsort(rate, kind="stable")[: int(usable.sum())]
        enough = int(np.searchsorted(np.cumsum(gain.ravel()[cheapest]), missing)) + 1
        chosen = np.unravel_index(cheapest[:enough], original.shape)
        answers[chosen] = original[chosen]
        return enough <= len(cheapest)


def _prices(city: City, hospital: NDArray[np.bool_]) -> Floats:
    """Loss of utility min(1, d / 2 km) of answering y for x, (N, N).

    A hospital in `hospital` may only become another kind of region out of reach; in a small city
    at least a far one.
    """
    price = np.minimum(1.0, city.grid.distances / REACH_KM).astype(np.float32)
    price[hospital] += FORBIDDEN * (hospital + np.float32(1.0) - price[hospital])
    return price


@kernel
def _sum_scores(scores: Floats, answers: Ints, total: Floats) -> None:
    slots, size = scores.shape[0], scores.shape[1]
    for i in range(len(answers)):
        for j in range(answers.shape[1]):
            for k in range(size):
                total[i, k] += scores[j % slots, k, answers[i, j]]


@kernel
def _sweep_slot(
    table: Floats,
    products: Floats,
    square: Floats,
    pull: Floats,
    price: Floats,
    original: Ints,
    answers: Ints,
    total: Floats,
    order: Ints,
    weight: np.float32,
) -> None:
    """One pass over the cells of a slot: each takes the answer of least price and penalty.

    `table` (K, N) are the slot's scores, `products` (N, N) the inner products of its columns,
    `square` their diagonal, `pull` (members, N) = 2 (total - target) . table, which one answer
    changes by rows of the products: O(N) for a cell, whatever K is.
    """
    size, regions = table.shape
    two = np.float32(2.0)
    was = np.empty(len(order), dtype=np.int32)
    for i in range(len(original)):
        pulled = pull[i]
        for n, j in enumerate(order):
            now = answers[i, j]
            was[n] = now
            paid, gone = price[original[i, j]], products[now]
            best, least = now, np.float32(np.inf)
            for y in range(regions):
                cost = paid[y] + weight * (pulled[y] - two * gone[y] + square[y])
                if cost < least:
                    best, least = y, cost
            if best != now:
                come = products[best]
                for y in range(regions):
                    pulled[y] += two * (come[y] - gone[y])
                answers[i, j] = best
        for k in range(size):
            step = np.float32(0.0)
            for n, j in enumerate(order):
                step += table[k, answers[i, j]] - table[k, was[n]]
            total[i, k] += step


def _inner_products(table: Floats) -> Floats:
    """Inner products of the columns of (K, N): (N, N)."""
    regions = table.shape[1]
    left = np.ascontiguousarray(table.T)
    made = np.zeros((regions, regions), dtype=np.float32)
    for low in range(0, regions, TILE):
        _add_product(left[low : low + TILE], table, made[low : low + TILE])
    return made


@kernel
def _add_product(left: Floats, right: Floats, out: Floats) -> None:
    """out += left . right, always in the same order of sums, whatever library and threads."""
    rows, size = left.shape
    for k in range(0, size - size % 4, 4):
        for x in range(rows):
            a, b, c, d = left[x, k], left[x, k + 1], left[x, k + 2], left[x, k + 3]
            for y in range(right.shape[1]):
                out[x, y] += (a * right[k, y] + b * right[k + 1, y]) + (
                    c * right[k + 2, y] + d * right[k + 3, y]
                )
    for k in range(size - size % 4, size):
        for x in range(rows):
            for y in range(right.shape[1]):
                out[x, y] += left[x, k] * right[k, y]


@kernel
def _harm(
    scores: Floats, original: Ints, answers: Ints, total: Floats, target: Floats, harm: Floats
) -> None:
    """How much the penalty of a user grows if a cell gets its original region back."""
    slots, size = scores.shape[0], scores.shape[1]
    for i in range(len(original)):
        for j in range(original.shape[1]):
            growth = np.float32(0.0)
            for k in range(size):
                step = scores[j % slots, k, original[i, j]] - scores[j % slots, k, answers[i, j]]
                growth += step * (step + np.float32(2.0) * (total[i, k] - target[i, k]))
            harm[i, j] = growth
