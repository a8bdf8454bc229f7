"""GeoLife folders, written here in their form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets import read_geolife
from tracecup.errors import InvalidFile, InvalidParameter, TraceCupError, UnreadableFile

HEADER = (
    "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n"
    "0,2,255,My Track,0,0,2,8421376\n0\n"
)
# 2008-10-23 02:53:04 GMT is 10:53:04 in Beijing.
FIRST = "39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04\n"
SECOND = "39.984683,116.31845,0,492,39744.1202546296,2008-10-23,02:53:10\n"
LATER = "39.99,116.33,0,492,39744.1236111111,2008-10-23,02:58:00\n"


@pytest.fixture
def folder(tmp_path):
    def put(user: str, *lines: str, name: str = "20081023025304.plt"):
        target = tmp_path / user / "Trajectory"
        target.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(HEADER + "".join(lines), newline="\r\n")
        return tmp_path

    return put


class TestReadGeolife:
    def test_first_point_of_an_instant(self, folder):
        records = read_geolife(folder("000", FIRST, SECOND, LATER)).records
        # 10:50 and 10:55 are instants 58 and 59 from 6:00 in steps of five minutes.
        assert records.instant.tolist() == [58, 59]

    def test_time_to_the_second(self, folder):
        assert read_geolife(folder("000", FIRST)).records.unix.tolist() == [1224730384]

    def test_users_are_folders(self, folder):
        folder("010", FIRST)
        records = read_geolife(folder("002", FIRST)).records
        assert records.names == ("002", "010")
        assert records.users.tolist() == [1, 2]

    def test_files_in_order_of_time(self, folder):
        folder("000", LATER, name="20081023025800.plt")
        assert len(read_geolife(folder("000", FIRST)).records) == 2

    def test_other_files_do_not_disturb(self, folder):
        (folder("000", FIRST) / "000" / "labels.txt").write_text("Start Time\tEnd Time\n")
        assert len(read_geolife(folder("000", FIRST)).records) == 1

    def test_bad_line_is_named(self, folder):
        with pytest.raises(InvalidFile, match=r"plt: line 8: found 3 columns"):
            read_geolife(folder("000", FIRST, "1,2,3\n"))

    @given(st.text(st.characters(codec="utf-8"), max_size=60) | st.floats().map(repr))
    def test_any_line_gives_data_or_our_error(self, tmp_path_factory, text):
        target = tmp_path_factory.mktemp("fuzz")
        (target / "000" / "Trajectory").mkdir(parents=True)
        path = target / "000" / "Trajectory" / "1.plt"
        path.write_text(f"{HEADER}{FIRST}39.98,116.31,0,0,{text},x,y\n", encoding="utf-8")
        try:
            assert len(read_geolife(target).records) >= 1
        except TraceCupError:
            return

    def test_no_such_folder(self, tmp_path):
        with pytest.raises(UnreadableFile, match="no such folder"):
            read_geolife(tmp_path / "nothing")

    @pytest.mark.parametrize("minutes", [1441, float("nan"), -1e9])
    def test_offset_of_more_than_a_day(self, folder, minutes):
        with pytest.raises(InvalidParameter, match="utc_offset"):
            read_geolife(folder("000", FIRST), utc_offset=minutes)

    def test_folder_without_users(self, tmp_path):
        with pytest.raises(UnreadableFile, match="Trajectory"):
            read_geolife(tmp_path)
