from __future__ import annotations

import json

import numpy as np
import pytest

from tracecup.errors import InvalidFile, UnreadableFile
from tracecup.synth.factors import SHAPES, Factors


def rewritten(path, **changes):
    """The file with some members replaced (None: left out)."""
    with np.load(path) as archive:
        members = {name: archive[name] for name in archive.files} | changes
    np.savez(path, **{name: array for name, array in members.items() if array is not None})


def header_with(path, **changes):
    with np.load(path) as archive:
        header = json.loads(archive["header"].tobytes()) | changes
    return np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)


@pytest.fixture
def saved(tmp_path, random_factors):
    path = tmp_path / "model.npz"
    random_factors(1).save(path)
    return path


class TestSaveAndLoad:
    def test_round_trip(self, saved, random_factors):
        factors, back = random_factors(1), Factors.load(saved)
        for name in SHAPES:
            assert np.array_equal(back._array(name), factors._array(name))
        assert (back.method, back.iteration, back.day, back.key) == (
            factors.method,
            factors.iteration,
            factors.day,
            factors.key,
        )

    def test_same_content_same_bytes(self, saved, tmp_path, random_factors):
        again = tmp_path / "again.npz"
        random_factors(1).save(again)
        assert again.read_bytes() == saved.read_bytes()

    def test_nothing_else_is_left_behind(self, saved):
        assert [path.name for path in saved.parent.iterdir()] == ["model.npz"]

    def test_header_says_what_it_is(self, saved):
        with np.load(saved, allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes())
        assert (header["format"], header["version"]) == ("tracecup-ppmtf", 1)
        assert header["sizes"] == {"n": 4, "N": 12, "T": 4, "z": 3, "M": header["sizes"]["M"]}


class TestLoadRefuses:
    @pytest.mark.parametrize(
        ("changes", "found"),
        [
            ({"A": np.zeros((4, 2))}, "array A of shape"),
            ({"B": None}, "B"),
            ({"B": np.full((12, 3), np.nan)}, "not finite"),
            ({"starts": np.arange(13)[::-1]}, "support"),
            ({"C": np.full((12, 3), "x")}, "array C of"),
            ({"header": np.zeros(3, dtype=np.uint8)}, "found"),
        ],
    )
    def test_damaged_members(self, saved, changes, found):
        rewritten(saved, **changes)
        with pytest.raises(InvalidFile, match=found):
            Factors.load(saved)

    @pytest.mark.parametrize(
        ("changes", "found"),
        [
            ({"version": 2}, "version 2"),
            ({"format": "other"}, "another kind"),
            ({"key": ["1"]}, "damaged header"),
            ({"day": {"slots": 0}}, "damaged header"),
        ],
    )
    def test_other_headers(self, saved, changes, found):
        rewritten(saved, header=header_with(saved, **changes))
        with pytest.raises(InvalidFile, match=found):
            Factors.load(saved)

    def test_compressed_members(self, saved):
        with np.load(saved) as archive:
            members = {name: archive[name] for name in archive.files}
        np.savez_compressed(saved, **members)
        with pytest.raises(InvalidFile, match="compressed"):
            Factors.load(saved)

    def test_pickled_objects(self, saved):
        rewritten(saved, A=np.array([[object()] * 3] * 4))
        with pytest.raises(InvalidFile):
            Factors.load(saved)

    def test_text(self, saved):
        saved.write_text("user,time\n")
        with pytest.raises(InvalidFile, match="version 1"):
            Factors.load(saved)

    def test_cut_short(self, saved):
        saved.write_bytes(saved.read_bytes()[:700])
        with pytest.raises(InvalidFile):
            Factors.load(saved)

    def test_missing(self, tmp_path):
        with pytest.raises(UnreadableFile):
            Factors.load(tmp_path / "none.npz")
