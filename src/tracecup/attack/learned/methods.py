"""Learned-R and Learned-T: who and where, by networks that were trained on public data.

Training is in `tracecup.learn`; answering needs the model file alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tracecup.attack.base import InferenceAttack, ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.decision import Candidates, decide
from tracecup.attack.learned.modelfile import SHIPPED, LearnedModel, attack_model
from tracecup.attack.match import MATCH, MATCHES, TAU, match_table, soft_links
from tracecup.attack.models.slotwise import slot_likelihoods
from tracecup.attack.scores import MatrixScores
from tracecup.registry import parameter, register
from tracecup.rng import Rng
from tracecup.traces import Traces

MODEL = "file of a trained model; shipped = the one of the built-in city"
NOTE = "trained on public data with `tracecup attack train`"


@register("reid", "Learned-R", f"release model by a network, {NOTE}")
@dataclass(frozen=True)
class LearnedR(ReidAttack):
    """S[p, u] = sum over cells of log p(y | references of u, slot), then optimal assignment.

    p comes from a network that was trained on other teams' references and a defence, or several,
    that the attacker can run himself; the model says which. A set counts as the sum over its
    members, a deleted cell is skipped. One forward pass and m^2 times the distinct cells.
    """

    needs_model: ClassVar[bool] = True

    model: str = parameter(SHIPPED, MODEL, text=True, positional=False)
    match: str = parameter("assignment", MATCH, words=MATCHES, positional=False)

    def scores(self, case: Case, rng: Rng = None) -> MatrixScores:
        """Log-likelihoods of all pairs; `rng` is not used."""
        self.check()
        return _scores(attack_model(self.model), case)


@register("inference", "Learned-T", f"learned links, prior and channel, least loss; {NOTE}")
@dataclass(frozen=True)
class LearnedT(InferenceAttack):
    """Links of Learned-R, beliefs of a learned prior and channel, answers of least expected loss.

    `match=soft` takes up to 12 candidates of Sinkhorn's scaling at `tau`; `assignment` takes the
    most likely permutation for certain.
    """

    needs_model: ClassVar[bool] = True

    model: str = parameter(SHIPPED, MODEL, text=True, positional=False)
    match: str = parameter("soft", MATCH, words=("assignment", "soft"), positional=False)
    tau: float = parameter(2.0, TAU, low=0, low_open=True, positional=False)

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        """Inferred traces in user order; `rng` is not used."""
        self.check()
        model = attack_model(self.model)
        scores = _scores(model, case)
        if self.match == "soft":
            candidates = Candidates.of_links(soft_links(scores, self.tau))
        else:
            candidates = Candidates.of_table(match_table(scores, "assignment", self.tau))
        prior = model.prior.probabilities(case.city, case.reference)
        regions = decide(case.city, prior, candidates, model.channel(case.city), case.released)
        return Traces(np.ascontiguousarray(regions), case.reference.users, case.released.clock)


def _scores(model: LearnedModel, case: Case) -> MatrixScores:
    model.ground.check(case.city, case.reference.clock.slots)
    expected = model.release.probabilities(case.city, case.reference)
    return slot_likelihoods(expected, case.released)
