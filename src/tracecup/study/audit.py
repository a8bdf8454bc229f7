"""The risk of a data owner's own release: what known attacks find out, user by user.

Averages over users with intervals, beside what guessing and prior knowledge alone reach.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import escape

import numpy as np
from numpy.typing import NDArray

from tracecup.attack import Case, InferenceAttack, ReidAttack, strong_attacks
from tracecup.attack.naming import is_blind
from tracecup.city import City
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.jobs import all_done
from tracecup.rng import child_seed
from tracecup.score import (
    Bounds,
    Interval,
    Score,
    UtilityScore,
    guessing_bound,
    hospital_share,
    reid_score,
    true_link_bound,
)
from tracecup.score.intervals import CONFIDENCE, check_confidence
from tracecup.score.observed import (
    difference,
    event_weights,
    observed_error,
    observed_inference,
    observed_utility,
)
from tracecup.study.htmltables import html_table
from tracecup.study.sweep import attacks_called
from tracecup.study.together import together
from tracecup.traces import IdTable, SetTraces, Traces

PAPER = (
    "VisitProb-R",
    "HomeProb-R",
    "Fuzzy-R(0.33,1)",
    "VisitProb-T",
    "HomeProb-T",
    "Fuzzy-T(0.33,1,0)",
    "Replay-T",
    "Prior-T",
)
"""The attacks of the paper and of the 2019 winner, with their own linking."""
PORTFOLIO = (*PAPER, *strong_attacks("quick"))
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 10


@dataclass(frozen=True)
class Coverage:
    """How much of a table was looked at: of `records`, `audited` are events of the audit.

    `merged` of the others fell into the same instant as an earlier one of the same user; `users`
    are all users of the table.
    """

    records: int
    audited: int
    merged: int
    users: int


@dataclass(frozen=True, eq=False)
class Subject:
    """What is audited: a release, what its attacker knows, and the truth.

    `reference` and `original` are in user order and may have gaps (-1); `released` is in the
    order of pseudonyms, and `table` says who is behind them (None: not known, then neither
    re-identification nor utility can be scored). `labels` are what people call the users;
    `notes` say what was assumed or left out on the way here, `coverage` how much of a raw table
    was taken (None: all). `dates` are the released days since 1970, where they are known.
    """

    city: City
    reference: Traces
    original: Traces
    released: SetTraces
    table: IdTable | None
    labels: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    coverage: Coverage | None = None
    dates: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        m = self.original.n_users
        if self.released.shape != self.original.shape:
            raise InvalidTraces(
                f"original traces are {self.original.shape}, released ones {self.released.shape}"
            )
        if len(self.labels) != m or (self.table is not None and len(self.table) != m):
            raise InvalidTraces(f"{m} users need {m} labels and an ID table of {m} pseudonyms")


@dataclass(frozen=True, eq=False)
class Audited:
    """One attack: s_R or s_T, for trace inference also the expected error (km).

    `remark` says what the attack knew, such as the held-out log-likelihood of its prior.
    """

    attack: str
    score: Score
    error: Score | None
    seconds: float
    remark: str = ""


@dataclass(frozen=True)
class UserRisk:
    """One user: the attacks that identified her, and her own s_T with and without the release."""

    user: str
    identified_by: tuple[str, ...]
    s_t: float | None
    s_t_prior: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The result. Scores are privacy: low is bad for the users."""

    subject: Subject
    utility: UtilityScore | None
    reid: tuple[Audited, ...]
    trace: tuple[Audited, ...]
    confidence: float
    seed: int

    def __repr__(self) -> str:
        said = [f"{self.users} users"]
        if (best := self.strongest_reid) is not None:
            said.append(f"{self.identified} named by {best.attack}")
        if (linked := self.linked) is not None:
            said.append(f"s_T {linked.score.value:.3f} by {linked.attack}")
        if (prior := self.prior) is not None:
            said.append(f"{prior.score.value:.3f} without the release")
        return f"<Audit: {', '.join(said)}>"

    def _repr_html_(self) -> str:
        rows = [
            (one.attack, one.score.name, one.score.value, interval.low, interval.high)
            for one in (*self.reid, *self.trace)
            for interval in [one.score.interval]
        ]
        table = html_table(["attack", "score", "value", "low", "high"], rows)
        return f"<p>{escape(repr(self)[1:-1])}</p>{table}"

    @property
    def users(self) -> int:
        """Number of users, m."""
        return self.subject.original.n_users

    @cached_property
    def events(self) -> int:
        """Number of events whose true region is known."""
        return int((self.subject.original.regions >= 0).sum())

    @property
    def strongest_reid(self) -> Audited | None:
        """The re-identification that named most users."""
        return min(self.reid, key=lambda one: one.score.value, default=None)

    @property
    def identified(self) -> int:
        """How many users the strongest re-identification named."""
        best = self.strongest_reid
        return 0 if best is None else int((best.score.per_user == 0).sum())

    @property
    def identified_interval(self) -> Interval | None:
        """Wilson's interval of the strongest attack's rate, 1 - s_R."""
        best = self.strongest_reid
        if best is None or best.score.interval.high is None:
            return None
        found = best.score.interval
        return Interval(1 - best.score.interval.high, 1 - found.low, found.confidence, found.method)

    @property
    def guessing(self) -> float:
        """The rate of a random guess, 1/m."""
        return 1 / self.users

    @property
    def linked(self) -> Audited | None:
        """The strongest trace inference that uses the release."""
        found = [one for one in self.trace if not is_blind(one.attack)]
        return min(found, key=lambda one: one.score.value, default=None)

    @property
    def prior(self) -> Audited | None:
        """The strongest trace inference that never looks at the release: the ceiling of s_T."""
        found = [one for one in self.trace if is_blind(one.attack)]
        return min(found, key=lambda one: one.score.value, default=None)

    @cached_property
    def bounds(self) -> Bounds:
        """What bounds the scores; the true link with hospitals in their share of the truth."""
        share = hospital_share(self.subject.city, self.subject.original)
        utility = self.utility
        return Bounds(
            guessing=guessing_bound(self.users),
            prior=None if self.prior is None else self.prior.score.value,
            true_link=true_link_bound(utility.value, hospital_share=share) if utility else None,
        )

    @cached_property
    def added(self) -> tuple[float, Interval] | None:
        """By how much the release lowers s_T below the ceiling; negative: not at all."""
        if self.linked is None or self.prior is None:
            return None
        weights = event_weights(self.subject.city, self.subject.original)
        return difference(self.prior.score, self.linked.score, weights, self.confidence)

    @cached_property
    def times_identified(self) -> NDArray[np.int64]:
        """By how many re-identifications each user was named, shape (m,)."""
        counts = np.zeros(self.users, dtype=np.int64)
        for one in self.reid:
            counts += one.score.per_user == 0
        return counts

    @cached_property
    def own(self) -> NDArray[np.float64]:
        """Each user's own lowest s_T over the attacks that use the release; NaN: not observed."""
        return self._lowest(blind=False)

    @cached_property
    def own_prior(self) -> NDArray[np.float64]:
        """The same over the attacks that never look at it."""
        return self._lowest(blind=True)

    @property
    def quantiles(self) -> dict[float, float]:
        """Own s_T below which 5, 25, 50, 75 and 95 % of the observed users lie."""
        own = self.own[~np.isnan(self.own)]
        values = np.quantile(own, QUANTILES).tolist() if len(own) else []
        return dict(zip(QUANTILES, values, strict=False))

    @property
    def histogram(self) -> list[int]:
        """Users by own s_T, in ten classes of equal width from 0 to 1."""
        own = self.own[~np.isnan(self.own)]
        return [int(n) for n in np.histogram(own, bins=BINS, range=(0, 1))[0]]

    def worst(self, count: int) -> list[UserRisk]:
        """The `count` users at most risk: most often identified, then lowest own s_T."""
        return [self.risk(user) for user in self.worst_positions(count)]

    def worst_positions(self, count: int) -> list[int]:
        """The positions of these users."""
        own = np.where(np.isnan(self.own), np.inf, self.own)
        order = np.lexsort((np.arange(self.users), own, -self.times_identified))
        return [int(i) for i in order[:count]]

    def risk(self, user: int) -> UserRisk:
        """What the attacks found out about one user (by position)."""
        by = tuple(one.attack for one in self.reid if one.score.per_user[user] == 0)
        return UserRisk(
            self.subject.labels[user], by, _known(self.own[user]), _known(self.own_prior[user])
        )

    def _lowest(self, *, blind: bool) -> NDArray[np.float64]:
        rows = [one.score.per_user for one in self.trace if is_blind(one.attack) == blind]
        return np.min(rows, axis=0) if rows else np.full(self.users, np.nan)


