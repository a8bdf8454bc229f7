"""Collecting points and making data sets of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets.boundingbox import Box
from tracecup.datasets.collect import Codes, Collector, Cut, Venues, need_records
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.records import Timetable

BOX = Box(0, 4, 0, 4)
HOURLY = Timetable(6 * 60, 60, 12, 12)
HOUR = 3600.0


def collector(**options) -> Collector:
    return Collector(Cut(BOX, HOURLY, 4, 4, **options))


def arrays(*columns):
    return [np.array(column, dtype=float) for column in columns]


class TestCut:
    @pytest.mark.parametrize("bad", [{"nx": 0}, {"top": 0}, {"fewest": 0}])
    def test_zero_makes_no_sense(self, bad):
        with pytest.raises(InvalidParameter):
            Collector(Cut(BOX, HOURLY, **bad))


class TestCodes:
    def test_numbers_go_on_over_blocks(self):
        codes = Codes()
        assert codes.of(pa.array([b"x", b"y"])).tolist() == [0, 1]
        assert codes.of(pa.array([b"z", b"y"])).tolist() == [2, 1]
        assert len(codes) == 3


class TestRegions:
    def test_box_and_hours_cut(self):
        some = collector()
        y, x, when = arrays([0.5, 9, 3.5, 1.5], [0.5, 1, 3.5, 1], [7, 7, 5.9, 18])
        some.add_points(np.array([3, 3, 3, 3]), y, x, when * HOUR)
        records = some.regions().records
        assert records.location.tolist() == [0]
        assert records.instant.tolist() == [1]
        assert records.users.tolist() == [3]

    def test_users_in_id_order_over_blocks(self):
        some = collector()
        for user in ([30, 10], [20, 10]):
            some.add_points(np.array(user), *arrays([0, 1], [0, 1], [7 * HOUR, 8 * HOUR]))
        records = some.regions().records
        assert records.users.tolist() == [10, 20, 30]
        assert records.user.tolist() == [0, 0, 1, 2]

    def test_shift_separates_clock_and_time(self):
        some = collector()
        some.add_points(np.array([1]), *arrays([0], [0], [33 * HOUR]), shift=9 * HOUR)
        records = some.regions().records
        assert (records.instant[0], records.unix[0]) == (3, 24 * HOUR)

    def test_days_count_from_the_first(self):
        some = collector()
        when = np.array([24 * 10 + 7, 24 * 12 + 7]) * HOUR
        some.add_points(np.array([1, 1]), *arrays([0, 0], [0, 0]), when)
        assert some.regions().records.day.tolist() == [0, 2]

    def test_before_1970(self):
        some = collector()
        some.add_points(np.array([1]), *arrays([0], [0], [-17 * HOUR]))
        assert some.regions().records.instant.tolist() == [1]

    def test_thin_keeps_the_first_of_an_instant(self):
        some = collector(thin=True)
        when = np.array([7.2, 7.1, 7.3, 8, 8.5]) * HOUR
        some.add_points(np.array([1, 2, 1, 1, 1]), *arrays([0, 1, 2, 3, 0], [0] * 5), when)
        some.add_points(np.array([1]), *arrays([3], [3], [7.05 * HOUR]))
        records = some.regions().records
        assert records.user.tolist() == [0, 0, 1]
        assert records.location.tolist() == [15, 12, 4]

    def test_users_with_too_few_records_go(self):
        some = collector(fewest=2)
        some.add_points(
            np.array([1, 2, 2]), *arrays([0, 0, 0], [0, 0, 0], [7 * HOUR, 7 * HOUR, 8 * HOUR])
        )
        records = some.regions().records
        assert (records.users.tolist(), records.user.tolist()) == ([2], [0, 0])

    def test_text_users_keep_their_names(self):
        some = collector()
        some.add_points(np.array([0, 1]), *arrays([0, 1], [0, 0], [7 * HOUR, 7 * HOUR]))
        records = some.regions([b"zoe", b"ann"]).records
        assert records.names == ("ann", "zoe")
        assert records.location.tolist() == [4, 0]

    def test_numbers_as_text_sort_as_numbers(self):
        some = collector()
        some.add_points(np.array([0, 1]), *arrays([0, 1], [0, 0], [7 * HOUR, 7 * HOUR]))
        records = some.regions([b"10", b"9"]).records
        assert (records.users.tolist(), records.names) == ([9, 10], ())

    def test_leading_zeros_are_names(self):
        some = collector()
        some.add_points(np.array([0, 1]), *arrays([0, 1], [0, 0], [7 * HOUR, 7 * HOUR]))
        assert some.regions([b"000", b"00"]).records.names == ("00", "000")

    def test_nothing_collected(self):
        with pytest.raises(InvalidTraces, match="no record of it"):
            need_records(collector().regions(), "it")


class TestPlaces:
    def test_most_visited_first_ties_in_order(self):
        some = collector(top=2)
        venues = Venues([0.5, 1.5, 2.5], [0.5, 0.5, 3.5], ["a", "b", "c"])
        user, when = np.array([1, 1, 2, 2, 1]), np.full(5, 7 * HOUR)
        some.add(user, [2, 1, 2, 0, -1], when)
        dataset = some.places(venues)
        assert dataset.by_place
        assert dataset.city.places.categories == ("c", "a")
        assert dataset.city.places.counts.tolist() == [2, 1]
        assert dataset.records.location.tolist() == [0, 0, 1]

    def test_places_lie_in_the_twenty_by_twenty_grid(self):
        some = collector(top=5)
        some.add(np.array([1]), [0], np.array([7 * HOUR]))
        dataset = some.places(Venues([4.0], [0.0], ["a"]))
        assert dataset.city.n_regions == 400
        assert dataset.city.places.regions.tolist() == [380]

    def test_ties_go_by_id_where_there_are_any(self):
        some = collector(top=3)
        some.add(np.array([1, 1, 1]), [0, 1, 2], np.full(3, 7 * HOUR))
        dataset = some.places(
            Venues([0.5, 1.5, 2.5], [0, 0, 0], ["a", "b", "c"]), [b"9", b"1", b"5"]
        )
        assert dataset.city.places.categories == ("b", "c", "a")

    def test_what_is_not_among_the_top_is_counted(self):
        some = collector(top=1)
        some.add(np.array([1, 1, 1, 1]), [0, 1, 0, -1], np.full(4, 7 * HOUR))
        dropped = some.places(Venues([0.5, 1.5], [0, 0], ["a", "b"])).dropped
        assert (dropped.other_places, dropped.outside) == (1, 1)


class TestVenues:
    def test_a_venue_lies_where_its_earliest_visit_was(self):
        venues = Venues()
        words = pa.array([b"late", b"y", b"early"])
        venues.learn(np.array([0, 1, 0]), *arrays([9, 1, 3], [1, 2, 3], [4, 5, 6]), words)
        venues.learn(np.array([1, 2]), *arrays([5, 5], [9, 7], [9, 8]), pa.array([b"no", b"z"]))
        assert venues.latitude.tolist() == [3, 2, 7]
        assert venues.category == ["early", "y", "z"]


class TestDropped:
    def test_everything_left_out_is_counted_once(self):
        some = collector(thin=True, fewest=2)
        some.bad_lines(3)
        y, x, when = arrays([9, 0, 0, 0, 0, 1], [0] * 6, [7, 3, 7.5, 7.1, 8, 8])
        some.add_points(np.array([1, 1, 1, 1, 1, 2]), y, x, when * HOUR)
        dataset = some.regions()
        dropped = dataset.dropped
        assert (dropped.bad_lines, dropped.outside, dropped.off_hours) == (3, 1, 1)
        assert (dropped.same_instant, dropped.few_records) == (1, 1)
        assert len(dataset.records) == 2

    def test_the_reasons_are_told_where_nothing_is_left(self):
        some = collector()
        some.add_points(np.array([1]), *arrays([9], [9], [7 * HOUR]))
        with pytest.raises(InvalidTraces, match=r"left out: outside 1"):
            need_records(some.regions(), "it")


class TestOrder:
    @given(st.permutations(range(7)), st.integers(1, 6))
    def test_neither_order_nor_blocks_matter(self, order, cut):
        """A descending file used to keep the last record of an instant."""
        user = np.array([1, 1, 1, 1, 2, 2, 2])
        y, x = arrays([0, 1, 2, 3, 0, 1, 1], [0] * 7)
        when = np.array([7.5, 7.1, 7.3, 8, 9, 9, 9.5]) * HOUR
        found = []
        for rows in (list(range(7)), list(order)):
            some = collector(thin=True)
            for part in (rows[:cut], rows[cut:]):
                some.add_points(user[part], y[part], x[part], when[part])
            found.append(some.regions())
        assert found[0].records == found[1].records
        assert found[0].dropped == found[1].dropped
        assert found[0].records.location.tolist() == [4, 12, 0]
