"""The descent of likelihood equalising: cell by cell, all scores of a group towards their targets.

One user's cells depend on no other user's, so groups are worked on in parallel, with the same
result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

WIDTH = 16
"""Regions of a grid row that are scored together; rows within reach are cut to this."""
FAR = 128
"""Answers out of reach that are tried for every cell, drawn anew for each slot and sweep."""
UNIFORM = 0.5
"""Share of the far answers that is drawn uniformly; the others follow the group's habits."""
SHIFT_FROM = 4
RESPONSE = 0.07
"""Utility falls by about this much where the weight of the scores grows e-fold."""
LARGEST_STEP = 1.5
FORBIDDEN = np.float32(50.0)
"""Price of a hospital that is released within reach; every other price is at most 1."""
SOUNDING, TRIES, CLOSE = 8, 5, 0.004
"""The weight is sought on so many groups, in so many tries, until utility is so close."""
MENDING = 6
"""Sweeps over all groups at most, until utility has fallen below the floor."""
BELOW = 0.002
"""The descent ends this little below the floor; giving back the dearest cells does the rest."""


@dataclass(frozen=True, eq=False)
class Stakes:
    """Scores of one group: `scores` (T, K, N), K = models x members, and |scores|^2, (T, N)."""

    members: NDArray[np.int64]
    scores: Floats
    square: Floats
    habit: Floats


