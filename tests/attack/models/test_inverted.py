from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

from tracecup.attack import Case, VisitProbR
from tracecup.attack.models import products
from tracecup.attack.models.bags import Bags
from tracecup.attack.models.inverted import Lists, offer_by_lists, shared
from tracecup.attack.models.running import Running

Make = Callable[..., Case]


def random_bags(random: np.random.Generator, m: int, rows: int) -> Bags:
    """Up to six rows a pseudonym, some none, with whole weights, some 0: many scores are equal."""
    lengths = random.integers(0, 7, size=m)
    ids = np.concatenate([random.choice(rows, size=6, replace=False) for _ in range(m)])
    weights = random.integers(0, 3, size=6 * m).astype(np.float64)
    begins, every = np.arange(m) * 6, np.arange(rows + 1, dtype=np.int64)
    return Bags(
        ids.astype(np.int32), weights, begins, lengths, lengths, every, every[:-1].astype(np.int32)
    )


class TestOfferByLists:
    @pytest.mark.parametrize("seed", range(6))
    def test_finds_the_smallest_of_the_best(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        m, rows, values = 200, 30, [0.0, 1.0, 2.0, 1.0 + 1e-10]
        share = [[0.5, 0.3, 0.2, 0.0], [0.97, 0.01, 0.01, 0.01]][seed % 2]
        table = random.choice(values, p=share, size=(rows, m))
        bags, running = random_bags(random, m, rows), Running.of(m)
        offer_by_lists(bags, Lists.of(csr_array(table.T)), running)
        slow = np.zeros((m, m))
        for k in range(m):
            for i in range(6 * k, 6 * k + bags.lengths[k]):
                slow[k] += bags.weights[i] * table[bags.ids[i]]
        expected = [int(np.flatnonzero(row >= row.max() - 1e-9)[0]) for row in slow]
        decided = np.setdiff1d(np.arange(m), running.undecided())
        assert len(decided) > 190
        assert running.best()[decided].tolist() == np.array(expected)[decided].tolist()


class TestShared:
    def test_by_hand(self) -> None:
        table = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
        ids, lengths = np.array([0, 1, 1, 0], dtype=np.int32), np.array([2, 1])
        offsets = np.array([0, 1, 2])
        bags = Bags(ids, np.ones(4), np.array([0, 2]), lengths, lengths, offsets, ids[:2])
        # Row 0 has two users above 0 and stands in one bag; row 1 has none.
        assert shared(bags, csr_array(table.T)) == pytest.approx(2 / 9)


class TestChoice:
    @pytest.mark.parametrize("sizes", [(1, 1, 0), (1, 2, 0)])
    def test_both_ways_give_the_same_table(
        self, sizes: tuple[int, ...], make_case: Make, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case(11, users=90, nx=9, ny=9, days=2, sizes=sizes, gaps=0.3)
        tables = []
        for most in (-1.0, 1.0):
            monkeypatch.setattr(products, "MOST_SHARED", most)
            monkeypatch.setattr(products, "ONE_TILE", 50)
            tables.append(VisitProbR().identify(case))
        assert tables[0] == tables[1]
