"""One broken obfuscation for every check: it fails that check, and says what to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tracecup.city import City, Clock
from tracecup.engine import thread_count
from tracecup.obfuscate import Obfuscator
from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces, Traces

ONE_USER, ONE_EVENT = "works for one user", "works for one event"
LATER = "works as a later stage"
CELLS, KEEPS = "gives a cell for every event", "keeps users and clock"
CITY, SEED = "stays in the city", "same seed gives same bytes"


def cells(regions: object, like: Traces) -> SetTraces:
    return SetTraces.of_traces(Traces(np.asarray(regions), like.users, like.clock))


@dataclass(frozen=True)
class Sound(Obfuscator):
    """Random regions: useless, but it keeps every rule."""

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return cells(generator(rng).integers(city.n_regions, size=original.shape), original)


@dataclass(frozen=True)
class PlainTraces(Obfuscator):
    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return original  # type: ignore[return-value]  # wrong on purpose


@dataclass(frozen=True)
class LosesUsers(Obfuscator):
    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return SetTraces.of_traces(original.take_users(slice(0, 5)))


@dataclass(frozen=True)
class Renames(Obfuscator):
    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return SetTraces.of_traces(Traces.of(original.regions, original.clock))


@dataclass(frozen=True)
class RestartsClock(Obfuscator):
    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        clock = Clock(original.clock.days, original.clock.minutes)
        return SetTraces.of_traces(Traces(original.regions, original.users, clock))


@dataclass(frozen=True)
class SquareCity(Obfuscator):
    """Thinks that every city has 32 x 32 regions."""

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return cells(generator(rng).integers(1024, size=original.shape), original)


@dataclass(frozen=True)
class LongLists(Obfuscator):
    """A cell with more regions than there are."""

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        offsets = np.arange(original.regions.size + 1) * (city.n_regions + 1)
        regions = np.zeros(offsets[-1], dtype=np.int32)
        return SetTraces(offsets, regions, original.users, original.clock)


@dataclass(frozen=True)
class WritesByForce(Obfuscator):
    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        result = cells(original.regions.copy(), original)
        original.regions.flags.writeable = True
        original.regions[0, 0] ^= 1
        return result


@dataclass(frozen=True)
class MovesHospitals(Obfuscator):
    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        city.is_hospital.flags.writeable = True
        city.is_hospital[:] = False
        return SetTraces.of_traces(original)


@dataclass(frozen=True)
class NoSeed(Obfuscator):
    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return cells(np.random.default_rng().integers(35, size=original.shape), original)


@dataclass(frozen=True)
class GlobalSeed(Obfuscator):
    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return cells(np.random.randint(35, size=original.shape), original)  # noqa: NPY002 - wrong on purpose


@dataclass(frozen=True)
class ByThreads(Obfuscator):
    """A generator for each thread."""

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return cells((original.regions + thread_count()) % city.n_regions, original)


@dataclass(frozen=True)
class OnlySeeds(Obfuscator):
    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        assert isinstance(rng, int), "a seed, please"
        return SetTraces.of_traces(original)


@dataclass(frozen=True)
class NeedsCompany(Obfuscator):
    """Takes the trace of the second user."""

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return cells(np.tile(original.regions[1], (original.n_users, 1)), original)


@dataclass(frozen=True)
class NeedsSteps(Obfuscator):
    """Takes the second event."""

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return cells(np.tile(original.regions[:, [1]], (1, original.times)), original)


@dataclass(frozen=True)
class NoQuestions(Obfuscator):
    """Replaces the part that checks the traces."""

    def obfuscate(self, city: City, original: Traces, rng: Rng = None) -> SetTraces:
        return cells(np.zeros(original.shape, dtype=np.int32), original)


@dataclass(frozen=True)
class OwnStage(Obfuscator):
    """A later stage that forgets whose cells they are."""

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return SetTraces.of_traces(original)

    def obfuscate_cells(self, city: City, cells: SetTraces, rng: Rng = None) -> SetTraces:
        return cells.renamed(np.arange(cells.n_users))


GAPS = "takes gaps or says why"
BROKEN = [
    (PlainTraces, {CELLS, KEEPS, CITY, ONE_USER, ONE_EVENT, GAPS, LATER}, "got Traces"),
    (LosesUsers, {CELLS, KEEPS, GAPS, LATER}, "users and events went in, (5, 6) came out"),
    (Renames, {KEEPS, ONE_USER, ONE_EVENT}, "hand original.users to SetTraces"),
    (RestartsClock, {KEEPS}, "hand on original.clock"),
    (SquareCity, {CITY, ONE_USER, ONE_EVENT}, "the city has 0..34"),
    (LongLists, {CITY}, "at most 35 regions"),
    (WritesByForce, {"leaves its input alone"}, "Traces.regions that was handed in"),
    (MovesHospitals, {"leaves its input alone"}, "City.is_hospital that was handed in"),
    (NoSeed, {SEED}, "the same seed gave another answer"),
    (GlobalSeed, {SEED}, "other global random numbers"),
    (ByThreads, {SEED}, "with two threads"),
    (OnlySeeds, {"takes any rng"}, "use tracecup.rng.generator(rng)"),
    (NeedsCompany, {ONE_USER, ONE_EVENT}, "IndexError"),
    (NeedsSteps, {ONE_EVENT}, "IndexError"),
    (NoQuestions, {"refuses unfit traces"}, "region 35 of a city of 35 was accepted"),
    (OwnStage, {LATER}, "must keep users, events and clock"),
]
NAMES = [cls.__name__ for cls, _, _ in BROKEN]


class TestObfuscatorChecks:
    def test_a_sound_method_passes(self, failures) -> None:
        assert failures(Sound) == {}

    @pytest.mark.parametrize(("cls", "expected", "advice"), BROKEN, ids=NAMES)
    def test_a_broken_one_fails_its_check(
        self, cls: type[Obfuscator], expected: set[str], advice: str, failures
    ) -> None:
        found = failures(cls)
        assert set(found) == expected
        assert any(advice in message for message in found.values()), found
