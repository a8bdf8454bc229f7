from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tracecup import City, Grid
from tracecup.datasets import Box, Timetable
from tracecup.datasets.tableform import COLUMNS
from tracecup.errors import InvalidFile, InvalidParameter, InvalidTraces
from tracecup.study import rawtables
from tracecup.study.audit import Subject, audit
from tracecup.study.rawtables import Cutting, bounds, grid_of, read_raw

# Two events a day: 8:00 to 8:30 and 8:30 to 9:00.
CUT = Cutting(Timetable(480, 30, 2, 2))
# Four columns and two rows of 0.1 degree.
BOX = Box(35.0, 35.2, 139.0, 139.4)
MERCATOR = {"id": {"authority": "EPSG", "code": 3857}}


def table(path: Path, *rows: str, header: str = "user,time,lat,lon") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.fixture
def reference(tmp_path):
    """Ann in the south-west on two days, Bob in the north-east on one, Cat only here."""
    return table(
        tmp_path / "ref.csv",
        "ann,2024-03-01 08:05:00,35.05,139.05",
        "ann,2024-03-01 08:40:00,35.05,139.05",
        "ann,2024-03-08 08:10:00,35.05,139.15",
        "bob,2024-03-01 08:10:00,35.15,139.35",
        "cat,2024-03-01 08:10:00,35.15,139.35",
    )


@pytest.fixture
def released(tmp_path):
    """Ann once, Bob twice in one instant and outside the hours, Dan unknown."""
    return table(
        tmp_path / "rel.csv",
        "bob,2024-04-02 08:01:00,35.15,139.35",
        "bob,2024-04-02 08:02:00,35.05,139.05",
        "bob,2024-04-02 12:00:00,35.05,139.05",
        "ann,2024-04-01 08:59:00,35.05,139.05",
        "dan,2024-04-01 08:59:00,35.05,139.05",
    )


def cells_of(subject: Subject) -> list[list[list[int]]]:
    """Released cells in user order."""
    assert subject.table is not None
    cells = subject.released.take_users(subject.table.inverse())
    m, times = cells.shape
    return [[cells.cell(i, j).tolist() for j in range(times)] for i in range(m)]


