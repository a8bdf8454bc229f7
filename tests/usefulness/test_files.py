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
from tracecup.safeio import Limits
from tracecup.usefulness import CHECK_INS, Timetable, read_day_traces, read_records

RECORDS = "user_index,poi_index,category,unixtime,dow,hour,min,distance\n"
DAYS = "user,trace_no,time_slot,time_instant,poi_index,category,loglli\n"
SHORT = Timetable(start=9 * 60, minutes=20, slots=2)


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "file.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def day_rows(users: list[int], days: int, slots: int, instants: int = 1) -> list[str]:
    return [
        f"{u},{d},{t},{k},{(u + d + t + k) % 4},-,-1.5"
        for u in users
        for d in range(days)
        for t in range(slots)
        for k in range(instants)
    ]


class TestReadRecords:
    def test_columns_are_found_by_name_and_others_ignored(self, tmp_path: Path):
        text = 'min,hour,extra,unixtime,poi_index,user_index\n20,9,"a,b",5.5,3,7\n0,9,x,1,2,7\n'
        records = read_records(write(tmp_path, text), 4)
        assert records.user_ids.tolist() == [7]
        assert records.locations.tolist() == [2, 3]
        assert records.instants.tolist() == [0, 1]
        assert records.seconds.tolist() == [1, 5.5]

    def test_quoted_category_with_commas(self, tmp_path: Path):
        text = RECORDS + '0,1,"Food, Drink",10.0,Sun,9,0,0\n'
        assert read_records(write(tmp_path, text), 4).locations.tolist() == [1]

    def test_check_ins_use_hours_and_the_gap(self, tmp_path: Path):
        text = RECORDS + "0,1,-,0,Sun,22,59,0\n0,2,-,7200,Sun,23,1,0\n0,0,-,9000,Mon,0,0,0\n"
        records = read_records(write(tmp_path, text), 4, CHECK_INS)
        assert records.instants.tolist() == [22, 23, 0]
        assert records.slot.tolist() == [11, 11, 0]
        assert [s.tolist() for s in records.steps()] == [[1], [2]]

    def test_line_ends_byte_order_mark_and_gzip(self, tmp_path: Path):
        text = "\ufeff" + RECORDS + "0,1,-,10.0,Sun,9,0,0\n0,3,-,20.0,Sun,9,20,0"
        plain = read_records(write(tmp_path, text), 4)
        packed = gzip.compress(text.replace("\n", "\r\n").encode())
        again = read_records(write(tmp_path, packed), 4)
        assert plain.locations.tolist() == again.locations.tolist() == [1, 3]
        assert again.seconds.tolist() == [10, 20]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("x,1,-,1,Sun,9,0,0", "line 3, column user_index: found 'x', expected a whole number"),
            ("0,4,-,1,Sun,9,0,0", "line 3, column poi_index: found '4', .* whole number 0 to 3"),
            ("0,-1,-,1,Sun,9,0,0", "line 3, column poi_index: found '-1'"),
            ("0,1.5,-,1,Sun,9,0,0", "line 3, column poi_index: found '1.5'"),
            ("0,1,-,,Sun,9,0,0", "line 3, column unixtime: found '', expected a plain decimal"),
            ("0,1,-,nan,Sun,9,0,0", "line 3, column unixtime: found 'nan'"),
            ("0,1,-,1,Sun,24,0,0", "line 3, column hour: found '24', .* 0 to 23"),
            ("0,1,-,1,Sun,9,60,0", "line 3, column min: found '60'"),
            ("0,1,-,1,Sun", "line 3: found 5 columns in '0,1,-,1,Sun', expected 8 columns"),
            ("", "line 3: found an empty line"),
            ("99999999999,1,-,1,Sun,9,0,0", "line 3, column user_index: found '99999999999'"),
            ("0,1,-,1,Sun,19,0,0", "line 3, column hour: found 19:00, expected a time 9:00 to"),
            ("0,1,-,1,Sun,8,59,0", "line 3, column hour: found 8:59"),
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
        with pytest.raises(InvalidFile, match="expected a column named hour"):
            read_records(write(tmp_path, RECORDS.replace("hour", "h")), 4)

    @pytest.mark.parametrize("text", ["", RECORDS])
    def test_files_without_rows_are_refused(self, tmp_path: Path, text: str):
        with pytest.raises(InvalidFile, match=r"found no rows|a column named"):
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
                assert len(read_records(path, 4).users) >= 1

    def test_published_files_have_500_users_and_30_slots(self, people_flow):
        for records, first in zip(people_flow, (0, 500), strict=True):
            assert records.user_ids.tolist() == list(range(first, first + 500))
            assert np.array_equal(records.instants, np.tile(np.arange(30), 500))


