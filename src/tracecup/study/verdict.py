"""The answer to an owner: is this release safe enough, and if not, what helps and what it costs.

Several ways to cut the same records are audited; the worst one is what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from tracecup.errors import InvalidParameter
from tracecup.score.intervals import CONFIDENCE
from tracecup.study.audit import PORTFOLIO, Audit, Subject, audit
from tracecup.study.exposure import WITHIN_KM, Exposure, exposure_of
from tracecup.study.protections import Protected, protections_for, try_protections

LIMIT = 0.05
"""Largest share of the users that may be named."""
HAIR = 1e-9


@dataclass(frozen=True, eq=False)
class Setting:
    """One way to cut the records, in words, and what the attacks found with it."""

    words: str
    found: Audit

    @property
    def rate(self) -> float:
        """Share of the users named by the strongest re-identification."""
        return self.found.identified / self.found.users


@dataclass(frozen=True, eq=False)
class Answer:
    """Audits of all settings, the worst first; what else was found there, and what helps."""

    settings: tuple[Setting, ...]
    exposure: Exposure | None
    protections: tuple[Protected, ...]
    limit: float

    @property
    def worst(self) -> Audit:
        """The audit of the worst setting."""
        return self.settings[0].found

    @property
    def bar(self) -> float:
        """The limit, or the rate of guessing where that is higher: no release can go below it."""
        return max(self.limit, self.worst.guessing)

    @property
    def safe(self) -> bool | None:
        """Whether at most the limit's share is named; None where that cannot be scored."""
        if not self.worst.reid or self.worst.users == 1:
            return None
        return self.settings[0].rate <= self.bar + HAIR

    def helps(self, one: Protected) -> bool:
        """Whether a protection brings the share of named users to the limit."""
        return one.rate <= self.bar + HAIR

    @property
    def best_protection(self) -> Protected | None:
        """Of the protections that help, the one that keeps most of the points."""
        helping = [one for one in self.protections if self.helps(one)]
        return max(helping, key=lambda one: one.points, default=None)


def answer(
    subjects: Sequence[tuple[str, Subject]],
    *,
    attacks: Sequence[str] = PORTFOLIO,
    limit: float = LIMIT,
    protections: Sequence[str] | None = None,
    informed: bool = False,
    within_km: float = WITHIN_KM,
    confidence: float = CONFIDENCE,
    seed: int = 1,
    progress: Callable[[float, float], None] | None = None,
    executor: Executor | None = None,
) -> Answer:
    """Audit every setting (words, subject), then look closer at the worst.

    The worst setting is the one in which most users are named, then the one with the lowest s_T.
    `protections` are run on the true traces of that setting: by default those of
    `protections_for`, none for an empty sequence, and none where the ID table is missing;
    `informed` attackers know which of them ran. With an `executor` attacks and protections are
    jobs of their own.
    """
    if not subjects:
        raise InvalidParameter("an audit needs one setting at least")
    if not 0 < limit <= 1:
        raise InvalidParameter(f"the limit is a share of the users above 0, at most 1, got {limit}")
    if not within_km >= 0:
        raise InvalidParameter(f"the distance of a home must be >= 0, got {within_km}")
    total = len(subjects) + 2

    def advance(part: float) -> None:
        if progress:
            progress(part, total)

    def within(before: int, done: float, all_of: float) -> None:
        advance(before + done / all_of)

    settings = []
    for k, (words, subject) in enumerate(subjects):
        found = audit(
            subject,
            attacks=attacks,
            confidence=confidence,
            seed=seed,
            progress=partial(within, k),
            executor=executor,
        )
        settings.append(Setting(words, found))
    settings.sort(key=lambda one: (-one.rate, _s_t(one.found)))
    subject = settings[0].found.subject
    advance(len(subjects))
    exposure = exposure_of(subject, within_km=within_km, confidence=confidence, seed=seed)
    if protections is None:
        protections = protections_for(limit, subject.original.n_users)
    tried: list[Protected] = []
    if protections and subject.table is not None and settings[0].found.reid:
        tried = try_protections(
            subject,
            attacks,
            protections=protections,
            informed=informed,
            within_km=within_km,
            confidence=confidence,
            seed=seed,
            progress=lambda done, all_of: advance(len(subjects) + 1 + done / all_of),
            executor=executor,
        )
    return Answer(tuple(settings), exposure, tuple(tried), limit)


def _s_t(found: Audit) -> float:
    return 1.0 if found.linked is None else found.linked.score.value
