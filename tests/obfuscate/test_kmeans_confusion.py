"""The winner's defence: the floor is met to the last move, no cell moves twice, hospitals swap."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import City, Grid
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import KMeans
from tracecup.obfuscate.kmeans_confusion import nearest_other_hospital
from tracecup.score import utility_score
from tracecup.traces import Traces, visit_counts


class TestBudget:
    @pytest.mark.parametrize("floor", [0.7, 0.8, 0.95])
    def test_spent_to_the_last_move(
        self, floor: float, commuters: Traces, contest_city: City
    ) -> None:
        released, report = KMeans(20, floor=floor).obfuscate_with_report(
            contest_city, commuters, rng=1
        )
        utility = utility_score(contest_city, commuters, released).value
        assert report.finished == "budget spent"
        assert floor - 1e-12 <= utility < floor + 1e-6
        assert report.utility == utility

    def test_public_sample_set(self, osaka: tuple[City, Traces]) -> None:
        city, original = osaka
        _, report = KMeans(100).obfuscate_with_report(city, original, rng=1)
        assert 0.7 - 1e-12 <= report.utility < 0.7 + 1e-6

    def test_full_floor_changes_nothing(self, commuters: Traces, contest_city: City) -> None:
        out = KMeans(20, floor=1.0).obfuscate(contest_city, commuters, rng=1)
        assert np.array_equal(out.as_traces().regions, commuters.regions)

    def test_no_floor_stops_when_nothing_improves(
        self, commuters: Traces, contest_city: City
    ) -> None:
        _, report = KMeans(20, floor=0.0).obfuscate_with_report(contest_city, commuters, rng=1)
        assert report.moves_left == 0
        assert report.finished == "no improving move remains"
        assert report.utility > 0

    def test_refuses_a_floor_above_one(self, commuters: Traces, contest_city: City) -> None:
        with pytest.raises(InvalidParameter, match=r"KMeans\.floor"):
            KMeans(20, floor=1.1).obfuscate_with_report(contest_city, commuters)


class TestMoves:
    def test_no_cell_moves_twice(self, commuters: Traces, contest_city: City) -> None:
        # Prices are those of single moves: they only add up to the loss if no cell moved twice.
        released, report = KMeans(20).obfuscate_with_report(contest_city, commuters, rng=2)
        loss = 1 - utility_score(contest_city, commuters, released).value
        assert report.hospital_price + report.count_price == pytest.approx(loss, abs=1e-12)
        changed = np.count_nonzero(released.as_traces().regions != commuters.regions)
        assert changed == report.hospital_moves + report.count_moves

    def test_counts_approach_the_mean(self, commuters: Traces, contest_city: City) -> None:
        released, report = KMeans(20, hospital=False).obfuscate_with_report(
            contest_city, commuters, rng=2
        )
        before, after = (visit_counts(t, 1024).astype(float) for t in (commuters, released))
        means = np.stack([before[report.labels == c].mean(axis=0) for c in range(20)])
        spread = [float(np.square(c - means[report.labels]).sum()) for c in (before, after)]
        assert spread == pytest.approx([report.spread_before, report.spread_after])
        assert spread[1] < spread[0] / 2

    def test_more_budget_brings_counts_nearer(self, commuters: Traces, contest_city: City) -> None:
        spread = [
            KMeans(20, floor=f).obfuscate_with_report(contest_city, commuters, 3)[1].spread_after
            for f in (0.9, 0.8, 0.7)
        ]
        assert spread[0] > spread[1] > spread[2]

    def test_users_of_their_own_cluster_stay(self, commuters: Traces, contest_city: City) -> None:
        released, report = KMeans(1000, hospital=False).obfuscate_with_report(
            contest_city, commuters, rng=1
        )
        alone = np.bincount(report.labels)[report.labels] == 1
        assert alone.sum() > 290
        assert np.array_equal(released.as_traces().regions[alone], commuters.regions[alone])

    def test_only_single_regions(self, commuters: Traces, contest_city: City) -> None:
        assert KMeans(20).obfuscate(contest_city, commuters, rng=1).is_single


class TestHospitals:
    def test_every_visit_goes_to_the_nearest_other_hospital(
        self, commuters: Traces, contest_city: City
    ) -> None:
        released = KMeans(20).obfuscate(contest_city, commuters, rng=1).as_traces().regions
        at = contest_city.is_hospital[commuters.regions]
        nearest = nearest_other_hospital(contest_city)
        assert at.sum() > 100
        assert np.array_equal(released[at], nearest[commuters.regions[at]])

    def test_switched_off(self, commuters: Traces, contest_city: City) -> None:
        _, report = KMeans(20, hospital=False).obfuscate_with_report(contest_city, commuters, 1)
        assert (report.hospital_moves, report.hospital_price) == (0, 0.0)

    def test_cheapest_first_when_the_budget_is_short(self, odd_city: City) -> None:
        # 0 and 1 are neighbours (price 0.170625), 34 is far from every other (price 0.49).
        original = Traces.of([[34, 0, 34, 1]])
        out = KMeans(1, floor=1 - 0.4 / 4).obfuscate(odd_city, original, rng=1)
        assert out.regions.tolist() == [34, 1, 34, 0]

    def test_a_single_hospital_has_no_other(self, toy_city: City) -> None:
        original = Traces.of([[1, 1, 0]])
        assert KMeans(1).obfuscate(toy_city, original, rng=1).regions.tolist() == [1, 1, 0]


class TestNearestOtherHospital:
    def test_toy(self) -> None:
        grid = Grid.from_metres(9, 1, width_m=300, height_m=300)
        nearest = nearest_other_hospital(City(grid, hospitals=[0, 3, 6, 8]))
        assert nearest.tolist() == [3, 1, 2, 0, 4, 5, 8, 7, 6]

    def test_ties_go_to_the_smallest_index(self) -> None:
        grid = Grid.from_metres(9, 1, width_m=300, height_m=300)
        assert nearest_other_hospital(City(grid, hospitals=[2, 4, 6]))[4] == 2


class TestReport:
    def test_reads_as_a_sentence(self, commuters: Traces, contest_city: City) -> None:
        _, report = KMeans(20).obfuscate_with_report(contest_city, commuters, rng=1)
        assert str(report).startswith("utility 0.700000")
        assert "20 clusters of" in str(report)
