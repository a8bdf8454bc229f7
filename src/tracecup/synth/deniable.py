"""PD: a synthesizer whose days pass a test of plausible deniability before they go out.

Days that fail are tried again from other seeds; in the end they are made without a seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tracecup.records import Timetable
from tracecup.registry import parameter, register, spell
from tracecup.rng import Rng
from tracecup.streams import child, uniform
from tracecup.synth.base import Model, Progress, Synthesizer, Walk
from tracecup.synth.deniability import DeniabilityTest, seed_likelihoods
from tracecup.synth.ppmtf import PPMTF, PPMTFPlus
from tracecup.synth.sgd import SGD
from tracecup.synth.training import Training

SEED, NOISE = np.uint64(0), np.uint64(1)

Places = NDArray[np.int32]


@register(
    "synthesizer",
    "PD",
    "days that at least k training users could have made, within a factor gamma",
    "after V. Bindschaedler, R. Shokri, C. Gunter, Plausible Deniability for Privacy-Preserving "
    "Data Synthesis, VLDB 2017",
)
@dataclass(frozen=True)
class PD(Synthesizer):
    """Every day is made from a training user drawn at random, the seed, by SGD(copied) or PPMTF.

    It goes out if at least k users, the seed counted, have their likelihood of it in the same
    bucket floor(-L / ln gamma); with eps0 the bound is k + Laplace(1/eps0). After `tries` failed
    days it is made without any seed, by SGD(0) or PPMTF+, of which everybody is as plausible.

    >>> str(PD(5, 2.0, of="PPMTF"))
    'PD(5,2,0,of=PPMTF)'
    """

    k: int = parameter(10, "users who could have made a day", low=1)
    gamma: float = parameter(math.e, "width of a bucket of likelihoods", low=1, low_open=True)
    eps0: float = parameter(0.0, "noise on k: Laplace(1/eps0); 0: none", low=0)
    of: str = parameter(
        "SGD", "the synthesizer that is tested", words=("SGD", "PPMTF"), positional=False
    )
    copied: int = parameter(
        1, "instants that SGD copies from the seed", low=1, high=1000, positional=False
    )
    z: int = parameter(16, "factors of PPMTF", low=1, high=256, positional=False)
    iterations: int = parameter(100, "Gibbs iterations of PPMTF", low=1, positional=False)
    tries: int = parameter(10, "seeds tried for a day", low=1, high=10**4, positional=False)

    @property
    def test(self) -> DeniabilityTest:
        """The test of a day."""
        return DeniabilityTest(self.k, self.gamma, self.eps0)

    def guarantee(self, events: int = 400) -> str:
        """What the test itself says of every day, given the model."""
        return (
            f"given the model, at least {self.k} training users could have made each day that has "
            f"a seed, with likelihoods within a factor {spell(round(self.gamma, 4))}"
            + (" (the number blurred by noise)" if self.eps0 else "")
        )

    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> DeniableModel:
        """Fit the tested synthesizer; the test itself happens when traces are made."""
        self.check()
        made: Model
        if self.of == "PPMTF":
            fitted = PPMTF(self.z, iterations=self.iterations).fit(
                training, rng=rng, progress=progress
            )
            made, seedless = fitted, fitted.using(PPMTFPlus(self.z, iterations=self.iterations))
            return DeniableModel(self, made, seedless, training.instants_per_slot)
        copied = min(self.copied, training.records.instants_per_day)
        made = SGD(copied).fit(training)
        return DeniableModel(self, made, SGD().fit(training), training.instants_per_slot)


@dataclass(frozen=True, eq=False)
class DeniableModel(Model):
    """A fitted synthesizer with seeds, one without, and the test between them."""

    method: PD
    seeded: Model
    seedless: Model
    instants_per_slot: int

    @property
    def day(self) -> Timetable:
        return self.seeded.day

    @property
    def n_locations(self) -> int:
        return self.seeded.n_locations

    def walk(self, order: Walk, low: int, high: int, out: Places) -> None:
        days, passed = self.tested(order, low, high)
        for u, d in zip(*np.nonzero(~passed), strict=True):
            key = _key(order, order.first_user + low + int(u), int(d), 0)
            days[u, d] = self._made(self.seedless, order, int(order.first_user + low + u), key)
        out[low:high] = days[:, :, order.kept]

    def tested(self, order: Walk, low: int, high: int) -> tuple[Places, NDArray[np.bool_]]:
        """Whole days (users, days, instants) and which of them passed the test with a seed."""
        length = self.day.slots * order.instants
        days = np.zeros((high - low, order.days, length), dtype=np.int32)
        passed = np.zeros(days.shape[:2], dtype=np.bool_)
        users = self.seeded.n_users or 1
        for attempt in range(self.method.tries):
            waiting = np.argwhere(~passed)
            if not len(waiting):
                break
            seeds = np.empty(len(waiting), dtype=np.int64)
            noise = np.zeros(len(waiting))
            for k, (u, d) in enumerate(waiting):
                key = _key(order, order.first_user + low + int(u), int(d), 1 + attempt)
                seeds[k] = int(uniform(*key, SEED) * users)
                noise[k] = _laplace(uniform(*key, NOISE))
                days[u, d] = self._made(self.seeded, order, int(seeds[k]), _below(key, 1))
            logs = seed_likelihoods(self.seeded, days[~passed], order.instants)
            passed[~passed] = self.method.test.passes_with(logs, seeds, noise)
        return days, passed

    def _made(
        self, model: Model, order: Walk, user: int, key: tuple[np.uint64, np.uint64]
    ) -> Places:
        """One whole day of virtual user `user` of a model."""
        length = self.day.slots * order.instants
        one = np.empty((1, 1, length), dtype=np.int32)
        everything = np.ones(length, dtype=np.bool_)
        model.walk(replace(order, first_user=user, days=1, kept=everything, key=key), 0, 1, one)
        day: Places = one[0, 0]
        return day


def _key(order: Walk, user: int, day: int, part: int) -> tuple[np.uint64, np.uint64]:
    """The stream of one try of one day of one virtual user."""
    key = order.key
    for index in (user, day, part):
        key = _below(key, index)
    return key


def _below(key: tuple[np.uint64, np.uint64], index: int) -> tuple[np.uint64, np.uint64]:
    first, second = child(*key, np.uint64(index))
    return np.uint64(first), np.uint64(second)


def _laplace(chance: float) -> float:
    """A standard Laplace number from a uniform one."""
    centred = chance - 0.5
    return -math.copysign(math.log1p(-2.0 * abs(centred)), centred)
