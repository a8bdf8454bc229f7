from __future__ import annotations

import numpy as np
import pytest

from tracecup.errors import InvalidTraces
from tracecup.usefulness import dayfile, read_day_traces


class TestWriteDayTraces:
    def test_first_rows(self, tmp_path):
        dayfile.write_day_traces(tmp_path / "d.csv", np.arange(16).reshape(2, 2, 4), 2)
        lines = (tmp_path / "d.csv").read_text().splitlines()
        assert lines[0] == "user,trace_no,time_slot,time_instant,poi_index"
        assert lines[1:5] == ["0,0,0,0,0", "0,0,0,1,1", "0,0,1,0,2", "0,0,1,1,3"]
        assert lines[-1] == "1,1,1,1,15"

    @pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst"])
    def test_is_read_back_block_by_block(self, tmp_path, monkeypatch, ending):
        monkeypatch.setattr(dayfile, "BLOCK_ROWS", 37)
        days = np.random.default_rng(1).integers(0, 400, (7, 3, 30)).astype(np.int32)
        dayfile.write_day_traces(tmp_path / f"d.{ending}", days, 30)
        again = read_day_traces(tmp_path / f"d.{ending}", 400)
        assert np.array_equal(again.locations, days)

    def test_shape(self, tmp_path):
        with pytest.raises(InvalidTraces, match="slots"):
            dayfile.write_day_traces(tmp_path / "d.csv", np.zeros((1, 1, 5), np.int32), 2)
        assert not (tmp_path / "d.csv").exists()
