"""The bounds hold for every release that hypothesis makes up, and are reached by some."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.city import City, Grid
from tracecup.errors import InvalidParameter
from tracecup.score import inference_score, utility_score
from tracecup.score.bounds import Bounds, group_bound, guessing_bound, true_link_bound
from tracecup.traces import SetTraces, Traces

CITY = City(Grid.from_metres(6, 1, width_m=700, height_m=700), hospitals=[1, 4])
REGIONS = st.integers(0, CITY.n_regions - 1)
EVENTS = st.lists(st.tuples(REGIONS, st.lists(REGIONS, max_size=3)), min_size=1, max_size=8)


def shares_found(table_of, users):
    """Mean share of right names over all one-to-one tables that the attacker may hand in."""
    tables = list(table_of(range(users)))
    return np.mean([[k == name for k, name in enumerate(table)] for table in tables])


class TestGuessingBound:
    @pytest.mark.parametrize("users", [1, 2, 3, 5])
    def test_is_the_mean_over_all_tables(self, users):
        found = shares_found(itertools.permutations, users)
        assert guessing_bound(users) == pytest.approx(1 - found)

    def test_nobody(self):
        with pytest.raises(InvalidParameter, match="at least one user"):
            guessing_bound(0)


class TestGroupBound:
    @pytest.mark.parametrize("sizes", [[2, 3], [1, 1], [4], [1, 2, 2]])
    def test_is_the_mean_over_all_tables_inside_groups(self, sizes):
        ends = np.cumsum(sizes)

        def inside(_users):
            parts = [
                itertools.permutations(range(e - s, e)) for s, e in zip(sizes, ends, strict=True)
            ]
            return ([*itertools.chain(*one)] for one in itertools.product(*parts))

        assert group_bound(sizes) == pytest.approx(1 - shares_found(inside, sum(sizes)))

    @given(st.integers(1, 50), st.integers(1, 20))
    def test_equal_groups(self, size, groups):
        assert group_bound([size] * groups) == pytest.approx((size - 1) / size)
        assert group_bound(size) == pytest.approx((size - 1) / size)

    @pytest.mark.parametrize("sizes", [0, [], [2, 0]])
    def test_groups_of_nobody(self, sizes):
        with pytest.raises(InvalidParameter, match="at least one user each"):
            group_bound(sizes)


class TestTrueLinkBound:
    @settings(max_examples=150)
    @given(
        EVENTS,
        st.sampled_from([0.25, 1.0, 10.0]),
        st.sampled_from([(2.0, 2.0), (1.0, 2.0), (2.0, 1.0)]),
        st.sampled_from(["paper", "organisers"]),
    )
    def test_holds_for_a_random_member_of_the_cell(self, events, weight, reaches, rule):
        original = Traces.of([[at for at, _ in events]])
        released = SetTraces.of_cells([[cell for _, cell in events]])
        utility = utility_score(CITY, original, released, rule=rule, reach_km=reaches[0]).value
        # The expected s_T: each event's loss is a mean over the answers he may give.
        losses, weights = [], []
        for at, cell in events:
            answers = [
                inference_score(
                    CITY, Traces.of([[at]]), Traces.of([[answer]]), reach_km=reaches[1]
                ).value
                for answer in (cell or range(CITY.n_regions))
            ]
            losses.append(np.mean(answers))
            weights.append(weight if CITY.is_hospital[at] else 1.0)
        share = np.mean([CITY.is_hospital[at] for at, _ in events])
        bound = true_link_bound(
            utility,
            hospital_share=share,
            hospital_weight=weight,
            utility_reach_km=reaches[0],
            inference_reach_km=reaches[1],
        )
        assert np.average(losses, weights=weights) <= bound + 1e-9

    def test_is_reached(self):
        # Six regions of 700 m: the whole loss of one event in four falls on the hospital.
        original, released = Traces.of([[1, 0, 0, 0]]), Traces.of([[5, 0, 0, 0]])
        cells = SetTraces.of_cells([[[region] for region in released.regions[0]]])
        utility = utility_score(CITY, original, cells).value
        assert utility == pytest.approx(0.75)
        reached = inference_score(CITY, original, released).value
        assert true_link_bound(utility, hospital_share=0.25) == pytest.approx(reached)
        assert reached == pytest.approx(10 / 13)

    def test_without_hospitals_it_is_what_utility_leaves(self):
        assert true_link_bound(0.7) == pytest.approx(0.3)
        assert true_link_bound(0.7, hospital_share=0.5, hospital_weight=1) == pytest.approx(0.3)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"utility": 1.5},
            {"utility": float("nan")},
            {"utility": 0.5, "hospital_share": -0.1},
            {"utility": 0.5, "hospital_weight": 0},
            {"utility": 0.5, "inference_reach_km": float("inf")},
        ],
    )
    def test_what_is_no_share_or_no_weight(self, wrong):
        with pytest.raises(InvalidParameter, match="must"):
            true_link_bound(**wrong)


class TestBounds:
    def test_the_lower_bound_of_a_link(self):
        assert Bounds(guessing=0.99, group=0.96).reid == 0.96
        assert Bounds(guessing=0.99).reid == 0.99
        assert Bounds().reid is None
