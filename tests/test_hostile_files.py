"""Mutated files for every reader; `make fuzz` has thousands of them, these are a share of it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fuzzing import Target, all_targets, mutated, run

from tracecup import InvalidFile
from tracecup.archives import reading_zip
from tracecup.contest.archive.export import opened
from tracecup.errors import UnreadableFile
from tracecup.synth import load_model


@pytest.fixture(scope="module")
def targets(tmp_path_factory) -> dict[str, Target]:
    return {one.name: one for one in all_targets(tmp_path_factory.mktemp("good"))}


class TestMutatedFiles:
    def test_files_as_they_were_made_are_read(self, targets, tmp_path):
        for target in targets.values():
            for suffix, content in target.files:
                (tmp_path / f"good{suffix}").write_bytes(content)
                target.read(tmp_path / f"good{suffix}")

    def test_only_our_own_errors(self, targets):
        """480 files, twenty for each target; the same ones in every run."""
        counts = run(480, 1, [one for one in targets.values() if one.name != "archive"])
        assert [said for one in counts.values() for said in one.wrong] == []
        assert sum(one.files for one in counts.values()) >= 460

    def test_the_same_seed_gives_the_same_file(self, targets):
        target = targets["obfuscated"]
        assert mutated(target, 1, 7) == mutated(target, 1, 7) != mutated(target, 2, 7)


def zip_with_wrong_place(content: bytes) -> bytes:
    """A zip archive whose directory says that its first file begins beyond all files."""
    at = content.index(b"PK\x01\x02")
    end = content.rindex(b"PK\x05\x06")
    far = (0x7FFFFFFF).to_bytes(4, "little")
    return content[: at + 42] + far + content[at + 46 : end] + content[end:]


class TestDamagedZips:
    @pytest.mark.parametrize("name", ["ppmtf model", "sglt model", "answers in a zip", "archive"])
    def test_a_member_at_a_place_that_cannot_be(self, targets, tmp_path, name):
        suffix, content = targets[name].files[0]
        path = tmp_path / f"x{suffix}"
        path.write_bytes(zip_with_wrong_place(content))
        with pytest.raises(InvalidFile):
            targets[name].read(path)

    @pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a"), ("a", "a")])
    def test_files_that_are_folders_or_there_twice(self, tmp_path, names):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as pack:
            for name in names:
                if name in pack.namelist():
                    with pytest.warns(UserWarning, match="Duplicate"):
                        pack.writestr(name, "x")
                else:
                    pack.writestr(name, "x")
        (tmp_path / "x.zip").write_bytes(out.getvalue())
        with pytest.raises(InvalidFile), opened(tmp_path / "x.zip"):
            pass

    def test_a_full_disk_is_not_the_archives_fault(self):
        with pytest.raises(OSError, match="No space"), reading_zip(ValueError):
            raise OSError(28, "No space left on device")


class TestModels:
    @pytest.fixture
    def spoiled(self, targets, tmp_path):
        """A model file with another array of this name."""

        def spoil(array: np.ndarray) -> Path:
            _, content = targets["ppmtf model"].files[1]
            with zipfile.ZipFile(io.BytesIO(content)) as pack:
                held = {one: pack.read(one) for one in pack.namelist()}
            out = io.BytesIO()
            np.save(out, array)
            held["precision.npy"] = out.getvalue()
            with zipfile.ZipFile(tmp_path / "m.npz", "w") as pack:
                for name, data in held.items():
                    pack.writestr(name, data)
            return tmp_path / "m.npz"

        return spoil

    @pytest.mark.parametrize(
        "precision", [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]]
    )
    def test_a_precision_that_is_none(self, spoiled, precision):
        with pytest.raises(InvalidFile, match="positive definite"):
            load_model(spoiled(np.array(precision)))

    def test_another_is_read(self, spoiled):
        assert load_model(spoiled(np.eye(2))).sample(2, rng=1).n_users == 2

    def test_a_missing_model(self, tmp_path):
        with pytest.raises(UnreadableFile):
            load_model(tmp_path / "none.npz")
