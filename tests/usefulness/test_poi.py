from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from tracecup.city import City, Grid, Places
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.traces import SetTraces, Traces
from tracecup.usefulness import poi_accuracy, poi_cost


@pytest.fixture(scope="module")
def city() -> City:
    """Eight by six regions of about 500 m."""
    return City(Grid.from_metres(8, 6, width_m=500, height_m=480, south=35.0, west=139.0))


def random_places(city: City, seed: int, count: int) -> Places:
    rng = np.random.default_rng(seed)
    regions = rng.integers(0, city.n_regions, count)
    grid = city.grid
    rows = []
    for region in regions:
        lat = grid.latitudes[grid.y[region]] + (rng.random() - 0.5) * grid.height
        lon = grid.longitudes[grid.x[region]] + (rng.random() - 0.5) * grid.width
        rows.append(("food", lat, lon, int(region)))
    return Places.of(rows)


def slow_accuracy(
    city: City, original: Traces, obfuscated: SetTraces, places: Places, at_region: bool = False
) -> float:
    grid = city.grid

    def within(region: int, radius: float) -> set[int]:
        found = set()
        for k in range(len(places)):
            lat, lon = places.latitudes[k], places.longitudes[k]
            if at_region:
                lat = grid.latitudes[grid.y[places.regions[k]]]
                lon = grid.longitudes[grid.x[places.regions[k]]]
            dy = (lat - grid.latitudes[grid.y[region]]) * 111
            dx = (lon - grid.longitudes[grid.x[region]]) * 91
            if np.hypot(dx, dy) <= radius + 1e-9:
                found.add(k)
        return found

    shares = []
    for i in range(original.n_users):
        for j in range(original.times):
            if original.regions[i, j] < 0:
                continue
            nearby = within(int(original.regions[i, j]), 1.0)
            if not nearby:
                continue
            received: set[int] = set()
            for region in obfuscated.cell(i, j):
                received |= within(int(region), 2.0)
            shares.append(len(nearby & received) / len(nearby))
    return float(np.mean(shares))


def random_release(seed: int, users: int, times: int, n: int) -> SetTraces:
    rng = np.random.default_rng(seed)
    return SetTraces.of_cells(
        [
            [rng.integers(0, n, rng.integers(0, 4)).tolist() for _ in range(times)]
            for _ in range(users)
        ]
    )


class TestPoiAccuracy:
    @pytest.mark.parametrize("count", [1, 64, 65, 150])
    def test_agrees_with_the_slow_loop(self, city: City, count: int):
        places = random_places(city, count, count)
        original = Traces.of(np.random.default_rng(1).integers(0, 48, (4, 6)))
        released = random_release(2, 4, 6, 48)
        found = poi_accuracy(city, original, released, places).value
        assert found == pytest.approx(slow_accuracy(city, original, released, places))

    def test_places_at_region_centres(self, city: City):
        places = random_places(city, 5, 40)
        original = Traces.of(np.random.default_rng(3).integers(0, 48, (4, 6)))
        released = random_release(4, 4, 6, 48)
        found = poi_accuracy(city, original, released, places, position="region").value
        assert found == pytest.approx(slow_accuracy(city, original, released, places, True))

    def test_unobserved_events_are_left_out(self, city: City):
        places = random_places(city, 6, 40)
        original = Traces.of(np.random.default_rng(7).integers(-1, 48, (4, 6)))
        released = random_release(8, 4, 6, 48)
        found = poi_accuracy(city, original, released, places).value
        assert found == pytest.approx(slow_accuracy(city, original, released, places))

    def test_unobfuscated_traces_receive_everything(self, city: City):
        original = Traces.of(np.arange(48).reshape(6, 8))
        released = SetTraces.of_traces(original)
        assert poi_accuracy(city, original, released, random_places(city, 9, 80)).value == 1

    def test_deleted_cells_receive_nothing(self, city: City):
        original = Traces.of([[0, 0]])
        shop = Places.of([("food", city.grid.latitudes[0], city.grid.longitudes[0], 0)])
        assert poi_accuracy(city, original, SetTraces.of_cells([[[], []]]), shop).value == 0

    def test_generalised_cell_receives_the_union(self, city: City):
        # Regions 0 and 7 are 3.5 km apart in the bottom row, one shop at each end, and the user
        # in the middle hears of both only through the union.
        grid = city.grid
        ends = Places.of([("food", grid.latitudes[0], grid.longitudes[x], x) for x in (2, 5)])
        original = Traces.of([[3, 4]])
        near = {"near_km": 1.1, "received_km": 0.1}
        both = SetTraces.of_cells([[[2, 5], [2, 5]]])
        assert poi_accuracy(city, original, both, ends, **near).value == 1
        one = SetTraces.of_cells([[[2], [2]]])
        assert poi_accuracy(city, original, one, ends, **near).value == 0.5

    def test_locations_without_nearby_places_are_left_out(self, city: City):
        shop = Places.of([("food", city.grid.latitudes[0], city.grid.longitudes[0], 0)])
        original = Traces.of([[0, 47], [47, 47]])
        found = poi_accuracy(city, original, SetTraces.of_traces(original), shop)
        assert found.value == 1
        assert found.parts.tolist() == [1]

    def test_a_wider_reach_never_hurts(self, city: City):
        places = random_places(city, 11, 60)
        original = Traces.of(np.random.default_rng(12).integers(0, 48, (4, 6)))
        released = random_release(13, 4, 6, 48)
        found = [
            poi_accuracy(city, original, released, places, received_km=reach).value
            for reach in (0, 0.5, 1, 2, 5)
        ]
        assert found == sorted(found)
        assert found[0] < found[-1]

    def test_food_of_the_city_by_default(self, city: City):
        grid = city.grid
        spots = [("food/Cafe", 0), ("shop", 40)]
        rows = [(c, grid.latitudes[grid.y[r]], grid.longitudes[grid.x[r]], r) for c, r in spots]
        stocked = City(grid, places=Places.of(rows))
        original, released = Traces.of([[0, 40]]), SetTraces.of_cells([[[0], []]])
        assert poi_accuracy(stocked, original, released).value == 1

    def test_bad_input_is_named(self, city: City):
        original, released = Traces.of([[0]]), SetTraces.of_cells([[[0]]])
        shop = random_places(city, 0, 1)
        with pytest.raises(InvalidTraces, match="needs places"):
            poi_accuracy(city, original, released)
        with pytest.raises(InvalidTraces, match="obfuscated ones"):
            poi_accuracy(city, Traces.of([[0, 0]]), released, shop)
        with pytest.raises(InvalidTraces, match="region 99"):
            poi_accuracy(city, Traces.of([[99]]), released, shop)
        with pytest.raises(InvalidParameter, match="near_km"):
            poi_accuracy(city, original, released, shop, near_km=-1)
        with pytest.raises(InvalidParameter, match="position"):
            poi_accuracy(city, original, released, shop, position="street")  # type: ignore[arg-type]  # on purpose
        with pytest.raises(InvalidTraces, match="no original location"):
            poi_accuracy(city, Traces.of([[-1]]), released, shop)
        with pytest.raises(InvalidTraces, match="no original location"):
            poi_accuracy(city, Traces.of([[47]]), released, Places.of([("food", 35.0, 139.0, 0)]))


