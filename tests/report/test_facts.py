from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tracecup.contest.correlation import Correlation
from tracecup.errors import InvalidParameter
from tracecup.report import CityMap, Population, Release


@pytest.fixture(scope="module")
def facts(make_facts):
    return make_facts()()


class TestRelease:
    @pytest.mark.parametrize(
        ("given", "status", "attacked", "counts"),
        [
            ({}, "team", True, True),
            ({"benchmark": True}, "benchmark", True, True),
            ({"valid": False}, "invalid", False, False),
            ({"hors_concours": True}, "hors concours", True, False),
            ({"hors_concours": True, "valid": False}, "hors concours", True, False),
        ],
    )
    def test_status(self, given, status, attacked, counts):
        release = Release("001", "A", **given)
        assert (release.status, release.attacked, release.counts) == (status, attacked, counts)


class TestCheck:
    def test_the_made_up_contest_is_fine(self, facts):
        facts.check()

    def test_nothing_at_all(self, facts):
        with pytest.raises(InvalidParameter, match="at least one release"):
            replace(facts, releases=()).check()

    def test_nobody_to_protect(self, facts):
        with pytest.raises(InvalidParameter, match="at least one user"):
            replace(facts, users=0).check()

    @pytest.mark.parametrize("label", ["", "x" * 13, "a\u202eb", " a"])
    def test_a_label_that_could_be_mistaken(self, facts, label):
        releases = (replace(facts.releases[0], label=label), *facts.releases[1:])
        with pytest.raises(InvalidParameter, match="plain characters"):
            replace(facts, releases=releases).check()

    def test_two_releases_of_one_label(self, facts):
        releases = (replace(facts.releases[0], label="001"), *facts.releases[1:])
        with pytest.raises(InvalidParameter, match="the same label"):
            replace(facts, releases=releases).check()

    def test_a_matrix_of_another_size(self, facts):
        with pytest.raises(InvalidParameter, match="reid: the matrix must be"):
            replace(facts, reid=replace(facts.reid, values=facts.reid.values[1:])).check()

    def test_minima_of_another_length(self, facts):
        with pytest.raises(InvalidParameter, match="trace: needs"):
            replace(facts, trace=replace(facts.trace, minima=(0.5,))).check()

    @pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
    def test_a_score_that_is_none(self, facts, score):
        rows = ((score, *facts.reid.values[0][1:]), *facts.reid.values[1:])
        with pytest.raises(InvalidParameter, match="must lie within 0..1"):
            replace(facts, reid=replace(facts.reid, values=rows)).check()

    def test_a_risk_out_of_range(self, facts):
        releases = (replace(facts.releases[0], trace_risk=np.array([2.0])), *facts.releases[1:])
        with pytest.raises(InvalidParameter, match="trace_risk of 000"):
            replace(facts, releases=releases).check()

    def test_a_risk_of_another_shape(self, facts):
        releases = (replace(facts.releases[0], reid_risk=np.zeros((2, 2))), *facts.releases[1:])
        with pytest.raises(InvalidParameter, match="reid_risk of 000: shape"):
            replace(facts, releases=releases).check()

    def test_a_correlation_that_is_none(self, facts):
        with pytest.raises(InvalidParameter, match=r"within -1\.\.1"):
            replace(facts, correlation=Correlation(1.5, None, None, 3, 0.95)).check()

    def test_maps_without_a_city(self, facts):
        with pytest.raises(InvalidParameter, match="need the city"):
            replace(facts, city=None).check()

    def test_a_city_without_regions(self, facts):
        with pytest.raises(InvalidParameter, match="at least one region"):
            replace(facts, city=CityMap(0, 3)).check()

    def test_a_hospital_outside(self, facts):
        with pytest.raises(InvalidParameter, match="hospital region 30"):
            replace(facts, city=CityMap(6, 5, (30,))).check()

    def test_population_of_another_city(self, facts):
        other = Population(("08:00",), np.zeros((1, 7)))
        with pytest.raises(InvalidParameter, match="population must have the shape"):
            replace(facts, population=other).check()

    def test_a_population_below_zero(self, facts):
        other = Population(("08:00",), np.full((1, 30), -1.0))
        with pytest.raises(InvalidParameter, match="finite and >= 0"):
            replace(facts, population=other).check()

    def test_traces_of_different_lengths(self, facts):
        example = replace(facts.example, inferred=(0,))
        with pytest.raises(InvalidParameter, match="events each"):
            replace(facts, example=example).check()

    @pytest.mark.parametrize("name", ["original", "inferred"])
    def test_an_event_outside_the_city(self, facts, name):
        events = (99, *getattr(facts.example, name)[1:])
        with pytest.raises(InvalidParameter, match=f"{name} region 99"):
            replace(facts, example=replace(facts.example, **{name: events})).check()

    def test_a_cell_outside_the_city(self, facts):
        cells = ((1, 99), *facts.example.obfuscated[1:])
        with pytest.raises(InvalidParameter, match="obfuscated region 99"):
            replace(facts, example=replace(facts.example, obfuscated=cells)).check()
