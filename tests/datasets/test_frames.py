"""Records as frames of other libraries, and back."""

from __future__ import annotations

import importlib.util

import pytest

from tracecup.datasets import Box, from_frame
from tracecup.datasets.frames import to_frame
from tracecup.errors import InvalidParameter

BOX = Box(47, 48, 8, 9)
ROWS = {
    "user": ["ann", "ann", "bob"],
    "time": ["2013-07-01 09:00:07", "2013-07-02 17:59:00", "2013-07-01 06:00:00"],
    "lat": [47.01, 47.99, 47.5],
    "lon": [8.01, 8.99, 8.5],
}


class TestToFrame:
    @pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas", "geopandas"])
    def test_there_and_back(self, library):
        dataset = from_frame(ROWS, box=BOX)
        if importlib.util.find_spec(library) is None:
            with pytest.raises(InvalidParameter, match="to be installed"):
                to_frame(dataset, library)
            return
        again = from_frame(to_frame(dataset, library), box=BOX)
        assert again.records == dataset.records

    def test_ids_that_are_numbers_stay_numbers(self):
        dataset = from_frame(ROWS | {"user": [7, 7, 9]}, box=BOX)
        assert dataset.to_frame()["user"].to_pylist() == [7, 7, 9]

    def test_unknown_library(self):
        with pytest.raises(InvalidParameter, match="pyarrow, pandas, polars or geopandas"):
            to_frame(from_frame(ROWS, box=BOX), "dask")
