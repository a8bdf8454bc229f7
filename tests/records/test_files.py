from __future__ import annotations

import contextlib
import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.errors import InvalidFile, UnreadableFile
from tracecup.records import CHECK_INS, Records, Timetable, read_records, write_records
from tracecup.safeio import Limits

RECORDS = "user_index,poi_index,category,unixtime,dow,hour,min,distance\n"
TRACES = "user_id,time_id,reg_id\n"
SHORT = Timetable(540, 20, 2, 2)


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "file.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


class TestReadRecords:
    def test_columns_are_found_by_name_and_others_ignored(self, tmp_path: Path):
        text = 'min,hour,extra,unixtime,poi_index,user_index\n20,9,"a,b",5.5,3,7\n0,9,x,1,2,7\n'
        records = read_records(write(tmp_path, text), 4)
        assert records.users.tolist() == [7]
        assert records.location.tolist() == [2, 3]
        assert records.instant.tolist() == [0, 1]
        assert records.unix.tolist() == [1, 5.5]

    def test_quoted_category_with_commas(self, tmp_path: Path):
        text = RECORDS + '0,1,"Food, Drink",10.0,Sun,9,0,0\n'
        assert read_records(write(tmp_path, text), 4).location.tolist() == [1]

    def test_check_ins_use_hours_and_the_gap(self, tmp_path: Path):
        text = RECORDS + "0,1,-,0,Sun,22,59,0\n0,2,-,7200,Sun,23,1,0\n0,0,-,9000,Mon,0,0,0\n"
        records = read_records(write(tmp_path, text), 4, CHECK_INS)
        assert records.instant.tolist() == [22, 23, 0]
        assert records.slot.tolist() == [11, 11, 0]
        assert [s.tolist() for s in records.steps()] == [[0], [1], [2]]

    def test_line_ends_byte_order_mark_and_gzip(self, tmp_path: Path):
        text = "\ufeff" + RECORDS + "0,1,-,10.0,Sun,9,0,0\n0,3,-,20.0,Sun,9,20,0"
        plain = read_records(write(tmp_path, text), 4)
        packed = gzip.compress(text.replace("\n", "\r\n").encode())
        again = read_records(write(tmp_path, packed), 4)
        assert plain.location.tolist() == again.location.tolist() == [1, 3]
        assert again.unix.tolist() == [10, 20]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("x,1,-,1,Sun,9,0,0", "line 3, column user_index: found 'x', expected a whole number"),
            ("0,4,-,1,Sun,9,0,0", "line 3, column poi_index: found '4', .* whole number 0 to 3"),
            ("0,-1,-,1,Sun,9,0,0", "line 3, column poi_index: found '-1'"),
            ("0,1.5,-,1,Sun,9,0,0", "line 3, column poi_index: found '1.5'"),
            ("0,1,-,,Sun,9,0,0", "line 3, column unixtime: found nothing, expected a decimal"),
            ("0,1,-,nan,Sun,9,0,0", "line 3, column unixtime: found 'nan'"),
            ("0,1,-,1,Sun,24,0,0", "line 3, column hour: found '24', .* 0 to 23"),
            ("0,1,-,1,Sun,9,60,0", "line 3, column min: found '60'"),
            ("0,1,-,1,Sun", "line 3: found 5 columns in '0,1,-,1,Sun', expected at least 7"),
            ("", "line 3: found an empty line"),
            ("99999999999,1,-,1,Sun,9,0,0", "line 3, column user_index: found '99999999999'"),
            ("0,1,-,1,Sun,19,0,0", "line 3, column hour: found '19', expected a time 9:00 to"),
            ("0,1,-,1,Sun,8,59,0", "line 3, column hour: found '8'"),
        ],
    )
    def test_bad_lines_are_named(self, tmp_path: Path, line: str, message: str):
        text = RECORDS + "0,1,-,1,Sun,9,0,0\n" + line + "\n0,1,-,1,Sun,9,0,0\n"
        with pytest.raises(InvalidFile, match=message):
            read_records(write(tmp_path, text), 4)

    def test_all_bad_lines_are_counted_and_ten_listed(self, tmp_path: Path):
        text = RECORDS + "0,9,-,1,Sun,9,0,0\n" * 25
        with pytest.raises(InvalidFile) as caught:
            read_records(write(tmp_path, text), 4)
        assert [problem.line for problem in caught.value.problems] == list(range(2, 12))
        assert caught.value.total == 25

    def test_missing_column_is_named(self, tmp_path: Path):
        with pytest.raises(InvalidFile, match="column hour: found 0 times in .* expected this"):
            read_records(write(tmp_path, RECORDS.replace("hour", "h")), 4)

    @pytest.mark.parametrize("text", ["", RECORDS])
    def test_files_without_rows_are_refused(self, tmp_path: Path, text: str):
        with pytest.raises(InvalidFile, match=r"found no (rows|header)"):
            read_records(write(tmp_path, text), 4)

    def test_limits_hold(self, tmp_path: Path):
        path = write(tmp_path, RECORDS + "0,1,-,1,Sun,9,0,0\n" * 20)
        with pytest.raises(InvalidFile, match="at most 5"):
            read_records(path, 4, limits=Limits(max_rows=5))
        with pytest.raises(InvalidFile, match="at most 50 bytes"):
            read_records(path, 4, limits=Limits(max_bytes=50))
        endless = write(tmp_path, RECORDS + "0" * 5000)
        with pytest.raises(InvalidFile, match="a line of more than 1000 bytes"):
            read_records(endless, 4, limits=Limits(max_line=1000))

    def test_missing_file_is_unreadable(self, tmp_path: Path):
        with pytest.raises(UnreadableFile, match="no such file"):
            read_records(tmp_path / "none.csv", 4)

    @given(st.binary(max_size=200))
    def test_garbage_never_escapes(self, garbage: bytes):
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder), RECORDS.encode() + garbage)
            with contextlib.suppress(InvalidFile):
                assert len(read_records(path, 4)) >= 1

    def test_published_files_have_500_users_and_30_slots(self, data_dir: Path):
        for name, first in (("train", 0), ("test", 500)):
            records = read_records(data_dir / "ppmtfplus_pf" / f"{name}traces_TK.csv", 400)
            assert records.users.tolist() == list(range(first, first + 500))
            assert np.array_equal(records.instant, np.tile(np.arange(30), 500))


