"""Generic text tables of positions, and the habits of other libraries."""

from __future__ import annotations

import datetime
import lzma
import math
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets import TOKYO_CENTRE, Cleaning, read_csv
from tracecup.datasets.tableform import COLUMNS
from tracecup.errors import InvalidFile, InvalidParameter, TraceCupError

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
        with pytest.raises(InvalidFile, match="line 1, column lon: found 0 times.*--columns"):
            read_csv(
                write("user,time,lat,long\n"),
                box=TOKYO_CENTRE,
                columns=COLUMNS,
            )

    def test_column_that_is_not_found_is_named(self, write):
        with pytest.raises(InvalidFile, match="column lon: found no such column.*--columns"):
            read_csv(write("user,time,lat,east\n"), box=TOKYO_CENTRE)

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


class TestHabits:
    """Files of exactly the shapes that other libraries write."""

    def expected(self, write):
        return read_csv(write(text_of_rows()), box=TOKYO_CENTRE).records

    def same(self, write, text, **options):
        found = read_csv(write(text), box=TOKYO_CENTRE, **options)
        return found.records == self.expected(write)

    def test_scikit_mobility(self, write):
        text = "lat,lng,datetime,uid\n" + "".join(f"{y},{x},{t},{u}\n" for u, t, y, x in ROWS)
        assert self.same(write, text)
        assert self.same(write, text, columns="scikit-mobility")

    def test_trackintel(self, write):
        head = "id;user_id;tracked_at;latitude;longitude;elevation;accuracy\n"
        rows = (f"0;{u};{t.replace(' ', 'T')}Z;{y};{x};456;1\n" for u, t, y, x in ROWS)
        assert self.same(write, head + "".join(rows))

    def test_trackintel_with_points(self, write):
        head = "id,user_id,tracked_at,geom\n"
        rows = (f"0,{u},{t}+00:00,POINT ({x:.16f} {y:.16f})\n" for u, t, y, x in ROWS)
        assert self.same(write, head + "".join(rows), columns="trackintel")

    def test_points_of_a_spatial_data_base(self, write):
        points = [struct.pack("<BIIdd", 1, 0x20000001, 4326, x, y).hex() for _, _, y, x in ROWS]
        rows = (f"{u},{t}+00,{p}\n" for (u, t, _, _), p in zip(ROWS, points, strict=True))
        text = "user_id,tracked_at,geom\n" + "".join(rows)
        assert self.same(write, text)
        with pytest.raises(InvalidFile, match="line 8, column geom.*hexadecimal"):
            read_csv(write(text + "ann,2013-07-01 09:00:00+00,01x\n"), box=TOKYO_CENTRE)

    def test_movingpandas(self, write):
        head = "X;Y;fid;id;sequence;trajectory_id;tracker;t\n"
        rows = (f"{x};{y};1;1;1;1;{u};{t}+00\n" for u, t, y, x in ROWS)
        assert self.same(write, head + "".join(rows))

    def test_movingpandas_with_points(self, write):
        head = "t\ttraj_id\tgeometry\n"
        rows = (f"{t}\t{u}\tPOINT ({x} {y})\n" for u, t, y, x in ROWS)
        assert self.same(write, head + "".join(rows), columns="movingpandas")

    @pytest.mark.parametrize("unit", [1, 1000])
    def test_numbers_as_times(self, write, unit):
        stamp = datetime.datetime.fromisoformat
        rows = [
            (u, int(unit * stamp(t).replace(tzinfo=datetime.UTC).timestamp()), y, x)
            for u, t, y, x in ROWS
        ]
        assert self.same(write, text_of_rows(rows=rows))
        kind = "unix" if unit == 1 else "milliseconds"
        assert self.same(write, text_of_rows(rows=rows), time=kind)

    def test_day_first_on_request(self, write):
        rows = [(u, f"1/7/2013 {t[11:]}", y, x) for u, t, y, x in ROWS]
        assert self.same(write, text_of_rows(rows=rows), time="day-first")
        with pytest.raises(InvalidFile, match="expected a time YYYY-MM-DD"):
            read_csv(write(text_of_rows(rows=rows)), box=TOKYO_CENTRE)

    @pytest.mark.parametrize("kind", ["xz", "zip"])
    def test_archives(self, write, tmp_path, kind):
        text, path = text_of_rows().encode(), tmp_path / f"table.csv.{kind}"
        if kind == "xz":
            path.write_bytes(lzma.compress(text))
        else:
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("folder/table.csv", text)
        assert read_csv(path, box=TOKYO_CENTRE).records == self.expected(write)

    def test_zone_with_daylight_saving(self, write):
        times = ("2013-03-30T08:00:00Z", "2013-04-01T08:00:00Z")
        path = write("user,time,lat,lon\n" + "".join(f"4,{t},35.7,139.7\n" for t in times))
        records = read_csv(path, box=TOKYO_CENTRE, zone="Europe/Zurich").records
        assert records.instant.tolist() == [36, 48]

    def test_web_mercator(self, write):
        radius = 6378137.0
        rows = [
            (u, t, radius * math.asinh(math.tan(math.radians(y))), radius * math.radians(x))
            for u, t, y, x in ROWS
        ]
        found = read_csv(write(text_of_rows(rows=rows)), box=TOKYO_CENTRE, crs="EPSG:3857")
        assert found.records == self.expected(write)

    def test_inaccurate_points_are_dropped_and_counted(self, write):
        near = ("5", "500", "", "5", "5", "5")
        lines = [f"{u},{t},{y},{x},{a}" for (u, t, y, x), a in zip(ROWS, near, strict=True)]
        path = write("\n".join(["user,time,lat,lon,accuracy", *lines, ""]))
        found = read_csv(path, box=TOKYO_CENTRE, cleaning=Cleaning(max_accuracy=100))
        assert (found.records.names, found.dropped.inaccurate) == (("ann",), 1)
        with pytest.raises(InvalidParameter, match="tell no accuracy"):
            read_csv(write(text_of_rows()), box=TOKYO_CENTRE, cleaning=Cleaning(max_accuracy=9))
