"""SGLT-D: every user's days told anew with places of the same class, released under her own name.

The synthesizer SGLT with the traces that are to be protected as seeds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tracecup.city import City, Clock
from tracecup.errors import InvalidTraces
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.synth.seeds import Seeds
from tracecup.synth.sglt import MAX_PLACES, SGLT, SgltModel
from tracecup.synth.training import Training
from tracecup.traces import SetTraces, Traces


@register(
    "obfuscator",
    "SGLT-D",
    "every day told anew, each place exchanged for one of the same class",
    "after V. Bindschaedler, R. Shokri, Synthesizing Plausible Privacy-Preserving Location "
    "Traces, S&P 2016",
)
@dataclass(frozen=True)
class SgltDefence(Obfuscator):
    """Classes and chain are learned from the traces themselves; the seed of a released day is
    that day. The parameters are those of `SGLT`; more classes and a smaller par_l keep more.

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(3, 1, width_m=350, height_m=350))
    >>> same = SgltDefence(3, 0.0, par_c=0.0, par_m=0.0)
    >>> same.obfuscate(city, Traces.of([[0, 1, 1], [2, 2, 1]]), rng=1).regions.tolist()
    [0, 1, 1, 2, 2, 1]
    """

    c: int = parameter(200, "classes of places (no more than places)", low=1, high=MAX_PLACES)
    par_l: float = parameter(
        0.0, "probability that the place itself is forbidden, per event", low=0, high=1
    )
    par_c: float = parameter(
        0.25, "share of each class left out of a day", low=0, high=1, positional=False
    )
    par_m: float = parameter(
        0.75, "how far the classes around a change of place mix", low=0, high=1, positional=False
    )
    par_v: float = parameter(
        4.0, "largest random factor on a probability", low=1, high=1e6, positional=False
    )

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob("c", weak=MAX_PLACES, strong=1),
        Knob("par_l", weak=0.0, strong=1.0),
    )

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        if city.n_regions > MAX_PLACES:
            raise InvalidTraces(
                f"SGLT-D compares all pairs of regions: at most {MAX_PLACES}, got {city.n_regions}"
            )
        gen = generator(rng)
        # Slots may begin at any minutes; for the chain only their order counts.
        clock = Clock.regular(original.clock.days, original.clock.slots, 0, 1)
        plain = Traces(original.regions, original.users, clock)
        training = Training.of_traces(plain, city.n_regions).placed(city.grid)
        method = SGLT(self.c, self.par_l, self.par_c, self.par_m, self.par_v)
        told = _each_day_alone(method.fit(training, rng=gen)).sample(rng=gen)
        return single_cells(told.regions.reshape(original.shape), original)


def _each_day_alone(model: SgltModel) -> SgltModel:
    """The same classes and chain with every single day as a seed of its own."""
    seeds = model.seeds
    alone = Seeds(np.arange(len(seeds.days)), seeds.days, seeds.instant, seeds.place)
    return replace(model, seeds=alone)
