"""Learned-R and Learned-T: who and where, by networks that were trained on public data.

Training is in `tracecup.learn`; answering needs the model file alone.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.base import InferenceAttack, ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.decision import Candidates, decide
from tracecup.attack.learned.modelfile import SHIPPED, LearnedModel
from tracecup.attack.learned.named import attack_model
from tracecup.attack.learned.network import Network
from tracecup.attack.match import MATCH, MATCHES, TAU, match_table, soft_links
from tracecup.attack.models.slotwise import slot_likelihoods
from tracecup.attack.scores import Scores
from tracecup.city import City
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
    members: training drew one of them, whose mean differs from the sum by the same for all users,
    so links are the same. A deleted cell is skipped. One forward pass and m^2 times the distinct
    cells.
    """

    needs_model: ClassVar[bool] = True

    model: str = parameter(SHIPPED, MODEL, text=True, positional=False)
    match: str = parameter("assignment", MATCH, words=MATCHES, positional=False)

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """Log-likelihoods of all pairs; `rng` is not used."""
        self.check()
        return _scores(attack_model(self.model), case)

    def remark(self, case: Case) -> str:
        """What the model was trained on."""
        return _trained_on(self.model)


@register("inference", "Learned-T", f"learned links, prior and channel, least loss; {NOTE}")
@dataclass(frozen=True)
class LearnedT(InferenceAttack):
    """Links of Learned-R, beliefs of a learned prior and channel, answers of least expected loss.

    `match=soft` takes up to 12 candidates of Sinkhorn's scaling at `tau`; `assignment` takes the
    most likely permutation for certain. A set is the mean over its members of where each of them
    alone would come from, as the channel was trained: it is known up to a factor for each member.
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
        prior = _expected(model.prior, case)
        channel = model.channel(case.city)
        regions = decide(case.city, prior, candidates, channel, case.released, apart=True)
        return Traces(np.ascontiguousarray(regions), case.reference.users, case.released.clock)

    def remark(self, case: Case) -> str:
        """What the model was trained on."""
        return _trained_on(self.model)


def _trained_on(model: str) -> str:
    return f"trained on {attack_model(model).training}"


def _scores(model: LearnedModel, case: Case) -> Scores:
    model.ground.check(case.city, case.reference.clock.slots)
    return slot_likelihoods(_expected(model.release, case), case.released)


_latest: list[tuple[weakref.ref[Traces], weakref.ref[City], Network, NDArray[np.float32]]] = []


def _expected(net: Network, case: Case) -> NDArray[np.float32]:
    """What a network makes of the references (users, slots, regions).

    It does not depend on the release. The latest two tables are kept as long as the traces live:
    attacks on other releases of the same users ask again.
    """
    for traces, place, asked, table in tuple(_latest):
        if traces() is case.reference and place() is case.city and asked is net:
            return table
    table = net.probabilities(case.city, case.reference)
    kept = weakref.ref(case.reference, lambda _: _latest.clear())
    _latest[:] = [*_latest[-1:], (kept, weakref.ref(case.city), net, table)]
    return table
