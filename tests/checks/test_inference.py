"""One broken trace inference for every check: it fails that check, and says what to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tracecup.attack import Case, InferenceAttack
from tracecup.attack.infer.copy import copy_cells
from tracecup.city import Clock
from tracecup.engine import thread_count
from tracecup.rng import Rng, generator
from tracecup.traces import Traces

EVENTS, GAPS, CITY = "infers every event", "leaves no gaps", "stays in the city"
INPUT, SEED, RNG = "leaves its input alone", "same seed gives same bytes", "takes any rng"
DELETED, UNOBSERVED = "works when all is deleted", "works with unobserved reference"
ONE_USER, ONE_EVENT = "works for one user", "works for one event"


def traces(regions: object, case: Case) -> Traces:
    return Traces(np.asarray(regions), case.reference.users, case.released.clock)


@dataclass(frozen=True)
class Sound(InferenceAttack):
    def infer(self, case: Case, rng: Rng = None) -> Traces:
        return traces(generator(rng).integers(35, size=case.released.shape), case)


@dataclass(frozen=True)
class PlainArray(InferenceAttack):
    def infer(self, case: Case, rng: Rng = None) -> Traces:
        return np.zeros(case.released.shape)  # type: ignore[return-value]  # wrong on purpose


@dataclass(frozen=True)
class ReferenceClock(InferenceAttack):
    """Answers for the days of the reference."""

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        return Traces.of(np.zeros(case.reference.shape, dtype=int), case.reference.clock)


@dataclass(frozen=True)
class Pseudonyms(InferenceAttack):
    """Rows of pseudonyms instead of users."""

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        zeros = np.zeros(case.released.shape, dtype=int)
        return Traces(zeros, case.released.users, case.released.clock)


@dataclass(frozen=True)
class OwnClock(InferenceAttack):
    def infer(self, case: Case, rng: Rng = None) -> Traces:
        clock = Clock(case.released.clock.days, case.released.clock.minutes)
        return Traces.of(np.zeros(case.released.shape, dtype=int), clock)


@dataclass(frozen=True)
class KeepsDeletions(InferenceAttack):
    """Has no answer for deleted cells."""

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        return traces(copy_cells(case.released, rng), case)


@dataclass(frozen=True)
class SquareCity(InferenceAttack):
    def infer(self, case: Case, rng: Rng = None) -> Traces:
        return traces(np.full(case.released.shape, 1023), case)


@dataclass(frozen=True)
class FillsGaps(InferenceAttack):
    def infer(self, case: Case, rng: Rng = None) -> Traces:
        case.reference.regions.flags.writeable = True
        case.reference.regions[case.reference.regions < 0] = 0
        return traces(np.zeros(case.released.shape, dtype=int), case)


@dataclass(frozen=True)
class NoSeed(InferenceAttack):
    def infer(self, case: Case, rng: Rng = None) -> Traces:
        return traces(np.random.default_rng().integers(35, size=case.released.shape), case)


@dataclass(frozen=True)
class ByThreads(InferenceAttack):
    def infer(self, case: Case, rng: Rng = None) -> Traces:
        return traces(np.full(case.released.shape, thread_count()), case)


@dataclass(frozen=True)
class NeedsSeed(InferenceAttack):
    def infer(self, case: Case, rng: Rng = None) -> Traces:
        assert rng is not None, "a seed, please"
        return traces(np.zeros(case.released.shape, dtype=int), case)


@dataclass(frozen=True)
class NeedsCells(InferenceAttack):
    """The most frequent region of the release for all."""

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        top = np.bincount(case.released.regions).argmax()
        return traces(np.full(case.released.shape, top), case)


@dataclass(frozen=True)
class CountsGaps(InferenceAttack):
    """Replays the reference with its gaps."""

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        last = case.reference.regions[:, [-1]]
        return traces(np.tile(last, (1, case.released.times)), case)


@dataclass(frozen=True)
class NeedsCompany(InferenceAttack):
    def infer(self, case: Case, rng: Rng = None) -> Traces:
        case.released.take_users([0, 1])
        return traces(np.zeros(case.released.shape, dtype=int), case)


@dataclass(frozen=True)
class NeedsSteps(InferenceAttack):
    def infer(self, case: Case, rng: Rng = None) -> Traces:
        case.released.take_slots([0, 1])
        return traces(np.zeros(case.released.shape, dtype=int), case)


BASIC = {EVENTS, GAPS, CITY, DELETED, UNOBSERVED, ONE_USER, ONE_EVENT}
BROKEN = [
    (PlainArray, BASIC, "infer must give Traces of shape (12, 6), got ndarray"),
    (ReferenceClock, BASIC - {ONE_USER, ONE_EVENT}, "of shape (12, 6), got (12, 9)"),
    (Pseudonyms, {EVENTS}, "hand on case.reference.users"),
    (OwnClock, {EVENTS}, "hand on case.released.clock"),
    (KeepsDeletions, {GAPS, DELETED, UNOBSERVED}, "fill deleted cells"),
    (SquareCity, {CITY, DELETED, UNOBSERVED, ONE_USER, ONE_EVENT}, "the city has 0..34"),
    (FillsGaps, {INPUT}, "Traces.regions that was handed in has been changed"),
    (NoSeed, {SEED}, "draw everything from generator(rng)"),
    (ByThreads, {SEED}, "with two threads"),
    (NeedsSeed, {RNG}, "a seed, please"),
    (NeedsCells, {DELETED}, "ValueError"),
    (CountsGaps, {UNOBSERVED}, "some events are -1"),
    (NeedsCompany, {ONE_USER}, "InvalidTraces"),
    (NeedsSteps, {ONE_EVENT}, "InvalidTraces"),
]
NAMES = [cls.__name__ for cls, _, _ in BROKEN]


class TestInferenceChecks:
    def test_a_sound_method_passes(self, failures) -> None:
        assert failures(Sound) == {}

    @pytest.mark.parametrize(("cls", "expected", "advice"), BROKEN, ids=NAMES)
    def test_a_broken_one_fails_its_check(
        self, cls: type[InferenceAttack], expected: set[str], advice: str, failures
    ) -> None:
        found = failures(cls)
        assert set(found) == expected
        assert any(advice in message for message in found.values()), found
