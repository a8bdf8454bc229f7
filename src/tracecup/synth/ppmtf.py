"""PPMTF and PPMTF+: tensor factorization by Gibbs sampling, traces by Metropolis-Hastings.

PPMTF copies the training users' feature vectors, PPMTF+ draws fresh ones for every team.
"""

from __future__ import annotations

import time
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tracecup.device import require_device
from tracecup.engine import threads
from tracecup.errors import InvalidParameter
from tracecup.records import Timetable
from tracecup.registry import Method, parameter, parse, register
from tracecup.rng import Rng, generator
from tracecup.streams import stream_key
from tracecup.synth.base import Model, Progress, Synthesizer, Walk
from tracecup.synth.factors import Factors
from tracecup.synth.features import fresh_features, widened
from tracecup.synth.generate import Generator
from tracecup.synth.ondevice import DeviceSampler
from tracecup.synth.sampler import Posterior, Sampler, State
from tracecup.synth.tensors import Tensors, make_tensors
from tracecup.synth.training import Training

PAPER = "Murakami et al., location trace anonymization contest, appendix on the synthesizer"
CHECKPOINT_SECONDS = 60.0
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FactorSynthesizer(Synthesizer):
    """What PPMTF and PPMTF+ share: how factors are trained and how traces come from them."""

    z: int = parameter(16, "number of latent factors", low=1, high=256)
    alpha: float = parameter(200.0, "precision of the observations", low=0, high=1e9, low_open=True)
    iterations: int = parameter(100, "Gibbs iterations", low=1, positional=False)
    rho: int = parameter(
        1000, "sampled zeros per user and tensor", low=0, high=10**6, positional=False
    )
    zeros: str = parameter(
        "sampled",
        "zeros drawn one by one, or their expectation (faster, another posterior)",
        words=("sampled", "expected"),
        positional=False,
    )
    element_cap: int = parameter(
        100, "non-zero elements kept per user and tensor", low=1, high=20_000, positional=False
    )
    value_cap: int = parameter(10, "largest count", low=1, high=255, positional=False)
    scatter: str = parameter(
        "uncentred",
        "scatter matrix of the hyper-parameter step: the program's or the conjugate one",
        words=("uncentred", "centred"),
        positional=False,
    )
    masks: bool = parameter(
        False, "only places and moves that training data show", positional=False
    )
    home: str = parameter(
        "none",
        "home drawn from the user's own first slot or from the population's",
        words=("none", "own", "population"),
        positional=False,
    )
    gamma: float = parameter(
        20.0, "what home adds to its probability, mornings and evenings", low=0, positional=False
    )

    def fit(
        self,
        training: Training,
        *,
        rng: Rng = None,
        progress: Progress | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
        device: str = "cpu",
    ) -> PpmtfModel:
        """Train on records; the same seed gives the same factors, stopped and resumed or not.

        With `checkpoint`, the state is written there every `checkpoint_seconds` and at the end,
        and a training that finds its own state there goes on from it. A checkpoint is a model
        file. O(iterations * observations * z^2) with about 2 rho observations per user. On the
        `device` `cuda` the same numbers are drawn, and factors agree up to rounding.
        """
        self.check()
        random = generator(rng)
        tensors = make_tensors(
            training, element_cap=self.element_cap, value_cap=self.value_cap, rng=random
        )
        return self.fit_tensors(
            tensors,
            rng=random,
            progress=progress,
            checkpoint=checkpoint,
            checkpoint_seconds=checkpoint_seconds,
            device=device,
        )

    def fit_tensors(
        self,
        tensors: Tensors,
        *,
        rng: Rng = None,
        progress: Progress | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
        device: str = "cpu",
    ) -> PpmtfModel:
        """Train on tensors that are counted and capped already."""
        self.check()
        require_device(device)
        random = generator(rng)
        key = stream_key(random)
        state = State.initial(tensors, self.z, random)
        fingerprint = tensors.fingerprint()
        if checkpoint is not None and Path(checkpoint).exists():
            fresh = state
            state = self._resumed(Factors.load(checkpoint), checkpoint, key, fingerprint)
            if any(getattr(state, x).shape != getattr(fresh, x).shape for x in ("A", "B", "CD")):
                raise InvalidParameter(f"{checkpoint} holds factors of another size")
        posterior = Posterior(self.z, self.alpha, self.rho, self.zeros, self.scatter)
        kind = Sampler if device == "cpu" else DeviceSampler
        sampler = kind(tensors, posterior, key)
        begun, first = time.monotonic(), state.iteration
        saved = begun
        with threads() as pool:
            while state.iteration < self.iterations:
                _sweep(sampler, state, pool)
                now = time.monotonic()
                done = state.iteration == self.iterations
                if checkpoint is not None and (done or now - saved >= checkpoint_seconds):
                    self._factors(state, tensors, key, fingerprint).save(checkpoint)
                    saved = now
                if progress is not None:
                    pace = (now - begun) / (state.iteration - first)
                    left = pace * (self.iterations - state.iteration)
                    progress(state.iteration, self.iterations, left)
        return PpmtfModel(self, self._factors(state, tensors, key, fingerprint))

    def _factors(
        self, state: State, tensors: Tensors, key: tuple[np.uint64, np.uint64], fingerprint: str
    ) -> Factors:
        z, locations = self.z, tensors.n_locations
        in_first_slot = tensors.context == locations
        return Factors(
            str(self),
            state.iteration,
            state.A[:, :z].copy(),
            state.B[:, :z].copy(),
            state.CD[:locations, :z].copy(),
            state.CD[locations:, :z].copy(),
            state.mean.copy(),
            state.precision.copy(),
            np.bincount(
                tensors.origin[in_first_slot], tensors.value[in_first_slot], locations
            ).astype(np.float64),
            tensors.support,
            tensors.day,
            key,
            fingerprint,
        )

    def _resumed(
        self,
        factors: Factors,
        path: str | PathLike[str],
        key: tuple[np.uint64, np.uint64],
        fingerprint: str,
    ) -> State:
        """The state of a checkpoint, if it belongs to this very training."""
        made_by = parse("synthesizer", factors.method)
        different = [
            name for name in TRAINED_BY if getattr(made_by, name, None) != getattr(self, name)
        ]
        if factors.fingerprint != fingerprint:
            different.append("training data")
        if factors.key != key:
            different.append("seed")
        if factors.iteration > self.iterations:
            different.append("iterations")
        if different:
            raise InvalidParameter(
                f"{path} holds another training, made by {factors.method}: different "
                f"{', '.join(different)}; give another checkpoint or the same settings and seed"
            )
        CD = np.concatenate([factors.C, factors.D])
        return State(
            factors.iteration,
            widened(factors.A),
            widened(factors.B),
            widened(CD),
            factors.mean,
            factors.precision,
        )


