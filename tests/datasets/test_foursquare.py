"""Foursquare files, written here in their form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets import Box, read_foursquare, read_tsmc2014
from tracecup.errors import InvalidFile, InvalidTraces, TraceCupError

BOX = Box(40.5, 41.0, -74.28, -73.68)
VENUES = (
    "3fd66200f964a52000e71ee3\t40.733596\t-74.003139\tJazz Club\tUS\n"
    "3fd66200f964a52000e81ee3\t40.758102\t-73.975734\tGym\tUS\n"
    "3fd66200f964a52000ea1ee3\t35.732456\t139.003755\tIndian Restaurant\tJP\n"
    "3fd66200f964a52000ec1ee3\t40.742060\t-73.991250\tCaf\xe9\n"
)
JAZZ, GYM, FAR, CAFE = (text.split("\t")[0] for text in VENUES.splitlines())


def checkin(user, venue, time="Tue Apr 03 18:00:06 +0000 2012", offset=-240):
    return f"{user}\t{venue}\t{time}\t{offset}\n"


@pytest.fixture
def files(tmp_path):
    def put(checkins, venues=VENUES):
        paths = tmp_path / "dataset_TIST2015_Checkins.txt", tmp_path / "dataset_TIST2015_POIs.txt"
        paths[0].write_text("".join(checkins), encoding="latin-1")
        paths[1].write_text(venues, encoding="latin-1")
        return paths

    return put


class TestReadFoursquare:
    def test_rank_is_location(self, files):
        paths = files([checkin(7, CAFE), checkin(3, CAFE), checkin(3, GYM), checkin(3, FAR)])
        dataset = read_foursquare(*paths, box=BOX)
        assert dataset.by_place
        assert dataset.city.places.categories == ("Café", "Gym")
        assert dataset.records.users.tolist() == [3, 7]
        assert dataset.records.location.tolist() == [0, 1, 0]

    def test_ties_keep_the_order_of_the_venue_file(self, files):
        paths = files([checkin(1, CAFE), checkin(1, JAZZ)])
        assert read_foursquare(*paths, box=BOX, top=1).city.places.categories == ("Jazz Club",)

    def test_hours_as_they_stand(self, files):
        records = read_foursquare(*files([checkin(1, GYM)]), box=BOX).records
        assert (records.instant[0], records.slot[0], records.unix[0]) == (18, 9, 1333476006)

    def test_local_time_on_request(self, files):
        records = read_foursquare(*files([checkin(1, GYM)]), box=BOX, local_time=True).records
        assert (records.instant[0], records.unix[0]) == (14, 1333476006)

    def test_cells_instead_of_places(self, files):
        dataset = read_foursquare(*files([checkin(1, GYM)]), box=BOX, top=None, nx=2, ny=2)
        assert not dataset.by_place
        assert dataset.records.location.tolist() == [3]

    def test_a_fifth_tests(self, files):
        paths = files([checkin(user, GYM) for user in range(11)])
        split = read_foursquare(*paths, box=BOX).split()
        assert (split.training.n_users, split.testing.n_users) == (9, 2)

    def test_bad_time_is_named(self, files):
        paths = files([checkin(1, GYM), checkin(1, GYM, "yesterday")])
        with pytest.raises(InvalidFile, match="line 2, column utc_time: found 'yesterday'"):
            read_foursquare(*paths, box=BOX)

    def test_endless_offset_is_named(self, files):
        paths = files([checkin(1, GYM, offset=10**17)])
        with pytest.raises(InvalidFile, match="line 1, column offset"):
            read_foursquare(*paths, box=BOX, local_time=True)

    def test_bad_venue_is_named(self, files):
        paths = files([checkin(1, GYM)], VENUES + "id\tnorth\t0\tx\n")
        with pytest.raises(InvalidFile, match="line 5, column latitude"):
            read_foursquare(*paths, box=BOX)

    def test_bad_lines_can_be_skipped(self, files):
        paths = files([checkin(1, GYM), "broken\n"])
        dataset = read_foursquare(*paths, box=BOX, bad_lines="skip")
        assert (len(dataset.records), dataset.dropped.bad_lines) == (1, 1)

    def test_nothing_in_the_box(self, files):
        with pytest.raises(InvalidTraces, match="no record"):
            read_foursquare(*files([checkin(1, FAR)]), box=BOX)

    @given(st.binary(max_size=120), st.booleans())
    def test_any_bytes_give_data_or_our_error(self, tmp_path_factory, content, of_venues):
        folder = tmp_path_factory.mktemp("fuzz")
        good = checkin(1, GYM).encode(), VENUES.encode("latin-1")
        (folder / "c").write_bytes(good[0] + (b"" if of_venues else content))
        (folder / "v").write_bytes(good[1] + (content if of_venues else b""))
        try:
            dataset = read_foursquare(folder / "c", folder / "v", box=BOX)
        except TraceCupError:
            return
        assert len(dataset.records) >= 1


def tsmc(user, venue, y, x, time="Tue Apr 03 18:00:09 +0000 2012", name="Bridge"):
    return f"{user}\t{venue}\t4bf58dd8d48988d1df941735\t{name}\t{y}\t{x}\t-240\t{time}\n"


class TestReadTsmc2014:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "dataset_TSMC2014_NYC.txt"
        lines = [
            tsmc(470, "49bbd6c0f964a520f4531fe3", "40.719810375488535", "-74.00258103213994"),
            tsmc(979, "4a43c0aef964a520c6a61fe3", "40.60679958140643", "-74.04416981025437"),
            tsmc(979, "4a43c0aef964a520c6a61fe3", "40.60679958140643", "-74.04416981025437"),
            tsmc(5, "4a43c0aef964a520c6a61fe4", "35.0", "139.0"),
        ]
        path.write_text("".join(lines), encoding="latin-1")
        return path

    def test_places_by_visits(self, path):
        dataset = read_tsmc2014(path, box=BOX)
        assert dataset.records.users.tolist() == [470, 979]
        assert dataset.records.location.tolist() == [1, 0, 0]
        assert dataset.city.places.latitudes.tolist() == [40.60679958140643, 40.719810375488535]

    def test_cells(self, path):
        dataset = read_tsmc2014(path, box=BOX, top=None, nx=1, ny=2)
        assert dataset.records.location.tolist() == [0, 0, 0]

    def test_short_line(self, path):
        path.write_text("1\t2\n")
        with pytest.raises(InvalidFile, match="line 1: found 2 columns in .*, expected at least 8"):
            read_tsmc2014(path, box=BOX)
