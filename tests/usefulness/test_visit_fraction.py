from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.errors import InvalidTraces
from tracecup.usefulness import (
    DayTraces,
    Records,
    Timetable,
    uniform_fractions,
    vf_tv,
    visit_fractions,
)
from tracecup.usefulness.visit_fraction import comparable_locations

ONE = Timetable(0, 60, 1, 1)


def slow_fractions(sequences: list[list[int]], n: int, bins: int, least: int) -> np.ndarray:
    histogram = np.zeros((n, bins), dtype=int)
    for sequence in sequences:
        seen = [i for i in sequence if i >= 0]
        if len(seen) < least:
            continue
        for i in range(n):
            f = Fraction(seen.count(i), len(seen))
            if 0 < f < 1:
                histogram[i, math.ceil(bins * f) - 1] += 1
    return histogram


def records_of(sequences: list[list[int]], n: int) -> Records:
    users = [u for u, sequence in enumerate(sequences) for _ in sequence]
    places = [i for sequence in sequences for i in sequence]
    return Records.of(users, places, [0] * len(users), n_locations=n, timetable=ONE)


class TestVisitFractions:
    def test_by_hand(self):
        # f = 5/6 and 1/6: bins ceil(20) - 1 = 19 and ceil(4) - 1 = 3.
        found = visit_fractions(records_of([[0, 0, 0, 0, 0, 1]], 3))[0]
        assert np.argwhere(found).tolist() == [[0, 19], [1, 3]]

    def test_few_records_and_whole_stays_are_skipped(self):
        found = visit_fractions(records_of([[0, 1, 0, 1], [1, 1, 1, 1, 1]], 2))
        assert found.sum() == 0

    def test_five_records_are_enough(self):
        assert visit_fractions(records_of([[0, 1, 0, 1, 0]], 2)).sum() == 2

    @given(
        st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=30), min_size=1, max_size=6),
        st.integers(1, 30),
    )
    def test_agrees_with_exact_fractions(self, sequences: list[list[int]], bins: int):
        found = visit_fractions(records_of(sequences, 5), bins)[0]
        assert np.array_equal(found, slow_fractions(sequences, 5, bins, 5))

    def test_days_are_counted_one_by_one_and_gaps_skipped(self):
        days = np.random.default_rng(0).integers(-1, 4, (7, 3, 9))
        found = visit_fractions(DayTraces.of(days, n_locations=4))
        for d in range(3):
            expected = slow_fractions(days[:, d].tolist(), 4, 24, 5)
            assert np.array_equal(found[d], expected)


class TestUniformFractions:
    def test_many_locations_fall_into_bin_0(self):
        assert uniform_fractions(400)[0, :, 0].tolist() == [1] * 400

    def test_few_locations_fall_higher(self):
        # 1/5 of 24 bins is 4.8: bin 4.
        assert np.argwhere(uniform_fractions(5)[0])[:, 1].tolist() == [4] * 5


class TestVfTv:
    def histogram(self, *rows: list[int]) -> np.ndarray:
        return np.array([rows])

    def test_by_hand(self):
        # Location 0: (1/2, 1/2) against (1, 0): 1/2. Location 1 is equal. Location 2 is not in
        # the testing data and does not count.
        training = self.histogram([2, 2], [0, 1], [1, 0])
        testing = self.histogram([1, 0], [1, 0], [0, 0])
        other = self.histogram([3, 0], [0, 7], [0, 9])
        assert vf_tv(training, testing, other).value == 0.25

    def test_location_without_entry_has_its_mass_in_bin_0(self):
        training = self.histogram([0, 4])
        assert vf_tv(training, training, self.histogram([0, 0])).value == 1
        training = self.histogram([4, 0])
        assert vf_tv(training, training, self.histogram([0, 0])).value == 0

    def test_zero_on_itself(self, people_flow: tuple[Records, Records]):
        train, test = (visit_fractions(records) for records in people_flow)
        assert vf_tv(train, test, train).value == 0
        assert 0 < vf_tv(train, test, test).value < vf_tv(train, test, uniform_fractions(400)).value

    def test_comparable_locations_are_in_both(self):
        training, testing = self.histogram([1, 0], [0, 0]), self.histogram([0, 2], [1, 0])
        assert comparable_locations(training, testing).tolist() == [True, False]

    def test_nothing_comparable_is_an_error(self):
        empty = self.histogram([0, 0])
        with pytest.raises(InvalidTraces, match="no location"):
            vf_tv(empty, empty, empty)

    def test_shapes_are_checked(self):
        with pytest.raises(InvalidTraces, match="differ in shape"):
            vf_tv(self.histogram([1, 0]), self.histogram([1, 0]), self.histogram([1, 0, 0]))
