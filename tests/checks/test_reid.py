"""One broken re-identification for every check: it fails that check, and says what to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from tracecup.attack import Case, MatrixScores, ReidAttack, Scores
from tracecup.engine import thread_count
from tracecup.rng import Rng, generator
from tracecup.traces import IdTable, visit_counts

PAIRS, FINITE = "scores every pair", "scores are finite"
ROWS, TABLE = "rows agree with the matrix", "identifies every pseudonym"
INPUT, SEED = "leaves its input alone", "same seed gives same bytes"
USERS, PSEUDONYMS = "permuting users permutes columns", "permuting pseudonyms permutes rows"
DELETED, UNOBSERVED = "works when all is deleted", "works with unobserved reference"
ONE_USER, ONE_EVENT = "works for one user", "works for one event"
RNG = "takes any rng"
EVERYTHING = {
    *(PAIRS, FINITE, ROWS, TABLE, SEED, USERS, PSEUDONYMS),
    *(INPUT, DELETED, UNOBSERVED, ONE_USER, ONE_EVENT, RNG),
}

Matrix = NDArray[np.float64]


def overlap(case: Case) -> Matrix:
    """Shared visits: a sound score."""
    released = visit_counts(case.released, case.city.n_regions).astype(np.float64)
    return released @ visit_counts(case.reference, case.city.n_regions).astype(np.float64).T


@dataclass(frozen=True)
class Sound(ReidAttack):
    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        return overlap(case)


@dataclass(frozen=True)
class SoundRandom(ReidAttack):
    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        return generator(rng).random((case.n_users, case.n_users))


@dataclass(frozen=True)
class NoScores(ReidAttack):
    pass


@dataclass(frozen=True)
class OneColumn(ReidAttack):
    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        return overlap(case)[:, :1]


@dataclass(frozen=True)
class NoFloor(ReidAttack):
    """The logarithm of a probability of zero."""

    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        with np.errstate(divide="ignore"):
            return np.log(overlap(case))


@dataclass(frozen=True)
class TwoOpinions(ReidAttack):
    """scores and score_matrix differ."""

    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        return overlap(case)

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        return MatrixScores(-overlap(case))


@dataclass(frozen=True)
class PlainList(ReidAttack):
    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        return overlap(case)

    def identify(self, case: Case, rng: Rng = None) -> IdTable:
        return overlap(case).argmax(axis=1).tolist()  # type: ignore[return-value]  # wrong on purpose


@dataclass(frozen=True)
class ShortTable(PlainList):
    def identify(self, case: Case, rng: Rng = None) -> IdTable:
        return IdTable.of(np.zeros(max(1, case.n_users - 1), dtype=np.int32))


@dataclass(frozen=True)
class FillsGaps(ReidAttack):
    """Repairs the reference in place."""

    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        scores = overlap(case)
        case.reference.regions.flags.writeable = True
        case.reference.regions[case.reference.regions < 0] = 0
        return scores


@dataclass(frozen=True)
class WritesRelease(ReidAttack):
    """Tries to write where writing is refused."""

    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        case.released.regions[:] = 0
        return overlap(case)


@dataclass(frozen=True)
class NoSeed(ReidAttack):
    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        return np.random.default_rng().random((case.n_users, case.n_users))


@dataclass(frozen=True)
class ByThreads(ReidAttack):
    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        return overlap(case) * thread_count()


@dataclass(frozen=True)
class NeedsSeed(ReidAttack):
    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        assert rng is not None, "a seed, please"
        return overlap(case)


@dataclass(frozen=True)
class Favourite(ReidAttack):
    """Likes users who stand early in the file."""

    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        return overlap(case) - 0.01 * np.arange(case.n_users)


@dataclass(frozen=True)
class InOrder(ReidAttack):
    """Believes that pseudonyms were not shuffled."""

    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        return overlap(case) - 0.01 * np.arange(case.n_users)[:, None]


@dataclass(frozen=True)
class NeedsCells(ReidAttack):
    """Divides by the visits of the release as a whole."""

    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        return overlap(case) / len(case.released.regions) if len(case.released.regions) else [[]]  # type: ignore[return-value]  # wrong on purpose


@dataclass(frozen=True)
class CountsGaps(ReidAttack):
    """Takes -1 for a region."""

    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        for row in case.reference.regions:
            np.bincount(row)
        return overlap(case)


@dataclass(frozen=True)
class NeedsCompany(ReidAttack):
    """Compares with the second-best user."""

    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        scores = overlap(case)
        return scores - np.sort(scores, axis=1)[:, [-2]]


@dataclass(frozen=True)
class NeedsSteps(ReidAttack):
    """Takes two slots a day for granted."""

    def score_matrix(self, case: Case, rng: Rng = None) -> Matrix:
        case.released.take_slots([0, 1])
        return overlap(case)


BROKEN = [
    (NoScores, EVERYTHING, "NotImplementedError: NoScores defines no score_matrix"),
    (OneColumn, EVERYTHING - {ONE_USER}, "an array of shape (12, 12), got (12, 1)"),
    (NoFloor, {FINITE, DELETED, UNOBSERVED, ONE_USER, ONE_EVENT}, "put a floor below"),
    (TwoOpinions, {ROWS}, "define one of them"),
    (PlainList, {TABLE, DELETED, UNOBSERVED, ONE_USER, ONE_EVENT}, "an IdTable of 12, got list"),
    (ShortTable, {TABLE, DELETED, UNOBSERVED, ONE_EVENT}, "an IdTable of 12, got 11"),
    (FillsGaps, {INPUT}, "Traces.regions that was handed in has been changed"),
    (WritesRelease, EVERYTHING, "assignment destination is read-only"),
    (NoSeed, {SEED, ROWS}, "draw everything from generator(rng)"),
    (ByThreads, {SEED}, "with two threads"),
    (NeedsSeed, {RNG}, "a seed, please"),
    (Favourite, {USERS}, "with her place in the file"),
    (InOrder, {PSEUDONYMS}, "their order means nothing"),
    (NeedsCells, {DELETED}, "got list"),
    (CountsGaps, {INPUT, UNOBSERVED}, "ValueError"),
    (NeedsCompany, {ONE_USER}, "IndexError"),
    (NeedsSteps, {ONE_EVENT}, "InvalidTraces"),
]
NAMES = [cls.__name__ for cls, _, _ in BROKEN]


class TestReidChecks:
    @pytest.mark.parametrize("cls", [Sound, SoundRandom])
    def test_a_sound_method_passes(self, cls: type[ReidAttack], failures) -> None:
        assert failures(cls) == {}

    @pytest.mark.parametrize(("cls", "expected", "advice"), BROKEN, ids=NAMES)
    def test_a_broken_one_fails_its_check(
        self, cls: type[ReidAttack], expected: set[str], advice: str, failures
    ) -> None:
        found = failures(cls)
        assert set(found) == expected
        assert any(advice in message for message in found.values()), found
