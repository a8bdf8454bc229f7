"""The history of utility: one point per release, in order, with the one that counts."""

from __future__ import annotations

from tracecup.charts.history import Attempt, utility_history

ATTEMPTS = [
    Attempt(1, 0.9, valid=True),
    Attempt(2, 0.4, valid=False),
    Attempt(3, 0.8, valid=True, counts=True),
]


class TestUtilityHistory:
    def test_in_the_order_they_came_in(self):
        chart = utility_history("history", ATTEMPTS, 0.7)
        rows = chart.views[0].spec["data"]["values"]
        assert [(row["n"], row["utility"], row["counts"]) for row in rows] == [
            (1, 0.9, ""),
            (2, 0.4, ""),
            (3, 0.8, "★"),
        ]
        assert chart.table.rows == (
            ("1", "0.9000", "valid"),
            ("2", "0.4000", "invalid"),
            ("3", "0.8000", "valid"),
        )

    def test_the_axis_holds_floor_and_lowest(self):
        layers = utility_history("history", ATTEMPTS, 0.7).views[0].spec["layer"]
        low, high = layers[1]["encoding"]["y"]["scale"]["domain"]
        assert low < 0.4
        assert high == 1

    def test_the_words_say_the_best(self):
        assert (
            "3 releases; the highest utility is 0.9000" in utility_history("h", ATTEMPTS, 0.7).alt
        )
