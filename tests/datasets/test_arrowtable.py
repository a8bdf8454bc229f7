"""Parquet, GeoParquet and frames of other libraries."""

from __future__ import annotations

import datetime
import json
import struct
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets import TOKYO_CENTRE, from_frame, read_csv, read_parquet
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
def text(tmp_path):
    path = tmp_path / "table.csv"
    rows = "".join(f"{u},{t},{y},{x}\n" for u, t, y, x in ROWS)
    path.write_text("user,time,lat,lon\n" + rows)
    return path


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
    def test_equals_the_csv(self, text, tmp_path):
        path = parquet(tmp_path / "table.parquet")
        csv = read_csv(text, box=TOKYO_CENTRE)
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

    def test_another_kind_of_file(self, text):
        with pytest.raises(InvalidFile, match="expected a Parquet file"):
            read_parquet(text, box=TOKYO_CENTRE)

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

    def test_categories_as_users(self, text, tmp_path):
        users = pa.array([row[0] for row in ROWS]).dictionary_encode()
        path = parquet(tmp_path / "t.parquet", user=users)
        expected = read_csv(text, box=TOKYO_CENTRE).records
        assert read_parquet(path, box=TOKYO_CENTRE).records == expected

    def test_milliseconds(self, text, tmp_path):
        when = [datetime.datetime.fromisoformat(f"{row[1]}+00:00") for row in ROWS]
        path = parquet(tmp_path / "t.parquet", time=[int(1000 * t.timestamp()) for t in when])
        expected = read_csv(text, box=TOKYO_CENTRE).records
        assert read_parquet(path, box=TOKYO_CENTRE).records == expected


def geo(path, crs=..., points=None, columns=None):
    """A GeoParquet file of the shape that GeoPandas writes."""
    about = {"encoding": "WKB", "geometry_types": ["Point"]}
    if crs is not ...:
        about["crs"] = crs
    said = {"version": "1.0.0", "primary_column": "geometry", "columns": {"geometry": about}}
    if points is None:
        points = [struct.pack("<BIdd", 1, 1, x, y) for _, _, y, x in ROWS]
    when = [datetime.datetime.fromisoformat(f"{row[1]}+00:00") for row in ROWS]
    table = pa.table(
        {
            "tracker": [row[0] for row in ROWS],
            "geometry": points,
            "t": pa.array(when, pa.timestamp("ns", "UTC")),
        }
    )
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(columns or said)}), path)
    return path


class TestGeoParquet:
    @pytest.mark.parametrize(
        "crs",
        [
            ...,
            {"id": {"authority": "EPSG", "code": 4326}},
            {"id": {"authority": "OGC", "code": "CRS84"}},
        ],
    )
    def test_points_in_degrees(self, text, tmp_path, crs):
        expected = read_csv(text, box=TOKYO_CENTRE).records
        assert read_parquet(geo(tmp_path / "g.parquet", crs), box=TOKYO_CENTRE).records == expected

    def test_web_mercator_is_reprojected(self, tmp_path):
        points = [struct.pack("<BIdd", 1, 1, 15556000.0, 4257000.0)] * 6
        path = geo(tmp_path / "g.parquet", {"id": {"authority": "EPSG", "code": 3857}}, points)
        records = read_parquet(path, box=TOKYO_CENTRE).records
        # 139.7419 east, 35.6823 north: column 16, row 10 of 32.
        assert set(records.location.tolist()) == {10 * 32 + 16}

    def test_unknown_system(self, tmp_path):
        with pytest.raises(InvalidFile, match="--crs"):
            read_parquet(geo(tmp_path / "g.parquet", None), box=TOKYO_CENTRE)

    def test_other_systems_need_pyproj(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyproj", None)  # as where it is not installed
        path = geo(tmp_path / "g.parquet", {"id": {"authority": "EPSG", "code": 2056}})
        with pytest.raises(InvalidParameter, match="EPSG:2056.*install pyproj"):
            read_parquet(path, box=TOKYO_CENTRE)

    def test_broken_description(self, tmp_path):
        path = geo(tmp_path / "g.parquet", columns={"primary_column": "geometry"})
        with pytest.raises(InvalidFile, match="description of its geometry"):
            read_parquet(path, box=TOKYO_CENTRE)

    def test_a_line_is_no_point(self, tmp_path):
        line = struct.pack("<BII4d", 1, 2, 2, 139.7, 35.7, 139.7, 35.7)
        with pytest.raises(InvalidFile, match="a finite position"):
            read_parquet(geo(tmp_path / "g.parquet", points=[line] * 6), box=TOKYO_CENTRE)


class Exported:
    """A frame that hands out Arrow data and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class TestFromFrame:
    def table(self):
        user, time, lat, lon = zip(*ROWS, strict=True)
        return {"uid": user, "datetime": time, "lat": lat, "lng": lon}

    @pytest.mark.parametrize("wrap", [dict, pa.table, lambda rows: Exported(pa.table(rows))])
    def test_equals_the_csv(self, text, wrap):
        expected = read_csv(text, box=TOKYO_CENTRE).records
        assert from_frame(wrap(self.table()), box=TOKYO_CENTRE).records == expected

    def test_polars(self, text):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame(self.table(), strict=False)
        expected = read_csv(text, box=TOKYO_CENTRE).records
        assert from_frame(frame, box=TOKYO_CENTRE).records == expected

    def test_pandas(self, text):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(self.table())
        frame["uid"] = frame["uid"].astype("category")
        frame["datetime"] = pandas.to_datetime(frame["datetime"])
        expected = read_csv(text, box=TOKYO_CENTRE).records
        assert from_frame(frame, box=TOKYO_CENTRE).records == expected

    def test_geoarrow_column(self, text):
        about = {
            "ARROW:extension:name": "geoarrow.wkb",
            "ARROW:extension:metadata": json.dumps({"crs": "EPSG:4326"}),
        }
        points = pa.array([struct.pack("<BIdd", 1, 1, x, y) for _, _, y, x in ROWS])
        schema = pa.schema(
            [
                ("uid", pa.string()),
                ("t", pa.string()),
                pa.field("shape", pa.binary(), metadata=about),
            ]
        )
        columns = [pa.array([r[0] for r in ROWS]), pa.array([r[1] for r in ROWS]), points]
        frame = pa.Table.from_arrays(columns, schema=schema)
        expected = read_csv(text, box=TOKYO_CENTRE).records
        assert from_frame(frame, box=TOKYO_CENTRE).records == expected

    @pytest.mark.parametrize("frame", [7, {"uid": [1, 2], "t": [1]}])
    def test_what_is_no_frame(self, frame):
        with pytest.raises(InvalidParameter, match="frame"):
            from_frame(frame, box=TOKYO_CENTRE)
