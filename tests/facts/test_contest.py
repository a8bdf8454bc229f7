from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tracecup.contest.correlation import Correlation
from tracecup.errors import InvalidParameter
from tracecup.facts import CityFacts, Population, ReleaseFacts, UserRisks


@pytest.fixture(scope="module")
def facts(make_facts):
    return make_facts()()


class TestRelease:
    @pytest.mark.parametrize(
        ("status", "attacked", "counts"),
        [
            ("team", True, True),
            ("benchmark", True, True),
            ("invalid", False, False),
            ("hors concours", True, False),
        ],
    )
    def test_status(self, status, attacked, counts):
        release = ReleaseFacts("001", "A", status)
        assert (release.attacked, release.counts) == (attacked, counts)


class TestBounds:
    def test_a_score_above_the_ceiling_earns_no_credit(self):
        assert ReleaseFacts("001", "A", trace_min=0.72, ceiling=0.71).uncredited
        assert not ReleaseFacts("001", "A", trace_min=0.7, ceiling=0.71).uncredited
        assert not ReleaseFacts("001", "A", trace_min=0.7).uncredited


def other_board(facts, **changes):
    """The facts with another board."""
    return replace(facts, board=replace(facts.board, **changes))


def other_first(facts, **changes):
    """The facts with another first release."""
    first, *rest = facts.board.releases
    return other_board(facts, releases=(replace(first, **changes), *rest))


def other_row(facts, **changes):
    """The facts with another first row of the first matrix."""
    reid, trace = facts.board.matrices
    rows = (replace(reid.rows[0], **changes), *reid.rows[1:])
    return other_board(facts, matrices=(replace(reid, rows=rows), trace))


class TestCheck:
    def test_the_made_up_contest_is_fine(self, facts):
        facts.check()

    def test_nothing_at_all(self, facts):
        with pytest.raises(InvalidParameter, match="at least one release"):
            other_board(facts, releases=()).check()

    def test_nobody_to_protect(self, facts):
        with pytest.raises(InvalidParameter, match="at least one user"):
            replace(facts, users=0).check()

    @pytest.mark.parametrize("label", ["", "x" * 13, "a\u202eb", " a"])
    def test_a_label_that_could_be_mistaken(self, facts, label):
        with pytest.raises(InvalidParameter, match="plain characters"):
            other_first(facts, label=label).check()

    def test_two_releases_of_one_label(self, facts):
        with pytest.raises(InvalidParameter, match="the same label"):
            other_first(facts, label="001").check()

    def test_a_status_that_is_none(self, facts):
        with pytest.raises(InvalidParameter, match="the status of 000 is one of"):
            other_first(facts, status="winner").check()

    def test_rows_of_other_releases(self, facts):
        with pytest.raises(InvalidParameter, match="reid: the rows of the matrix"):
            other_row(facts, label="009").check()

    def test_a_row_of_another_length(self, facts):
        with pytest.raises(InvalidParameter, match="reid: 000 must have 8 scores, got 1"):
            other_row(facts, values=(0.5,)).check()

    @pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
    def test_a_score_that_is_none(self, facts, score):
        values = (score, *facts.board.reid.rows[0].values[1:])
        for wrong in ({"values": values}, {"minimum": score}):
            with pytest.raises(InvalidParameter, match="must lie within 0..1"):
                other_row(facts, **wrong).check()
        with pytest.raises(InvalidParameter, match="trace_min of 000"):
            other_first(facts, trace_min=score).check()

    def test_a_risk_out_of_range(self, facts):
        with pytest.raises(InvalidParameter, match="trace risk of 000"):
            replace(facts, risks={"000": UserRisks(trace=np.array([2.0]))}).check()

    def test_a_risk_of_another_shape(self, facts):
        with pytest.raises(InvalidParameter, match="re-identification risk of 000: shape"):
            replace(facts, risks={"000": UserRisks(reid=np.zeros((2, 2)))}).check()

    def test_a_correlation_that_is_none(self, facts):
        with pytest.raises(InvalidParameter, match=r"within -1\.\.1"):
            other_board(facts, correlation=Correlation(1.5, None, None, 3, 0.95)).check()

    def test_maps_without_a_city(self, facts):
        with pytest.raises(InvalidParameter, match="need the city"):
            replace(facts, city=None).check()

    def test_a_city_without_regions(self, facts):
        with pytest.raises(InvalidParameter, match="at least one region"):
            replace(facts, city=CityFacts(0, 3, 1, 1)).check()

    def test_a_hospital_outside(self, facts):
        with pytest.raises(InvalidParameter, match="hospital region 30"):
            replace(facts, city=CityFacts(6, 5, 1, 1, (30,))).check()

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
