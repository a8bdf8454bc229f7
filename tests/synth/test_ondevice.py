from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tracecup.errors import InvalidParameter, MissingPackage
from tracecup.records import Timetable
from tracecup.streams import child, fill_normals, stream_key
from tracecup.synth import PPMTFPlus
from tracecup.synth.ondevice import SEGMENT, DeviceSampler, Segments, row_normals
from tracecup.synth.sampler import Posterior, Sampler, State
from tracecup.synth.tensors import Tensors

HAS_JAX = importlib.util.find_spec("jax") is not None


def tensors(users: int = 30, places: int = 20, slots: int = 4, each: int = 12) -> Tensors:
    """Counts at random positions; the last user has none."""
    random = np.random.default_rng(3)
    sizes = np.full(users, each)
    sizes[-1] = 0
    origin, context = [], []
    for size in sizes:
        for width, start in ((places, 0), (slots, places)):
            position = np.sort(random.choice(places * width, size, replace=False))
            origin.append(position // width)
            context.append(position % width + start)
    return Tensors(
        np.concatenate([[0], np.cumsum(2 * sizes)]),
        sizes.astype(np.int32),
        np.concatenate(origin).astype(np.uint16),
        np.concatenate(context).astype(np.uint16),
        random.integers(1, 4, 2 * sizes.sum()).astype(np.uint8),
        places,
        Timetable(0, 360, slots, slots),
    )


class TestDevice:
    def test_without_a_gpu_nothing_is_trained(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tracecup.device.arrays.find_spec", lambda name: None)
        with pytest.raises(MissingPackage, match="install tracecup"):
            PPMTFPlus(z=5).fit_tensors(tensors(), device="cuda")
        with pytest.raises(InvalidParameter, match="no device is called 'tpu'"):
            PPMTFPlus(z=5).fit_tensors(tensors(), device="tpu")


class TestSegments:
    def test_every_observation_once_in_a_segment_of_its_row(self) -> None:
        random = np.random.default_rng(1)
        bucket = random.choice(5, 3 * SEGMENT, p=[0.7, 0.0, 0.1, 0.1, 0.1])
        number, one = np.arange(len(bucket)), np.ones(len(bucket))
        cut = Segments.of(bucket, 5, number, number, one, number + 1.0, 4)
        left = np.concatenate([cut.left.reshape(-1, SEGMENT), np.zeros((1, SEGMENT), int)])
        weight = np.concatenate([cut.weight.reshape(-1, SEGMENT), np.zeros((1, SEGMENT))])
        for row in range(5):
            taken = weight[cut.parts[row]] > 0
            assert left[cut.parts[row]][taken].tolist() == np.flatnonzero(bucket == row).tolist()
        assert cut.value.sum() == (number + 1).sum()


class TestRowNormals:
    def test_they_are_the_streams_of_the_rows(self) -> None:
        key, wanted = stream_key(4), np.empty(5)
        found = row_normals(key, 3, 5)
        for row in range(3):
            fill_normals(*map(np.uint64, child(*key, np.uint64(row))), wanted)
            assert found[row].tolist() == wanted.tolist()


@pytest.mark.skipif(not HAS_JAX, reason="needs JAX (tracecup[gpu] or tracecup[learn])")
class TestDeviceSampler:
    @pytest.mark.parametrize("zeros", ["sampled", "expected"])
    def test_both_places_draw_the_same_up_to_rounding(self, zeros: str) -> None:
        data, posterior = tensors(), Posterior(z=5, rho=40, zeros=zeros)
        states = [State.initial(data, 5, np.random.default_rng(1)) for _ in range(2)]
        for kind, state in zip((Sampler, DeviceSampler), states, strict=True):
            sampler = kind(data, posterior, stream_key(2))
            for _ in range(10):
                sampler.sweep(state)
        here, there = states
        for name in ("A", "B", "CD", "mean", "precision"):
            assert np.allclose(getattr(here, name), getattr(there, name), rtol=1e-9, atol=1e-9)

    def test_a_training_goes_on_in_the_other_place(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tracecup.synth.ppmtf.require_device", lambda device: None)
        data, method = tensors(), PPMTFPlus(z=5, rho=40, iterations=6)
        begun = replace(method, iterations=3)
        begun.fit_tensors(data, rng=7, checkpoint=tmp_path / "part.npz", device="cuda")
        there = method.fit_tensors(data, rng=7, checkpoint=tmp_path / "part.npz").factors
        here = method.fit_tensors(data, rng=7).factors
        for name in "ABCD":
            assert np.allclose(getattr(here, name), getattr(there, name), rtol=1e-9, atol=1e-9)

    def test_factors_beyond_all_numbers_are_refused(self) -> None:
        data = tensors()
        state = State.initial(data, 5, np.random.default_rng(1))
        state.B[:, 0] = state.CD[:, 0] = 1e80  # squares of their products overflow
        with pytest.raises(np.linalg.LinAlgError):
            DeviceSampler(data, Posterior(z=5, rho=40), stream_key(2)).sweep(state)