class TestReadContestLayout:
    def test_days_and_instants_from_time_ids(self, tmp_path: Path):
        path = write(tmp_path, TRACES + "1,1,4\n1,4,2\n3,2,1\n")
        records = read_records(path, 4, SHORT)
        assert records.user.tolist() == [0, 0, 2]
        assert records.n_users == 3
        assert records.location.tolist() == [3, 1, 0]
        assert records.day.tolist() == [0, 1, 0]
        assert records.instant.tolist() == [0, 1, 1]

    def test_rows_in_any_order(self, tmp_path: Path):
        rows = ["1,1,4", "1,2,1", "1,4,2", "2,3,1"]
        found = [
            read_records(write(tmp_path, TRACES + "\n".join(lines)), 4, SHORT)
            for lines in (rows, rows[::-1])
        ]
        assert found[0] == found[1]

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ("1,1,4\n1,2,5", "line 3, column reg_id: found '5', expected one whole number 1 to 4"),
            ("2,1,4\n1,1,1\n2,1,3", "line 4: found user 2, time 1 again"),
            ("1,0,4", "line 2, column time_id: found '0'"),
            ("13000000,1,1", "line 2, column user_id: found 13000000, expected user ids 1 to"),
            ("", "no rows"),
        ],
    )
    def test_bad_lines_are_named(self, tmp_path: Path, rows: str, message: str):
        with pytest.raises(InvalidFile, match=message):
            read_records(write(tmp_path, TRACES + rows), 4, SHORT)


class TestWriteRecords:
    RECORDS = Records.of(
        [0, 0, 0, 2],
        [3, 1, 2, 0],
        [0, 0, 1, 1],
        day=[0, 0, 1, 4000],
        unix=[5, 4, 90_000, 9e8],
        n_locations=4,
        timetable=SHORT,
        users=[10, 20, 30],
    )

    def test_first_record_of_each_instant_users_from_one(self, tmp_path: Path):
        write_records(tmp_path / "r.csv", self.RECORDS)
        assert (tmp_path / "r.csv").read_text() == TRACES + "1,1,2\n1,4,3\n3,8002,1\n"

    @pytest.mark.parametrize("name", ["r.csv", "r.csv.zst", "r.parquet"])
    def test_is_read_back(self, tmp_path: Path, name: str):
        write_records(tmp_path / name, self.RECORDS)
        again = read_records(tmp_path / name, 4, SHORT)
        assert again.day.tolist() == [0, 1, 4000]
        assert again.location.tolist() == [1, 2, 0]
        assert again.user.tolist() == [0, 0, 2]

    def test_times_may_begin_later(self, tmp_path: Path):
        write_records(tmp_path / "r.csv", self.RECORDS, first_time=10)
        assert "1,11,2" in (tmp_path / "r.csv").read_text()