class TestReadRaw:
    def test_gaps_by_hand(self, reference, released):
        found = read_raw(reference, released, cutting=CUT, grid=(4, 2), box=BOX, rng=1)
        assert found.labels == ("ann", "bob")
        assert found.reference.regions.tolist() == [[0, 0, 1, -1], [7, -1, -1, -1]]
        assert found.original.regions.tolist() == [[-1, 0, -1, -1], [-1, -1, 7, -1]]
        assert cells_of(found) == [[[], [0], [], []], [[], [], [7], []]]

    def test_a_night_is_one_day(self, tmp_path):
        night = Cutting(Timetable.of_hours(22 * 60, 2 * 60, 60, 60))
        rows = ["ann,2024-03-01 23:05:00,35.05,139.05", "ann,2024-03-02 01:05:00,35.05,139.15"]
        path = table(tmp_path / "night.csv", *rows)
        found = read_raw(path, path, cutting=night, grid=(4, 2), box=BOX)
        assert found.reference.regions.tolist() == [[-1, 0, -1, 1]]

    def test_a_missing_column_says_how_to_name_another(self, tmp_path):
        path = tmp_path / "other.csv"
        path.write_text("whom,time,lat,lon\na,2024-03-01 08:00:00,35.05,139.05\n")
        with pytest.raises(InvalidFile, match="column user: found no such column.* --columns"):
            read_raw(path, path, cutting=CUT, grid=(4, 2), box=BOX)

    def test_habits_of_others_are_found_out(self, tmp_path, reference):
        rows = [line.split(",") for line in reference.read_text().splitlines()[1:]]
        theirs = tmp_path / "skmob.csv"
        lines = [f"{lat};{lon};{time};{user}" for user, time, lat, lon in rows]
        theirs.write_text("\n".join(["lat;lng;datetime;uid", *lines]) + "\n")
        points = tmp_path / "trackintel.csv"
        lines = [f'{user},"{time}+00:00",POINT ({lon} {lat})' for user, time, lat, lon in rows]
        points.write_text("\n".join(["user_id,tracked_at,geom", *lines]) + "\n")
        same = [
            read_raw(path, path, cutting=CUT, grid=(32, 32), box=None, rng=1)
            for path in (reference, theirs, points)
        ]
        assert same[0].labels == same[1].labels == same[2].labels
        assert same[0].released == same[1].released == same[2].released

    def test_only_days_with_records_are_days(self, reference, released):
        found = read_raw(reference, released, cutting=CUT, grid=(4, 2), box=BOX)
        assert found.reference.clock.days == 2  # 1 and 8 March
        assert found.original.clock.days == 2
        assert found.reference.clock.minutes == (480, 510)

    def test_notes_say_who_is_left_out(self, reference, released):
        said = " ".join(read_raw(reference, released, cutting=CUT, grid=(4, 2), box=BOX).notes)
        assert "1 users without reference records" in said
        assert "1 users with reference records only" in said
        assert "taken as the truth" in said
        assert "hospital" in said
        assert "wider than 2 km" in said

    def test_original_and_release_share_a_clock(self, tmp_path, reference, released):
        original = table(
            tmp_path / "org.csv",
            "ann,2024-04-01 08:59:00,35.05,139.15",
            "ann,2024-04-03 08:00:00,35.05,139.15",
            "bob,2024-04-02 08:01:00,35.15,139.35",
            "cat,2024-04-02 08:01:00,35.15,139.35",
        )
        found = read_raw(reference, released, original, cutting=CUT, grid=(4, 2), box=BOX)
        assert found.original.clock.days == 3
        assert found.original.regions[0].tolist() == [-1, 1, -1, -1, 1, -1]
        cells = cells_of(found)
        assert cells[0] == [[], [0], [], [], [], []]
        assert cells[2] == [[]] * 6  # Cat is not in the release
        said = " ".join(found.notes)
        assert "1 audited users do not occur in the release" in said
        assert "1 released users without original" in said

    def test_city_gives_grid_and_hospitals(self, reference, released):
        city = City(BOX.grid(4, 2), hospitals=[0])
        found = read_raw(reference, released, cutting=CUT, city=city)
        assert found.city is city
        assert found.reference.regions[0].tolist() == [0, 0, 1, -1]
        with pytest.raises(InvalidParameter, match="own box"):
            read_raw(reference, released, cutting=CUT, city=city, box=BOX)

    def test_box_of_the_data_holds_every_record(self, reference, released):
        found = read_raw(reference, released, cutting=CUT, grid=(15, 6))
        assert found.original.regions.tolist() == [[-1, 0, -1, -1], [-1, -1, 89, -1]]

    def test_a_stray_record_makes_nobody_look_safe(self, tmp_path, reference, released):
        lost = table(tmp_path / "lost.csv", "ann,2024-04-01 08:40:00,0.0,0.0")
        with pytest.raises(InvalidParameter, match="stray record"):
            read_raw(reference, released, lost, cutting=CUT, grid=(15, 6))

    def test_notes_count_what_lies_outside(self, tmp_path, reference, released):
        far = table(
            tmp_path / "far.csv",
            *released.read_text().splitlines()[1:],
            "bob,2024-04-02 08:40:00,36.0,139.05",
        )
        said = read_raw(reference, far, cutting=CUT, grid=(4, 2), box=BOX).notes
        assert any("1 records outside the box and 1 outside the hours" in text for text in said)
        assert not any("reference table" in text for text in said)

    def test_same_dates_are_warned_of(self, reference):
        said = read_raw(reference, reference, cutting=CUT, grid=(4, 2), box=BOX).notes
        assert any("2 days are in the reference and in the release" in text for text in said)

    def test_parquet_says_the_same(self, tmp_path, reference, released):
        lines = released.read_text().splitlines()[1:]
        columns = list(zip(*(line.split(",") for line in lines), strict=True))
        content = {
            "user": columns[0],
            "time": columns[1],
            "lat": [float(v) for v in columns[2]],
            "lon": [float(v) for v in columns[3]],
        }
        pq.write_table(pa.table(content), tmp_path / "rel.parquet")
        same = [
            read_raw(reference, path, cutting=CUT, grid=(15, 6), rng=1)
            for path in (released, tmp_path / "rel.parquet")
        ]
        assert same[0].released == same[1].released
        assert same[0].city == same[1].city
        assert same[0].notes == same[1].notes
        assert any("1 outside the hours" in text for text in same[1].notes)

    def test_numbers_and_hours_of_another_zone(self, tmp_path):
        first = table(tmp_path / "a.csv", "7,0,35.05,139.05", "10,0,35.15,139.35", header="u,t,y,x")
        cut = Cutting(Timetable(540, 30, 2, 2), ("u", "t", "y", "x"), "unix", 9 * 60)
        found = read_raw(first, first, cutting=cut, grid=(4, 2), box=BOX)
        assert found.labels == ("7", "10")
        assert found.original.regions.tolist() == [[0, -1], [7, -1]]

    def test_nobody_in_common(self, tmp_path, reference):
        other = table(tmp_path / "o.csv", "zoe,2024-04-01 08:00:00,35.05,139.05")
        with pytest.raises(InvalidTraces, match="no user"):
            read_raw(reference, other, cutting=CUT, grid=(4, 2), box=BOX)

    def test_nothing_in_the_hours_names_the_file(self, tmp_path, reference):
        other = table(tmp_path / "o.csv", "ann,2024-04-01 03:00:00,35.05,139.05")
        with pytest.raises(InvalidTraces, match="o.csv"):
            read_raw(reference, other, cutting=CUT, grid=(4, 2), box=BOX)

    def test_bad_line_is_named(self, tmp_path, reference):
        other = table(tmp_path / "o.csv", "ann,yesterday,35.05,139.05")
        with pytest.raises(InvalidFile, match="line 2, column time"):
            read_raw(reference, other, cutting=CUT, grid=(4, 2), box=BOX)

    def test_too_many_cells(self, reference, released, monkeypatch):
        monkeypatch.setattr(rawtables, "MAX_CELLS", 7)
        with pytest.raises(InvalidTraces, match="too many"):
            read_raw(reference, released, cutting=CUT, grid=(4, 2), box=BOX)

    def test_audit_of_it(self, reference, released):
        found = audit(read_raw(reference, released, cutting=CUT, grid=(4, 2), box=BOX, rng=1))
        assert (found.users, found.events) == (2, 2)
        assert found.utility is not None
        assert found.utility.value == 1
        assert found.identified == 2


