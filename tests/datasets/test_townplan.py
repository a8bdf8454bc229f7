"""The plan of the generated city."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.datasets.townplan import PURPOSES, make_townplan
from tracecup.errors import InvalidParameter


@pytest.fixture(scope="module")
def plan():
    return make_townplan(rng=1)


class TestMakeTownplan:
    def test_contest_region_size_and_hospitals(self, plan):
        assert plan.city.grid.km_x == pytest.approx(0.34125)
        assert plan.city.grid.km_y == pytest.approx(0.346875)
        assert len(plan.city.hospitals) == 37

    def test_same_seed_same_city(self, plan):
        again = make_townplan(rng=1)
        assert again.city == plan.city
        assert np.array_equal(again.attraction, plan.attraction)

    def test_other_seed_other_city(self, plan):
        assert make_townplan(rng=2).city != plan.city

    @pytest.mark.parametrize("name", ["homes", "jobs", "schools", "lodging"])
    def test_densities_sum_to_one_and_spare_water(self, plan, name):
        density = getattr(plan, name)
        assert density.sum() == pytest.approx(1)
        assert (density[plan.water] == 0).all()
        assert (density >= 0).all()

    def test_attraction_is_a_distribution_on_land(self, plan):
        assert plan.attraction.shape == (len(PURPOSES), 1024)
        assert plan.attraction.sum(axis=1) == pytest.approx(np.ones(len(PURPOSES)))
        assert (plan.attraction[:, plan.water] == 0).all()
        assert (plan.attraction[:, ~plan.water] > 0).all()

    def test_some_water_mostly_land(self, plan):
        assert 0.04 < plan.water.mean() < 0.12

    def test_hospitals_are_where_hospital_places_are(self, plan):
        places = plan.city.places.in_category("building/Hospital")
        assert sorted(set(places.regions.tolist())) == list(plan.city.hospitals)

    @pytest.mark.parametrize("category", ["food", "shops", "nightlife", "travel", "home"])
    def test_places_of_every_kind_on_land(self, plan, category):
        places = plan.city.places.in_category(category)
        assert len(places) > 20
        assert not plan.water[places.regions].any()

    def test_places_lie_in_their_regions(self, plan):
        places = plan.city.places
        found = plan.city.grid.region_at(places.latitudes, places.longitudes)
        assert np.array_equal(found, places.regions)

    def test_nearest_station(self, plan):
        grid = plan.city.grid
        ours = grid.distance(np.arange(1024), plan.station_of)
        nearest = grid.distance(np.arange(1024)[:, None], plan.stations[None, :]).min(axis=1)
        assert np.array_equal(ours, nearest)

    def test_districts_name_every_region(self, plan):
        assert len(plan.district) == 1024
        assert {"business", "residential", "water"} <= set(plan.district)

    @pytest.mark.parametrize("size", [(4, 4), (2, 8), (16, 3), (50, 40)])
    def test_other_sizes(self, size):
        plan = make_townplan(*size, rng=3)
        assert plan.city.n_regions == size[0] * size[1]
        assert len(plan.stations) > 0

    @pytest.mark.parametrize("size", [(1, 100), (3, 3), (0, 5)])
    def test_too_small(self, size):
        with pytest.raises(InvalidParameter):
            make_townplan(*size)

    def test_share_of_hospitals(self):
        assert len(make_townplan(10, 10, hospital_share=0.2, rng=1).city.hospitals) == 20
        with pytest.raises(InvalidParameter):
            make_townplan(hospital_share=0.6)
