"""Bayes-R: how likely each pseudonym is under what a defence would make of each user.

A slot-aware prior of the user, through a channel that is honest, known or learnt.
"""

from __future__ import annotations

import math
import threading
import weakref
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.base import ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.channel import (
    ExpectedReleases,
    defence_named,
    honest_channel,
    learn_channel,
    run_defence,
)
from tracecup.attack.match import MATCH, MATCHES
from tracecup.attack.models.slotwise import slot_likelihoods
from tracecup.attack.prior import SlotPrior, slot_prior
from tracecup.attack.scores import Scores
from tracecup.registry import parameter, register
from tracecup.rng import Rng

CHANNEL = (
    "what the attacker thinks a region is released as: itself, what the named defence does to "
    "reference traces, or what the release itself teaches"
)
CHANNELS = ("identity", "learned")
KNOWN = "known"
TAU = "for soft links: scores this far apart count as e times as likely"


@dataclass(frozen=True, eq=False)
class Evidence:
    """Prior, channel Q[x, y] (regions, regions) and scores: what a Bayes attack decides from."""

    prior: SlotPrior
    channel: NDArray[np.float32]
    scores: Scores


class _Latest:
    """The evidence that was found last for a case. Who asks while it is being found waits."""

    def __init__(self) -> None:
        self.busy = threading.Lock()
        self.held: tuple[tuple[str, int], Evidence] | None = None


_latest: weakref.WeakKeyDictionary[Case, _Latest] = weakref.WeakKeyDictionary()
_lookup = threading.Lock()
_unsettled: weakref.WeakSet[Case] = weakref.WeakSet()
"""Cases whose channel was still changing when learning ended."""


def bayes_evidence(case: Case, channel: str, rng: Rng = None) -> Evidence:
    """The prior of the references, the channel of that name, and the scores under both.

    S[k, u] = sum over the cells of pseudonym k of log sum over members y of (P Q)[u, t, y].
    What was learnt last is kept as long as its case lives: Bayes-R and Bayes-T ask for the same.
    A known defence draws; what it did is only kept for the same seed.
    """
    draws = channel.startswith(KNOWN)
    if draws and not isinstance(rng, int):
        return _evidence(case, channel, rng)
    key = (channel, rng if draws and isinstance(rng, int) else 0)
    with _lookup:
        latest = _latest.setdefault(case, _Latest())
    with latest.busy:
        if latest.held is None or latest.held[0] != key:
            latest.held = key, _evidence(case, channel, rng)
        return latest.held[1]


def _evidence(case: Case, channel: str, rng: Rng) -> Evidence:
    """The same, made anew."""
    city, prior = case.city, slot_prior(case.city, case.reference)
    if channel == "learned":
        learned = learn_channel(city, prior, case.released)
        if not learned.converged:
            _unsettled.add(case)
        return Evidence(prior, learned.channel, learned.scores)
    if channel == "identity":
        return Evidence(prior, honest_channel(city), slot_likelihoods(prior, case.released))
    defence = channel.removeprefix(KNOWN)[1:-1]
    table = run_defence(city, case.reference, defence, rng).channel(city)
    scores = slot_likelihoods(ExpectedReleases(prior, table), case.released)
    return Evidence(prior, table, scores)


def remark_on(case: Case, channel: str) -> str:
    """What a Bayes attack knew, in words: its prior's quality and where its channel is from.

    Whether a learnt channel converged is known once the attack has been run.
    """
    settled = ", not converged" if case in _unsettled else ""
    told = {
        "learned": f"channel learnt from the release{settled}",
        "identity": "release taken as it is",
    }.get(channel, f"channel from running {channel.removeprefix(KNOWN)[1:-1]} on the references")
    return f"{prior_remark(case)}; {told}"


def prior_remark(case: Case) -> str:
    """The held-out log-likelihood of the prior, in words."""
    found = slot_prior(case.city, case.reference).log_likelihood
    if math.isnan(found):
        return "prior from one day of references"
    return f"prior of {found:.2f} nats per held-out location"


def check_channel(channel: str) -> None:
    """Raise if a channel names a defence that nobody knows."""
    if channel not in CHANNELS:
        defence_named(channel.removeprefix(KNOWN)[1:-1])


@register("reid", "Bayes-R", "likelihood under a slot-aware prior and a channel, one to one")
@dataclass(frozen=True)
class BayesR(ReidAttack):
    """Log-likelihood of the released cells under prior and channel; links are one to one.

    See `bayes_evidence` for the scores. `channel=known(KMeans(100))` runs that defence on the
    public references to see what it does; `learned` needs no knowledge; `identity` trusts the
    release. `match` is `soft` by default. O(users slots regions^2) for prior and channel,
    O(users^2 events) for the scores.
    """

    channel: str = parameter("learned", CHANNEL, words=CHANNELS, naming=(KNOWN,), positional=False)
    _: KW_ONLY
    match: str = parameter("soft", MATCH, words=MATCHES, positional=False)
    tau: float = parameter(2.0, TAU, low=0, low_open=True, positional=False)

    def check(self) -> None:
        """Ranges, and whether the named defence exists."""
        super().check()
        check_channel(self.channel)

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """Log-likelihoods; `rng` only drives a known defence."""
        self.check()
        return bayes_evidence(case, self.channel, rng).scores

    def remark(self, case: Case) -> str:
        """The prior's held-out log-likelihood and where the channel is from."""
        return remark_on(case, self.channel)
