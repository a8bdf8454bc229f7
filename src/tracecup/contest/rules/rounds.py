"""The rules of a round: its name, its weight, and when its phases begin.

Part of `model`, which holds all other rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Literal, NamedTuple

from tracecup.contest.rules.values import Instant, Number, Text, Whole, about, key

PhaseName = Literal["announce", "anonymize", "judge", "attack", "results"]
PHASES: tuple[PhaseName, ...] = ("announce", "anonymize", "judge", "attack", "results")
ROUND_WEIGHTS: Mapping[str, float] = {"preliminary": 1.0, "final": 9.0}

ConflictCode = Literal[
    "city-sources",
    "past-midnight",
    "no-challenge",
    "no-targets",
    "round-names",
    "round-weights",
    "round-order",
    "phases-missing",
    "phase-order",
]


class Conflict(NamedTuple):
    """A rule over several keys that is broken: where, how a file says it, and what pages word."""

    path: tuple[str | int, ...]
    found: str
    expected: str
    code: ConflictCode


@dataclass(frozen=True)
class Phases:
    """When the phases of a round begin, in UTC; all are set or none.

    `judge` ends the anonymization phase, `results` ends the attack phase.
    """

    announce: datetime | None = field(
        default=None,
        metadata=about(
            "Rules, sample data and each team's data are out.", Instant(), "2030-04-01T10:00:00"
        ),
    )
    anonymize: datetime | None = field(
        default=None, metadata=about("Releases may be handed in.", Instant(), "2030-05-01T10:00:00")
    )
    judge: datetime | None = field(
        default=None,
        metadata=about(
            "Deadline of releases; the judge checks, shuffles, publishes.",
            Instant(),
            "2030-05-15T17:00:00",
        ),
    )
    attack: datetime | None = field(
        default=None,
        metadata=about("Answers of attackers may be handed in.", Instant(), "2030-05-16T10:00:00"),
    )
    results: datetime | None = field(
        default=None,
        metadata=about(
            "Deadline of attacks; scores and awards follow.", Instant(), "2030-05-30T17:00:00"
        ),
    )

    @property
    def scheduled(self) -> bool:
        """Whether the phases have instants; a simulated season needs none."""
        return self.announce is not None

    def conflicts(self) -> Iterator[Conflict]:
        """All or none, one after another."""
        given = [(name, getattr(self, name)) for name in PHASES if getattr(self, name)]
        if given and len(given) < len(PHASES):
            missing = [name for name in PHASES if getattr(self, name) is None]
            found = f"no {', '.join(missing)}"
            yield Conflict((), found, "all five phases of a round, or none", "phases-missing")
        for (before, first), (name, second) in pairwise(given):
            # Before local times are put into the zone, a mixture cannot be compared.
            if (first.tzinfo is None) == (second.tzinfo is None) and not first < second:
                expected = f"a time after {before} ({shown_instant(first)})"
                yield Conflict((name,), shown_instant(second), expected, "phase-order")


@dataclass(frozen=True)
class RoundRules:
    """One round: anonymize, then attack."""

    name: str = key(
        "final",
        "Name of the round.",
        Text("a name of small letters, digits and hyphens", r"[a-z0-9][a-z0-9-]{0,39}"),
    )
    weight: float = key(
        ROUND_WEIGHTS["final"],
        "Scores of the rounds are added with these weights (preliminary 1, final 9, others 1).",
        Number(0, 1e6),
    )
    days: int | None = key(
        None,
        "Days of this round, where they differ from [clock] (2 in the preliminary round of 2019).",
        Whole(1, 3660),
        "2",
    )
    reference_days: int | None = key(
        None, "Reference days of this round; without it as many as days.", Whole(1, 3660), "2"
    )
    phases: Phases = field(
        default_factory=Phases,
        metadata=about("When each phase begins; without an offset in the zone above."),
    )


def shown_instant(instant: datetime) -> str:
    """An instant as messages write it."""
    return instant.isoformat(sep=" ").replace("+00:00", " UTC")
