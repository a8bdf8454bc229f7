"""Radius and angle by Kolmogorov and Smirnov, the region under the point by a slow loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tracecup.city import City, Grid
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import PlanarLaplace, planar_laplace_noise
from tracecup.obfuscate.planar_laplace import _radius_of_quantile, _region_of_shifted
from tracecup.traces import Traces

ALARM = 1e-6  # false alarms per test, over seeds


def radius_cdf(rho: np.ndarray, epsilon: float) -> np.ndarray:
    return 1 - (1 + epsilon * rho) * np.exp(-epsilon * rho)


class TestNoise:
    @pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
    def test_radius(self, epsilon: float) -> None:
        radius, _ = planar_laplace_noise(epsilon, 100_000, rng=1)
        assert stats.kstest(radius, lambda r: radius_cdf(r, epsilon)).pvalue > ALARM

    def test_angle(self) -> None:
        _, angle = planar_laplace_noise(1.0, 100_000, rng=2)
        assert stats.kstest(angle, stats.uniform(0, 2 * math.pi).cdf).pvalue > ALARM

    def test_radius_and_angle_are_independent(self) -> None:
        radius, angle = planar_laplace_noise(1.0, 100_000, rng=3)
        low = radius < np.median(radius)
        assert stats.ks_2samp(angle[low], angle[~low]).pvalue > ALARM

    def test_same_seed_scales_with_epsilon(self) -> None:
        near, far = (planar_laplace_noise(e, 50, rng=4) for e in (4.0, 1.0))
        assert np.allclose(far[0], 4 * near[0])
        assert np.array_equal(far[1], near[1])

    @pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
    def test_refuses_bad_epsilon(self, epsilon: float) -> None:
        with pytest.raises(InvalidParameter, match="epsilon"):
            planar_laplace_noise(epsilon, 1)


class TestRadiusOfQuantile:
    def test_inverts_the_distribution_function(self) -> None:
        p = np.linspace(0.001, 0.999, 99)
        assert np.allclose(radius_cdf(_radius_of_quantile(p, 2.5), 2.5), p, atol=1e-12)


class TestRegionOfShifted:
    def test_equals_a_slow_loop(self, odd_city: City) -> None:
        gen = np.random.default_rng(5)
        regions = gen.integers(35, size=500).astype(np.int32)
        radius, angle = planar_laplace_noise(1.0, 500, gen)
        slow = [
            slow_region(odd_city.grid, int(r), rho, phi)
            for r, rho, phi in zip(regions, radius, angle, strict=True)
        ]
        assert _region_of_shifted(odd_city.grid, regions, radius, angle).tolist() == slow

    def test_clamps_to_the_border(self, odd_city: City) -> None:
        start = np.array([17, 17, 17, 17], dtype=np.int32)
        far = _region_of_shifted(
            odd_city.grid, start, np.full(4, 1e12), np.array([0, 0.5, 1, 1.5]) * np.pi
        )
        assert far.tolist()[0] == 19
        assert far.tolist()[2] == 15

    def test_no_radius_stays(self, odd_city: City) -> None:
        every = np.arange(35, dtype=np.int32)
        stay = _region_of_shifted(odd_city.grid, every, np.zeros(35), np.zeros(35))
        assert np.array_equal(stay, every)


class TestPlanarLaplace:
    def test_share_of_kept_cells(self) -> None:
        # The square of the cell holds a computable share of the noise: integrate it finely.
        city = City(Grid.from_metres(41, 41, width_m=300, height_m=300))
        middle = 20 * 41 + 20
        out = PlanarLaplace(4.0, 1.0).obfuscate(city, Traces.of(np.full((100, 400), middle)), rng=6)
        side = (np.arange(600) + 0.5) / 600 * 0.3 - 0.15
        density = 16 / (2 * math.pi) * np.exp(-4 * np.hypot(side[:, None], side[None, :]))
        expected = float(density.sum()) * (0.3 / 600) ** 2
        kept = int((out.regions == middle).sum())
        assert stats.binomtest(kept, 40_000, expected).pvalue > ALARM

    def test_only_the_ratio_of_level_and_radius_matters(
        self, crowd: Traces, odd_city: City
    ) -> None:
        one = PlanarLaplace(4.0, 2.0).obfuscate(odd_city, crowd, rng=7)
        assert one == PlanarLaplace(2.0, 1.0).obfuscate(odd_city, crowd, rng=7)


def slow_region(grid: Grid, region: int, rho: float, phi: float) -> int:
    latitude = grid.latitudes[region // grid.nx] + rho * math.sin(phi) / 111
    longitude = grid.longitudes[region % grid.nx] + rho * math.cos(phi) / 91
    row = int((latitude - (grid.latitudes[0] - grid.height / 2)) / grid.height)
    column = int((longitude - (grid.longitudes[0] - grid.width / 2)) / grid.width)
    row, column = min(max(row, 0), grid.ny - 1), min(max(column, 0), grid.nx - 1)
    return row * grid.nx + column
