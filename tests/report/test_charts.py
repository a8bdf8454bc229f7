"""The charts' data, by hand on tiny facts; how they look is for eyes."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace

import numpy as np
import pytest

from tracecup.contest.correlation import Correlation, correlate
from tracecup.report import (
    Attacker,
    CityMap,
    ContestFacts,
    Matrix,
    Population,
    Release,
    TraceExample,
)
from tracecup.report.chart import still_picture, views_of
from tracecup.report.maps import (
    MapWords,
    hospitals,
    population_map,
    spelled,
    trace_maps,
    trace_views,
)
from tracecup.report.matrices import heat_map, heat_spec
from tracecup.report.risk import risk_bands, risk_histogram
from tracecup.report.scores import (
    STATUSES,
    ScoreWords,
    both_scores,
    minima_layers,
    scatter,
    tooltip,
    utility,
    utility_layers,
)


@pytest.fixture(scope="module")
def tiny() -> ContestFacts:
    """Two teams, the benchmark and an invalid release; one team and a sample attack attack."""
    attackers = (Attacker("001", "Ann"), Attacker("I1", "Judge", "Random-R", sample=True))
    reid = ((0.1, 0.9), (None, 0.8), (0.4, 0.3), (None, None))
    trace = ((0.2, 0.7), (None, 0.6), (0.5, 0.5), (None, None))
    return ContestFacts(
        name="Tiny",
        summary="",
        users=4,
        rules=(("Floor", "0.7"),),
        releases=(
            Release("000", "Benchmark", "None", benchmark=True, utility=1.0,
                    trace_risk=np.array([0.5, 0.5, 1.0, 1.0])),
            Release("001", "Ann", "RR(4)", utility=0.75,
                    trace_risk=np.array([0.0, 0.1, 0.2, 0.99]),
                    reid_risk=np.array([0.0, 0.5, 1.0, 0.0])),
            Release("002", "Bob", "PL(4,1)", utility=0.7),
            Release("003", "Cyd", "None", valid=False, utility=0.5),
        ),
        reid=Matrix(attackers, reid, (0.1, 0.8, 0.3, 0.0), (0.5, None)),
        trace=Matrix(attackers, trace, (0.2, 0.6, 0.5, 0.0), (0.7, None)),
        correlation=correlate([0.1, 0.8, 0.3], [0.2, 0.6, 0.5]),
        city=CityMap(3, 2, (4,)),
        population=Population(("08:00", "09:00"), np.array([[0, 2, 0, 0, 5, 0], [1.0] * 6])),
        example=TraceExample(
            "7", "Ann", "Bob", 2, ("08:00", "12:00"), (0, 1, 2, 2), ((0,), (1, 4), (), (2,)),
            (0, 4, 2, 1),
        ),
    )  # fmt: skip


def layer(view, field):
    """The data of the first layer whose rows have the field."""
    for one in [view.spec, *view.spec["layer"]]:
        rows = one.get("data", {}).get("values", [])
        if rows and field in rows[0]:
            return rows
    raise AssertionError(f"no layer has {field}")


class TestScatter:
    def test_published_releases_at_their_minima(self, tiny):
        rows = layer(scatter(tiny).views[0], "x")
        assert [(r["label"], r["x"], r["y"]) for r in rows] == [
            ("000", 0.1, 0.2),
            ("001", 0.8, 0.6),
            ("002", 0.3, 0.5),
        ]

    def test_alt_says_the_correlation(self, tiny):
        assert f"R = {tiny.correlation.value:.3f}, over 3 releases" in scatter(tiny).alt

    def test_an_interval_is_told_where_there_is_one(self, tiny):
        known = replace(tiny, correlation=Correlation(0.8, 0.1, 0.95, 9, 0.95))
        assert "95% interval 0.10 to 0.95" in scatter(known).alt

    def test_without_a_correlation_it_says_why(self, tiny):
        none = replace(tiny, correlation=Correlation(None, None, None, 1, 0.95, "one pair"))
        assert "There is no correlation: one pair." in scatter(none).alt

    def test_a_ceiling_is_drawn_where_known(self, tiny):
        known = replace(tiny, prior_ceiling=0.8)
        assert layer(scatter(known).views[0], "at") == [{"at": 0.8}]


class TestHeatMap:
    def test_cells_and_the_strongest_attack_of_each_row(self, tiny):
        rows = layer(heat_map(tiny, "reid").views[0], "score")
        assert [(r["release"], r["attacker"]) for r in rows if r["lowest"]] == [
            ("000", "001"),
            ("001", "I1"),
            ("002", "I1"),
        ]
        assert [r["score"] for r in rows] == [0.1, 0.9, None, 0.8, 0.4, 0.3, None, None]

    def test_equal_attacks_are_all_framed(self, tiny):
        rows = layer(heat_map(tiny, "trace").views[0], "score")
        framed = [r["attacker"] for r in rows if r["lowest"] and r["release"] == "002"]
        assert framed == ["001", "I1"]

    def test_table_has_every_score(self, tiny):
        text = heat_map(tiny, "trace").table
        for shown in ("0.200", "0.700", "0.600", "0.500", "–"):
            assert f'<td class="number">{shown}</td>' in text

    def test_alt_names_the_strongest_attacker(self, tiny):
        assert "strongest attacker over all is 001, sum 0.500" in heat_map(tiny, "reid").alt


class TestUtility:
    def test_two_points_per_release(self, tiny):
        rows = layer(utility(tiny).views[0], "utility")
        assert len(rows) == 8
        assert {(r["utility"], r["score"]) for r in rows if r["label"] == "001"} == {
            (0.75, 0.8),
            (0.75, 0.6),
        }

    def test_a_release_without_utility_is_left_out(self, tiny):
        releases = (replace(tiny.releases[0], utility=None), *tiny.releases[1:])
        rows = layer(utility(replace(tiny, releases=releases)).views[0], "utility")
        assert "000" not in {r["label"] for r in rows}

    def test_the_axis_begins_below_the_lowest_utility(self, tiny):
        svg = still_picture(utility(tiny).picture)
        numbers = [float(text) for text in re.findall(r">([0-9.]+)<", svg)]
        # 0.4 stands at both axes, 0.3 at the upright one only.
        assert (numbers.count(0.4), numbers.count(0.3)) == (2, 1)


class TestRisk:
    def test_quantiles_by_hand_the_safest_first(self, tiny):
        rows = layer(risk_bands(tiny).views[0], "p50")
        assert [(r["label"], r["p50"]) for r in rows] == [
            ("001", pytest.approx(0.15)),
            ("000", pytest.approx(0.75)),
        ]
        assert rows[0]["found"] == 0.5

    def test_histogram_by_hand(self, tiny):
        chart = risk_histogram(tiny)
        rows = layer(chart.views[0], "share")
        assert {(r["low"], r["share"]) for r in rows if r["k"] == 1} == {
            (0.0, 0.25),
            (0.1, 0.25),
            (0.2, 0.25),
            (0.95, 0.25),
        }
        assert chart.control.labels == ("000 Benchmark", "001 Ann")
        assert chart.control.start == 1

    def test_nothing_known_no_chart(self, tiny):
        bare = replace(tiny, releases=tuple(replace(r, trace_risk=None) for r in tiny.releases))
        assert risk_bands(bare) is None
        assert risk_histogram(bare) is None


class TestPopulationMap:
    def test_only_regions_with_people(self, tiny):
        rows = layer(population_map(tiny).views[0], "n")
        assert [(r["r"], r["n"]) for r in rows if r["h"] == 0] == [(1, 2.0), (4, 5.0)]
        assert len(rows) == 8

    def test_alt_and_table_name_the_busiest(self, tiny):
        chart = population_map(tiny)
        assert "region 5 at 08:00 with 5.0 people" in chart.alt
        assert "region 5 (5.0)" in chart.table

    def test_as_high_as_wide_for_square_regions(self, tiny):
        assert population_map(tiny).views[0].aspect == pytest.approx(2 / 3)
        tall = replace(tiny, city=CityMap(3, 2, (), 0.5, 1.5))
        assert population_map(tall).views[0].aspect == pytest.approx(2.0)

    def test_no_people_at_all(self, tiny):
        empty = replace(tiny, population=Population(("08:00",), np.zeros((1, 6))))
        assert layer(population_map(empty).views[0], "x") == [{"x": 0, "y": 0, "x2": 3, "y2": 2}]

    def test_nothing_known_no_chart(self, tiny):
        assert population_map(replace(tiny, population=None)) is None


class TestTraceMaps:
    def test_three_panels(self, tiny):
        assert [view.heading for view in trace_maps(tiny).views] == [
            "Original",
            "Obfuscated",
            "Inferred",
        ]

    def test_stays_of_sets_count_in_parts(self, tiny):
        rows = layer(trace_maps(tiny).views[1], "n")
        assert [(r["d"], r["r"], r["n"], r["t"]) for r in rows] == [
            (0, 0, 1.0, "08:00"),
            (0, 1, 0.5, "12:00"),
            (0, 4, 0.5, "12:00"),
            (1, 2, 1.0, "12:00"),
        ]

    def test_table_writes_cells_as_the_contest_does(self, tiny):
        text = trace_maps(tiny).table
        assert "<bdi>2 5</bdi>" in text
        assert "<bdi>*</bdi>" in text

    def test_says_how_much_was_right(self, tiny):
        assert "2 of 4 events" in trace_maps(tiny).alt

    def test_long_sets_are_cut_in_the_table(self, tiny):
        example = replace(tiny.example, obfuscated=((0,) * 20, (1,), (2,), ()))
        assert "(20 regions)" in trace_maps(replace(tiny, example=example)).table

    def test_many_times_at_one_place_are_cut(self, tiny):
        example = TraceExample("1", "a", "b", 1, tuple("abcdefgh"), (0,) * 8, ((0,),) * 8, (0,) * 8)
        rows = layer(trace_maps(replace(tiny, example=example)).views[0], "t")
        assert rows[0]["t"] == "a, b, c, d, e, f, … (8 times)"

    def test_nothing_known_no_chart(self, tiny):
        assert trace_maps(replace(tiny, example=None)) is None


class TestWords:
    """Whoever draws with other words finds all of them and none of ours."""

    def test_of_scores(self, tiny):
        other = {one.name: f"<{one.name}>" for one in fields(ScoreWords)}
        words = ScoreWords(**{**other, "statuses": tuple(f"<{one}>" for one in STATUSES)})
        row = {
            "label": "001",
            "name": "Ann",
            "status": "<team>",
            "utility": 0.8,
            "x": 0.1,
            "y": 0.2,
        }
        text = json.dumps(
            [
                minima_layers([row], words),
                utility_layers(both_scores(row, 0.1, 0.2, words), 0.7, words),
                heat_spec(tiny.releases, tiny.reid.attackers, tiny.reid.values, "s_R", words),
            ]
        )
        assert [word for word in [*other.values(), *words.statuses] if word not in text] == [
            "<statuses>"
        ]
        ours = [getattr(ScoreWords(), name) for name in other if name != "statuses"]
        assert [word for word in ours if f'"{word}"' in text] == []

    def test_of_maps(self, tiny):
        words = MapWords(**{one.name: f"<{one.name}>" for one in fields(MapWords)})
        kinds = [("original", "<original>", [(0,)] * 8)]
        text = json.dumps(
            [
                [view.spec for view in trace_views(tiny.city, "abcdefgh", kinds, words)],
                hospitals(tiny.city, words=words),
                spelled(range(20), words),
            ]
        )
        assert [one for one in vars(words).values() if one not in text] == []
        assert [one for one in vars(MapWords()).values() if f'"{one}"' in text] == []

    def test_a_field_without_a_word_is_not_told(self):
        assert tooltip(("label", "Release"), ("method", "")) == [
            {"field": "label", "title": "Release", "type": "nominal"}
        ]


class TestStillPicture:
    def test_is_svg_with_the_data(self, tiny):
        svg = still_picture(scatter(tiny).picture)
        assert svg.startswith("<svg")
        assert ">002<" in svg

    def test_loads_nothing(self):
        spec = {"data": {"url": "https://example.org/x.csv"}, "mark": "point"}
        with pytest.raises(ValueError, match="not permitted|allowed|denied"):
            still_picture(spec)


class TestViewsOf:
    def test_every_view_fits_the_page_and_every_control_has_a_signal(self, tiny):
        charts = [scatter(tiny), population_map(tiny), trace_maps(tiny)]
        given = views_of(charts)
        assert set(given["views"]) == {
            "minima",
            "population",
            "trace-original",
            "trace-obfuscated",
            "trace-inferred",
        }
        assert all(view["spec"]["width"] == "container" for view in given["views"].values())
        for chart in charts[1:]:
            signal = given["controls"][chart.key]["signal"]
            for view in chart.views:
                assert signal in {p["name"] for p in view.spec["params"]}
