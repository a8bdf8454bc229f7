from __future__ import annotations

from tracecup.plot.labels import Box, name_points
from tracecup.plot.style import sheet, styled
from tracecup.study.results import WORKED


def named(points, names, limits=(0, 1)):
    with styled():
        axes = sheet(WORKED, 3.0).subplots()
        axes.set(xlim=limits, ylim=limits)
        left_out = name_points(axes, points, names)
    return left_out, [text.get_text() for text in axes.texts]


class TestBox:
    def test_touching_is_not_meeting(self):
        assert not Box(0, 0, 1, 1).meets(Box(1, 0, 2, 1))
        assert Box(0, 0, 1, 1).meets(Box(0.9, 0.9, 2, 2))


class TestNamePoints:
    def test_names_with_room_are_all_written(self):
        left_out, written = named([(0.2, 0.2), (0.8, 0.8)], ["one", "two"])
        assert (left_out, written) == ([], ["one", "two"])

    def test_names_at_one_point_go_around_it_until_there_is_no_room(self):
        names = [f"point {k}" for k in range(40)]
        left_out, written = named([(0.5, 0.5)] * 40, names)
        assert 4 <= len(written) <= 16
        assert sorted(left_out + written) == sorted(names)

    def test_a_line_leads_to_a_point_from_a_name_that_stands_far_off(self):
        with styled():
            axes = sheet(WORKED, 3.0).subplots()
            name_points(axes, [(0.5, 0.5)] * 12, list("abcdefghijkl"))
        led = [text.arrow_patch is not None for text in axes.texts]
        assert led == sorted(led)
        assert led[0] is False
        assert led[-1] is True

    def test_a_name_never_leaves_the_axes(self):
        left_out, written = named([(0.0, 0.5)], ["n" * 300])
        assert (left_out, written) == (["n" * 300], [])
