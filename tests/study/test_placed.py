from __future__ import annotations

import numpy as np
import pytest

from tracecup.datasets import Box, Timetable
from tracecup.errors import InvalidFile, InvalidParameter, InvalidTraces
from tracecup.study.placed import WARNING, day_of, day_text, read_names
from tracecup.study.rawtables import Cutting, TooWide, read_raw, read_settings

CUT = Cutting(Timetable(0, 720, 2, 2))
BOX = Box(35.0, 35.2, 139.0, 139.4)
ROWS = (
    "ann,2024-03-01 08:00:00,35.05,139.05",
    "bob,2024-03-01 09:00:00,35.15,139.35",
    "ann,2024-03-02 08:00:00,35.05,139.15",
    "bob,2024-03-02 08:00:00,35.15,139.35",
    "bob,2024-03-02 08:10:00,35.15,139.35",
    "cat,2024-03-02 08:00:00,35.15,139.35",
    "ann,2024-03-02 09:00:00,36.05,139.15",
)


def table(path, rows, header="user,time,lat,lon"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.fixture
def one(tmp_path):
    """Two people on two days, a third on the second only; one record is outside the box."""
    return table(tmp_path / "gps.csv", ROWS)


def read(*paths, **options):
    return read_raw(*paths, cutting=CUT, grid=(4, 2), box=BOX, rng=1, **options)


class TestSplit:
    def test_one_table_for_both_sides(self, one):
        found = read(one, one, split=day_of("2024-03-02"))
        assert found.labels == ("ann", "bob")
        assert found.reference.regions.tolist() == [[0, -1], [7, -1]]
        assert found.original.regions.tolist() == [[1, -1], [7, -1]]
        assert found.dates == (day_of("2024-03-02"),)
        assert not any(note.startswith(WARNING) for note in found.notes)

    def test_same_as_two_tables(self, one, tmp_path):
        first = table(tmp_path / "a.csv", [row for row in ROWS if "03-01" in row])
        second = table(tmp_path / "b.csv", [row for row in ROWS if "03-02" in row])
        whole, parts = read(one, one, split=day_of("2024-03-02")), read(first, second)
        assert whole.released == parts.released
        assert np.array_equal(whole.reference.regions, parts.reference.regions)

    def test_another_release_of_the_second_part(self, one, tmp_path):
        safe = table(tmp_path / "safe.csv", ["ann,2024-03-02 08:00:00,35.15,139.35"])
        found = read(one, safe, one, split=day_of("2024-03-02"))
        assert found.original.regions.tolist() == [[1, -1], [7, -1]]
        assert found.coverage is not None
        assert (found.coverage.records, found.coverage.audited) == (1, 1)

    @pytest.mark.parametrize("day", ["2024-03-01", "2024-03-03", "1999-01-01"])
    def test_outside_the_days(self, one, day):
        with pytest.raises(InvalidTraces, match="its days are 2024-03-01 to 2024-03-02"):
            read(one, one, split=day_of(day))


class TestCoverage:
    def test_counts_what_was_looked_at(self, one):
        found = read(one, one, split=day_of("2024-03-02")).coverage
        assert found is not None
        # Cat has no earlier day, one record is outside, one in Bob's same half day.
        assert vars(found) == {"records": 7, "audited": 4, "merged": 1, "users": 3}


class TestWarnings:
    def test_same_rows_and_days(self, one):
        said = [note for note in read(one, one).notes if note.startswith(WARNING)]
        assert "5 of 5 released records stand in the reference too" in said[0]
        assert "2 days are in the reference and in the release" in said[1]

    def test_same_day_other_rows(self, one, tmp_path):
        other = table(tmp_path / "o.csv", ["ann,2024-03-01 20:00:00,35.05,139.05"])
        said = [note for note in read(one, other).notes if note.startswith(WARNING)]
        assert len(said) == 1
        assert "1 days are" in said[0]


class TestNames:
    @pytest.fixture
    def released(self, tmp_path):
        rows = ["x,2024-04-02 08:00:00,35.15,139.35", "y,2024-04-02 08:00:00,35.05,139.15"]
        return table(tmp_path / "rel.csv", rows)

    def test_pseudonyms_get_their_users(self, one, released, tmp_path):
        ids = table(tmp_path / "ids.csv", ["x,bob", "y,ann", "z,eve"], "pseudonym,user")
        found = read(one, released, names=read_names(ids))
        assert found.labels == ("bob", "ann")
        assert found.original.regions.tolist() == [[7, -1], [1, -1]]

    def test_a_pseudonym_without_user(self, one, released, tmp_path):
        ids = table(tmp_path / "ids.csv", ["x,bob"], "pseudonym,user")
        with pytest.raises(InvalidTraces, match="no row for 1 of 2 pseudonyms.*'y'"):
            read(one, released, names=read_names(ids))

    def test_without_the_table_nobody_matches(self, one, released):
        with pytest.raises(InvalidTraces, match="no user is in the reference.*--raw-ids"):
            read(one, released)

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            (["x,bob", "x,ann"], "line 3, column pseudonym"),
            (["x,bob", "y,bob"], "line 3, column user"),
            (["x,"], "line 2, column user"),
            ([], "no rows"),
        ],
    )
    def test_wrong_tables(self, tmp_path, rows, said):
        with pytest.raises(InvalidFile, match=said):
            read_names(table(tmp_path / "ids.csv", rows, "pseudonym,user"))


class TestDayOf:
    def test_there_and_back(self):
        assert day_text(day_of("2024-02-29")) == "2024-02-29"

    @pytest.mark.parametrize("text", ["15.3.2024", "2024-02-30", ""])
    def test_no_date(self, text):
        with pytest.raises(InvalidParameter, match="a date like"):
            day_of(text)


class TestReadSettings:
    def test_every_grid_and_step(self, one):
        cuts = [CUT, Cutting(Timetable(0, 360, 4, 4))]
        options = {"cuts": cuts, "box": BOX, "split": day_of("2024-03-02")}
        found = read_settings(one, one, grids=[(4, 2), (2, 2)], **options)
        assert [words for words, _ in found] == [
            "4 x 2 regions every 720 min",
            "4 x 2 regions every 360 min",
            "2 x 2 regions every 720 min",
            "2 x 2 regions every 360 min",
        ]

    def test_default_grids_that_are_too_wide_are_passed_over(self, tmp_path):
        rows = [row.replace("139.35", "140.00") for row in ROWS[:6]]
        wide = table(tmp_path / "wide.csv", [*rows, "ann,2024-03-02 09:00:00,36.05,139.15"])
        found = read_settings(wide, wide, cuts=[CUT], split=day_of("2024-03-02"))
        assert [words for words, _ in found] == ["64 x 64 regions every 720 min"]
        with pytest.raises(TooWide, match="stray record"):
            read_settings(wide, wide, cuts=[CUT], grids=[(32, 32)], split=day_of("2024-03-02"))
