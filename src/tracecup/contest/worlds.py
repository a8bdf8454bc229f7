"""Where the traces of a season come from: the built-in city, or a model of your own data.

The model of the built-in city comes with the package; `python -m tracecup.contest.worlds FILE`
makes it again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np

from tracecup.city import City, ContestClock
from tracecup.contest.entries import Entry
from tracecup.contest.ledger import file_hash
from tracecup.contest.smallfiles import SECRET_FILE_MODE
from tracecup.datasets import Metropolis
from tracecup.errors import InvalidTraces
from tracecup.safeio import atomic_write, read_blocks
from tracecup.synth import CONTEST_SYNTHESIZER, ContestShape, PpmtfModel, Training, team_data
from tracecup.synth.ppmtf import FactorSynthesizer
from tracecup.traces import Traces

SHIPPED_MODEL = "models/metropolis.npz.zst"
SHIPPED_SEED = 0
STEP_MINUTES = 5

Say = Callable[[int, int], None]
"""Called with (steps done, steps in all)."""


class World(Protocol):
    """Where the traces of a season come from."""

    @property
    def name(self) -> str:
        """What it is, in words; stands in the archive."""

    @property
    def city(self) -> City:
        """The city of the traces."""

    def prepare(self, model: Path, say: Say) -> None:
        """Get ready; a model that has to be trained is kept at `model` and read from there."""

    def data(
        self, entry: Entry, clock: ContestClock, users: int, seed: int
    ) -> tuple[Traces, Traces]:
        """Reference and original traces of a data set; the same seed, the same traces."""


class BuiltinWorld:
    """The built-in city and the model of its inhabitants that comes with the package."""

    @cached_property
    def name(self) -> str:
        """With the hash of the model: another model, another season."""
        with _shipped_file() as path:
            return f"the built-in city, {CONTEST_SYNTHESIZER}, model {file_hash(path)[:16]}"

    @cached_property
    def city(self) -> City:
        """Metropolis."""
        return Metropolis().city

    @cached_property
    def model(self) -> PpmtfModel:
        """The model of the package."""
        return shipped_model()

    def __reduce__(self) -> tuple[Any, ...]:
        """The model is where the package is, and does not travel; a process reads it once."""
        return _builtin_world, ()

    def prepare(self, model: Path, say: Say) -> None:
        """Nothing to do: the model is trained."""

    def data(
        self, entry: Entry, clock: ContestClock, users: int, seed: int
    ) -> tuple[Traces, Traces]:
        """Traces of virtual users whom no other data set has."""
        return synthesize(self.model, entry, clock, users, seed)


class TrainedWorld:
    """Training records of your own in their city; the season trains the model.

    The model is kept among the secrets of the archive; a training that was interrupted goes on
    where it was a minute before.
    """

    def __init__(
        self,
        name: str,
        city: City,
        training: Training,
        seed: int,
        method: FactorSynthesizer = CONTEST_SYNTHESIZER,
    ) -> None:
        if training.n_locations != city.n_regions:
            raise InvalidTraces(
                f"training data have {training.n_locations} locations, the city "
                f"{city.n_regions} regions"
            )
        self.name, self.city = f"{name}, {method}", city
        self._training, self._seed, self._method = training, seed, method
        self._model: PpmtfModel | None = None

    def prepare(self, model: Path, say: Say) -> None:
        """Train, or read what was trained before."""
        part = model.with_name(f"{model.name}.part")
        if not model.exists():
            trained = self._method.fit(
                self._training,
                rng=self._seed,
                progress=lambda done, total, _: say(done, total),
                checkpoint=part,
            )
            trained.save(model)
        model.chmod(SECRET_FILE_MODE)
        part.unlink(missing_ok=True)
        self._model = PpmtfModel.load(model)

    def data(
        self, entry: Entry, clock: ContestClock, users: int, seed: int
    ) -> tuple[Traces, Traces]:
        """Traces of virtual users whom no other data set has."""
        if self._model is None:
            raise InvalidTraces("a world of training data has to be prepared first")
        return synthesize(self._model, entry, clock, users, seed)


@dataclass(frozen=True, eq=False)
class ModelWorld:
    """A model that was trained elsewhere, in its city."""

    model: PpmtfModel

    def data(
        self, entry: Entry, clock: ContestClock, users: int, seed: int
    ) -> tuple[Traces, Traces]:
        """Traces of virtual users whom no other data set has."""
        return synthesize(self.model, entry, clock, users, seed)


def synthesize(
    model: PpmtfModel, entry: Entry, clock: ContestClock, users: int, seed: int
) -> tuple[Traces, Traces]:
    """Reference and original traces of `users` virtual users on the contest's clock."""
    minutes = clock.original.minutes
    interval = minutes[1] - minutes[0] if len(minutes) > 1 else STEP_MINUTES
    shape = ContestShape(
        users,
        clock.reference.days,
        clock.original.days,
        clock.original.slots,
        minutes[0],
        interval,
        STEP_MINUTES,
    )
    made = team_data(model, seed, entry.team, shape)
    return made.reference, made.original


@lru_cache(maxsize=1)
def _builtin_world() -> BuiltinWorld:
    """The one of this process."""
    return BuiltinWorld()


def shipped_model() -> PpmtfModel:
    """The model of the built-in city that comes with the package."""
    with _shipped_file() as path, TemporaryDirectory() as folder:
        plain = Path(folder) / "model.npz"
        plain.write_bytes(b"".join(read_blocks(path)))
        return PpmtfModel.load(plain)


def _shipped_file() -> AbstractContextManager[Path]:
    return resources.as_file(resources.files("tracecup.contest") / SHIPPED_MODEL)


def train_shipped_model(say: Say | None = None) -> PpmtfModel:
    """Train the model of the built-in city anew: minutes, the same model every time."""
    training = Training.of_records(Metropolis().records())
    progress = (lambda done, total, _: say(done, total)) if say else None
    return CONTEST_SYNTHESIZER.fit(training, rng=SHIPPED_SEED, progress=progress)


def pack_model(model: PpmtfModel, path: Path) -> None:
    """Write a model as small as the package ships it.

    Virtual users are drawn from the distribution of the training users' features, so the
    features themselves (the rows of A) are left out. Other factors are rounded to half
    precision, numbers of regions take two bytes, and the file is compressed.
    """
    kept, small = model.factors, np.float16
    slim: Any = replace(
        kept,
        A=kept.A[:0],
        **{name: getattr(kept, name).astype(small) for name in ("B", "C", "D")},
        population=kept.population.astype(np.float32),
        support=replace(
            kept.support,
            starts=kept.support.starts.astype(np.int32),
            targets=kept.support.targets.astype(np.uint16),
        ),
    )
    with TemporaryDirectory() as folder, atomic_write(path) as file:
        plain = Path(folder) / "model.npz"
        replace(model, factors=slim).save(plain)
        file.write(plain.read_bytes())


def _main(out: Path) -> None:
    def say(done: int, total: int) -> None:
        print(f"\rtraining: {done} of {total} iterations", end="", file=sys.stderr, flush=True)

    pack_model(train_shipped_model(say), out)
    print(f"\n{out}: {out.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
