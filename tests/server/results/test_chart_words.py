"""The charts of the site in Japanese: none of the report's English words is left in them."""

from __future__ import annotations

import json

import pytest
from django.utils import translation

from tracecup.report.maps import MapWords
from tracecup.report.scores import STATUSES, ScoreWords
from tracecup.server.results import charts as resultcharts
from tracecup.server.results.data_board import (
    AttackerInfo,
    Board,
    CorrelationInfo,
    MatrixInfo,
    MatrixRow,
    ReleaseRow,
)
from tracecup.server.site import maps
from tracecup.server.site.data import CityMap

CITY = CityMap(nx=3, ny=2, km_x=0.5, km_y=1.5, hospitals=[4])


def release(label: str, status: str) -> ReleaseRow:
    return ReleaseRow.model_construct(
        label=label, name="Ann", status=status, method="hidden", utility=0.8, reid_min=0.3,
        trace_min=0.4,
    )  # fmt: skip


@pytest.fixture
def board() -> Board:
    """One release of every status, and two sample attacks."""
    sample = AttackerInfo(
        label="I1", name="", attack="VisitProb-R", sample=True, sum=None, not_attacked=None
    )
    return Board.model_construct(
        releases=[release(f"{k:03d}", one) for k, one in enumerate(STATUSES)],
        matrices=[
            MatrixInfo(
                kind="reid",
                attackers=[sample, sample.model_copy(update={"label": "I2"})],
                rows=[MatrixRow(label="001", name="Ann", values=[0.3, 0.3], minimum=0.3)],
            )
        ],
        correlation=CorrelationInfo(
            value=0.5, low=None, high=None, pairs=3, confidence=0.95, reason=""
        ),
    )


def drawn(*charts) -> str:
    return json.dumps([view.spec for chart in charts for view in chart.views], ensure_ascii=False)


def english(words: ScoreWords | MapWords) -> list[str]:
    return [word for word in vars(words).values() if isinstance(word, str)]


class TestJapanese:
    def test_results(self, board):
        with translation.override("ja"):
            text = drawn(
                resultcharts.scatter(board),
                resultcharts.utility(board, 0.7),
                resultcharts.heat_map(board.matrices[0]),
            )
        assert [word for word in [*english(ScoreWords()), *STATUSES] if f'"{word}"' in text] == []
        assert '"下限 0.7"' in text

    def test_maps(self):
        trace = [("original", "元", [[4]] * 8)]
        with translation.override("ja"):
            text = drawn(
                maps.city_chart(CITY),
                maps.moved_map(CITY, [None, 1.0, 2.0, 0.0, None, 0.5]),
                maps.trace_maps(CITY, "abcdefgh", trace, ""),
            )
        assert [word for word in english(MapWords()) if f'"{word}"' in text] == []
        assert "a, b, c, d, e, f、…(計 8 個の時刻)" in text


class TestResults:
    def test_methods_are_in_no_chart(self, board):
        charts = [resultcharts.scatter(board), resultcharts.utility(board, 0.7)]
        assert "hidden" not in drawn(*charts)

    def test_an_invalid_release_has_no_point(self, board):
        rows = resultcharts.scatter(board).views[0].spec["data"]["values"]
        assert [row["label"] for row in rows] == ["000", "001", "002"]

    def test_a_sample_attack_is_told_by_its_method(self, board):
        cells = resultcharts.heat_map(board.matrices[0]).views[0].spec["data"]["values"]
        assert [cell["who"] for cell in cells] == ["VisitProb-R", "VisitProb-R"]


class TestMaps:
    def test_as_high_as_the_city(self):
        assert maps.city_chart(CITY).views[0].aspect == pytest.approx(2.0)

    def test_only_regions_with_events_are_shaded(self):
        spec = maps.moved_map(CITY, [None, 1.0, 2.0, 0.0, None, 0.5]).views[0].spec
        rows = spec["layer"][1]["data"]["values"]
        assert [row["r"] for row in rows] == [1, 2, 3, 5]
