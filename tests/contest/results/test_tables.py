import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.contest.results.tables import (
    ResultTable,
    csv_differences,
    csv_rows,
    parquet_differences,
    read_table,
)
from tracecup.errors import InvalidFile, InvalidParameter, UnreadableFile

TABLE = ResultTable(
    {"name": ["a,b", 'c"d', None], "value": [0.1, None, 2.0], "yes": [True, False, None]}
)


class TestTable:
    def test_columns_have_one_length(self):
        with pytest.raises(InvalidParameter, match="length"):
            ResultTable({"a": [1], "b": []})
        with pytest.raises(InvalidParameter, match="2 values"):
            ResultTable.of_rows(["a"], [[1, 2]])

    def test_csv_is_read_back_by_any_reader(self):
        rows = list(csv.reader(io.StringIO(TABLE.csv())))
        assert rows == [
            ["name", "value", "yes"], ["a,b", "0.1", "yes"], ['c"d', "", "no"], ["", "2.0", ""],
        ]  # fmt: skip

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_floats_come_back_to_the_last_bit(self, value):
        assert float(ResultTable({"a": [value]}).csv().splitlines()[1]) == value

    def test_parquet_comes_back(self, tmp_path):
        TABLE.write(tmp_path, "t")
        assert read_table(tmp_path / "t.parquet") == TABLE

    def test_tables_without_rows_or_values(self, tmp_path):
        for table in (ResultTable({"a": []}), ResultTable({"a": [None, None]})):
            table.write(tmp_path, "t")
            assert read_table(tmp_path / "t.parquet") == table

    def test_rows(self):
        assert TABLE.rows()[1] == {"name": 'c"d', "value": None, "yes": False}


class TestCsvRows:
    def test_rows_that_begin_with_a_word(self, tmp_path):
        table = ResultTable({"name": ["a", "ab", "a"], "value": [0.5, 1.0, None]})
        path = table.write_csv(tmp_path / "t.csv")
        assert csv_rows(path, "a") == [{"name": "a", "value": "0.5"}, {"name": "a", "value": ""}]
        assert csv_rows(path, "b") == []


class TestReadTable:
    def test_anything_else_is_refused(self, tmp_path):
        (tmp_path / "t.parquet").write_bytes(b"PAR1 and nothing more PAR1")
        with pytest.raises(InvalidFile):
            read_table(tmp_path / "t.parquet")
        with pytest.raises(UnreadableFile):
            read_table(tmp_path / "missing.parquet")


class TestCsvDifferences:
    def test_names_lines(self, tmp_path):
        (tmp_path / "t.csv").write_text("a\n1\n2\n")
        assert csv_differences(tmp_path / "t.csv", "a\n1\n2\n") == []
        assert csv_differences(tmp_path / "t.csv", "a\n1\n3\n") == [
            "line 3 is '2', computed is '3'"
        ]
        assert csv_differences(tmp_path / "t.csv", "a\n1\n") == ["has 3 lines, computed are 2"]


class TestParquetDifferences:
    def test_names_cells(self, tmp_path):
        ResultTable({"a": [1, 2]}).write(tmp_path, "t")
        path = tmp_path / "t.parquet"
        assert parquet_differences(path, ResultTable({"a": [1, 2]})) == []
        assert parquet_differences(path, ResultTable({"a": [1, 3]})) == [
            "row 2, column a is 2, computed is 3"
        ]
        assert parquet_differences(path, ResultTable({"b": [1, 2]})) != []
        assert parquet_differences(path, ResultTable({"a": [1]})) == ["has 2 rows, computed are 1"]
