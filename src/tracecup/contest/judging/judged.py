"""What a team handed in and what the judge said about it, as one small record.

Methods are told by the team and never checked; utility and validity are the judge's.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from tracecup.contest.entries import is_published
from tracecup.contest.judging.scorer import Verdict


@dataclass(frozen=True)
class JudgedRelease:
    """A release as handed in: the method it names, the verdict, whether it is out of competition.

    `utility` and its interval are None for a file that could not be read.
    """

    method: str
    valid: bool
    reason: str
    utility: float | None
    utility_low: float | None
    utility_high: float | None
    hors_concours: bool = False

    @classmethod
    def of(cls, method: str, verdict: Verdict, hors_concours: bool = False) -> JudgedRelease:
        """From what the judge said."""
        utility = verdict.utility
        low, high = (utility.interval.low, utility.interval.high) if utility else (None, None)
        value = utility.value if utility else None
        return cls(method, verdict.valid, verdict.reason, value, low, high, hors_concours)

    @property
    def published(self) -> bool:
        """Whether attackers get it."""
        return is_published(self.valid, self.hors_concours)

    @classmethod
    def of_dict(cls, held: Any) -> JudgedRelease:
        """From JSON; a `ValueError` says what it holds instead."""
        try:
            made = cls(**held)
        except TypeError as error:
            raise ValueError("other keys") from error
        numbers = (made.utility, made.utility_low, made.utility_high)
        flags = (made.valid, made.hors_concours)
        if not all(isinstance(n, (int, float, type(None))) for n in numbers) or not all(
            isinstance(flag, bool) for flag in flags
        ):
            raise ValueError("values of other types")
        return made

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    def apart(self) -> JudgedRelease:
        """The same for a team that left or was disqualified: what is out plays hors concours."""
        return replace(self, hors_concours=True) if self.published else self
