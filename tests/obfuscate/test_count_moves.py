"""Moves against a slow global greedy search, and the budget spent to the last move."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.city import City, Grid
from tracecup.obfuscate.count_moves import (
    Moves,
    affordable,
    cheapest_moves,
    improving_moves,
    whole_visits,
)

Move = tuple[float, int, int, int]


def slow_greedy(
    counts: np.ndarray, movable: np.ndarray, means: np.ndarray, labels: np.ndarray, city: City
) -> list[Move]:
    """The best (ratio, user, source, target) over everybody, again and again."""
    excess = counts.astype(np.float64) - means[labels]
    role, left, made = np.sign(excess), movable.copy(), []
    price = np.minimum(1.0, city.grid.distances / 2)
    while True:
        best: Move | None = None
        for i in range(len(counts)):
            for r in np.flatnonzero((role[i] > 0) & (excess[i] > 0) & (left[i] > 0)):
                for s in np.flatnonzero((role[i] < 0) & (excess[i] < 0)):
                    gain = 2 * (excess[i, r] + -excess[i, s] - 1)
                    if gain > 1e-9:
                        move = (float(price[r, s] / gain), i, int(r), int(s))
                        best = move if best is None else min(best, move)
        if best is None:
            return made
        _, i, r, s = best
        excess[i, r] -= 1
        excess[i, s] += 1
        left[i, r] -= 1
        made.append(best)


def random_problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    gen = np.random.default_rng(seed)
    favourite = gen.integers(35, size=5)
    counts = np.zeros((6, 35), dtype=np.float32)
    for i in range(6):
        np.add.at(counts[i], np.where(gen.random(12) < 0.6, favourite[gen.integers(5, size=12)],
                                      gen.integers(35, size=12)), 1)  # fmt: skip
    labels = gen.integers(2, size=6).astype(np.int32)
    means = np.stack([counts[labels == c].mean(axis=0) if np.any(labels == c) else counts[0]
                      for c in (0, 1)]).astype(np.float64)  # fmt: skip
    movable = np.minimum(counts, gen.integers(0, 4, size=counts.shape)).astype(np.float32)
    return counts, movable, means, labels


def tuples(moves: Moves) -> list[Move]:
    columns = (moves.ratio, moves.user, moves.source, moves.target)
    return [(float(a), int(b), int(c), int(d)) for a, b, c, d in zip(*columns, strict=True)]


class TestImprovingMoves:
    @pytest.mark.parametrize("seed", range(12))
    def test_equals_the_slow_global_greedy(self, seed: int, odd_city: City) -> None:
        counts, movable, means, labels = random_problem(seed)
        moves = improving_moves(counts, movable, means, labels, odd_city.grid, 2.0, 12)
        assert tuples(moves) == slow_greedy(counts, movable, means, labels, odd_city)

    def test_problems_have_moves(self, odd_city: City) -> None:
        counts, movable, means, labels = random_problem(0)
        moves = improving_moves(counts, movable, means, labels, odd_city.grid, 2.0, 12)
        assert len(moves) >= 10

    def test_hand_computed(self, toy_city: City) -> None:
        # mu = (1, 0, 0, 1, 0); the user has (0, 0, 2, 0, 0): two visits to spare, one for each.
        counts = np.array([[0, 0, 2, 0, 0]], dtype=np.float32)
        means = np.array([[1.0, 0, 0, 1.0, 0]])
        moves = improving_moves(
            counts, counts, means, np.zeros(1, dtype=np.int32), toy_city.grid, 2.0, 4
        )
        assert moves.source.tolist() == [2, 2]
        assert moves.target.tolist() == [3, 0]
        assert moves.price.tolist() == pytest.approx([0.170625, 0.34125])
        assert (moves.price / moves.ratio).tolist() == pytest.approx([4, 2])

    def test_far_moves_cost_a_cell_at_most(self, odd_city: City) -> None:
        counts, means = np.zeros((1, 35), dtype=np.float32), np.zeros((1, 35))
        counts[0, 0], means[0, 34] = 3, 3
        moves = improving_moves(
            counts, counts, means, np.zeros(1, dtype=np.int32), odd_city.grid, 2.0, 5
        )
        assert moves.price.tolist() == [1.0, 1.0, 1.0]

    def test_reports_progress_to_the_end(self, odd_city: City) -> None:
        counts, movable, means, labels = random_problem(0)
        seen: list[tuple[float, float]] = []
        improving_moves(
            counts, movable, means, labels, odd_city.grid, 2.0, 12, lambda *a: seen.append(a)
        )
        assert max(seen) == (6, 6)


class TestAffordable:
    def test_all_when_the_budget_is_large(self) -> None:
        assert affordable(np.array([0.5, 1.0]), 2.0).tolist() == [0, 1]

    def test_none_without_a_budget(self) -> None:
        assert affordable(np.array([0.5, 1.0]), 0.0).tolist() == []

    def test_without_moves(self) -> None:
        assert affordable(np.empty(0), 1.0).tolist() == []

    def test_one_that_fits_exactly(self) -> None:
        assert affordable(np.array([0.7, 0.3]), 0.3).tolist() == [1]

    def test_takes_back_moves_for_a_better_fill(self) -> None:
        # In order: 0.5 + 0.5 + 0.3 and 0.1 + 0.05 leave 0.15. Better: 0.5 + 0.2 + 0.9.
        prices = np.array([0.5, 0.5, 0.3, 0.9, 0.1, 0.2, 0.05])
        assert affordable(prices, 1.6).tolist() == [0, 3, 5]

    def test_a_pair_may_have_the_same_price_twice(self) -> None:
        assert affordable(np.array([0.7, 0.5, 0.5]), 1.0).tolist() == [1, 2]

    @given(
        st.lists(st.floats(0.01, 1.0), max_size=30),
        st.floats(0, 12),
    )
    def test_within_budget_and_nothing_more_fits(self, prices: list[float], budget: float) -> None:
        array = np.array(prices)
        chosen = affordable(array, budget)
        assert len(set(chosen.tolist())) == len(chosen)
        rest = budget - array[chosen].sum()
        left = np.delete(array, chosen)
        assert rest > -1e-8
        assert np.all(left > rest - 1e-8)


class TestCheapestMoves:
    def test_by_hand(self):
        """Visits at 0 and 1 must become visits at 2 and 3: crossing over would cost more."""
        city = City(Grid.from_metres(4, 1, width_m=500, height_m=500))
        counts = np.array([[1, 1, 0, 0], [0, 0, 1, 1]], dtype=np.float32)
        means = np.array([[0.0, 0.0, 1.0, 1.0]])
        moves = cheapest_moves(counts, counts, means, np.zeros(2, np.int32), city.grid, 2.0)
        assert moves.user.tolist() == [0, 0]
        assert sorted(moves.price.tolist()) == pytest.approx([0.5, 0.5])

    @given(st.integers(0, 2**32 - 1))
    def test_no_other_way_is_cheaper(self, seed):
        random = np.random.default_rng(seed)
        city = City(Grid.from_metres(3, 3, width_m=600, height_m=700))
        counts = random.multinomial(5, np.full(9, 1 / 9), size=3).astype(np.float32)
        movable = np.floor(counts * random.random(counts.shape) * 1.99).clip(0, counts)
        means, labels = counts.mean(0, keepdims=True), np.zeros(3, dtype=np.int32)
        moves = cheapest_moves(counts, movable, means, labels, city.grid, 2.0)
        wanted = whole_visits(means[0])
        assert wanted.sum() == 5
        price = np.minimum(1.0, city.grid.distances / 2)
        for i in range(3):
            over = (counts[i] - wanted).astype(int)
            source = np.repeat(np.arange(9), np.minimum(over.clip(0), movable[i].astype(int)))
            target = np.repeat(np.arange(9), (-over).clip(0))
            least = min(price[source, list(p)].sum() for p in permutations(target, len(source)))
            assert moves.price[moves.user == i].sum() == pytest.approx(least)
        assert (np.diff(moves.price) >= 0).all()