class TestPublishedPlaces:
    def test_the_data_has_the_papers_number_of_food_places(self, data_dir: Path):
        with gzip.open(data_dir / "peopleflow" / "POI_TK.csv.gz", "rt", encoding="utf-8") as file:
            rows = [line.split(",") for line in file.read().splitlines()[1:]]
        table = Places.of([(r[3], float(r[1]), float(r[2]), int(r[6])) for r in rows])
        food = table.in_category("food")
        assert len(food) == 4692
        grid = Grid.from_box(32, 32, south=35.65, north=35.75, west=139.68, east=139.80)
        regions = np.random.default_rng(0).integers(0, 1024, (3, 5))
        original = Traces.of(regions)
        near = SetTraces.of_traces(Traces.of(np.minimum(regions + 1, 1023)))
        found = poi_accuracy(City(grid), original, near, food).value
        assert found == pytest.approx(slow_accuracy(City(grid), original, near, food))


class TestPoiCost:
    def test_counts_the_union_over_a_cell_and_nothing_for_a_deleted_one(self):
        city = City(Grid.from_metres(9, 1, width_m=1000, height_m=1000))
        lat, lon = city.grid.latitudes[0], city.grid.longitudes
        shops = Places.of([("food", lat, lon[k], k) for k in (0, 1, 4)])
        released = SetTraces.of_cells([[[0, 1], [], [4]], [[8], [0, 0], [2]]])
        original = Traces.of([[0, 0, 0], [8, 0, 0]])
        # Within 2 km: regions 0 and 1 see the first two places, 4 sees its own, 2 sees all three.
        # User 2's first location has no place within 1 km and is left out.
        found = poi_cost(city, original, released, shops)
        assert found.parts.tolist() == [(2 + 0 + 1) / 3, (2 + 3) / 2]
        assert found.value == (2 + 0 + 1 + 2 + 3) / 5

    def test_a_larger_radius_costs_more_and_is_more_accurate(self, city: City):
        places = random_places(city, 3, 90)
        original = Traces.of(np.random.default_rng(1).integers(0, 48, (4, 6)))
        released = random_release(2, 4, 6, 48)
        costs, shares = (
            [measure(city, original, released, places, received_km=r).value for r in (0.5, 1, 2, 4)]
            for measure in (poi_cost, poi_accuracy)
        )
        assert costs == sorted(costs)
        assert shares == sorted(shares)
        assert costs[0] < costs[-1] <= 90
