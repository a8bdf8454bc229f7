"""Files prepared by others: the synthesizer's and the contest's."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.datasets import CHECK_INS, Box, read_prepared
from tracecup.datasets.cleaning import Cleaning
from tracecup.datasets.contestfiles import contest_parts
from tracecup.datasets.loaders import Wish, loader_of
from tracecup.datasets.prepared import prepared_regions
from tracecup.errors import InvalidFile, InvalidParameter, UnreadableFile
from tracecup.records import PEOPLE_FLOW

NEW_YORK = Box(40.5, 41.0, -74.28, -73.68)
HEADER = "user_index,poi_index,category,unixtime,dow,hour,min"


@pytest.fixture(scope="module")
def split(data_dir):
    return read_prepared(data_dir / "ppmtfplus_pf")


class TestPeopleFlow:
    def test_five_hundred_and_five_hundred_users(self, split):
        assert (split.training.n_users, split.testing.n_users) == (500, 500)

    def test_thirty_visit_elements_each(self, split):
        for part in (split.training, split.testing):
            key = np.stack([part.user, part.location, part.slot])
            user = np.unique(key, axis=1)[0]
            assert np.bincount(user).tolist() == [30] * 500

    def test_15000_training_records(self, split):
        assert len(split.training) == 15_000

    def test_8915_distinct_transitions(self, split):
        triples = np.unique(np.stack(split.training.steps()), axis=1)
        per_user = np.bincount(triples[0])
        assert triples.shape[1] == 8915
        assert (round(per_user.mean(), 1), per_user.max()) == (17.8, 29)

    def test_every_slot_is_there(self, split):
        traces = split.training.to_traces()
        assert traces.shape == (500, 30)
        assert not traces.has_gaps

    def test_self_transitions(self, split):
        _, before, after = split.training.steps()
        assert np.mean(before == after) == pytest.approx(0.628, abs=5e-4)

    def test_ids_of_the_source(self, split):
        assert split.training.users[:3].tolist() == [9, 22, 30]
        assert split.testing.users[:3].tolist() == [1, 6, 7]

    def test_city_is_the_grid(self, split):
        assert split.city.n_regions == 400
        assert not split.by_place


class TestRegions:
    def test_the_published_split_is_kept(self, data_dir, split):
        found = loader_of("prepared").load(
            [data_dir / "ppmtfplus_pf"], Wish(nx=20, ny=20, timetable=PEOPLE_FLOW)
        )
        parts = contest_parts(found, seed=5)
        for made, wanted in ((parts.training, split.training), (parts.testing, split.testing)):
            for name in ("user", "location", "day", "instant", "unix", "users"):
                assert np.array_equal(getattr(made, name), getattr(wanted, name)), name
        assert found.city.grid == split.city.grid
        assert found.split().testing.users.tolist() == split.testing.users.tolist()
        assert parts.clock is None

    def test_places_become_the_cells_they_lie_in(self, folder):
        found = prepared_regions(folder, box=NEW_YORK, nx=2, ny=4, timetable=CHECK_INS)
        assert not found.by_place
        assert found.city.n_regions == found.records.n_locations == 8
        places = read(folder).city.places
        cells = NEW_YORK.cells(places.latitudes, places.longitudes, 2, 4)
        assert found.records.location.tolist() == cells[[0, 1, 0, 0]].tolist()
        assert found.records.users.tolist() == [15, 17, 16]
        assert (found.records.day.tolist(), found.training_users) == ([0, 0, 1, 0], 2)
        assert found.notes == ("2 training and 1 testing users, as the files have them",)

    def test_days_of_both_parts_count_from_the_same_date(self, folder):
        day_later = "2,0,Gym,1333551600.0,Wed,18,0\n"
        (folder / "testtraces_NY.csv").write_text(f"{HEADER}\n{day_later}")
        found = prepared_regions(folder, box=NEW_YORK, nx=2, ny=4, timetable=CHECK_INS)
        assert found.records.day.tolist() == [0, 0, 1, 1]
        assert found.first_day == 1333465200 // 86400

    def test_a_folder_is_of_one_city(self, folder):
        (folder / "POIindex_LA.csv").write_text("")
        with pytest.raises(InvalidParameter, match="2 files POIindex_XX.csv"):
            prepared_regions(folder, box=NEW_YORK, nx=2, ny=4, timetable=CHECK_INS)

    @pytest.mark.parametrize(
        "wish",
        [
            Wish(fewest=2),
            Wish(bad_lines="skip"),
            Wish(cleaning=Cleaning(max_speed=200.0)),
            Wish(utc_offset=60.0),
        ],
    )
    def test_nothing_of_it_is_left_out_or_moved(self, folder, wish):
        with pytest.raises(InvalidParameter):
            loader_of("prepared").load([folder], wish)


@pytest.fixture
def folder(tmp_path):
    """Two training users and one testing user with check-ins at two places."""
    files = {
        "POIindex_NY.csv": "poi_id,poi_index,category,counts\nabc,0,Gym,3\ndef,1,Bar,1\n",
        "POI_NY.csv": "poi_id,y,x,category,count\ndef,40.6,-74.0,Bar,1\nabc,40.7,-74.0,Gym,3\n",
        "tuserindex_NY.csv": "user_id,user_index\n15,0\n17,1\n",
        "euserindex_NY.csv": "user_id,user_index\n16,2\n",
        "traintraces_NY.csv": f"{HEADER}\n0,0,Gym,1333465200.0,Tue,18,0\n"
        "0,1,Bar,1333468800.0,Tue,19,0\n1,0,Gym,1333551600.0,Wed,18,0\n",
        "testtraces_NY.csv": f"{HEADER}\n2,0,Gym,1333465200.0,Tue,18,0\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def read(folder):
    return read_prepared(folder, "NY", box=NEW_YORK, timetable=CHECK_INS)


class TestCheckIns:
    def test_places_and_days(self, folder):
        split = read(folder)
        assert split.by_place
        assert split.city.places.latitudes.tolist() == [40.7, 40.6]
        assert split.training.day.tolist() == [0, 0, 1]
        assert split.training.users.tolist() == [15, 17]
        assert len(split.training.steps()[0]) == 1

    def test_testing_users_count_from_zero(self, folder):
        assert read(folder).testing.user.tolist() == [0]

    @pytest.mark.parametrize(
        ("name", "line", "message"),
        [
            ("traintraces_NY.csv", "7,0,Gym,0,Tue,18,0", "column user_index: found '7'"),
            ("traintraces_NY.csv", "0,2,Gym,0,Tue,18,0", "column poi_index: found '2'"),
            ("traintraces_NY.csv", "0,0,Gym,0,Tue,24,0", "column hour: found '24'"),
            ("traintraces_NY.csv", "0,0,Gym,0,Tue,1,60", "column min: found '60'"),
            ("traintraces_NY.csv", "0,0,Gym,x,Tue,1,0", "column unixtime: found 'x'"),
            ("traintraces_NY.csv", "0,0,Gym,1e99,Tue,1,0", "column unixtime: found '1e99'"),
            ("tuserindex_NY.csv", "18,0", "column user_index: found 0, expected each index once"),
            ("POIindex_NY.csv", "ghi,5,Bar,1", "column poi_index: found '5'"),
            ("POIindex_NY.csv", "ghi,2,Bar,1", "no row for place ghi"),
        ],
    )
    def test_wrong_line_is_named(self, folder, name, line, message):
        with (folder / name).open("a") as file:
            file.write(line + "\n")
        with pytest.raises(InvalidFile, match=message):
            read(folder)

    def test_place_outside_the_box(self, folder):
        with pytest.raises(InvalidFile, match="outside the box"):
            read_prepared(folder, "NY", timetable=CHECK_INS)

    def test_missing_file(self, folder):
        (folder / "euserindex_NY.csv").unlink()
        with pytest.raises(UnreadableFile, match="euserindex_NY"):
            read(folder)

    def test_no_records(self, folder):
        (folder / "testtraces_NY.csv").write_text(HEADER + "\n")
        with pytest.raises(InvalidFile, match="no rows"):
            read(folder)
