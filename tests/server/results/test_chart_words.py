"""The charts of the site in Japanese: nothing English is left in them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from importlib import resources
from types import SimpleNamespace

import pytest
from django.utils import translation
from django.utils.translation import gettext

from tracecup.charts.arrivals import hours_chart
from tracecup.charts.maps import city_map, moved_map
from tracecup.charts.matrices import heat_map
from tracecup.charts.scores import scatter, utility
from tracecup.charts.tracemaps import trace_maps
from tracecup.contest.correlation import Correlation
from tracecup.facts import AttackerFacts, CityFacts, MatrixFacts, MatrixRow, ReleaseFacts
from tracecup.facts.board import STATUSES
from tracecup.server.results.data_board import Board

CITY = CityFacts(3, 2, 0.5, 1.5, (4,))
TEXT = re.compile(r'tell\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)')


@pytest.fixture
def board() -> Board:
    """One release of every status, and two sample attacks."""
    releases = [
        ReleaseFacts(
            f"{k:03d}", "Ann", status, method="hidden", utility=0.8, reid_min=0.3, trace_min=0.4
        )
        for k, status in enumerate(STATUSES)
    ]
    attackers = tuple(AttackerFacts(one, "", "VisitProb-R", sample=True) for one in ("I1", "I2"))
    row = MatrixRow("001", "Ann", (0.3, 0.3), 0.3)
    return Board.model_construct(
        awards=[],
        releases=releases,
        matrices=[MatrixFacts(kind, attackers, (row,)) for kind in ("reid", "trace")],
        correlation=Correlation(0.5, None, None, 3, 0.95),
    )


def drawn(*charts) -> str:
    return json.dumps([view.spec for chart in charts for view in chart.views], ensure_ascii=False)


class TestJapanese:
    def test_every_text_of_every_chart_is_in_the_catalogue(self):
        asked = {
            "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', parts))
            for file in resources.files("tracecup.charts").iterdir()
            if file.name.endswith(".py")
            for parts in TEXT.findall(file.read_text("utf-8"))
        }
        assert len(asked) > 110
        with translation.override("ja"):
            assert sorted(text for text in asked if gettext(text) == text) == ["km"]

    def test_results(self, board):
        with translation.override("ja"):
            text = drawn(
                scatter(board.charted, gettext),
                utility(board.charted, 0.7, gettext),
                heat_map(board.matrices[0], gettext),
            )
        assert [word for word in STATUSES if f'"{word}"' in text] == []
        assert '"下限0.7"' in text

    def test_maps(self):
        trace = [("original", "元", [[4]] * 8)]
        with translation.override("ja"):
            text = drawn(
                city_map(CITY, gettext),
                moved_map(CITY, [None, 1.0, 2.0, 0.0, None, 0.5], gettext),
                trace_maps(CITY, "abcdefgh", trace, "", gettext),
            )
        assert "Region" not in text
        assert "a, b, c, d, e, f、…（計8個の時刻）" in text

    def test_what_came_in(self):
        at = datetime(2030, 1, 2, 3, tzinfo=UTC)
        hours = [SimpleNamespace(at=at, releases=1, answers=2, rejected=0)]
        with translation.override("ja"):
            chart = hours_chart(hours, UTC, gettext)
        assert chart.table.rows == (("2030-01-02 03:00", "1", "2", "0"),)
        assert "3" in chart.alt
        assert "releases" not in drawn(chart)


class TestResults:
    def test_methods_are_in_no_chart(self, board):
        charts = [scatter(board.charted), utility(board.charted, 0.7)]
        assert "hidden" not in drawn(*charts)

    def test_an_invalid_release_has_no_point(self, board):
        rows = scatter(board.charted).views[0].spec["data"]["values"]
        assert [row["label"] for row in rows] == ["000", "001", "002"]

    def test_a_sample_attack_is_told_by_its_method(self, board):
        cells = heat_map(board.matrices[0]).views[0].spec["data"]["values"]
        assert [cell["attack"] for cell in cells] == ["VisitProb-R", "VisitProb-R"]
