"""Gowalla and Brightkite files, written here in their form."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets import Box, read_gowalla
from tracecup.errors import InvalidFile, TraceCupError

AUSTIN = Box(30.0, 30.5, -98.0, -97.5)
GOWALLA = (
    "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847\n"
    "0\t2010-10-18T22:17:43Z\t30.2691029532\t-97.7493953705\t420315\n"
    "0\t2010-10-17T23:42:03Z\t30.2557309927\t-97.7633857727\t316637\n"
    "1\t2010-10-18T22:18:00Z\t30.2691029532\t-97.7493953705\t420315\n"
    "2\t2010-10-18T22:18:00Z\t53.3648119\t-2.2723465833\t145064\n"
)


@pytest.fixture
def write(tmp_path):
    def put(text: str):
        path = tmp_path / "loc-gowalla_totalCheckins.txt"
        path.write_text(text)
        return path

    return put


class TestReadGowalla:
    def test_places(self, write):
        dataset = read_gowalla(write(GOWALLA), box=AUSTIN)
        assert dataset.records.users.tolist() == [0, 1]
        assert dataset.city.places.counts.tolist() == [2, 1, 1]
        # By time: 17 October (316637), 18 (420315), 19 (22847).
        assert dataset.records.location.tolist() == [2, 0, 1, 0]
        assert dataset.records.day.tolist() == [0, 1, 2, 1]

    def test_cells_and_local_time(self, write):
        dataset = read_gowalla(write(GOWALLA), box=AUSTIN, top=None, nx=2, ny=2, utc_offset=-300)
        assert dataset.records.instant.tolist() == [18, 17, 18, 17]
        assert dataset.records.n_locations == 4

    def test_gzip(self, tmp_path):
        path = tmp_path / "loc-gowalla_totalCheckins.txt.gz"
        path.write_bytes(gzip.compress(GOWALLA.encode()))
        assert len(read_gowalla(path, box=AUSTIN).records) == 4

    def test_brightkite_locations_are_text(self, write):
        text = "7\t2010-10-18T22:18:00Z\t30.26\t-97.74\tdd7cd3d264c2d063832db506fba8bf79\n"
        assert len(read_gowalla(write(text), box=AUSTIN).records) == 1

    @pytest.mark.parametrize("empty", ["58227\t\t\t\t\n", "58227\n"])
    def test_users_without_anything_are_passed_over(self, write, empty):
        dataset = read_gowalla(write(empty + GOWALLA), box=AUSTIN)
        assert (len(dataset.records), dataset.dropped.bad_lines) == (4, 0)

    def test_wrong_separator_is_not_passed_over(self, write):
        text = "0 2010-10-19T23:55:27Z 30.2359091167 -97.7951395833 22847\n"
        with pytest.raises(InvalidFile, match="line 1, column user"):
            read_gowalla(write(text), box=AUSTIN)

    def test_half_a_line_is_named(self, write):
        with pytest.raises(InvalidFile, match="line 6, column latitude: found nothing"):
            read_gowalla(write(GOWALLA + "3\t2010-10-18T22:18:00Z\n"), box=AUSTIN)

    def test_missing_location_matters_for_places_only(self, write):
        path = write("0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t\n")
        with pytest.raises(InvalidFile, match="column location"):
            read_gowalla(path, box=AUSTIN)
        assert len(read_gowalla(path, box=AUSTIN, top=None).records) == 1

    @given(st.binary(max_size=100))
    def test_any_bytes_give_data_or_our_error(self, tmp_path_factory, content):
        path = tmp_path_factory.mktemp("fuzz") / "checkins.txt"
        path.write_bytes(GOWALLA.encode() + content)
        try:
            assert len(read_gowalla(path, box=AUSTIN).records) >= 4
        except TraceCupError:
            return
