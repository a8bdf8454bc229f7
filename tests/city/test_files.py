from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracecup.city import (
    City,
    ContestClock,
    Grid,
    Places,
    read_city,
    read_clock,
    read_places,
    write_city,
    write_clock,
    write_places,
)
from tracecup.errors import InvalidFile, TraceCupError

GRID = Grid.from_box(3, 2, south=35.65, north=35.75, west=139.68, east=139.80)
CITY = City(GRID, hospitals=[1, 4])
CLOCK = ContestClock.regular(2, slots=3)
PLACES = Places.of([("food/Cafe", 35.66, 139.70, 0), ("home", 35.74, 139.79, 5)])


class TestCityFile:
    @given(st.integers(1, 8), st.integers(1, 8), st.sets(st.integers(0, 63), max_size=5))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
    def test_round_trip(self, tmp_path, nx, ny, hospitals):
        grid = Grid.from_metres(nx, ny, width_m=341.25, height_m=341.25, south=35.65, west=139.68)
        city = City(grid, [h for h in hospitals if h < nx * ny])
        write_city(tmp_path / "r.csv", city)
        again = read_city(tmp_path / "r.csv")
        assert again.hospitals == city.hospitals
        assert again.grid.latitudes == grid.latitudes
        assert again.grid.km_x == pytest.approx(0.34125, rel=1e-6)
        assert again.grid.km_y == pytest.approx(0.34125, rel=1e-6)
        write_city(tmp_path / "s.csv", again)
        assert (tmp_path / "s.csv").read_bytes() == (tmp_path / "r.csv").read_bytes()

    def test_hospital_column_may_be_missing(self, tmp_path):
        write_city(tmp_path / "r.csv", CITY)
        lines = (tmp_path / "r.csv").read_text().splitlines()
        (tmp_path / "s.csv").write_text("\r\n".join(line.rpartition(",")[0] for line in lines))
        assert read_city(tmp_path / "s.csv").hospitals == ()

    @pytest.mark.parametrize(
        ("line", "old", "new", "text"),
        [
            (1, "hospital", "clinic", r"line 1: found .*clinic.*expected the header reg_id"),
            (2, "1,1,1,", "2,1,1,", r"line 2, column reg_id: found '2', expected 1"),
            (3, ",1,2,", ",1,0,", r"line 3, column x_id: found '0', expected a whole number 1"),
            (4, "35.675", "35.7", r"line 4, column y\(center\).*as in the rows before"),
            (5, ",0", ",2", r"line 5, column hospital: found '2', expected a whole number 0 to 1"),
            (6, "35.725", "nan", r"line 6, column y\(center\): found 'nan', expected a number"),
            (7, ",", ";", r"line 7: found 1 fields"),
        ],
    )
    def test_errors_name_line_and_column(self, tmp_path, line, old, new, text):
        write_city(tmp_path / "r.csv", CITY)
        lines = (tmp_path / "r.csv").read_text().splitlines()
        assert old in lines[line - 1]
        lines[line - 1] = lines[line - 1].replace(old, new)
        (tmp_path / "r.csv").write_text("\n".join(lines) + "\n")
        with pytest.raises(InvalidFile, match=text):
            read_city(tmp_path / "r.csv")

    def test_missing_rows(self, tmp_path):
        write_city(tmp_path / "r.csv", CITY)
        lines = (tmp_path / "r.csv").read_text().splitlines()
        (tmp_path / "r.csv").write_text("\n".join(lines[:-1]))
        with pytest.raises(InvalidFile, match="found 5 rows, expected 3 x 2 = 6 rows"):
            read_city(tmp_path / "r.csv")

    def test_uneven_grid(self, tmp_path):
        text = "reg_id,y_id,x_id,y(center),x(center)\n"
        text += "1,1,1,35,139.1\n2,1,2,35,139.2\n3,1,3,35,139.9\n"
        (tmp_path / "r.csv").write_text(text)
        with pytest.raises(InvalidFile, match="unequal distances"):
            read_city(tmp_path / "r.csv")

    def test_empty_file(self, tmp_path):
        (tmp_path / "r.csv").write_text("")
        with pytest.raises(InvalidFile, match="an empty file"):
            read_city(tmp_path / "r.csv")


