from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tracecup.attack import Case, MmcR
from tracecup.attack.models.mmc import near_stops, stop_weights
from tracecup.city import City, Clock, Grid
from tracecup.traces import SetTraces, Traces, visit_counts

DISTANCES = ("stat", "sym", "prox", "statprox")


@pytest.fixture(scope="module")
def worked() -> Case:
    """Bottom row; p: region 1 (0.75) and 4 (0.25); u: regions 1 and 3 (0.5 each)."""
    city = City(Grid.from_metres(32, 32, width_m=341.25, height_m=346.875))
    released = SetTraces.of_cells([[[0], [0], [0], [3]]])
    return Case(city, Traces.of([[0, 2, 2, 0]]), released)


def slow_distances(case: Case, minvisits: int, delta: float) -> dict[str, np.ndarray]:
    """All four distances from their definitions, pair by pair; rank lists in plain Python."""

    def chain(visits: np.ndarray) -> list[tuple[float, int]]:
        stops = {r: v for r, v in enumerate(visits.tolist()) if v >= minvisits - 1e-6}
        stops = stops or {r: v for r, v in enumerate(visits.tolist()) if v > 0}
        total = sum(stops.values())
        return sorted(((v / total, r) for r, v in stops.items()), key=lambda s: (-s[0], s[1]))

    n, d = case.city.n_regions, case.city.grid.distances
    released = [chain(v) for v in visit_counts(case.released, n)]
    known = [chain(v) for v in visit_counts(case.reference, n)]
    m = case.n_users
    out = {name: np.zeros((m, m)) for name in DISTANCES}
    for p, mine in enumerate(released):
        for u, hers in enumerate(known):
            if not mine:
                continue
            there = sum(w * min(d[s, r] for _, r in hers) for w, s in mine)
            back = sum(w * min(d[s, r] for _, r in mine) for w, s in hers)
            values = [10, 5, 2] + [1] * n
            hits = sum(
                value
                for value, (_, s), (_, r) in zip(values, mine, hers, strict=False)
                if d[s, r] <= delta
            )
            out["stat"][p, u], out["sym"][p, u] = there, (there + back) / 2
            out["prox"][p, u] = 1 / hits if hits else 100_000
            out["statprox"][p, u] = 1 / hits if hits and there > 2 else there
    return out


class TestMmcR:
    @pytest.mark.parametrize(
        ("attack", "wanted"),
        [
            (MmcR("stat", minvisits=1), 0.0853125),
            (MmcR("sym", minvisits=1), 0.12796875),
            (MmcR("prox", minvisits=1, delta=0.1), 1 / 10),
            (MmcR("prox", minvisits=1), 1 / 15),
            (MmcR("prox", minvisits=1, delta=0.0), 1 / 10),
            (MmcR("prox", minvisits=1, ranks=1), 1 / 10),
            (MmcR("statprox", minvisits=1), 0.0853125),
        ],
        ids=str,
    )
    def test_worked_example(self, worked: Case, attack: MmcR, wanted: float) -> None:
        assert -attack.score_matrix(worked)[0, 0] == pytest.approx(wanted, rel=1e-12)

    @pytest.mark.parametrize("distance", DISTANCES)
    @pytest.mark.parametrize("minvisits", [1, 2])
    def test_agrees_with_the_slow_program(
        self, make_case: Callable[..., Case], distance: str, minvisits: int
    ) -> None:
        # sizes 1, 2 and 4: sums of 1/size have no rounding that could decide a tie of ranks
        case = make_case(1, users=8, nx=9, slots=4, days=6, sizes=(0, 1, 1, 2, 4))
        wanted = slow_distances(case, minvisits, 0.36)[distance]
        matrix = MmcR(distance, minvisits=minvisits).score_matrix(case)
        assert np.allclose(-matrix, wanted, 1e-9, 1e-9)

    def test_of_three_visits_at_two_places_both_ways_differ(self, worked: Case) -> None:
        there = MmcR("stat", minvisits=1).score_matrix(worked)
        swapped = Case(
            worked.city, worked.released.as_traces(), SetTraces.of_traces(worked.reference)
        )
        assert -MmcR("stat", minvisits=1).score_matrix(swapped)[0, 0] == pytest.approx(0.170625)
        assert there[0, 0] != pytest.approx(-0.170625)

    def test_a_pseudonym_without_cells_goes_to_the_smallest_user(
        self, make_case: Callable[..., Case]
    ) -> None:
        assert MmcR().identify(make_case(2)).users[-1] == 0

    def test_finds_everybody_in_her_own_reference(self, make_case: Callable[..., Case]) -> None:
        case = make_case(3, users=30, slots=5, days=4)
        same = Case(case.city, case.reference, SetTraces.of_traces(case.reference))
        assert MmcR(minvisits=1).identify(same).users.tolist() == list(range(30))


class TestStopWeights:
    def test_places_below_the_threshold_are_no_stops(self) -> None:
        traces = SetTraces.of_cells([[[0], [0], [1], [2], [2], [2]]])
        assert stop_weights(traces, 3).tolist() == [[0.4, 0.0, 0.6]]

    def test_without_stops_all_places_count(self) -> None:
        traces = SetTraces.of_cells([[[0], [1], [], [2, 3]]])
        assert np.allclose(stop_weights(traces, 4), [[1 / 3, 1 / 3, 1 / 6, 1 / 6]])

    def test_dwelling_needs_a_neighbour_in_time(self) -> None:
        clock = Clock.regular(days=2, slots=3)
        traces = SetTraces.of_cells([[[0], [0, 1], [2], [2], [3], [3]]], clock)
        # region 2 ends one day and begins the next: no stay; 1 has no neighbour
        assert np.allclose(stop_weights(traces, 4, 1, dwell=True), [[1.5 / 3.5, 0, 0, 2 / 3.5]])

    def test_stationary_weights_are_fixed_by_the_chain(self) -> None:
        traces = SetTraces.of_cells([[[0], [0], [1], [0], [0], [1], [0]]])
        weights = stop_weights(traces, 2, 1, stationary=True)[0]
        chain = np.array([[0.5, 0.5], [1.0, 0.0]])
        assert np.allclose(weights @ chain, weights, 0, 1e-6)
        assert weights.sum() == pytest.approx(1.0)


class TestNearStops:
    def test_is_the_smallest_distance(self, worked: Case) -> None:
        weights = np.zeros((2, 1024))
        weights[0, [5, 700]] = 0.5
        d = worked.city.grid.distances
        near = near_stops(worked.city, weights)
        assert np.array_equal(near[0], np.minimum(d[5], d[700]))
        assert (near[1] == d.max()).all()
