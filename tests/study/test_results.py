from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tracecup.errors import InvalidParameter
from tracecup.study.results import SAMPLE, WORKED, Comparison, Source, StudyResult, Table

TABLE = Table.of(("name", "value"), [("a", 1.5), ("b", np.float64(2.5)), ("b", None)])


class TestTable:
    def test_numpy_numbers_become_plain_ones(self):
        made = Table.of(("x", "y"), [(np.int32(1), np.bool_(True))])
        assert [type(value) for value in made.rows[0]] == [int, bool]

    def test_columns_rows_and_selections(self):
        assert TABLE.column("value") == [1.5, 2.5, None]
        assert len(TABLE.where(name="b")) == 2
        assert TABLE.row(name="a") == {"name": "a", "value": 1.5}
        assert TABLE.records()[1] == {"name": "b", "value": 2.5}

    def test_csv_has_full_precision(self):
        assert Table.of(("x",), [(0.1 + 0.2,)]).as_csv() == "x\n0.30000000000000004\n"

    def test_what_does_not_fit_is_refused(self):
        with pytest.raises(InvalidParameter, match="a row of 1 values"):
            Table.of(("x", "y"), [(1,)])
        with pytest.raises(InvalidParameter, match="no column 'z'"):
            TABLE.column("z")
        with pytest.raises(InvalidParameter, match="2 rows"):
            TABLE.row(name="b")


class TestComparison:
    def test_inside_and_outside_include_the_ends(self):
        assert Comparison("x", 1.0, 2.0, 0.5, 2.0).inside is True
        assert Comparison("x", 1.0, 2.0 + 1e-12, 0.5, 2.0).inside is False

    def test_without_a_band_nothing_is_claimed(self):
        one = Comparison("x", 1.0, 5.0)
        assert one.inside is None
        assert one.verdict == "no band"

    def test_equal_means_within_a_tolerance(self):
        assert Comparison.equal("x", 1.0, 1.0 + 9e-10).inside is True
        assert Comparison.equal("x", 1.0, 1.0 + 2e-9).inside is False

    def test_markdown_is_one_row_of_six_cells(self):
        line = Comparison.equal("a | b", 1.0, 3.0, why="why").markdown()
        assert line.count(" | ") == 5
        assert "OUTSIDE" in line


class TestStudyResult:
    def test_survives_json(self):
        made = StudyResult(
            WORKED,
            {"t": TABLE},
            {"n": 2.0},
            (Comparison("c", math.nan, 1.0, why="w"), Comparison.equal("d", 1.0, 1.0)),
            {"users": 3},
            ("note",),
            {"t": SAMPLE},
        )
        again = StudyResult.from_dict(json.loads(json.dumps(made.as_dict(), allow_nan=False)))
        assert again.tables["t"] == TABLE
        assert (again.numbers, again.sizes, again.notes) == (made.numbers, made.sizes, made.notes)
        assert math.isnan(again.comparisons[0].published)
        assert again.comparisons[1] == made.comparisons[1]
        assert (again.source_of("t"), again.source_of("u")) == (SAMPLE, WORKED)

    def test_a_source_is_told_apart_by_its_words(self):
        assert Source("x") != Source("x", "y")
