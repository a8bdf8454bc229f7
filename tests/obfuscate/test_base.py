"""What every obfuscation keeps: input, users, clock, seeds, names; and how it acts on sets."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import City, Clock
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.obfuscate import MRLH, RR, Cheat, NoObfuscation, PlanarLaplace, parse_obfuscator
from tracecup.obfuscate.base import stand_ins
from tracecup.registry import methods
from tracecup.traces import SetTraces, Traces


def lists(cells: SetTraces) -> list[list[list[int]]]:
    users, times = cells.shape
    return [[cells.cell(i, j).tolist() for j in range(times)] for i in range(users)]


NAMES = [
    "None",
    "MRLH(1,2,0.3)",
    "RR(2)",
    "PL(2,1)",
    "Cheat(0.6)",
    "KMeans(4)",
    "RareShift(2)",
    "MixZone(2)",
    "Swap(0.8,0.9)",
    "PLR(2,1)",
    "Optimal(0.6)",
    "OptimalUser(0.6)",
    "GeoOpt(2,2)",
    "SGLT-D(6,0.5)",
    "RR(3)+Cheat(0.5)+MRLH(1,1,0.2)",
]
RANDOM = NAMES[1:]


class TestRegistry:
    def test_holds_the_names_of_the_paper(self) -> None:
        wanted = {"None", "MRLH", "RR", "PL", "Cheat", "KMeans", "RareShift"}
        assert wanted <= set(methods("obfuscator"))

    @pytest.mark.parametrize("name", sorted(methods("obfuscator")))
    def test_every_method_explains_itself(self, name: str) -> None:
        cls = methods("obfuscator")[name]
        assert cls.summary
        assert cls.citation
        assert all(rule.meaning for rule in cls.parameters())

    @pytest.mark.parametrize("name", [*NAMES, "MRLH(1,2,0.3,replay=true)", "KMeans(4,floor=0.8)"])
    def test_names_survive_a_round_trip(self, name: str) -> None:
        assert str(parse_obfuscator(name)) == name

    def test_lambda_is_a_keyword_of_names(self) -> None:
        assert parse_obfuscator("mrlh(1, mu_y=0, LAMBDA=0.25)") == MRLH(1, 0, 0.25)


class TestObfuscate:
    @pytest.mark.parametrize("name", NAMES)
    def test_keeps_users_and_clock(self, name: str, crowd: Traces, odd_city: City) -> None:
        out = parse_obfuscator(name).obfuscate(odd_city, crowd, rng=1)
        assert out.users.tolist() == crowd.users.tolist()
        assert out.clock == crowd.clock
        assert out.regions.size == 0 or 0 <= out.regions.min() <= out.regions.max() < 35

    @pytest.mark.parametrize("name", NAMES)
    def test_leaves_the_original_alone(self, name: str, crowd: Traces, odd_city: City) -> None:
        own = np.array(crowd.regions)
        original = Traces(own, crowd.users, crowd.clock)
        before = own.copy()
        parse_obfuscator(name).obfuscate(odd_city, original, rng=1)
        assert np.array_equal(own, before)

    @pytest.mark.parametrize("name", NAMES)
    def test_same_seed_same_bytes(self, name: str, crowd: Traces, odd_city: City) -> None:
        method = parse_obfuscator(name)
        assert method.obfuscate(odd_city, crowd, rng=5) == method.obfuscate(odd_city, crowd, rng=5)

    @pytest.mark.parametrize("name", RANDOM)
    def test_other_seed_other_bytes(self, name: str, crowd: Traces, odd_city: City) -> None:
        method = parse_obfuscator(name)
        assert method.obfuscate(odd_city, crowd, rng=5) != method.obfuscate(odd_city, crowd, rng=6)

    @pytest.mark.parametrize("name", NAMES)
    def test_threads_change_nothing(
        self, name: str, crowd: Traces, odd_city: City, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        method = parse_obfuscator(name)
        monkeypatch.setenv("TRACECUP_THREADS", "1")
        one = method.obfuscate(odd_city, crowd, rng=8)
        monkeypatch.setenv("TRACECUP_THREADS", "2")
        assert method.obfuscate(odd_city, crowd, rng=8) == one

    @pytest.mark.parametrize("name", NAMES)
    def test_one_user_three_slots(self, name: str, odd_city: City) -> None:
        original = Traces.of([[0, 34, 12]], Clock.regular(1, 3))
        out = parse_obfuscator(name).obfuscate(odd_city, original, rng=1)
        assert out.shape == (1, 3)

    @pytest.mark.parametrize("name", NAMES)
    def test_gaps_are_deleted_and_the_latest_region_stands_for_them(
        self, name: str, odd_city: City
    ) -> None:
        clock = Clock.regular(2, 2)
        gaps = Traces.of([[-1, 3, -1, 7], [9, 9, 9, -1], [-1] * 4, [5, 6, 7, 8]], clock)
        filled = Traces.of([[3, 3, 3, 7], [9, 9, 9, 9], [0] * 4, [5, 6, 7, 8]], clock)
        method = parse_obfuscator(name)
        if method.crowd is not None:
            with pytest.raises(InvalidTraces, match="which events were recorded"):
                method.obfuscate(odd_city, gaps, rng=1)
            return
        found = method.obfuscate(odd_city, gaps, rng=1)
        if "Cheat" in name:  # whole traces change places, gaps and all
            empty = (np.diff(found.offsets) == 0).reshape(found.shape)
            assert empty[:, 0].sum() >= 2
            assert name != "Cheat(0.6)" or sorted(map(str, lists(found))) == sorted(
                map(str, lists(SetTraces.of_traces(gaps)))
            )
            return
        expected = lists(method.obfuscate(odd_city, filled, rng=1))
        for i, row in enumerate(lists(found)):
            for j, cell in enumerate(row):
                assert cell == ([] if gaps.regions[i, j] < 0 else expected[i][j])

    def test_gaps_with_a_reference(self, odd_city: City) -> None:
        gaps = Traces.of([[0, -1], [3, 4]], Clock.regular(1, 2))
        found = RR(50.0).obfuscate(odd_city, gaps, rng=1, reference=gaps)
        assert lists(found) == [[[0], []], [[3], [4]]]

    def test_refuses_regions_outside_the_city(self, odd_city: City) -> None:
        with pytest.raises(InvalidTraces, match="35 is not within"):
            NoObfuscation().obfuscate(odd_city, Traces.of([[35]]))

    @pytest.mark.parametrize(
        "method", [RR(-1.0), MRLH(0, 0, 1.5), MRLH(-1), PlanarLaplace(0.0, 1.0), Cheat(1.1)]
    )
    def test_refuses_parameters_out_of_range(self, method: RR, odd_city: City) -> None:
        with pytest.raises(InvalidParameter, match=f"{method.name}\\.\\w+ must be"):
            method.obfuscate(odd_city, Traces.of([[0]]))


class TestGuarantee:
    def test_planar_laplace(self) -> None:
        assert PlanarLaplace(4.0, 1.0).guarantee(400) == (
            "4-geo-indistinguishable per km, per event; 400 events compose to 1600"
        )

    def test_planar_laplace_is_level_by_radius(self) -> None:
        assert PlanarLaplace(1.0, 2.0).guarantee(10).startswith("0.5-geo-indistinguishable")

    def test_randomized_response(self) -> None:
        assert RR(0.1).guarantee(400) == (
            "0.1-differentially private per event; 400 events compose to 40"
        )

    @pytest.mark.parametrize("name", ["None", "MRLH", "KMeans", "RareShift", "Cheat(0)"])
    def test_methods_without_proof_promise_nothing(self, name: str) -> None:
        assert parse_obfuscator(name).guarantee() == ""

    def test_cheat_promises_only_for_those_who_exchange(self) -> None:
        assert "all users" in Cheat(1.0).guarantee()
        assert "all users" not in Cheat(0.5).guarantee()


class TestObfuscateCells:
    CELLS: tuple[list[list[int]], ...] = ([[], [3], [1, 2]], [[], [], []], [[4], [], [0]])

    def test_sets_and_deletions_pass_through(self, toy_city: City) -> None:
        cells = SetTraces.of_cells(self.CELLS)
        out = RR(0.0).obfuscate_cells(toy_city, cells, rng=1)
        for i, j in [(0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (2, 1)]:
            assert out.cell(i, j).tolist() == self.CELLS[i][j]

    def test_single_cells_are_obfuscated(self, toy_city: City) -> None:
        out = MRLH(1, 0, 0.0).obfuscate_cells(toy_city, SetTraces.of_cells(self.CELLS))
        singles = [out.cell(i, j).tolist() for i, j in [(0, 1), (2, 0), (2, 2)]]
        assert singles == [[2, 3], [4], [0, 1]]

    def test_plain_cells_are_as_original_traces(self, crowd: Traces, odd_city: City) -> None:
        cells = SetTraces.of_traces(crowd)
        assert RR(2.0).obfuscate_cells(odd_city, cells, 3) == RR(2.0).obfuscate(odd_city, crowd, 3)

    def test_cheat_moves_sets_with_their_trace(self, toy_city: City) -> None:
        cells = SetTraces.of_cells(self.CELLS)
        out = Cheat(1.0).obfuscate_cells(toy_city, cells, rng=4)
        rows = [[out.cell(i, j).tolist() for j in range(3)] for i in range(3)]
        assert sorted(rows) == sorted(self.CELLS)
        assert out.users.tolist() == cells.users.tolist()

    def test_result_depends_on_the_cells_alone(self) -> None:
        filled = stand_ins(SetTraces.of_cells(self.CELLS)).regions
        assert filled.tolist() == [[3, 3, 1], [0, 0, 0], [4, 4, 0]]
