"""Trained models by name: a file, or the one that comes with the package; the latest are kept.

A file that was written again is read again.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path

from tracecup.attack.learned.modelfile import SHIPPED, DefenceModel, Ground, LearnedModel
from tracecup.city import City


def attack_model(name: str) -> LearnedModel:
    """The learned attack of a file, or the shipped one."""
    path = _path_of(name, "attack")
    return _attack_of(path, _written(path))


def shipped_suits(city: City, slots: int) -> bool:
    """Whether the model that comes with the package was trained for that city and clock."""
    return Ground.of(city, slots) == attack_model(SHIPPED).ground


def defence_model(name: str) -> DefenceModel:
    """The trained defence of a file, or the shipped one."""
    path = _path_of(name, "defence")
    return _defence_of(path, _written(path))


@lru_cache(maxsize=2)
def _attack_of(path: Path, written: tuple[int, int]) -> LearnedModel:
    return LearnedModel.load(path)


@lru_cache(maxsize=2)
def _defence_of(path: Path, written: tuple[int, int]) -> DefenceModel:
    return DefenceModel.load(path)


def _written(path: Path) -> tuple[int, int]:
    """When a file was written and how long it is: one that was trained again is read again."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0  # reading it will say what is wrong
    return found.st_mtime_ns, found.st_size


def _path_of(name: str, kind: str) -> Path:
    if name != SHIPPED:
        return Path(name)
    return Path(str(resources.files("tracecup.attack.learned") / f"models/{kind}.npz.zst"))