def portfolio(
    strength: str = "quick", defence: str = "", *, learned: bool = False
) -> tuple[str, ...]:
    """The attacks of an audit: the paper's, and all strong ones up to a strength.

    `defence`: what protected the release, which attackers of strength `max` know; `learned` where
    the shipped model was trained for the city (`attack.learned.shipped_suits`).

    >>> portfolio("standard")[-2:]
    ('Bayes-R', 'Bayes-T')
    """
    return (*PAPER, *strong_attacks(strength, defence, learned=learned))


def audit(
    subject: Subject,
    *,
    attacks: Sequence[str | ReidAttack | InferenceAttack] = PORTFOLIO,
    confidence: float = CONFIDENCE,
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
    executor: Executor | None = None,
) -> Audit:
    """Run the attacks on the release and score what they find.

    Re-identification is scored against the ID table, trace inference against the original
    traces, over observed events only where those have gaps (`score.observed`). All draws of the
    attacks come from `seed`. With an `executor` every attack is a job of its own, but for those
    that learn the same of the release: what one learnt is there for the next.
    """
    methods = [method for name in attacks for method in attacks_called(name)]
    if not any(isinstance(method, InferenceAttack) for method in methods):
        raise InvalidParameter("an audit needs a trace inference at least")
    check_confidence(confidence)
    city, original, table = subject.city, subject.original, subject.table
    utility = None
    if table is not None:
        cells = subject.released.take_users(table.inverse())
        utility = observed_utility(city, original, cells, confidence=confidence)
    scored = [one for one in methods if table is not None or not isinstance(one, ReidAttack)]
    # One case for all, which lives no longer than the audit: attacks keep what they learnt of it.
    case = Case(city, subject.reference, subject.released)
    groups = together(scored)

    def told(done: float, total: float) -> None:
        if progress:
            progress(done * len(scored) / total, len(scored))

    parts = all_done(
        executor,
        [
            partial(_audited, subject, case, [scored[k] for k in group], confidence, seed)
            for group in groups
        ],
        told,
    )
    by_place = {
        k: one
        for group, part in zip(groups, parts, strict=True)
        for k, one in zip(group, part, strict=True)
    }
    found = [by_place[k] for k in range(len(scored))]
    reid = tuple(one for one in found if one.error is None)
    trace = tuple(one for one in found if one.error is not None)
    return Audit(subject, utility, reid, trace, confidence, seed)


def _audited(
    subject: Subject,
    case: Case,
    methods: Sequence[ReidAttack | InferenceAttack],
    confidence: float,
    seed: int,
) -> list[Audited]:
    """Some attacks on the release, one after the other."""
    return [audited(subject, case, method, confidence, seed) for method in methods]


def audited(
    subject: Subject,
    case: Case,
    method: ReidAttack | InferenceAttack,
    confidence: float,
    seed: int,
) -> Audited:
    """One attack on the release, scored; a re-identification needs the ID table."""
    draw, started = child_seed(seed, "attack", str(method)), time.perf_counter()
    if isinstance(method, ReidAttack):
        if subject.table is None:
            raise InvalidTraces(f"{method} is scored against an ID table, and there is none")
        guess = method.identify(case, draw)
        took = time.perf_counter() - started
        named = reid_score(subject.table, guess, confidence)
        return Audited(str(method), named, None, took, method.remark(case))
    inferred = method.infer(case, draw)
    took = time.perf_counter() - started
    truth = (subject.city, subject.original, inferred)
    score = observed_inference(*truth, confidence=confidence)
    error = observed_error(*truth, confidence=confidence)
    return Audited(str(method), score, error, took, method.remark(case))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
