"""The parts of a contest that a data set is cut into."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import City, Grid
from tracecup.datasets.contestfiles import contest_parts
from tracecup.datasets.dataset import Dataset
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.records import Records, Timetable

DAY = Timetable(480, 60, 2, 2)


def dataset(timetable: Timetable = DAY, by_place: bool = False) -> Dataset:
    """Four users on days 0, 10, 20 and 30; user 3 on the last day only."""
    seen = [(u, d) for u in range(4) for d in (0, 10, 20, 30) if u < 3 or d == 30]
    records = Records.of(
        [u for u, _ in seen],
        [u for u, _ in seen],
        [0] * len(seen),
        day=[d for _, d in seen],
        n_locations=4,
        timetable=timetable,
        users=[7, 8, 9, 0],
    )
    return Dataset(records, City(Grid.from_metres(2, 2, width_m=100, height_m=100)), by_place)


class TestContestParts:
    def test_recorded_days_are_numbered_through(self):
        parts = contest_parts(dataset(), training_share=0)
        assert (parts.clock.reference.days, parts.clock.original.days) == (2, 2)
        assert parts.reference.day.tolist() == parts.original.day.tolist() == [0, 1] * 3
        assert parts.clock.original.first_time == 4

    def test_users_of_one_part_only_are_counted(self):
        parts = contest_parts(dataset(), training_share=0)
        assert parts.original.users.tolist() == parts.reference.users.tolist() == [7, 8, 9]
        assert parts.one_sided == 1
        assert parts.testing.n_users == 4

    def test_nobody_trains_and_tests(self):
        parts = contest_parts(dataset(), training_share=0.5)
        both = sorted([*parts.training.users, *parts.testing.users])
        assert both == [0, 7, 8, 9]

    def test_fewer_days(self):
        parts = contest_parts(dataset(), days=3, reference_days=1, training_share=0)
        assert (parts.clock.reference.days, parts.clock.original.days) == (1, 2)
        assert parts.unused_days == 1
        assert parts.testing.users.tolist() == [7, 8, 9]

    def test_one_recorded_day_is_for_training_and_testing(self, tmp_path):
        records = dataset().records
        one = Dataset(records.take_days(np.array([30])), dataset().city)
        parts = contest_parts(one, training_share=0.5)
        assert (parts.clock, parts.one_sided, parts.unused_days) == (None, 0, 0)
        assert (parts.training.n_users, parts.testing.n_users) == (2, 2)
        assert len(parts.reference) == len(parts.original) == 0
        parts.write(tmp_path)
        assert sorted(file.name for file in tmp_path.iterdir()) == [
            "info_region.csv",
            "names.csv",
            "testtraces.csv",
            "traintraces.csv",
        ]
        with pytest.raises(InvalidTraces, match="1 recorded days cannot be split"):
            contest_parts(one, reference_days=1)

    @pytest.mark.parametrize("options", [{"reference_days": 4}, {"days": 1}])
    def test_days_that_do_not_suffice(self, options):
        with pytest.raises(InvalidTraces, match="recorded days cannot be split"):
            contest_parts(dataset(), training_share=0, **options)

    def test_places_are_no_regions(self):
        with pytest.raises(InvalidParameter, match="regions as locations"):
            contest_parts(dataset(by_place=True))

    def test_hours_past_midnight(self):
        clock = contest_parts(dataset(Timetable(23 * 60, 60, 2, 2))).clock
        assert clock.original.minutes == (23 * 60, 24 * 60)
