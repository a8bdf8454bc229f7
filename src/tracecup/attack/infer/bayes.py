"""Bayes-T: where each user was, from prior, channel, soft links and the contest's loss.

Nothing is copied from a release: every answer has the least expected loss.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.attack.base import InferenceAttack
from tracecup.attack.case import Case
from tracecup.attack.decision import Candidates, decide
from tracecup.attack.match import LINKS, ONE_TO_ONE, link_one_to_one, soft_links
from tracecup.attack.models.bayes import (
    CHANNEL,
    CHANNELS,
    KNOWN,
    TAU,
    bayes_evidence,
    check_channel,
    remark_on,
)
from tracecup.registry import parameter, register
from tracecup.rng import Rng
from tracecup.traces import Traces


@register("inference", "Bayes-T", "least expected loss under prior, channel and soft links")
@dataclass(frozen=True)
class BayesT(InferenceAttack):
    """The regions of least expected contest loss, see `tracecup.attack.decision.decide`.

    Prior, channel and scores are those of `Bayes-R`. `match=soft` weighs up to 12 pseudonyms of
    each user by soft links, the other ways take one for certain. O(users slots regions^2 +
    events x (candidates regions)).
    """

    channel: str = parameter("learned", CHANNEL, words=CHANNELS, naming=(KNOWN,), positional=False)
    match: str = parameter("soft", ONE_TO_ONE, words=LINKS, positional=False)
    tau: float = parameter(2.0, TAU, low=0, low_open=True, positional=False)

    def check(self) -> None:
        """Ranges, and whether the named defence exists."""
        super().check()
        check_channel(self.channel)

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        """Inferred traces in user order; `rng` only drives a known defence."""
        self.check()
        found = bayes_evidence(case, self.channel, rng)
        if self.match == "soft":
            candidates = Candidates.of_links(soft_links(found.scores, self.tau))
        else:
            candidates = Candidates.of_table(link_one_to_one(found.scores, self.match))
        answers = decide(case.city, found.prior, candidates, found.channel, case.released)
        return Traces(answers, case.reference.users, case.released.clock)

    def remark(self, case: Case) -> str:
        """The prior's held-out log-likelihood and where the channel is from."""
        return remark_on(case, self.channel)
