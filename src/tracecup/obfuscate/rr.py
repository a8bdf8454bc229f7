"""RR: randomized response over all regions, differentially private for each event.

Paper, Section 4.1; the contest's sample algorithm A3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.obfuscate.replay import legacy_generator, replay_parameter
from tracecup.registry import parameter, register, spell
from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces, Traces


@register(
    "obfuscator",
    "RR",
    "keep the region with probability e^eps/(regions-1+e^eps), else any other one",
    "P. Kairouz, K. Bonawitz, D. Ramage, Discrete Distribution Estimation under Local Privacy, "
    "ICML 2016",
)
@dataclass(frozen=True)
class RR(Obfuscator):
    """Keep o with probability p = e^eps / (X - 1 + e^eps), else one of the other X - 1 regions.

    Two draws per cell: a uniform u (keep if u < p) and the other region. The same seed keeps
    nested sets of cells for growing eps and gives the others the same regions, so the utility
    never falls with eps. O(m l). The replay makes both decisions with one uniform, as the
    organisers' program does.

    >>> RR(8.0).guarantee(400)
    '8-differentially private per event; 400 events compose to 3200'
    """

    eps: float = parameter(0.1, "privacy budget of one event", low=0)
    replay: bool = replay_parameter()

    knobs: ClassVar[tuple[Knob, ...]] = (Knob("eps", weak=64.0, strong=0.0),)

    def guarantee(self, events: int = 400) -> str:
        """eps-differential privacy of an event; basic composition over a trace."""
        eps = float(self.eps)
        return (
            f"{spell(eps)}-differentially private per event; "
            f"{events} events compose to {spell(round(eps * events, 9))}"
        )

    def keep_probability(self, n_regions: int) -> float:
        """p = 1 / (1 + (X - 1) e^-eps), the same without overflow."""
        return 1 / (1 + (n_regions - 1) * math.exp(-self.eps))

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        keep = self.keep_probability(city.n_regions)
        if self.replay:
            return single_cells(self._replayed(city, original, keep, rng), original)
        gen = generator(rng)
        uniform = gen.random(original.shape)
        other = gen.integers(max(1, city.n_regions - 1), size=original.shape, dtype=np.int32)
        other += other >= original.regions
        return single_cells(np.where(uniform < keep, original.regions, other), original)

    def _replayed(self, city: City, original: Traces, keep: float, rng: Rng) -> NDArray[np.int32]:
        """u in [p + k q, p + (k+1) q) gives the k-th other region, q = 1/(X - 1 + e^eps)."""
        uniform = legacy_generator(rng).random_sample(original.shape)
        each = keep * math.exp(-self.eps)
        other = np.floor((uniform - keep) / each) if each > 0 else np.zeros(original.shape)
        picked = np.clip(other, 0, max(0, city.n_regions - 2)).astype(np.int32)
        picked += picked >= original.regions
        return np.where(uniform < keep, original.regions, picked)
