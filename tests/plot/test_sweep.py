from __future__ import annotations

import pytest

from tracecup.plot.style import Picture
from tracecup.plot.sweep import scatter
from tracecup.study.results import Table
from tracecup.study.sweep import COLUMNS


def table(*given: tuple[str, str, int, str, str, float], floor: float | None = 0.7) -> Table:
    """Rows of (team, defence, seed, kind, attack, score); utility 0.6."""
    rows = []
    for team, defence, seed, kind, attack, score in given:
        held = dict.fromkeys(COLUMNS, 0.0) | {
            "data": "d", "team": team, "defence": defence, "tuned": defence, "tuning": "tuned",
            "seed": seed, "floor": floor,
            "utility": 0.6, "kind": kind, "attack": attack, "score": score,
            "low": score, "high": score,
        }  # fmt: skip
        rows.append(tuple(held[name] for name in COLUMNS))
    return Table.of(COLUMNS, rows)


def of(picture: Picture | None):
    assert picture is not None
    return picture.figure.axes[0]


TWO = (
    ("a", "PL(4,1)", 1, "reid", "Fuzzy-R", 0.8),
    ("a", "PL(4,1)", 1, "trace", "Fuzzy-T", 0.6),
    ("a", "PL(4,1)", 1, "trace", "Prior-T", 0.5),
    ("a", "PL(4,1)", 2, "reid", "Fuzzy-R", 0.6),
    ("a", "PL(4,1)", 2, "trace", "Fuzzy-T", 0.4),
    ("a", "PL(4,1)", 2, "trace", "Prior-T", 0.5),
    ("a", "None", 1, "reid", "Fuzzy-R", 0.1),
    ("a", "None", 1, "trace", "Fuzzy-T", 0.2),
    ("a", "None", 1, "trace", "Prior-T", 0.5),
)


class TestScatter:
    def test_marks_stand_at_the_means(self):
        marks = [c.lines[0] for c in of(scatter(table(*TWO))).containers]
        places = [(float(m.get_xdata()[0]), float(m.get_ydata()[0])) for m in marks]
        assert places == [(pytest.approx(0.7), pytest.approx(0.5)), (0.1, 0.2)]

    def test_bars_only_where_there_is_a_spread(self):
        first, second = of(scatter(table(*TWO))).containers
        assert (first.has_xerr, second.has_xerr) == (True, False)

    def test_every_defence_is_in_the_legend(self):
        texts = [text.get_text() for text in of(scatter(table(*TWO))).get_legend().get_texts()]
        assert texts[:2] == ["PL(4,1)", "None"]
        assert "without" in texts[2]

    def test_below_the_floor_is_hollow(self):
        mark = of(scatter(table(*TWO))).containers[0].lines[0]
        assert mark.get_markerfacecolor() == "white"
        mark = of(scatter(table(*TWO, floor=None))).containers[0].lines[0]
        assert mark.get_markerfacecolor() != "white"

    def test_attacks_that_do_not_look_stand_in_alone(self):
        only = [row for row in TWO if row[4] != "Fuzzy-T"]
        mark = of(scatter(table(*only))).containers[0].lines[0]
        assert float(mark.get_ydata()[0]) == 0.5

    def test_one_kind_of_attack_makes_no_picture(self):
        assert scatter(table(*(row for row in TWO if row[3] == "reid"))) is None
        assert scatter(table()) is None

    def test_many_defences_all_look_different(self):
        rows = []
        for k in range(20):
            rows += [
                ("a", f"RR({k})", 1, "reid", "X", k / 20),
                ("a", f"RR({k})", 1, "trace", "Y", 0.5),
            ]
        axes = of(scatter(table(*rows)))
        looks = {(c.lines[0].get_marker(), c.lines[0].get_color()) for c in axes.containers}
        assert len(looks) == 20

    def test_bytes_of_both_kinds(self):
        picture = scatter(table(*TWO))
        assert picture is not None
        assert picture.png().startswith(b"\x89PNG")
        assert b"<svg" in picture.svg()
        assert "PL(4,1)" in picture.alt