TRAINED_BY = ("z", "alpha", "rho", "zeros", "element_cap", "value_cap", "scatter")


@register(
    "synthesizer",
    "PPMTF",
    "multiple tensor factorization; virtual user k behaves like training user k",
    PAPER,
)
@dataclass(frozen=True)
class PPMTF(FactorSynthesizer):
    """Virtual users are copies of the training users' feature vectors (section 5).

    >>> str(PPMTF(16, 200.0, masks=True))
    'PPMTF(16,200,masks=true)'
    """


@register(
    "synthesizer",
    "PPMTF+",
    "multiple tensor factorization; every virtual user is drawn afresh",
    PAPER,
)
@dataclass(frozen=True)
class PPMTFPlus(FactorSynthesizer):
    """Virtual users draw their feature vectors from the distribution of A's rows (section 5)."""


@dataclass(frozen=True, eq=False)
class PpmtfModel(Model):
    """Trained factors and how to make traces from them; `method` decides on features and homes."""

    method: FactorSynthesizer
    factors: Factors

    @cached_property
    def _generator(self) -> Generator:
        method = self.method
        return Generator(self.factors, method.masks, method.home, method.gamma)

    @property
    def day(self) -> Timetable:
        return self.factors.day

    @property
    def n_locations(self) -> int:
        return len(self.factors.B)

    @property
    def n_users(self) -> int | None:
        """The training users for PPMTF, any number for PPMTF+."""
        return None if isinstance(self.method, PPMTFPlus) else len(self.factors.A)

    def features(self, first_user: int, n_users: int, key: tuple[np.uint64, np.uint64]) -> Floats:
        """Feature vectors of virtual users, padded rows."""
        factors = self.factors
        if isinstance(self.method, PPMTFPlus):
            return fresh_features(factors.mean, factors.precision, first_user, n_users, key)
        return widened(factors.A[first_user : first_user + n_users])

    def walk(self, order: Walk, low: int, high: int, out: NDArray[np.int32]) -> None:
        first = order.first_user + low
        self._generator.walk(
            self.features(first, high - low, order.key),
            first,
            order.days,
            order.instants,
            order.kept,
            order.key,
            out[low:high],
        )

    def using(self, method: Method) -> PpmtfModel:
        """The same factors under other generation settings (PPMTF or PPMTF+, masks, homes)."""
        method.check()
        if not isinstance(method, FactorSynthesizer):
            raise InvalidParameter(
                f"a model of {self.method} can be used as PPMTF or PPMTF+, not as {method}"
            )
        return replace(self, method=method)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model file (see `factors`)."""
        replace(self.factors, method=str(self.method)).save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> PpmtfModel:
        """Read a model file."""
        factors = Factors.load(path)
        method = parse("synthesizer", factors.method)
        if not isinstance(method, FactorSynthesizer):
            raise InvalidParameter(f"{path} was made by {method}, expected PPMTF or PPMTF+")
        return cls(method, factors)


def _sweep(sampler: Sampler, state: State, pool: Executor) -> None:
    """One iteration; factors beyond all numbers, as only a damaged checkpoint has, are refused."""
    try:
        sampler.sweep(state, pool)
    except np.linalg.LinAlgError as error:
        raise InvalidParameter(
            f"training cannot go on after iteration {state.iteration}: its factors are too large "
            "to compute with; begin again without the checkpoint"
        ) from error
