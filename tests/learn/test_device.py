"""Where a training computes, as `--device` asks, and what is said where it cannot; without JAX."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tracecup.cli.main import run
from tracecup.errors import InvalidParameter, MissingPackage
from tracecup.learn import require_jax

TRAIN = {
    "attack": ["attack", "train", "--defence", "KMeans(3)"],
    "defend": ["defend", "train"],
}
FILES = ["--city", "c.csv", "--clock", "t.csv", "--references", "r.csv", "--out", "m.npz"]


@pytest.fixture(autouse=True)
def platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test asks JAX for ends with it."""
    monkeypatch.setenv("JAX_PLATFORMS", "")


@pytest.fixture
def without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("tracecup.device.arrays", "tracecup.learn"):
        monkeypatch.setattr(f"{module}.find_spec", lambda name: None)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """A JAX that finds one kind of device, `cpu`; what it is told to be."""
    heard: list[tuple[str, str]] = []

    def devices(kind: str = "cpu") -> list[Any]:
        if kind != "cpu":
            raise RuntimeError(f"Unknown backend {kind}")
        return [SimpleNamespace(platform="cpu")]

    config = SimpleNamespace(update=lambda name, value: heard.append((name, value)))
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(devices=devices, config=config))
    for module in ("tracecup.device.arrays", "tracecup.learn"):
        monkeypatch.setattr(f"{module}.find_spec", lambda name: True)
    return heard


class TestRequireJax:
    @pytest.mark.parametrize(
        ("device", "extra"), [(None, "learn"), ("cpu", "learn"), ("cuda", "gpu")]
    )
    def test_without_jax_it_says_what_to_install(
        self, without_jax: None, device: str | None, extra: str
    ) -> None:
        with pytest.raises(MissingPackage, match=rf"install tracecup\[{extra}\]"):
            require_jax(device)

    def test_without_a_gpu_it_says_what_there_is(self, told: list[tuple[str, str]]) -> None:
        with pytest.raises(InvalidParameter, match="cuda: JAX finds no GPU here, only cpu"):
            require_jax("cuda")
        assert os.environ["JAX_PLATFORMS"] == ""

    def test_the_cpu_is_taken_here_and_in_processes(self, told: list[tuple[str, str]]) -> None:
        require_jax("cpu")
        assert told == [("jax_platforms", "cpu")]
        assert os.environ["JAX_PLATFORMS"] == "cpu"

    def test_a_choice_that_comes_too_late(
        self, told: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        busy = [SimpleNamespace(platform="gpu")]
        monkeypatch.setattr(sys.modules["jax"], "devices", lambda kind="gpu": busy)
        require_jax("cuda")
        with pytest.raises(InvalidParameter, match="cpu: JAX computes on gpu in this process"):
            require_jax("cpu")

    def test_without_a_device_jax_chooses(self, told: list[tuple[str, str]]) -> None:
        require_jax()
        assert told == []
        with pytest.raises(InvalidParameter, match="no device is called 'tpu'"):
            require_jax("tpu")


class TestCommands:
    @pytest.mark.parametrize("verb", TRAIN)
    def test_without_jax_it_is_wrong_use(
        self, verb: str, without_jax: None, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run([*TRAIN[verb], *FILES]) == 2
        assert "install tracecup[learn]" in capsys.readouterr().err

    @pytest.mark.parametrize("verb", TRAIN)
    def test_their_seed_is_not_drawn(
        self, verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "200")
        run([verb, "train", "--help"])
        said = capsys.readouterr().out
        assert "Seed of the training." in next(
            line for line in said.splitlines() if "--seed" in line
        )
        assert "entropy" not in said

    @pytest.mark.parametrize("verb", TRAIN)
    def test_a_gpu_that_is_not_there_is_wrong_use(
        self, verb: str, told: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run([*TRAIN[verb], *FILES, "--device", "cuda"]) == 2
        assert "JAX finds no GPU here, only cpu" in capsys.readouterr().err

    @pytest.mark.parametrize("verb", TRAIN)
    def test_other_devices_are_refused(self, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert run([*TRAIN[verb], *FILES, "--device", "tpu"]) == 2
        assert "'tpu' is not one of" in capsys.readouterr().err