class TestBounds:
    def test_around_all_tables(self, reference, released):
        assert bounds([released, reference]) == Box(35.05, 35.15, 139.05, 139.35)

    def test_refused(self, tmp_path):
        one = table(tmp_path / "one.csv", "a,2024-04-01 08:00:00,35,139")
        with pytest.raises(InvalidTraces, match="one line"):
            bounds([one])
        with pytest.raises(InvalidTraces, match="no record"):
            bounds([table(tmp_path / "none.csv")])
        with pytest.raises(InvalidFile, match="column lat"):
            bounds([table(tmp_path / "bad.csv", "a,2024-04-01 08:00:00,north,139")])

    def test_impossible_degrees_are_named(self, tmp_path):
        bad = table(tmp_path / "bad.csv", "a,2024-04-01 08:00:00,95.5,139")
        with pytest.raises(InvalidFile, match=r"bad.csv: line 2, column lat: found '95.5'"):
            bounds([bad])
        pq.write_table(pa.table({"lat": [35.0], "lon": [181.0]}), tmp_path / "bad.parquet")
        with pytest.raises(InvalidFile, match="column lon: found 181"):
            bounds([tmp_path / "bad.parquet"], COLUMNS)

    def test_parquet_without_the_columns(self, tmp_path):
        pq.write_table(pa.table({"lat": ["a"], "lon": [1.0]}), tmp_path / "bad.parquet")
        with pytest.raises(InvalidFile, match="column lat: found string, expected numbers"):
            bounds([tmp_path / "bad.parquet"], COLUMNS)

    def test_points_in_parquet(self, tmp_path):
        content = {"user": ["a"] * 3, "time": [0, 1, 2]}
        content["geometry"] = ["POINT (139 35)", None, "POINT (140 36)"]
        path = tmp_path / "points.parquet"
        pq.write_table(pa.table(content), path)
        assert bounds([path]) == Box(35.0, 36.0, 139.0, 140.0)
        metres = pa.table({**content, "geometry": ["POINT (0 0)", None, "POINT (111319.49 9)"]})
        said = {"primary_column": "geometry", "columns": {"geometry": {"crs": MERCATOR}}}
        pq.write_table(metres.replace_schema_metadata({"geo": json.dumps(said)}), path)
        found = bounds([path])
        assert (found.west, found.east) == (0.0, pytest.approx(1.0, abs=1e-6))
        pq.write_table(pa.table({**content, "geometry": ["POINT (139 95)"] * 3}), path)
        with pytest.raises(InvalidFile, match="column geometry: found 95"):
            bounds([path])

    def test_parquet_nulls_are_passed_over(self, tmp_path):
        content = {"lat": [35.0, None, 36.0], "lon": [139.0, 5.0, 140.0]}
        pq.write_table(pa.table(content), tmp_path / "t.parquet")
        assert bounds([tmp_path / "t.parquet"], COLUMNS) == Box(35.0, 36.0, 139.0, 140.0)


class TestGridOf:
    def test_longitude_shrinks_with_latitude(self):
        equator, north = (grid_of(Box(y - 0.1, y + 0.1, 0, 1), 10, 10) for y in (0.0, 60.0))
        assert equator.km_x == pytest.approx(11.1)
        assert north.km_x == pytest.approx(5.55)
        assert north.km_y == pytest.approx(2.22)
        assert equator.km_y == pytest.approx(2.22)

    def test_poles_are_refused(self):
        with pytest.raises(InvalidParameter, match="80 degrees"):
            grid_of(Box(80, 90, 0, 1), 2, 2)

    def test_is_a_plain_grid_at_the_contest(self):
        assert isinstance(grid_of(BOX, 4, 2), Grid)
        assert np.isclose(grid_of(BOX, 4, 2).km_per_longitude, 91, atol=0.3)