class TestClockFile:
    @given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 9), st.integers(1, 59))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
    def test_round_trip(self, tmp_path, reference, original, slots, interval):
        clock = ContestClock.regular(original, slots, 480, interval, reference)
        write_clock(tmp_path / "t.csv", clock)
        assert read_clock(tmp_path / "t.csv") == clock

    @pytest.mark.parametrize(
        ("line", "old", "new", "text"),
        [
            (9, "org", "ref", "line 9, column ref/org: found 'ref'"),
            (3, "ref,2", "ref,3", "line 3, column time_id: found '3', expected 2"),
            (5, ",2,8,", ",1,8,", "line 5"),
            (6, ",8,30", ",9,30", "line 6, column hour: found 9:30, expected 8:30"),
            (2, ",1,8,", ",2,8,", "line 2, column day: found '2', expected 1"),
        ],
    )
    def test_errors_name_line_and_column(self, tmp_path, line, old, new, text):
        write_clock(tmp_path / "t.csv", CLOCK)
        lines = (tmp_path / "t.csv").read_text().splitlines()
        assert old in lines[line - 1]
        lines[line - 1] = lines[line - 1].replace(old, new)
        (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
        with pytest.raises(InvalidFile, match=text):
            read_clock(tmp_path / "t.csv")

    def test_no_original_part(self, tmp_path):
        (tmp_path / "t.csv").write_text("ref/org,time_id,day,hour,min\nref,1,1,8,0\n")
        with pytest.raises(InvalidFile, match="0 org rows"):
            read_clock(tmp_path / "t.csv")


class TestPlacesFile:
    def test_round_trip(self, tmp_path):
        write_places(tmp_path / "p.csv.gz", PLACES, GRID)
        assert read_places(tmp_path / "p.csv.gz", GRID) == PLACES

    def test_regions_follow_from_the_coordinates(self, tmp_path):
        (tmp_path / "p.csv").write_text("poi_id,y,x,category\n0,35.74,139.79,home\n")
        assert read_places(tmp_path / "p.csv", GRID).regions.tolist() == [5]

    def test_a_place_outside(self, tmp_path):
        (tmp_path / "p.csv").write_text("poi_id,y,x,category\n0,0,0,home\n")
        with pytest.raises(InvalidFile, match="line 2, column y: .*inside the grid"):
            read_places(tmp_path / "p.csv", GRID)


READERS = {
    "city": (lambda path: write_city(path, CITY), read_city),
    "clock": (lambda path: write_clock(path, CLOCK), read_clock),
    "places": (
        lambda path: write_places(path, PLACES, GRID),
        lambda path: read_places(path, GRID),
    ),
}
SNIPPETS = [b"", b"\n", b",", b"\0", b"\xff", b"-1", b"0", b"1e999", b"nan", b"9" * 30, b" ", b"x"]


@pytest.mark.parametrize("kind", READERS)
class TestFuzz:
    @given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4), st.sampled_from(SNIPPETS))))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=400)
    def test_only_our_own_errors_come_out(self, tmp_path, kind, changes):
        write, read = READERS[kind]
        path = tmp_path / "f.csv"
        write(path)
        content = bytearray(path.read_bytes())
        for place, length, snippet in changes:
            start = int(place * len(content))
            content[start : start + length] = snippet
        path.write_bytes(bytes(content))
        try:
            read(path)
        except TraceCupError as error:
            assert str(path) in str(error)


class TestKilometres:
    """Cities whose degrees are not those of the contest tell so in their file."""

    def city(self):
        return City(Grid((60.0, 60.1), (24.0, 24.1), 0.1, 0.1, km_per_longitude=55.5))

    def test_round_trip(self, tmp_path):
        write_city(tmp_path / "c.csv", self.city())
        assert (tmp_path / "c.csv").read_text().startswith("reg_id,y_id,x_id,y(center),")
        assert read_city(tmp_path / "c.csv").grid.km_x == pytest.approx(5.55)

    def test_a_contest_city_keeps_the_contests_columns(self, tmp_path):
        write_city(tmp_path / "c.csv", City(Grid((35.0, 35.1), (139.0, 139.1), 0.1, 0.1)))
        assert "km" not in (tmp_path / "c.csv").read_text()

    @pytest.mark.parametrize(
        ("old", "new"), [("55.5\n2,", "55\n2,"), ("111.0", "0"), ("55.5", "x")]
    )
    def test_bad_kilometres_are_named(self, tmp_path, old, new):
        write_city(tmp_path / "c.csv", self.city())
        text = (tmp_path / "c.csv").read_text()
        (tmp_path / "c.csv").write_text(text.replace(old, new))
        with pytest.raises(InvalidFile, match="km_per"):
            read_city(tmp_path / "c.csv")
