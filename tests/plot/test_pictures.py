from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread

from tracecup.plot import album
from tracecup.plot.style import COLOURS, DPI, drawings, sheet, styled
from tracecup.study.context import Context
from tracecup.study.reproduce import run_study, studies
from tracecup.study.results import SAMPLE, WORKED

NO_DATA = ("fig1", "fig6", "fig7", "fig11", "fig20", "table1", "diagrams")


def drawn(name):
    return album.draw(run_study(studies()[name], Context()))


class TestDrawings:
    def test_every_study_has_one(self):
        drawn("fig6")
        assert set(studies()) <= set(drawings())

    @pytest.mark.parametrize("name", NO_DATA)
    def test_pictures_have_words_and_ink(self, name):
        for picture in drawn(name):
            assert len(picture.alt) > 30
            pixels = imread(io.BytesIO(picture.png()))
            assert pixels.shape[1] >= 6 * DPI
            assert 0.005 < float((pixels[:, :, :3].min(axis=2) < 0.9).mean()) < 0.8

    def test_same_drawing_same_bytes(self):
        first, second = drawn("fig11")[0], drawn("fig11")[0]
        assert first.svg() == second.svg()
        assert first.png() == second.png()

    def test_diagrams_are_four(self):
        assert [picture.name for picture in drawn("diagrams")] == ["fig2", "fig3", "fig5", "fig14"]

    @pytest.mark.parametrize("name", NO_DATA)
    def test_no_two_texts_of_a_picture_overlap(self, name):
        for picture in drawn(name):
            root = picture.figure.get_figure(root=True)
            with styled():
                canvas = FigureCanvasAgg(root)
                canvas.draw()
                renderer = canvas.get_renderer()
                texts = [t for t in root.findobj(is_text) if t.get_text().strip()]
                boxes = [(t.get_text(), t.get_window_extent(renderer)) for t in texts]
            for k, (text, box) in enumerate(boxes):
                for other, beside in boxes[k + 1 :]:
                    assert not _crossing(box, beside), f"{picture.name}: {text!r} on {other!r}"


def is_text(artist):
    from matplotlib.text import Text

    return isinstance(artist, Text) and artist.get_visible()


def _crossing(a, b) -> bool:
    """Whether two boxes share more than a hair in both directions."""
    wide = min(a.x1, b.x1) - max(a.x0, b.x0)
    high = min(a.y1, b.y1) - max(a.y0, b.y0)
    return wide > 1 and high > 1


class TestStyle:
    def test_colours_differ_in_lightness_or_hue_for_everybody(self):
        # Distances in the plane that a red-green blind eye sees (Viénot's protan projection),
        # linearised; Okabe and Ito's colours keep well apart in it.
        def seen(colour):
            rgb = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]) ** 2.2
            return (
                np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1]])
                @ rgb
            )

        points = [seen(colour) for colour in COLOURS]
        apart = [np.abs(p - q).sum() for k, p in enumerate(points) for q in points[k + 1 :]]
        assert min(apart) > 0.05

    def test_the_foot_names_whom_to_name(self):
        with styled():
            body = sheet(SAMPLE, 2.0)
            said = " ".join(t.get_text() for t in body.get_figure(root=True).findobj(is_text))
        assert "CC BY 4.0" in said
        assert "Nightley" in said

    def test_without_attribution_the_foot_is_one_line(self):
        with styled():
            tall = sheet(SAMPLE, 2.0).get_figure(root=True).get_size_inches()[1]
            short = sheet(WORKED, 2.0).get_figure(root=True).get_size_inches()[1]
        assert short < tall
