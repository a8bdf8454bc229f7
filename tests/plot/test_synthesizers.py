from __future__ import annotations

import io

import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread
from matplotlib.text import Text

from tracecup.plot import album
from tracecup.plot.style import styled
from tracecup.study import fig15, fig18, towns
from tracecup.study.context import Context
from tracecup.study.reproduce import run_study, studies

NAMES = ("fig15", "fig16", "fig17", "fig18")


@pytest.fixture(scope="module")
def pictures():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(towns, "QUICK_INHABITANTS", 80)
        patch.setattr(towns, "QUICK_ITERATIONS", 2)
        patch.setattr(fig15, "QUICK_PEOPLE", 300)
        patch.setattr(fig18, "QUICK_ITERATIONS", 2)
        patch.setattr(fig18, "PEOPLE", 60)
        towns.measured.cache_clear()
        yield {name: album.draw(run_study(studies()[name], Context(quick=True))) for name in NAMES}
        towns.measured.cache_clear()


def texts_of(picture):
    """Every text that is drawn, with its box."""
    root = picture.figure.get_figure(root=True)
    with styled():
        canvas = FigureCanvasAgg(root)
        canvas.draw()
        found = root.findobj(lambda a: isinstance(a, Text) and a.get_visible())
        renderer, beyond = canvas.get_renderer(), set(map(id, outside(root)))
        return [
            (t.get_text(), t.get_window_extent(renderer))
            for t in found
            if t.get_text().strip() and id(t) not in beyond
        ]


def outside(root):
    """Labels of ticks beyond the ends of their axis: there, but never drawn."""
    for axes in root.findobj(Axes):
        for axis, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not min(ends) <= tick.get_loc() <= max(ends):
                    yield from (tick.label1, tick.label2)


@pytest.mark.parametrize("name", NAMES)
class TestPictures:
    def test_have_words_and_ink(self, pictures, name):
        (picture,) = pictures[name]
        assert picture.name == name
        assert len(picture.alt) > 30
        pixels = imread(io.BytesIO(picture.png()))
        assert 0.005 < float((pixels[:, :, :3].min(axis=2) < 0.9).mean()) < 0.8

    def test_say_that_they_are_of_the_built_in_city(self, pictures, name):
        said = " ".join(text for text, _ in texts_of(pictures[name][0]))
        assert "the built-in city of tracecup, not on the" in said

    def test_no_two_texts_overlap_and_none_is_cut(self, pictures, name):
        held = texts_of(pictures[name][0])
        root = pictures[name][0].figure.get_figure(root=True)
        for k, (text, box) in enumerate(held):
            assert box.x0 >= 0, text
            assert box.x1 <= root.bbox.x1, text
            for other, beside in held[k + 1 :]:
                wide = min(box.x1, beside.x1) - max(box.x0, beside.x0)
                high = min(box.y1, beside.y1) - max(box.y0, beside.y0)
                assert wide <= 1 or high <= 1, f"{text!r} on {other!r}"
