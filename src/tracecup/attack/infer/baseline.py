"""Random-T and Replay-T: trace inference without any look at the release.

One is the floor of skill; the other was very strong on the two-day traces of 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracecup.attack.base import InferenceAttack
from tracecup.attack.case import Case
from tracecup.attack.infer.frequent import usual_regions
from tracecup.attack.models.visitprob import PAPER
from tracecup.registry import register
from tracecup.rng import Rng, generator
from tracecup.traces import Traces


@register("inference", "Random-T", "independent uniform regions", PAPER)
@dataclass(frozen=True)
class RandomT(InferenceAttack):
    """A uniformly random region for every event (s_T about 0.967 on the contest's grid)."""

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        regions = generator(rng).integers(
            case.city.n_regions, size=case.released.shape, dtype=np.int32
        )
        return Traces(regions, case.reference.users, case.released.clock)


@register("inference", "Replay-T", "the reference trace again, event by event", PAPER)
@dataclass(frozen=True)
class ReplayT(InferenceAttack):
    """Every user's inferred trace is her reference trace, slot by slot; no randomness.

    If the release has more days than the reference, reference days are used again in turn; if
    it has fewer, the first ones are used. Unobserved reference events become the user's most
    frequent region.
    """

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        reference, clock = case.reference, case.released.clock
        days = np.arange(clock.days) % reference.clock.days
        shape = (case.n_users, reference.clock.days, clock.slots)
        regions = reference.regions.reshape(shape)[:, days].reshape(case.n_users, clock.times)
        if reference.has_gaps:
            usual = usual_regions(reference, case.city.n_regions)
            regions = np.where(regions < 0, usual[:, None], regions)
        return Traces(regions, reference.users, clock)