class TestReadDayTraces:
    def test_rows_in_any_order_and_further_columns(self, tmp_path: Path):
        rows = day_rows([3, 5], 2, 2)
        expected = [[[(u + d + t) % 4 for t in range(2)] for d in range(2)] for u in (3, 5)]
        for lines in (rows, rows[::-1]):
            found = read_day_traces(write(tmp_path, DAYS + "\n".join(lines)), 4, SHORT)
            assert found.locations.tolist() == expected
            assert found.user_ids.tolist() == [3, 5]

    def test_only_the_needed_columns(self, tmp_path: Path):
        text = "user,trace_no,time_slot,time_instant,poi_index\n0,0,0,0,1\n0,0,1,0,2\n"
        assert read_day_traces(write(tmp_path, text), 4, SHORT).locations.tolist() == [[[1, 2]]]

    def test_instants_within_slots(self, tmp_path: Path):
        timetable = Timetable(0, 60, 2, 3)
        text = DAYS + "\n".join(day_rows([0], 1, 2, 3))
        found = read_day_traces(write(tmp_path, text), 4, timetable)
        assert found.locations.tolist() == [[[0, 1, 2, 1, 2, 3]]]
        assert (found.slots, found.instants_per_slot) == (2, 3)

    def test_far_apart_user_ids_cost_nothing(self, tmp_path: Path):
        text = DAYS + "\n".join(day_rows([1, 2_000_000_000], 1, 2))
        found = read_day_traces(write(tmp_path, text), 4, SHORT)
        assert found.user_ids.tolist() == [1, 2_000_000_000]

    def test_a_repeated_row_is_named(self, tmp_path: Path):
        rows = day_rows([0, 1], 1, 2)
        rows[3] = rows[2]
        text = DAYS + "\n".join(rows)
        with pytest.raises(
            InvalidFile, match="line 5: found user 1, trace 0, slot 0, instant 0 ag"
        ):
            read_day_traces(write(tmp_path, text), 4, SHORT)

    @pytest.mark.parametrize("drop", [0, 2, 7])
    def test_a_missing_row_is_named(self, tmp_path: Path, drop: int):
        rows = day_rows([0, 1], 2, 2)
        user, trace, slot, *_ = rows.pop(drop).split(",")
        message = f"no row for user {user}, trace {trace}, slot {slot}, instant 0"
        with pytest.raises(InvalidFile, match=message):
            read_day_traces(write(tmp_path, DAYS + "\n".join(rows)), 4, SHORT)

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("0,0,2,0,1", "column time_slot: found '2', expected a whole number 0 to 1"),
            ("0,0,0,1,1", "column time_instant: found '1', expected a whole number 0 to 0"),
            ("0,0,0,0,4", "column poi_index: found '4', expected a whole number 0 to 3"),
            ("0,a,0,0,1", "column trace_no: found 'a'"),
        ],
    )
    def test_bad_cells_are_named(self, tmp_path: Path, line: str, message: str):
        text = "user,trace_no,time_slot,time_instant,poi_index\n" + line + "\n"
        with pytest.raises(InvalidFile, match=f"line 2, {message}"):
            read_day_traces(write(tmp_path, text), 4, SHORT)

    def test_several_blocks_keep_their_line_numbers(self, tmp_path: Path):
        rows = day_rows(list(range(30_000)), 1, 2)
        rows[55_000] = rows[55_000] + "x,"
        rows[55_001] = "bad"
        with pytest.raises(InvalidFile, match=r"line 55003: found 1 columns in 'bad'"):
            read_day_traces(write(tmp_path, DAYS + "\n".join(rows)), 4, SHORT)
