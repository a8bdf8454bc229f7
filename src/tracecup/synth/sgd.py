"""SGD, the seed-based generator of the published comparison, as it was run on location traces.

One chain for everybody; optionally the first instants are those of a training user.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracecup.registry import parameter, register
from tracecup.rng import Rng
from tracecup.synth.base import Progress, Synthesizer
from tracecup.synth.chains import ChainModel, Rows
from tracecup.synth.training import Training


@register(
    "synthesizer",
    "SGD",
    "one chain of all training users, slot by slot; the first instants may be copied",
    "Bindschaedler, Shokri, Gunter, VLDB 2017, as used in the evaluation of PPMTF",
)
@dataclass(frozen=True)
class SGD(Synthesizer):
    """The first instant follows the training records of slot 0, every later one in slot t the
    transitions that arrive in slot t, both by relative frequency; a place that nobody left leads
    everywhere alike (section 6.4). With `copied` = c, the first c instants of every day are those
    of the training user with the same number.
    """

    copied: int = parameter(0, "instants copied from a training user", low=0, high=1000)

    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> ChainModel:
        """Count; nothing is random. O(records log records)."""
        self.check()
        slot, n = training.slot, training.n_locations
        first = training.location[slot == 0]
        nobody = np.zeros(len(first), dtype=np.int32)
        _, before, after = training.steps()
        arrival = slot[training.follows]
        return ChainModel(
            training.day,
            n,
            Rows.counted(nobody, nobody, first, 1, n),
            Rows.counted(arrival, before, after, training.slots, n),
            False,
            False,
            training.prefix(self.copied),
            training.instants_per_slot,
        )