def stakes_of(
    groups: list[NDArray[np.int64]], tables: Iterable[Floats], habit: Floats, count: int
) -> list[Stakes]:
    """The scores of every group under `count` models, each a table log p(y | u, t) (U, T, N).

    Every model's scores are centred over the members and under the group's mean habit
    (`habit` are probabilities), and scaled to variance 1 under it.
    """
    slots, regions = habit.shape[1:]
    made = [
        Stakes(
            group,
            np.empty((slots, count * len(group), regions), dtype=np.float32),
            np.zeros((slots, regions), dtype=np.float32),
            habit[group].mean(axis=0),
        )
        for group in groups
    ]
    for k, table in enumerate(tables):

        def fill(low: int, high: int, k: int = k, table: Floats = table) -> None:
            for stakes in made[low:high]:
                m = len(stakes.members)
                part = table[stakes.members]
                part = part - part.mean(axis=0)
                part -= (part * stakes.habit).sum(axis=2, keepdims=True)
                spread = (part * part * stakes.habit).sum(axis=2).mean()
                part /= np.sqrt(spread + 1e-12)
                stakes.scores[:, k * m : (k + 1) * m] = part.transpose(1, 0, 2)
                stakes.square[:] += (part * part).sum(axis=0)

        map_blocks(fill, len(made))
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
    """Released regions (U, events) with utility at the floor.

    Minimises sum_j price(x_j, y_j) + weight |sum_j L[t_j, y_j] - target|^2 for every user, price
    min(1, d / 2 km); answers are the regions of a patch around x and FAR others. Targets are
    noise; from the fifth sweep on every second one shifts them by what is left (the multiplier
    step), because a small constant rest is what an assignment finds. The weight is sought on some
    groups and mended in last sweeps over all; what is missing is given back cell by cell.
    O(sweeps cells K patch).
    """
    play = _Play.start(city, original, stakes, random, noise, hospitals)
    goal = floor - BELOW
    some = list(range(0, len(stakes), max(1, len(stakes) // SOUNDING)))[:SOUNDING]
    steps = TRIES + sweeps + MENDING
    for done in range(TRIES):
        trial = play.copy(some)
        trial.sweep(range(sweeps), weight)
        error = trial.utility() - goal
        weight *= _correction(error)
        progress(done + 1, steps)
        if abs(error) < CLOSE:
            break
    for s in range(sweeps):
        play.sweep([s], weight)
        progress(TRIES + s + 1, steps)
    for s in range(sweeps, sweeps + MENDING):
        error = play.utility() - goal
        if -CLOSE < error <= floor - goal:
            break
        weight *= _correction(error)
        play.sweep([s], weight, shift=False)
        progress(TRIES + s + 1, steps)
    play.give_back(floor)
    return play.answers


def _correction(error: float) -> float:
    """What the weight is multiplied with where utility lies `error` above its goal."""
    return float(np.exp(np.clip(error / RESPONSE, -LARGEST_STEP, LARGEST_STEP)))


def utility_of(city: City, original: Ints, answers: Ints) -> float:
    """s_U of single regions."""
    loss = np.minimum(1.0, city.grid.distance(original, answers) / REACH_KM)
    return float(1 - loss.mean())


@dataclass(eq=False)
class _Play:
    """The state of a descent: answers, sums of scores and targets of every group.

    `groups` are the groups it is played for; the random numbers of a group do not depend on the
    others, so a trial on some groups meets the same ones.
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

    @classmethod
    def start(
        cls,
        city: City,
        original: Traces,
        stakes: list[Stakes],
        random: np.random.Generator,
        noise: float,
        hospitals: bool,
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

    def sweep(self, rounds: Iterable[int], weight: float, shift: bool = True) -> None:
        """Pass over all cells, once for each of `rounds`."""
        rounds, grid = list(rounds), self.city.grid
        price = np.minimum(1.0, grid.offset_km / REACH_KM).astype(np.float32)
        rows = int((grid.offset_km[:, 0] < REACH_KM).sum())
        plain = np.flatnonzero(~self.hospital).astype(np.int32)

        def work(low: int, high: int) -> None:
            for g in self.groups[low:high]:
                group = self.stakes[g]
                mine = self.answers[group.members]
                for s in rounds:
                    if shift and s >= SHIFT_FROM and s % 2 == 0:
                        self.target[g] += self.goal[g] - self.total[g]
                    random = generator(child_seed(self.seed, "sweep", g, s))
                    order = random.permutation(mine.shape[1]).astype(np.int32)
                    turns = random.permutation(self.slots).astype(np.int32)
                    _sweep(
                        group.scores, group.square, self.original[group.members], mine,
                        self.total[g], self.target[g], order, turns,
                        _far_answers(group.habit, plain, random), price, self.hospital, rows,
                        grid.nx, weight,
                    )  # fmt: skip
                self.answers[group.members] = mine

        map_blocks(work, len(self.groups), blocks=len(self.groups))

    def utility(self) -> float:
        """s_U of the groups that are played."""
        users = np.concatenate([self.stakes[g].members for g in self.groups])
        return utility_of(self.city, self.original[users], self.answers[users])

    def give_back(self, floor: float) -> None:
        """Restore original regions where that costs the least until utility is at the floor."""
        original, answers = self.original, self.answers
        missing = (floor - self.utility()) * original.size
        if missing <= 0:
            return
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
        usable = (gain > 0) & ~self.hospital[original]
        rate = np.where(usable, harm / np.maximum(gain, 1e-9), np.inf).ravel()
        cheapest = np.argsort(rate, kind="stable")[: int(usable.sum())]
        enough = int(np.searchsorted(np.cumsum(gain.ravel()[cheapest]), missing)) + 1
        chosen = np.unravel_index(cheapest[:enough], original.shape)
        answers[chosen] = original[chosen]


def _far_answers(habit: Floats, plain: Ints, random: np.random.Generator) -> Ints:
    """Regions to try anywhere, (slots, FAR), no hospitals: half uniform, half by habit."""
    slots, uniform = len(habit), int(FAR * UNIFORM)
    far = np.empty((slots, FAR), dtype=np.int32)
    far[:, :uniform] = plain[random.integers(0, len(plain), (slots, uniform))]
    draws = random.random((slots, FAR - uniform))
    share = np.cumsum(habit[:, plain], axis=1, dtype=np.float64)
    for t in range(slots):
        at = np.searchsorted(share[t], draws[t] * share[t, -1])
        far[t, uniform:] = plain[np.minimum(at, len(plain) - 1)]
    return far


@kernel
def _sum_scores(scores: Floats, answers: Ints, total: Floats) -> None:
    slots, size = scores.shape[0], scores.shape[1]
    for i in range(len(answers)):
        for j in range(answers.shape[1]):
            for k in range(size):
                total[i, k] += scores[j % slots, k, answers[i, j]]


@kernel
def _sweep(  # noqa: PLR0912 - all answers of a cell are compared in one pass
    scores: Floats,
    square: Floats,
    original: Ints,
    answers: Ints,
    total: Floats,
    target: Floats,
    order: Ints,
    turns: Ints,
    far: Ints,
    price: Floats,
    hospital: NDArray[np.bool_],
    rows: int,
    nx: int,
    strength: float,
) -> None:
    """One pass over all cells of a group: each takes the answer of least price and penalty."""
    slots, size, regions = scores.shape
    ny, members = regions // nx, len(original)
    pull = np.empty(size, dtype=np.float32)
    patch = np.empty((2 * rows, WIDTH), dtype=np.float32)
    wide = np.empty(FAR, dtype=np.float32)
    columns = np.empty((size, FAR), dtype=np.float32)
    flipped = np.empty((regions, size), dtype=np.float32)
    span = min(WIDTH, nx)
    weight = np.float32(strength)
    for t in turns:
        table, norm = scores[t], square[t]
        for k in range(size):
            for f in range(FAR):
                columns[k, f] = table[k, far[t, f]]
            for y in range(regions):  # what one answer adds to all sums lies together here
                flipped[y, k] = table[k, y]
        for j in order:
            if j % slots != t:
                continue
            for i in range(members):
                x, now = original[i, j], answers[i, j]
                sums, wanted, gone = total[i], target[i], flipped[now]
                for k in range(size):
                    sums[k] -= gone[k]
                    pull[k] = np.float32(2.0) * (sums[k] - wanted[k])
                px, py = x % nx, x // nx
                low_y, high_y = max(0, py - rows + 1), min(ny, py + rows)
                low_x = min(max(0, px - span // 2 + 1), nx - span)
                wide[:] = 0.0
                for k in range(size):
                    for f in range(FAR):
                        wide[f] += pull[k] * columns[k, f]
                best, least = now, np.float32(np.inf)
                if not hospital[x]:
                    patch[:] = 0.0
                    for k in range(size):
                        amount = pull[k]
                        for qy in range(low_y, high_y):
                            # Indices rather than views: a view costs more than the whole row.
                            for c in range(span):
                                patch[qy - low_y, c] += amount * table[k, qy * nx + low_x + c]
                    for qy in range(low_y, high_y):
                        for c in range(span):
                            y = qy * nx + low_x + c
                            cost = price[abs(qy - py), abs(low_x + c - px)] + weight * (
                                patch[qy - low_y, c] + norm[y]
                            )
                            if cost < least:
                                best, least = y, cost
                for f in range(FAR):
                    y = far[t, f]
                    paid = price[abs(y // nx - py), abs(y % nx - px)]
                    cost = paid + weight * (wide[f] + norm[y])
                    if hospital[x]:  # out of reach; in a small city at least far away
                        cost += FORBIDDEN * (np.float32(1.0) - paid)
                    if cost < least:
                        best, least = y, cost
                answers[i, j] = best
                come = flipped[best]
                for k in range(size):
                    sums[k] += come[k]


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
