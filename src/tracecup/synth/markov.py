"""A Markov chain for every training user: the obvious synthesizer, kept for comparison.

It copies habits most faithfully and protects nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracecup.registry import register
from tracecup.rng import Rng
from tracecup.synth.base import Progress, Synthesizer
from tracecup.synth.chains import ChainModel, Rows
from tracecup.synth.training import Training


@register("synthesizer", "Markov", "each training user's own first-order chain")
@dataclass(frozen=True)
class Markov(Synthesizer):
    """Virtual user k walks by training user k's own transition frequencies, whatever the time.

    The first instant is one of her records in the earliest slot in which she has any; a place
    that she never left is kept.
    """

    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> ChainModel:
        """Count; nothing is random. O(records log records)."""
        self.check()
        n_users, n = training.n_users, training.n_locations
        slot = training.slot
        earliest = np.full(n_users, training.slots, dtype=np.int32)
        np.minimum.at(earliest, training.user, slot)
        opening = slot == earliest[training.user]
        first = training.location[opening]
        return ChainModel(
            training.day,
            n,
            Rows.counted(training.user[opening], np.zeros_like(first), first, n_users, n),
            Rows.counted(*training.steps(), n_users, n),
            True,
            True,
            training.prefix(0),
            training.instants_per_slot,
        )
