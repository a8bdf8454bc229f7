from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tracecup.errors import InvalidFile, InvalidTraces
from tracecup.usefulness import Timetable, dayfiles, read_day_traces

DAYS = "user,trace_no,time_slot,time_instant,poi_index,category,loglli\n"
SHORT = Timetable(540, 20, 2, 2)


def write(folder: Path, text: str) -> Path:
    path = folder / "file.csv"
    path.write_text(text)
    return path


def day_rows(users: list[int], days: int, slots: int, instants: int = 1) -> list[str]:
    return [
        f"{u},{d},{t},{k},{(u + d + t + k) % 4},-,-1.5"
        for u in users
        for d in range(days)
        for t in range(slots)
        for k in range(instants)
    ]


class TestWriteDayTraces:
    def test_first_rows(self, tmp_path):
        dayfiles.write_day_traces(tmp_path / "d.csv", np.arange(16).reshape(2, 2, 4), 2)
        lines = (tmp_path / "d.csv").read_text().splitlines()
        assert lines[0] == "user,trace_no,time_slot,time_instant,poi_index"
        assert lines[1:5] == ["0,0,0,0,0", "0,0,0,1,1", "0,0,1,0,2", "0,0,1,1,3"]
        assert lines[-1] == "1,1,1,1,15"

    @pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst"])
    def test_is_read_back_block_by_block(self, tmp_path, monkeypatch, ending):
        monkeypatch.setattr(dayfiles, "BLOCK_ROWS", 37)
        days = np.random.default_rng(1).integers(0, 400, (7, 3, 30)).astype(np.int32)
        dayfiles.write_day_traces(tmp_path / f"d.{ending}", days, 30)
        again = read_day_traces(tmp_path / f"d.{ending}", 400)
        assert np.array_equal(again.locations, days)

    def test_shape(self, tmp_path):
        with pytest.raises(InvalidTraces, match="slots"):
            dayfiles.write_day_traces(tmp_path / "d.csv", np.zeros((1, 1, 5), np.int32), 2)
        assert not (tmp_path / "d.csv").exists()


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
        timetable = Timetable(0, 60, 6, 2)
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
