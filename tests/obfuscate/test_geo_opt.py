"""Reports stay in the tile and follow the tile's programme."""

from __future__ import annotations

import numpy as np
from scipy import stats

from tracecup.city import City
from tracecup.obfuscate import GeoOpt
from tracecup.obfuscate.cloak import block_numbers
from tracecup.obfuscate.geo_opt import tile_mechanism
from tracecup.traces import Traces


class TestGeoOpt:
    def test_reports_stay_in_the_tile(self, crowd: Traces, odd_city: City) -> None:
        tile = block_numbers(odd_city.grid, 3, 3)
        out = GeoOpt(1.0, 3).obfuscate(odd_city, crowd, rng=1).as_traces().regions
        assert np.array_equal(tile[out], tile[crowd.regions])
        assert (out != crowd.regions).any()

    def test_follows_the_programme_of_its_tile(self, odd_city: City) -> None:
        # Chi-squared; a right sampler fails for one seed in 10^6.
        members = np.array([0, 1, 5, 6])
        f = tile_mechanism(odd_city, members, np.full(4, 0.25), 1.5)
        original = Traces.of(np.full((100, 100), 6))
        out = GeoOpt(1.5, 2, prior="uniform").obfuscate(odd_city, original, rng=2)
        counts = np.bincount(out.regions, minlength=35)[members]
        assert counts.sum() == 10_000
        assert stats.chisquare(counts, f[3] * 10_000).pvalue > 1e-6

    def test_a_single_region_reports_itself(self, crowd: Traces, odd_city: City) -> None:
        out = GeoOpt(1.0, 1).obfuscate(odd_city, crowd, rng=1).as_traces().regions
        assert np.array_equal(out, crowd.regions)

    def test_promise_names_the_tile_and_the_prior(self) -> None:
        assert "within a public tile" in GeoOpt(2.0).guarantee()
        assert "taken as public" in GeoOpt(2.0).guarantee()
        assert "taken as public" not in GeoOpt(2.0, prior="uniform").guarantee()
