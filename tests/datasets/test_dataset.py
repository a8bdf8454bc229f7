"""Data sets and how their users are split."""

from __future__ import annotations

import numpy as np

from tracecup.city import City, Grid
from tracecup.datasets import Dataset
from tracecup.records import CHECK_INS, Records


def some_records() -> Records:
    return Records.of(
        [1, 0, 0, 0, 1],
        [4, 0, 1, 2, 3],
        [9, 8, 9, 9, 8],
        day=[0, 0, 0, 1, 0],
        n_locations=5,
        timetable=CHECK_INS,
        users=[10, 20],
    )


class TestDatasetSplit:
    def test_parts_keep_ids_and_city(self):
        city = City(Grid.from_metres(5, 1, width_m=100, height_m=100))
        split = Dataset(some_records(), city).split(1, 1)
        assert sorted([*split.training.users, *split.testing.users]) == [10, 20]
        assert split.city is city
        assert len(split.training) + len(split.testing) == 5
        assert np.array_equal(np.unique(split.training.user), [0])
