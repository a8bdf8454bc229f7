"""One broken synthesizer for every check: it fails that check, and says what to do."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from tracecup.engine import thread_count
from tracecup.records import Timetable
from tracecup.rng import Rng, generator
from tracecup.synth import Model, Synthesizer, Training
from tracecup.synth.base import Progress, Walk

DAYS, TRAINING = "makes whole days", "leaves its training alone"
SEED, RNG = "same seed gives same bytes", "takes any rng"
PARTS, ONE_USER = "parts equal the whole", "works for one user"
COUNT = itertools.count()


@dataclass(frozen=True, eq=False)
class OnePlace(Model):
    """Virtual user k stays at (place + k)."""

    shape: Timetable
    locations: int
    place: int = 0

    @property
    def day(self) -> Timetable:
        return self.shape

    @property
    def n_locations(self) -> int:
        return self.locations

    def walk(self, order: Walk, low: int, high: int, out: NDArray[np.int32]) -> None:
        users = order.first_user + np.arange(low, high)
        out[low:high] = ((self.place + users) % self.locations)[:, None, None]


class FromFirst(OnePlace):
    """Numbers its users from the first of each order."""

    def walk(self, order: Walk, low: int, high: int, out: NDArray[np.int32]) -> None:
        out[low:high] = (np.arange(low, high) % self.locations)[:, None, None]


class Beyond(OnePlace):
    """One place too far."""

    def walk(self, order: Walk, low: int, high: int, out: NDArray[np.int32]) -> None:
        out[low:high] = self.locations


@dataclass(frozen=True)
class Sound(Synthesizer):
    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> Model:
        return OnePlace(training.day, training.n_locations, int(generator(rng).integers(35)))


@dataclass(frozen=True)
class NoModel(Synthesizer):
    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> Model:
        return None  # type: ignore[return-value]  # wrong on purpose


@dataclass(frozen=True)
class TooFar(Synthesizer):
    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> Model:
        return Beyond(training.day, training.n_locations)


@dataclass(frozen=True)
class Writes(Synthesizer):
    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> Model:
        training.instant.flags.writeable = True
        training.instant[:] = 0
        return OnePlace(training.day, training.n_locations)


@dataclass(frozen=True)
class NoSeed(Synthesizer):
    """Another model each time."""

    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> Model:
        return OnePlace(training.day, training.n_locations, next(COUNT))


@dataclass(frozen=True)
class ByThreads(Synthesizer):
    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> Model:
        return OnePlace(training.day, training.n_locations, thread_count())


@dataclass(frozen=True)
class NeedsSeed(Synthesizer):
    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> Model:
        assert rng is not None, "a seed, please"
        return OnePlace(training.day, training.n_locations)


@dataclass(frozen=True)
class Restarts(Synthesizer):
    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> Model:
        return FromFirst(training.day, training.n_locations)


@dataclass(frozen=True)
class NeedsCompany(Synthesizer):
    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> Model:
        second = training.location[training.user == 1]
        return OnePlace(training.day, training.n_locations, int(second[0]))


BROKEN = [
    (NoModel, {DAYS, TRAINING, SEED, RNG, PARTS, ONE_USER}, "fit must give a Model, got NoneType"),
    (TooFar, {DAYS, ONE_USER}, "places 35..35 were made, training knows 0..34"),
    (Writes, {TRAINING}, "Training.instant that was handed in"),
    (NoSeed, {SEED}, "draw everything from generator(rng)"),
    (ByThreads, {SEED}, "with two threads"),
    (NeedsSeed, {RNG}, "a seed, please"),
    (Restarts, {PARTS}, "as walk() is told by order.key"),
    (NeedsCompany, {ONE_USER}, "IndexError"),
]
NAMES = [cls.__name__ for cls, _, _ in BROKEN]


class TestSynthesizerChecks:
    def test_a_sound_method_passes(self, failures) -> None:
        assert failures(Sound) == {}

    @pytest.mark.parametrize(("cls", "expected", "advice"), BROKEN, ids=NAMES)
    def test_a_broken_one_fails_its_check(
        self, cls: type[Synthesizer], expected: set[str], advice: str, failures
    ) -> None:
        found = failures(cls)
        assert set(found) == expected
        assert any(advice in message for message in found.values()), found
