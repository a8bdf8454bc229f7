"""Names beside points: none lies over another, over a point or outside the plot."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.charts.labels import (
    NARROW,
    POINT,
    Spot,
    label_fields,
    label_layers,
    letters,
    place,
)

unit = st.floats(0, 1)
spots = st.lists(
    st.builds(Spot, unit, unit, st.sampled_from(["a", "long name", "東京"])), max_size=12
)


def boxes(found, held, width, height, size):
    """The boxes of placed names, worked out anew."""
    for spot, one in zip(held, found, strict=True):
        if one is not None:
            x, y = spot.x * width + one.dx, (1 - spot.y) * height + one.dy
            long = letters(spot.text) * size
            left = x if one.left else x - long
            yield left, y - size / 2, left + long, y + size / 2


def apart(one, other):
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


class TestPlace:
    @given(spots)
    @settings(max_examples=60)
    def test_nothing_overlaps_and_nothing_sticks_out(self, held):
        width, height, size = 300, 200, 10
        found = list(boxes(place(held, width, height, size), held, width, height, size))
        points = [
            (s.x * width - POINT, (1 - s.y) * height - POINT, s.x * width + POINT,
             (1 - s.y) * height + POINT)
            for s in held
        ]  # fmt: skip
        for k, box in enumerate(found):
            assert min(box) >= 0
            assert box[2] <= width
            assert box[3] <= height
            assert all(apart(box, other) for other in [*found[:k], *points])

    def test_where_there_is_room_every_name_is_there(self):
        held = [Spot(k / 10, k / 10, f"Team {k}") for k in range(1, 10)]
        assert None not in place(held, 600, 400, 10)

    def test_at_the_right_border_it_stands_on_the_left(self):
        (one,) = place([Spot(1, 0.5, "Ann")], 300, 200, 10)
        assert not one.left

    def test_notes_stay_free(self):
        note = Spot(0.52, 0.53, "a note over there")
        (one,) = place([Spot(0.5, 0.5, "Ann")], 300, 200, 10, [note])
        assert (one.dx, one.dy) != (POINT + 1, -POINT - 2)


class TestLayers:
    def test_names_on_a_wide_page_labels_on_a_phone(self):
        (row,) = label_fields([(0.5, 0.5)], ["Ann"], ["001"], 300)
        assert (row["name_text"], row["label_text"]) == ("Ann", "001")
        shown = {
            one["encoding"]["text"]["field"]: one["mark"]["fontSize"]
            for one in label_layers("x", "y")
        }
        assert shown == {
            "name_text": {"expr": f"width < {NARROW} ? 0 : 10"},
            "label_text": {"expr": f"width < {NARROW} ? 9 : 0"},
        }
