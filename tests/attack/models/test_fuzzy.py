from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tracecup.attack import Case, FuzzyR
from tracecup.attack.models import products
from tracecup.city import City, Grid
from tracecup.errors import InvalidParameter
from tracecup.traces import SetTraces, Traces


def slow_scores(attack: FuzzyR, case: Case) -> NDArray[np.float64]:
    """Dense vectors from the definition."""
    grid, m, n_regions = case.city.grid, case.n_users, case.city.n_regions

    def weight(count: float, region: int) -> float:
        tf = math.log(1 + count) if attack.tf == "log" else count
        if attack.idf == "none":
            return tf
        xi = sum(region in row for row in case.reference.regions.tolist())
        return tf * math.log(m / xi) if xi else 0.0

    def spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.zeros(n_regions)
        for q, r in itertools.product(range(n_regions), repeat=2):
            dx, dy = abs(grid.x[q] - grid.x[r]), abs(grid.y[q] - grid.y[r])
            if max(dx, dy) <= 1:
                share = attack.eta0 * math.exp(-attack.lambda0 * math.hypot(dx, dy))
                out[r] += values[q] * share
        return out

    def weigh(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([weight(float(c), r) for r, c in enumerate(counts)])

    users, pseudonyms = [], []
    for u in range(m):
        row = case.reference.regions[u]
        counts = np.bincount(row[row >= 0], minlength=n_regions).astype(float)
        users.append(
            spread(weigh(counts)) if attack.order == "log-first" else weigh(spread(counts))
        )
        counts = np.zeros(n_regions)
        for j in range(case.released.times):
            cell = case.released.cell(u, j)
            for r in cell:
                counts[r] += 1 / len(cell)
        pseudonyms.append(weigh(counts))
    return np.array([[-np.square(p - f).sum() for f in users] for p in pseudonyms])


class TestFuzzyR:
    def test_the_figure_of_the_paper(self) -> None:
        shares = FuzzyR(0.2, 0.5).stencil()
        assert shares[1] == pytest.approx([0.121, 0.2, 0.121], abs=5e-4)
        assert shares[0] == pytest.approx([0.099, 0.121, 0.099], abs=5e-4)

    def test_by_hand(self) -> None:
        # a row of three regions; the user was twice in the first, the pseudonym once in the middle
        city = City(Grid.from_metres(3, 1, width_m=341.25, height_m=346.875))
        case = Case(city, Traces.of([[0, 0]]), SetTraces.of_cells([[[1], []]]))
        f = (0.33 * math.log(3), 0.33 * math.exp(-1) * math.log(3), 0.0)
        wanted = -(f[0] ** 2 + (math.log(2) - f[1]) ** 2)
        assert FuzzyR().score_matrix(case)[0, 0] == pytest.approx(wanted, abs=1e-12)

    @pytest.mark.parametrize("tf", ["log", "count"])
    @pytest.mark.parametrize("idf", ["none", "log"])
    @pytest.mark.parametrize("order", ["log-first", "spread-first"])
    def test_equals_dense_vectors(
        self, make_case: Callable[..., Case], tf: str, idf: str, order: str
    ) -> None:
        attack = FuzzyR(0.4, 0.7, tf, idf, order)
        case = make_case(1, gaps=0.3)
        wanted = slow_scores(attack, case)
        assert attack.score_matrix(case) == pytest.approx(wanted, abs=1e-10)
        first = (wanted >= wanted.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)
        assert attack.identify(case).users.tolist() == first.tolist()

    @pytest.mark.parametrize("shape", [(1, 4), (4, 1), (2, 2)])
    def test_spreading_stops_at_the_border(
        self, make_case: Callable[..., Case], shape: tuple[int, int]
    ) -> None:
        case = make_case(2, nx=shape[0], ny=shape[1], users=3)
        assert FuzzyR().score_matrix(case) == pytest.approx(slow_scores(FuzzyR(), case), abs=1e-11)

    def test_a_steep_decay_leaves_nothing_to_neighbours(
        self, make_case: Callable[..., Case]
    ) -> None:
        case, attack = make_case(3), FuzzyR(1.0, 2000.0)
        assert attack.score_matrix(case) == pytest.approx(slow_scores(attack, case), abs=1e-11)

    def test_permuting_users_permutes_the_matrix(self, make_case: Callable[..., Case]) -> None:
        case = make_case(4, users=8)
        order = np.random.default_rng(0).permutation(8)
        other = Case(case.city, case.reference.take_users(order), case.released)
        assert np.array_equal(FuzzyR().score_matrix(other), FuzzyR().score_matrix(case)[:, order])

    def test_large_tables_are_made_in_blocks(
        self, make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case(5, users=8)
        whole = FuzzyR().score_matrix(case)
        limited = products.product_scores
        monkeypatch.setattr(
            "tracecup.attack.models.fuzzy.product_scores",
            lambda bags, columns, constant: limited(bags, columns, constant, 80),
        )
        assert np.array_equal(FuzzyR().score_matrix(case), whole)

    def test_checks_its_parameters(self, make_case: Callable[..., Case]) -> None:
        with pytest.raises(InvalidParameter, match=r"Fuzzy-R\.eta0 must be a number > 0, got 0"):
            FuzzyR(0.0).identify(make_case(1))
        with pytest.raises(InvalidParameter, match=r"Fuzzy-R\.tf must be one of log, count"):
            FuzzyR(tf="square").identify(make_case(1))
