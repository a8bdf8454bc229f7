"""Generic CSV and Parquet tables of positions."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets import TOKYO_CENTRE, read_csv, read_parquet
from tracecup.errors import InvalidFile, InvalidParameter, InvalidTraces, TraceCupError

ROWS = [
    ("ann", "2013-07-01 09:00:00", 35.66, 139.70),
    ("bob", "2013-07-01 09:00:00", 35.70, 139.75),
    ("ann", "2013-07-01 09:02:00", 35.67, 139.70),
    ("ann", "2013-07-01 09:05:00", 35.67, 139.70),
    ("ann", "2013-07-01 23:05:00", 35.67, 139.70),
    ("cy", "2013-07-01 09:05:00", 40.0, 139.70),
]


@pytest.fixture
def write(tmp_path):
    def put(text: str):
        path = tmp_path / "table.csv"
        path.write_text(text)
        return path

    return put


def text_of_rows(header="user,time,lat,lon", rows=ROWS, delimiter=","):
    lines = [header, *(delimiter.join(map(str, row)) for row in rows)]
    return "\n".join(lines) + "\n"


class TestReadCsv:
    def test_cut_thinned_and_sorted(self, write):
        records = read_csv(write(text_of_rows()), box=TOKYO_CENTRE).records
        assert records.names == ("ann", "bob")
        assert records.user.tolist() == [0, 0, 1]
        assert records.instant.tolist() == [36, 37, 36]

    def test_without_thinning(self, write):
        assert len(read_csv(write(text_of_rows()), box=TOKYO_CENTRE, thin=False).records) == 4

    def test_columns_by_name_and_delimiter(self, write):
        path = write(text_of_rows("who;when;y;x", delimiter=";"))
        columns = ("who", "when", "y", "x")
        dataset = read_csv(path, box=TOKYO_CENTRE, columns=columns, delimiter=";")
        assert len(dataset.records) == 3

    def test_seconds_since_1970(self, write):
        path = write("lon,lat,time,user\n139.7,35.7,1372669200,4\n")
        records = read_csv(path, box=TOKYO_CENTRE, time="unix").records
        assert (records.users.tolist(), records.instant.tolist()) == ([4], [36])

    def test_offset_moves_the_hour(self, write):
        path = write("user,time,lat,lon\n4,2013-07-01T00:00:00Z,35.7,139.7\n")
        records = read_csv(path, box=TOKYO_CENTRE, utc_offset=540).records
        assert (records.instant.tolist(), records.unix.tolist()) == ([36], [1372636800])

    def test_empty_user_is_named(self, write):
        path = write("user,time,lat,lon\n,2013-07-01 09:00:00,35.7,139.7\n")
        with pytest.raises(InvalidFile, match="line 2, column user: found nothing"):
            read_csv(path, box=TOKYO_CENTRE)

    def test_missing_column_is_named(self, write):
        with pytest.raises(InvalidFile, match="line 1, column lon"):
            read_csv(write("user,time,lat,long\n"), box=TOKYO_CENTRE)

    @pytest.mark.parametrize(
        "options",
        [
            {"time": "excel"},
            {"delimiter": ""},
            {"delimiter": '"'},
            {"columns": ("a", "a", "b", "c")},
        ],
    )
    def test_bad_options(self, write, options):
        with pytest.raises(InvalidParameter):
            read_csv(write(text_of_rows()), box=TOKYO_CENTRE, **options)

    @given(st.text(st.characters(codec="utf-8"), max_size=80))
    def test_any_text_gives_data_or_our_error(self, tmp_path_factory, text):
        path = tmp_path_factory.mktemp("fuzz") / "table.csv"
        path.write_text(text_of_rows() + text, encoding="utf-8")
        try:
            assert len(read_csv(path, box=TOKYO_CENTRE).records) >= 3
        except TraceCupError:
            return


def parquet(path, rows=ROWS, **columns):
    table = {
        "user": [row[0] for row in rows],
        "time": [row[1] for row in rows],
        "lat": [row[2] for row in rows],
        "lon": [row[3] for row in rows],
    }
    pq.write_table(pa.table(table | columns), path)
    return path


class TestReadParquet:
    def test_equals_the_csv(self, write, tmp_path):
        path = parquet(tmp_path / "table.parquet")
        csv = read_csv(write(text_of_rows()), box=TOKYO_CENTRE)
        assert read_parquet(path, box=TOKYO_CENTRE).records == csv.records

    @pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
    def test_time_stamps(self, tmp_path, unit):
        when = [datetime.datetime.fromisoformat(row[1]) for row in ROWS]
        path = parquet(tmp_path / "t.parquet", time=pa.array(when, pa.timestamp(unit)))
        records = read_parquet(path, box=TOKYO_CENTRE).records
        assert records.instant.tolist() == [36, 37, 36]
        assert records.unix[0] == 1372669200

    def test_numbers_as_users_and_times(self, tmp_path):
        path = parquet(tmp_path / "t.parquet", user=[9, 10] * 3, time=[1372669200.5] * 6)
        records = read_parquet(path, box=TOKYO_CENTRE).records
        assert (records.users.tolist(), records.names) == ([9, 10], ())

    @pytest.mark.parametrize(
        ("column", "values"),
        [
            ("lat", [35.7, None] * 3),
            ("lon", [139.7, float("nan")] * 3),
            ("user", ["a", None] * 3),
            ("time", ["2013-07-01 09:00:00", "noon"] * 3),
            ("time", [1372669200.0, 1e300] * 3),
        ],
    )
    def test_bad_row_is_named(self, tmp_path, column, values):
        path = parquet(tmp_path / "t.parquet", **{column: values})
        with pytest.raises(InvalidFile, match="line 2") as caught:
            read_parquet(path, box=TOKYO_CENTRE)
        assert caught.value.total == 3

    def test_bad_rows_can_be_skipped(self, tmp_path):
        path = parquet(tmp_path / "t.parquet", lat=[35.7, None] * 3)
        assert read_parquet(path, box=TOKYO_CENTRE, bad_lines="skip").dropped.bad_lines == 3

    def test_wrong_type_is_named(self, tmp_path):
        path = parquet(tmp_path / "t.parquet", lat=["35.7"] * 6)
        with pytest.raises(InvalidFile, match="column lat: found string, expected numbers"):
            read_parquet(path, box=TOKYO_CENTRE)

    def test_missing_column_is_named(self, tmp_path):
        path = parquet(tmp_path / "t.parquet")
        with pytest.raises(InvalidFile, match="column longitude"):
            read_parquet(path, box=TOKYO_CENTRE, columns=("user", "time", "lat", "longitude"))

    def test_another_kind_of_file(self, write):
        with pytest.raises(InvalidFile, match="expected a Parquet file"):
            read_parquet(write(text_of_rows()), box=TOKYO_CENTRE)

    def test_nothing_in_the_box(self, tmp_path):
        path = parquet(tmp_path / "t.parquet", lat=[0.0] * 6)
        with pytest.raises(InvalidTraces, match="no record"):
            read_parquet(path, box=TOKYO_CENTRE)

    @given(st.integers(0, 3000), st.binary(min_size=1, max_size=20))
    def test_damaged_file_gives_data_or_our_error(self, tmp_path_factory, at, damage):
        path = parquet(tmp_path_factory.mktemp("fuzz") / "t.parquet")
        content = path.read_bytes()
        at %= len(content)
        path.write_bytes(content[:at] + damage + content[at + len(damage) :])
        try:
            read_parquet(path, box=TOKYO_CENTRE)
        except TraceCupError:
            return
