"""Reports that follow their mechanism; the middle, the quality bound, s_U against s_T."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import City
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import Optimal, OptimalUser, to_utility
from tracecup.obfuscate.optimal import drawn
from tracecup.score import inference_score, utility_score
from tracecup.traces import Traces


class TestDrawn:
    def test_equals_a_slow_loop(self) -> None:
        gen = np.random.default_rng(1)
        f = gen.dirichlet(np.ones(6), size=6)
        f[2] = [0, 0, 1, 0, 0, 0]
        regions = gen.integers(6, size=(30, 7), dtype=np.int32)
        draws = gen.random((30, 7))
        out = drawn(f, regions, draws)
        for i in range(30):
            for j in range(7):
                cumulated = np.cumsum(f[regions[i, j]])
                assert out[i, j] == int(np.argmax(draws[i, j] < cumulated / cumulated[-1]))


class TestOptimal:
    def test_moves_a_share_of_the_cells_to_the_middle(self, crowd: Traces, odd_city: City) -> None:
        near = np.minimum(odd_city.grid.distances, 2.0)
        shares = np.bincount(crowd.regions.ravel(), minlength=35) / crowd.regions.size
        expected = shares @ near
        draws = np.random.default_rng(3).random(crowd.shape)
        middle = int(np.argmin(expected.round(12)))
        wanted = np.where(draws < 0.3 / expected.min(), middle, crowd.regions)
        out = Optimal(0.3).obfuscate(odd_city, crowd, rng=3).as_traces().regions
        assert np.array_equal(out, wanted)

    @pytest.mark.parametrize("method", [Optimal(0.3), Optimal(0.3, weight=10.0, reach=0.8)])
    def test_spends_the_quality_bound(self, method: Optimal, crowd: Traces, odd_city: City) -> None:
        values = [
            utility_score(odd_city, crowd, method.obfuscate(odd_city, crowd, rng=seed)).value
            for seed in range(5)
        ]
        assert np.mean(values) == pytest.approx(1 - 0.3 / 2, abs=0.02)

    def test_reach_limits_reports(self, crowd: Traces, odd_city: City) -> None:
        out = Optimal(0.4, reach=0.8).obfuscate(odd_city, crowd, rng=1).as_traces().regions
        assert odd_city.grid.distance(out, crowd.regions).max() <= 0.8
        assert (out != crowd.regions).any()

    def test_tuned_it_keeps_the_floor_closely(self, commuters: Traces, contest_city: City) -> None:
        _, score = to_utility("Optimal", contest_city, commuters, 0.7, rng=1)
        assert 0.7 <= score.value <= 0.705

    def test_the_whole_city_at_once_is_refused(self, commuters: Traces, contest_city: City) -> None:
        with pytest.raises(InvalidParameter, match="smaller reach"):
            Optimal(0.6, weight=10.0).obfuscate(contest_city, commuters, rng=1)


class TestOptimalUser:
    def test_moves_cells_to_the_users_own_middle(self, crowd: Traces, odd_city: City) -> None:
        near = np.minimum(odd_city.grid.distances, 2.0)
        draws = np.random.default_rng(3).random(crowd.shape)
        wanted = np.array(crowd.regions)
        for u in range(crowd.n_users):
            expected = np.array([near[crowd.regions[u], y].mean() for y in range(35)])
            alone = expected.min()
            share = 1.0 if alone <= 0.3 else 0.3 / alone
            moved = draws[u] < share
            wanted[u, moved] = int(np.argmin(expected.round(9)))
        out = OptimalUser(0.3).obfuscate(odd_city, crowd, rng=3).as_traces().regions
        assert np.array_equal(out, wanted)

    def test_with_weights_reports_are_her_own_regions(self, crowd: Traces, odd_city: City) -> None:
        method = OptimalUser(0.3, weight=10.0, states=3)
        few = crowd.take_users(range(8))
        out = method.obfuscate(odd_city, few, rng=2).as_traces().regions
        for own, released in zip(few.regions, out, strict=True):
            visits = np.bincount(own, minlength=35)
            states = np.lexsort((np.arange(35), -visits))[:3]
            inside = np.isin(own, states)
            assert np.array_equal(released[~inside], own[~inside])
            assert np.isin(released[inside], states).all()

    def test_who_is_told_the_link_and_copies_it_gets_one_minus_utility(
        self, crowd: Traces, odd_city: City
    ) -> None:
        cells = OptimalUser(0.6).obfuscate(odd_city, crowd, rng=1)
        utility = utility_score(odd_city, crowd, cells).value
        copied = Traces(cells.as_traces().regions, crowd.users, crowd.clock)
        score = inference_score(odd_city, crowd, copied, hospital_weight=1.0).value
        assert score == pytest.approx(1 - utility, abs=1e-12)
