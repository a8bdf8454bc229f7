"""Uniform locations: the synthesizer that knows nothing, the lower end of every scale.

No training record enters, so it is perfectly private and useless.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracecup.registry import register
from tracecup.rng import Rng
from tracecup.synth.base import Progress, Synthesizer
from tracecup.synth.chains import ChainModel, Rows
from tracecup.synth.training import Training


@register("synthesizer", "Uniform", "every instant anywhere, independently")
@dataclass(frozen=True)
class Uniform(Synthesizer):
    """Every location at every instant with probability 1/N."""

    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> ChainModel:
        """Takes only the shape of the day and the number of locations."""
        self.check()
        none = np.empty(0, dtype=np.int32)
        n = training.n_locations
        return ChainModel(
            training.day,
            n,
            Rows.counted(none, none, none, 1, n),
            Rows.counted(none, none, none, training.slots, n),
            False,
            False,
            training.prefix(0),
            training.instants_per_slot,
        )
