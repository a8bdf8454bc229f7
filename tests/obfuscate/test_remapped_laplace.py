"""Noise as in PL, then the best guess: probabilities by counting, the guess by a slow search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tracecup.city import City
from tracecup.obfuscate import PlanarLaplace, RemappedLaplace
from tracecup.obfuscate.prior import region_shares
from tracecup.obfuscate.remapped_laplace import remapping, report_probabilities
from tracecup.score import utility_score
from tracecup.traces import Traces


class TestReportProbabilities:
    @pytest.mark.parametrize("region", [0, 17, 33])
    def test_agree_with_what_pl_draws(self, region: int, odd_city: City) -> None:
        # Chi-squared at 20 000 draws; regions below 5 expected draws are put together. The table
        # is exact to some 0.2 %, so a right one fails for about one seed in 10^4.
        law = report_probabilities(odd_city.grid, 3.0)[region]
        original = Traces.of(np.full((100, 200), region))
        drawn = PlanarLaplace(3.0, 1.0).obfuscate(odd_city, original, rng=4)
        counts = np.bincount(drawn.regions, minlength=35)
        often = law * 20_000 >= 5
        seen = np.append(counts[often], counts[~often].sum())
        wanted = np.append(law[often], law[~often].sum()) * 20_000
        kept = wanted > 0
        assert stats.chisquare(seen[kept], wanted[kept]).pvalue > 1e-4

    @pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e3])
    def test_rows_sum_to_one(self, epsilon: float, odd_city: City) -> None:
        law = report_probabilities(odd_city.grid, epsilon)
        assert np.allclose(law.sum(axis=1), 1.0)
        assert (law >= 0).all()


class TestRemapping:
    def test_equals_a_slow_search(self, crowd: Traces, odd_city: City) -> None:
        shares = region_shares(crowd, 35, "visits")
        law = report_probabilities(odd_city.grid, 2.0)
        d = odd_city.grid.distances
        table = remapping(odd_city.grid, 2.0, shares)
        for z in range(35):
            costs = [
                sum(shares[x] * law[x, z] * min(d[x, y], 2.0) for x in range(35)) for y in range(35)
            ]
            assert costs[table[z]] <= min(costs) + 1e-12

    def test_little_noise_changes_nothing(self, odd_city: City) -> None:
        shares = np.full(35, 1 / 35)
        assert remapping(odd_city.grid, 100.0, shares).tolist() == list(range(35))

    def test_much_noise_leads_to_the_middle(self, odd_city: City) -> None:
        assert set(remapping(odd_city.grid, 1e-6, np.full(35, 1 / 35)).tolist()) == {17}

    def test_what_the_prior_excludes_stays(self, odd_city: City) -> None:
        shares = np.zeros(35)
        shares[0] = 1.0
        assert remapping(odd_city.grid, 1e4, shares)[34] == 34


class TestRemappedLaplace:
    @pytest.mark.parametrize("level", [1.0, 2.0, 4.0])
    def test_is_more_useful_than_pl(
        self, level: float, commuters: Traces, contest_city: City
    ) -> None:
        pair = (PlanarLaplace(level, 1.0), RemappedLaplace(level, 1.0))
        plain, remapped = (
            utility_score(
                contest_city, commuters, method.obfuscate(contest_city, commuters, rng=3)
            ).value
            for method in pair
        )
        assert remapped > plain

    def test_is_a_function_of_pls_report(self, crowd: Traces, odd_city: City) -> None:
        noisy = PlanarLaplace(2.0, 1.0).obfuscate(odd_city, crowd, rng=9).regions
        out = RemappedLaplace(2.0, 1.0).obfuscate(odd_city, crowd, rng=9).regions
        for z in np.unique(noisy):
            assert len(np.unique(out[noisy == z])) == 1

    def test_visits_are_said_to_be_public(self) -> None:
        assert "taken as public" in RemappedLaplace(2.0, 1.0).guarantee()
        assert "public" not in RemappedLaplace(2.0, 1.0, prior="uniform").guarantee()
