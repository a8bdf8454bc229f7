"""Raw people-flow files, written here in their form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets import CONTEST, read_peopleflow
from tracecup.errors import InvalidFile, InvalidTraces, TraceCupError, UnreadableFile

HEADER = "ユーザーID,性別,日時,緯度,経度,カテゴリ,小分類,状態,カテゴリID\n"


def line(user, time, y=35.6525, x=139.683, category="", special="", state="MOVE", number=""):
    return f"{user},男性,{time},{y},{x},{category},{special},{state},{number}\n"


def day(user, date="2013-07-01", hours=range(9, 19), second=53, **options):
    return [
        line(user, f"{date} {h:02d}:{m:02d}:{second:02d}", **options)
        for h in hours
        for m in range(0, 60, 5)
    ]


@pytest.fixture
def write(tmp_path):
    def put(lines, name="2013-07-01.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_text(HEADER + "".join(lines), encoding=encoding)
        return path

    return put


class TestChain:
    def test_one_record_in_each_of_thirty_slots(self, write):
        records = read_peopleflow(write(day(5))).records
        assert records.instant.tolist() == list(range(30))
        assert records.users.tolist() == [5]
        assert records.day.tolist() == [0] * 30

    def test_time_is_japanese(self, write):
        # 2013-07-01 09:00:53 in Japan is 00:00:53 UTC.
        assert read_peopleflow(write(day(5))).records.unix[0] == 1372636853

    def test_a_gap_drops_the_user(self, write):
        gap = [text for text in day(1) if " 12:20" not in text]
        assert read_peopleflow(write(gap + day(2))).records.users.tolist() == [2]

    def test_a_chain_goes_on_at_the_same_hour_of_a_later_day(self, write, tmp_path):
        """As in the published files, in which two users of five cross a date."""
        write([text for text in day(1) if " 12:20" not in text])
        write(day(1, "2013-07-07"), "2013-07-07.csv")
        records = read_peopleflow(tmp_path).records
        assert len(records) == 30
        assert len(np.unique(records.unix // 86400)) == 2
        assert len(records.steps()[0]) == 29

    def test_starting_late_is_no_chain(self, write):
        with pytest.raises(InvalidTraces):
            read_peopleflow(write(day(1, hours=range(10, 19))))

    def test_points_outside_break_it(self, write):
        away = [text.replace("35.6525", "36.6525") if " 15:00" in text else text for text in day(1)]
        assert read_peopleflow(write(away + day(2))).records.users.tolist() == [2]

    def test_published_split(self, write):
        lines = [text for user in (3, 1, 2, 7) for text in day(user)]
        split = read_peopleflow(write(lines)).split(2, 2)
        # Legacy shuffle of four with seed 1: 3 2 0 1.
        assert split.training.users.tolist() == [3, 7]
        assert split.testing.users.tolist() == [1, 2]


class TestWithoutChain:
    def test_contest_hours_and_grid(self, write):
        lines = day(1, hours=range(5, 20))
        dataset = read_peopleflow(write(lines), nx=32, ny=32, timetable=CONTEST, chain=False)
        assert len(dataset.records) == 144
        assert dataset.city.n_regions == 1024

    def test_users_with_few_records_go(self, write):
        lines = day(1, hours=[9]) + day(2, hours=[9, 10])
        dataset = read_peopleflow(write(lines), timetable=CONTEST, chain=False, fewest=13)
        assert dataset.records.users.tolist() == [2]


class TestPlaces:
    def test_categories_and_hospitals(self, write):
        lines = day(1)
        lines += [
            line(1, "2013-07-01 23:00:00", 35.7499, 139.7999, "building", "Hospital", "STAY", 7)
        ]
        lines += [
            line(1, "2013-07-01 23:05:00", 35.7499, 139.7999, "building", "Hospital", "STAY", 7)
        ]
        lines += [line(1, "2013-07-01 23:10:00", 35.70, 139.70, "food", "Cafe", "STAY", 3)]
        city = read_peopleflow(write(lines)).city
        assert city.places.categories == ("food/Cafe/3", "building/Hospital/7")
        assert city.places.counts.tolist() == [1, 2]
        assert city.hospitals == (399,)

    def test_can_be_left_out(self, write):
        lines = [*day(1), line(1, "2013-07-01 23:00:00", category="food", number=3)]
        assert len(read_peopleflow(write(lines), places=False).city.places) == 0


class TestFiles:
    def test_other_encodings_do_not_matter(self, write):
        assert len(read_peopleflow(write(day(5), encoding="shift_jis")).records) == 30

    def test_bad_line_is_named(self, write):
        path = write([*day(1), line("x", "2013-07-01 09:00:00")])
        with pytest.raises(InvalidFile, match="line 122, column user_id: found 'x'"):
            read_peopleflow(path)

    def test_bad_lines_can_be_skipped(self, write):
        dataset = read_peopleflow(write([*day(1), "1,2,3\n"]), bad_lines="skip")
        assert (len(dataset.records), dataset.dropped.bad_lines) == (30, 1)

    def test_folder_without_daily_files(self, tmp_path):
        with pytest.raises(UnreadableFile, match="YYYY-MM-DD"):
            read_peopleflow(tmp_path)

    @given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=5))
    def test_any_text_gives_our_error(self, tmp_path_factory, lines):
        path = tmp_path_factory.mktemp("fuzz") / "2013-07-01.csv"
        path.write_text(HEADER + "\n".join([*lines, day(1)[0]]), encoding="utf-8")
        with pytest.raises(TraceCupError):
            read_peopleflow(path)
