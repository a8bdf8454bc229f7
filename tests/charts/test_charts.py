"""The charts' data, by hand on tiny facts; how they look is for eyes."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from made_up import board_of
from tracecup.charts.figure import Listing, tooltip
from tracecup.charts.history import Attempt, utility_history
from tracecup.charts.maps import city_map, moved_map, population_map
from tracecup.charts.matrices import heat_map
from tracecup.charts.movement import movement_charts
from tracecup.charts.risk import own_risks, risk_bands, risk_histogram
from tracecup.charts.scores import scatter, utility
from tracecup.charts.tracemaps import cell_text, example_maps, trace_maps
from tracecup.contest.correlation import Correlation
from tracecup.facts import (
    AttackerFacts,
    BoardFacts,
    CityFacts,
    ContestFacts,
    Population,
    ReleaseFacts,
    TraceExample,
    UserRisks,
)
from tracecup.facts.contest import Movement
from tracecup.report.figures import still_picture, views_of

CITY = CityFacts(3, 2, 1.0, 1.0, (4,))
PEOPLE = Population(("08:00", "09:00"), np.array([[0, 2, 0, 0, 5, 0], [1.0] * 6]))
EXAMPLE = TraceExample(
    "7", "Ann", "Bob", 2, ("08:00", "12:00"), (0, 1, 2, 2), ((0,), (1, 4), (), (2,)), (0, 4, 2, 1)
)


@pytest.fixture(scope="module")
def board() -> BoardFacts:
    """Two teams, the benchmark and an invalid release; one team and a sample attack attack."""
    return board_of(
        [
            ReleaseFacts("000", "", "benchmark", method="None", utility=1.0, reid_min=0.1,
                         trace_min=0.2),
            ReleaseFacts("001", "Ann", method="RR(4)", utility=0.75, reid_min=0.8, trace_min=0.6),
            ReleaseFacts("002", "Bob", method="PL(4,1)", utility=0.7, reid_min=0.3, trace_min=0.5),
            ReleaseFacts("003", "Cyd", "invalid", method="None", valid=False, utility=0.5,
                         reid_min=0.0, trace_min=0.0),
        ],
        [AttackerFacts("001", "Ann", sum=0.5), AttackerFacts("I1", "", "Random-R", sample=True)],
        ((0.1, 0.9), (None, 0.8), (0.4, 0.3), (None, None)),
        ((0.2, 0.7), (None, 0.6), (0.5, 0.5), (None, None)),
    )  # fmt: skip


@pytest.fixture(scope="module")
def tiny(board) -> ContestFacts:
    return ContestFacts(
        name="Tiny",
        summary="",
        users=4,
        rules=(("Floor", "0.7"),),
        board=board,
        risks={
            "000": UserRisks(np.array([0.5, 0.5, 1.0, 1.0])),
            "001": UserRisks(np.array([0.0, 0.1, 0.2, 0.99]), np.array([0.0, 0.5, 1.0, 0.0])),
            "002": UserRisks(),
        },
    )


def layer(view, field):
    """The data of the first layer whose rows have the field."""
    for one in [view.spec, *view.spec["layer"]]:
        rows = one.get("data", {}).get("values", [])
        if rows and field in rows[0]:
            return rows
    raise AssertionError(f"no layer has {field}")


class TestScatter:
    def test_published_releases_at_their_minima(self, board):
        rows = layer(scatter(board).views[0], "x")
        assert [(r["label"], r["x"], r["y"]) for r in rows] == [
            ("000", 0.1, 0.2),
            ("001", 0.8, 0.6),
            ("002", 0.3, 0.5),
        ]

    def test_alt_says_the_correlation(self, board):
        assert f"R = {board.correlation.value:.3f} over 3 releases" in scatter(board).alt

    def test_an_interval_is_told_where_there_is_one(self, board):
        known = replace(board, correlation=Correlation(0.8, 0.1, 0.95, 9, 0.95))
        assert "95% interval 0.10 to 0.95" in scatter(known).alt

    def test_without_a_correlation_it_says_why(self, board):
        none = replace(board, correlation=Correlation(None, None, None, 1, 0.95, "one pair"))
        assert "There is no correlation: one pair." in scatter(none).alt

    def test_a_ceiling_is_drawn_where_known(self, board):
        releases = [replace(one, ceiling=0.8) for one in board.releases]
        known = replace(board, releases=tuple(releases))
        assert layer(scatter(known).views[0], "at") == [{"at": 0.8}]

        assert "earns no credit" in scatter(known).caption
        assert scatter(known).table.header[-2] == "s_T without the release"
        assert scatter(known).table.rows[0][-2] == "0.800"

    def test_without_a_ceiling_no_line(self, board):
        assert "guide" not in json.dumps(scatter(board).views[0].spec)

    def test_a_method_is_told_where_it_is_known(self, board):
        assert "RR(4)" in json.dumps(scatter(board).views[0].spec)
        unknown = replace(board, releases=tuple(replace(r, method="") for r in board.releases))
        chart = scatter(unknown)
        assert "Obfuscation" not in json.dumps(chart.views[0].spec)
        assert "Obfuscation" not in chart.table.header


class TestHeatMap:
    def test_cells_and_the_strongest_attack_of_each_row(self, board):
        rows = layer(heat_map(board.reid).views[0], "score")
        assert [(r["release"], r["attacker"]) for r in rows if r["lowest"]] == [
            ("000", "001"),
            ("001", "I1"),
            ("002", "I1"),
        ]
        assert [r["score"] for r in rows] == [0.1, 0.9, None, 0.8, 0.4, 0.3, None, None]

    def test_equal_attacks_are_all_framed(self, board):
        rows = layer(heat_map(board.trace).views[0], "score")
        framed = [r["attacker"] for r in rows if r["lowest"] and r["release"] == "002"]
        assert framed == ["001", "I1"]

    def test_table_has_every_score(self, board):
        assert heat_map(board.trace).table.rows == (
            ("000", "0.200", "0.700", "0.200", "–", "–"),
            ("001", "–", "0.600", "0.600", "–", "–"),
            ("002", "0.500", "0.500", "0.500", "–", "–"),
            ("003", "–", "–", "0.000", "–", "–"),
        )

    def test_alt_names_the_strongest_attacker(self, board):
        alt = heat_map(board.reid).alt
        assert "The lowest score, 0.100, is 001 against 000." in alt
        assert "strongest attacker over all is 001, sum 0.500" in alt

    def test_a_detailed_table_names_everybody(self, board):
        table = heat_map(board.reid, detailed=True).table
        assert table.header[1:3] == ("001 Ann", "I1 Random-R")
        assert table.rows[0][:2] == ("000 Benchmark", "0.1000")

    def test_axes_name_everybody(self, board):
        rows = layer(heat_map(board.reid).views[0], "score")
        assert {r["row"] for r in rows} == {"000 Benchmark", "001 Ann", "002 Bob", "003 Cyd"}
        assert {r["column"] for r in rows} == {"001 Ann", "I1 Random-R"}

    def test_numbers_stand_in_small_maps_only(self, board):
        many = tuple(AttackerFacts(f"{k:03d}", "Ann") for k in range(20))
        rows = tuple(replace(row, values=(0.5,) * 20) for row in board.reid.rows)
        large = replace(board.reid, attackers=many, rows=rows)
        for matrix, styles in ((board.reid, {"on-strong", "on-pale"}), (large, set())):
            drawn = [one["mark"].get("style") for one in heat_map(matrix).views[0].spec["layer"]]
            assert {one for one in drawn if one and one.startswith("on-")} == styles

    def test_a_sample_attack_is_told_by_its_method(self, board):
        rows = layer(heat_map(board.reid).views[0], "score")
        told = {(r["attacker"], r["who"], r["attack"]) for r in rows}
        assert told == {("001", "Ann", "–"), ("I1", "Sample attack", "Random-R")}


class TestUtility:
    def test_two_points_per_release(self, board):
        rows = layer(utility(board, 0.7).views[0], "utility")
        assert len(rows) == 8
        assert {(r["utility"], r["score"]) for r in rows if r["label"] == "001"} == {
            (0.75, 0.8),
            (0.75, 0.6),
        }

    def test_the_true_link_falls_with_utility(self, board):
        line = layer(utility(board, 0.7).views[0], "u")
        assert [(one["u"], one["b"]) for one in line] == [(0.4, 0.6), (1, 0)]

    def test_a_release_without_utility_is_left_out(self, board):
        releases = (replace(board.releases[0], utility=None), *board.releases[1:])
        rows = layer(utility(replace(board, releases=releases), 0.7).views[0], "utility")
        assert "000" not in {r["label"] for r in rows}

    def test_the_axis_begins_below_the_lowest_utility(self, board):
        svg = still_picture(utility(board, 0.7).picture)
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
        bare = replace(tiny, risks={})
        assert risk_bands(bare) is None
        assert risk_histogram(bare) is None

    def test_of_the_own_release_by_hand(self):
        chart = own_risks([1.0, 0.99, None, 0.5, 0.0])
        assert layer(chart.views[0], "share") == [
            {"low": 0.0, "high": 0.05, "share": 0.5},
            {"low": 0.5, "high": 0.55, "share": 0.25},
            {"low": 0.95, "high": 1.0, "share": 0.25},
        ]
        assert chart.table.rows[0] == ("0.00–0.05", "2")
        assert "of the most exposed user 1.00" in chart.alt
        assert own_risks([None]) is None


class TestCityMap:
    def test_as_high_as_the_city(self):
        assert city_map(CityFacts(3, 2, 0.5, 1.5)).views[0].aspect == pytest.approx(2.0)

    def test_density_shades_regions_by_people_of_1000(self):
        density = [0.0] * (CITY.nx * CITY.ny)
        density[1], density[3] = 3.0, 1.0
        rows = layer(city_map(CITY, density=density).views[0], "n")
        assert rows == [{"r": 1, "n": 750.0}, {"r": 3, "n": 250.0}]

    def test_hospitals_by_column_and_row(self):
        assert city_map(CITY).table.rows == (("5", "2", "2"),)


class TestMovedMap:
    def test_only_regions_with_events_are_shaded(self):
        spec = moved_map(CITY, [None, 1.0, 2.0, 0.0, None, 0.5]).views[0].spec
        assert [row["r"] for row in spec["layer"][1]["data"]["values"]] == [1, 2, 3, 5]

    def test_the_farthest_first(self):
        table = moved_map(CITY, [None, 1.0, 2.0, 0.0, None, 0.5]).table
        assert table.rows == (("3", "2.00"), ("2", "1.00"), ("6", "0.50"), ("4", "0.00"))


class TestMovementCharts:
    def test_histogram_and_map(self):
        moved = Movement(0.5, (0.75, 0.25), (None, 1.0, 2.0, 0.0, None, 0.5), 0.7, 0.1, 0.2, 1.25)
        distances, regions = movement_charts(CITY, moved, 2.0)
        assert distances.table.rows == (("0.00–0.50", "0.750"), ("≥ 0.50", "0.250"))
        assert "moved by 1.25 km on average" in distances.caption
        assert layer(distances.views[0], "at") == [{"at": 2.0}]
        assert regions.key == "moved"
        assert len(movement_charts(None, moved, 2.0)) == 1


class TestPopulationMap:
    def test_only_regions_with_people(self):
        rows = layer(population_map(CITY, PEOPLE).views[0], "n")
        assert [(r["r"], r["n"]) for r in rows if r["h"] == 0] == [(1, 2.0), (4, 5.0)]
        assert len(rows) == 8

    def test_alt_and_table_name_the_busiest(self):
        chart = population_map(CITY, PEOPLE)
        assert "region 5 at 08:00 with 5.0 people" in chart.alt
        assert "region 5 (5.0)" in chart.table.rows[0]

    def test_as_high_as_wide_for_square_regions(self):
        assert population_map(CITY, PEOPLE).views[0].aspect == pytest.approx(2 / 3)

    def test_no_people_at_all(self):
        empty = Population(("08:00",), np.zeros((1, 6)))
        spec = population_map(CITY, empty).views[0]
        assert layer(spec, "x") == [{"x": 0, "y": 0, "x2": 3, "y2": 2}]


class TestTraceMaps:
    def test_three_panels(self):
        assert [view.heading for view in example_maps(CITY, EXAMPLE).views] == [
            "Original",
            "Released",
            "Best inferred",
        ]

    def test_stays_of_sets_count_in_parts(self):
        rows = layer(example_maps(CITY, EXAMPLE).views[1], "n")
        assert [(r["d"], r["r"], r["n"], r["t"]) for r in rows] == [
            (0, 0, 1.0, "08:00"),
            (0, 1, 0.5, "12:00"),
            (0, 4, 0.5, "12:00"),
            (1, 2, 1.0, "12:00"),
        ]

    def test_table_writes_cells_as_the_contest_does(self):
        assert example_maps(CITY, EXAMPLE).table.rows == (
            ("1, 08:00", "1", "1", "1"),
            ("1, 12:00", "2", "2 5", "5"),
            ("2, 08:00", "3", "*", "3"),
            ("2, 12:00", "3", "3", "2"),
        )

    def test_says_how_much_was_right(self):
        assert "2 of 4 events" in example_maps(CITY, EXAMPLE).alt

    def test_long_sets_are_cut_in_the_table(self):
        assert cell_text((0,) * 20).endswith("(20 regions)")

    def test_many_times_at_one_place_are_cut(self):
        chart = trace_maps(CITY, "abcdefgh", [("original", "Original", [(0,)] * 8)], "")
        assert layer(chart.views[0], "t")[0]["t"] == "a, b, c, d, e, f, … (8 times)"


class TestWords:
    """Whoever draws in another language finds every word of a chart translated."""

    def test_nothing_is_left_in_english(self, tiny, board):
        asked = set()

        def tell(text):
            asked.add(text)
            return re.sub(r"[a-z]+(?![^{]*})", "ß", text)

        moved = Movement(0.5, (1.0,), (1.0,) * 6, 0.7, 0.1, 0.2, 1.25)
        charts = [
            scatter(board, tell),
            utility(board, 0.7, tell),
            heat_map(board.reid, tell),
            risk_bands(tiny, tell),
            risk_histogram(tiny, tell),
            own_risks([0.5], tell),
            population_map(CITY, PEOPLE, tell),
            example_maps(CITY, EXAMPLE, tell),
            city_map(CITY, tell, [1.0] * (CITY.nx * CITY.ny)),
            utility_history("history", [Attempt(1, 0.5, valid=False)], 0.7, tell),
            *movement_charts(CITY, moved, 2.0, tell),
        ]
        titles = [*found_titles([view.spec for chart in charts for view in chart.views])]
        for chart in charts:
            titles += [chart.title, chart.table_title, chart.hint, chart.alt, chart.caption]
            titles += [chart.table.caption, *chart.table.header]
        names = {"s_", "R", "T", "U", "min", "Ann", "Bob", "km", "ß"}
        words = set(re.findall(r"[A-Za-z]{3,}", " ".join(titles))) - names
        assert {word for word in words if word.lower() == word} == set()
        assert len(asked) > 90

    def test_scores_have_three_digits(self):
        assert tooltip({"label": "Release", "score": "s_R"}) == [
            {"field": "label", "title": "Release", "type": "nominal"},
            {"field": "score", "title": "s_R", "type": "quantitative", "format": ".3f"},
        ]


def found_titles(part):
    """Every title in a specification."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "title" and isinstance(value, str):
                yield value
            elif key != "data":
                yield from found_titles(value)
    elif isinstance(part, list):
        for one in part:
            yield from found_titles(one)


class TestListing:
    def test_numbers_stand_on_the_right(self):
        made = Listing("Cap", ("Team", "Score", "Count"), (("a", 0.5, 1), ("b", None, 2)))
        assert [column.number for column in made.columns] == [False, True, True]
        assert made.rows == (("a", "0.500", "1"), ("b", "–", "2"))


class TestStillPicture:
    def test_is_svg_with_the_data(self, board):
        svg = still_picture(scatter(board).picture)
        assert svg.startswith("<svg")
        assert ">002<" in svg

    def test_loads_nothing(self):
        spec = {"data": {"url": "https://example.org/x.csv"}, "mark": "point"}
        with pytest.raises(ValueError, match="not permitted|allowed|denied"):
            still_picture(spec)


class TestViewsOf:
    def test_every_view_fits_the_page_and_every_control_has_a_signal(self, board):
        charts = [scatter(board), population_map(CITY, PEOPLE), example_maps(CITY, EXAMPLE)]
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
