"""What a team handed in and what the judge said about it, as one small record.

Methods are told by the team and never checked; utility and validity are the judge's.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tracecup.contest.archive.folder import Archive, read_json
from tracecup.contest.entries import Entry
from tracecup.contest.judging.judge import Verdict
from tracecup.contest.standing.scoreboard import BoardRow
from tracecup.errors import InvalidFile, Problem


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
        return self.valid or self.hors_concours

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    def release(self, entry: Entry) -> BoardRow:
        """Its row of the score board."""
        return BoardRow(
            entry.release,
            entry.number,
            entry.challenge,
            self.valid,
            benchmark=entry.is_benchmark,
            hors_concours=self.hors_concours,
        )


def read_judged(archive: Archive, entry: Entry) -> JudgedRelease:
    """The stored submission of a data set."""
    path = archive.submission_file(entry)
    held = read_json(path)
    try:
        made = JudgedRelease(**held)
    except TypeError as error:
        raise InvalidFile(path, [Problem(0, "", "other keys", "a submission")]) from error
    numbers = (made.utility, made.utility_low, made.utility_high)
    flags = (made.valid, made.hors_concours)
    if not all(isinstance(n, (int, float, type(None))) for n in numbers) or not all(
        isinstance(flag, bool) for flag in flags
    ):
        raise InvalidFile(path, [Problem(0, "", "values of other types", "a submission")])
    return made
