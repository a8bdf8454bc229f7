"""Maps of one's own traces, before and after: toy cities, and the files of the command line."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import tracecup as tc
from tracecup.cli.main import run
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.errors import InvalidParameter
from tracecup.front.html import SIDE, centres, region_map
from tracecup.front.maps import change_map, path_map
from tracecup.traces.files import write_id_table, write_obfuscated, write_released

CITY = tc.City(tc.Grid.from_metres(2, 2, width_m=1000, height_m=1000), hospitals=[3])
CLOCK = tc.Clock.regular(2, 2)
BEFORE = tc.Traces.of([[0, 1, 1, 0], [2, 2, 2, 2]], CLOCK)
AFTER = tc.SetTraces.of_cells([[[0], [1, 2], [], [0]], [[2], [2], [3], [2]]], CLOCK)


def squares(html: str) -> dict[tuple[float, float], str]:
    """Left and upper edge of every square, with its colour."""
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*fill="(#\w+)"', html)
    return {(float(x), float(y)): colour for x, y, colour in found}


class TestRegionMap:
    def test_north_is_up(self):
        shown = squares(region_map(CITY, np.array([4.0, 1.0, 0.0, 0.0]), ""))
        half = SIDE / 2
        assert shown[0, half] == "#062b3c"  # region 0, the most, in the south-west
        assert shown[half, half] != "#062b3c"
        assert shown[half, 0] == "#fff"  # the hospital's frame around nothing
        assert (0, 0) not in shown

    def test_centres_lie_within_their_squares(self):
        assert centres(CITY, np.array([0, 3])).tolist() == [
            [SIDE / 4, 3 * SIDE / 4],
            [3 * SIDE / 4, SIDE / 4],
        ]

    def test_a_large_grid_is_summed(self):
        city = tc.City(tc.Grid.from_metres(100, 100, width_m=1000, height_m=1000))
        assert len(squares(region_map(city, np.ones(10_000), ""))) == 50 * 50


class TestChange:
    def test_shares_that_moved(self):
        before = tc.SetTraces.of_traces(BEFORE)
        assert "0% of what is shown moved" in change_map(CITY, before, before)
        # before: 2, 2, 4, 0 of 8; after: 2, 1, 4, 1 of 8
        html = change_map(CITY, before, AFTER)
        assert "12% of what is shown moved" in html
        assert len(set(squares(html).values())) == 2


class TestPath:
    def test_one_line_for_each_day_with_a_move(self):
        html = path_map(CITY, tc.SetTraces.of_traces(BEFORE), 0, "")
        assert html.count("<polyline") == 2
        assert "2 regions" in html
        assert path_map(CITY, tc.SetTraces.of_traces(BEFORE), 1, "").count("<polyline") == 0

    def test_what_was_deleted_or_generalised_is_said(self):
        html = path_map(CITY, AFTER, 0, "after: ")
        assert "after: 3 regions, 1 of 4 events deleted, 1 generalised" in html


class TestDrawMap:
    def test_one_or_two_sides(self):
        assert tc.draw_map(CITY, BEFORE).html.count("<svg") == 3
        both = tc.draw_map(CITY, BEFORE, AFTER)
        assert both.html.count("<svg") == 3 + 4
        assert "Utility s_U" in both.html

    def test_users_by_number_and_by_id(self):
        assert "User 1<" not in tc.draw_map(CITY, BEFORE, users=[2]).html
        assert "User 2<" not in tc.draw_map(CITY, BEFORE, users=1).html
        assert "User" not in tc.draw_map(CITY, BEFORE, users=0).html

    def test_a_release_is_put_back_into_the_order_of_its_users(self, demo):
        released, table = pseudonymize(AFTER, 7)
        order = released.take_users(table.inverse())
        assert order.regions.tolist() == AFTER.regions.tolist()
        cells = np.array(demo.original)
        cells[:, ::3] = 5
        made = tc.publish(demo, cells)
        assert tc.draw_map(made).html == tc.draw_map(demo, cells).html

    def test_the_page_asks_for_nothing(self, tmp_path):
        path = tc.draw_map(CITY, BEFORE, AFTER, title="<mine>").save(tmp_path / "map.html")
        text = path.read_text()
        assert "default-src 'none'" in text
        assert "<title>&lt;mine&gt;" in text
        assert not re.search(r"<script|https?://|src=|href=", text)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ((CITY,), "draw_map\\(city, traces\\)"),
            ((BEFORE, BEFORE), "got Traces"),
            ((CITY, BEFORE, tc.SetTraces.of_cells([[[0]]])), "same users"),
        ],
    )
    def test_nonsense(self, given, said):
        with pytest.raises(InvalidParameter, match=said):
            tc.draw_map(*given)

    def test_users_that_are_not_there(self):
        with pytest.raises(InvalidParameter, match="1 to 2, got 3"):
            tc.draw_map(CITY, BEFORE, users=[3])


class TestCommand:
    @pytest.fixture
    def folder(self, demo, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        demo.save(tmp_path)
        cells = tc.SetTraces.of_traces(demo.original)
        released, table = pseudonymize(cells, 7)
        write_obfuscated(tmp_path / "anotraces.csv", cells)
        write_released(tmp_path / "pubtraces.csv", released)
        write_id_table(tmp_path / "ptable.csv", table)
        return tmp_path

    def words(self, *more: str) -> list[str]:
        common = ["--city", "info_region.csv", "--clock", "info_time.csv"]
        return ["map", "orgtraces.csv.zst", *more, *common]

    def test_before_and_after(self, folder, capsys):
        assert run([*self.words("anotraces.csv"), "--users", "2", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["shown"] == 2
        plain = (folder / "map.html").read_text()
        shuffled = self.words("pubtraces.csv", "--id-table", "ptable.csv", "--users", "2")
        assert run([*shuffled, "--out", "again.html"]) == 0
        names = ("anotraces.csv", "pubtraces.csv")
        assert (folder / "again.html").read_text().replace(*reversed(names)) == plain

    def test_reference_traces(self, folder):
        words = ["map", "reftraces.csv.zst", *self.words()[2:]]
        assert run([*words, "--user", "3"]) == 0
        assert "User 3<" in (folder / "map.html").read_text()

    def test_wrong_use(self, folder, capsys):
        assert run(self.words("orgtraces.csv.zst")) == 2
        assert run(self.words("--id-table", "ptable.csv")) == 2
        assert "goes with a release" in capsys.readouterr().err
