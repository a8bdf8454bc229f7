"""Loaders by name."""

from __future__ import annotations

import pytest
from tests.datasets import test_row_order as shapes

from tracecup.datasets.boundingbox import BEIJING, Box
from tracecup.datasets.dataset import Dataset
from tracecup.datasets.loaders import LOADERS, Loader, Wish, loader_of
from tracecup.errors import InvalidParameter
from tracecup.records import Timetable


class TestLoaderOf:
    def test_every_public_data_set_has_a_name(self):
        named = {"csv", "parquet", "geoparquet", "gpx", "google-takeout"}
        public = {"geolife", "gowalla", "foursquare", "tsmc2014", "peopleflow", "prepared"}
        assert set(LOADERS) == named | public

    def test_unknown_names_list_the_known_ones(self):
        with pytest.raises(InvalidParameter, match="known: csv, parquet, geoparquet, gpx"):
            loader_of("geo")


class TestLoad:
    @pytest.mark.parametrize(
        ("name", "write", "files"),
        [
            ("csv", shapes.table, ["t.csv"]),
            ("parquet", shapes.parquet, ["t.pq"]),
            ("gowalla", shapes.gowalla, ["g.txt"]),
            ("foursquare", shapes.foursquare, ["c.txt", "v.txt"]),
            ("tsmc2014", shapes.tsmc2014, ["t.txt"]),
            ("geolife", shapes.geolife, ["."]),
            ("peopleflow", shapes.peopleflow, ["."]),
        ],
    )
    def test_files_of_every_shape(self, name, write, files, tmp_path):
        write(tmp_path, shapes.ROWS)
        wish = Wish(shapes.BOX, 4, 4, Timetable(0, 20, 72, 72))
        found = loader_of(name).load([tmp_path / file for file in files], wish)
        assert not found.by_place
        assert found.records.n_locations == 16
        assert found.records.n_users == 3
        assert found.dropped.outside == 1

    def test_its_own_box_unless_another_is_wished(self):
        asked = []

        def read(paths, wish, box) -> Dataset:
            asked.append(box)

        loader, other = Loader("x", "a file", read, BEIJING), Box(0, 1, 0, 1)
        loader.load(["a"], Wish())
        loader.load(["a"], Wish(other))
        assert asked == [BEIJING, other]
