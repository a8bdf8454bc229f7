"""The judge of a round: how its files are read, what is valid, what attackers get, what scores.

No web, no files of its own and no clock; `flow` says in which order the judge is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tracecup.attack import Case
from tracecup.city import City, ContestClock
from tracecup.contest.judging.answers import Answers, CellScores, Truth
from tracecup.contest.judging.scorer import Scorer, Verdict
from tracecup.contest.rules import Rules
from tracecup.errors import InvalidTraces
from tracecup.safeio import Limits
from tracecup.traces import IdTable, SetTraces, Traces
from tracecup.traces.files import (
    read_id_table,
    read_inferred_table,
    read_inferred_traces,
    read_obfuscated,
    read_released,
    read_traces,
)

# Files that the organisers keep are their own; these limits only stop what cannot be one.
LIMITS = Limits(max_bytes=8 << 30, max_rows=400_000_000, max_ids=2_000_000_000)


@dataclass(frozen=True, eq=False)
class Judge:
    """The judge of one round of a contest: its rules, its city, its clock.

    >>> from tracecup.city import Grid
    >>> city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875))
    >>> judge = Judge(Rules(users=2), city, ContestClock.regular(days=1, slots=2))
    >>> original = Traces.of([[0, 1], [3, 4]], judge.clock.original)
    >>> judge.verdict(original, SetTraces.of_traces(original)).valid
    True
    """

    rules: Rules
    city: City
    clock: ContestClock

    def check_data(self, reference: Traces, original: Traces) -> None:
        """Raise `InvalidTraces` unless these can be a team's reference and original traces."""
        for name, traces, clock in (
            ("reference", reference, self.clock.reference),
            ("original", original, self.clock.original),
        ):
            if traces.n_users != self.rules.users or traces.clock != clock:
                raise InvalidTraces(
                    f"{name} traces are {traces.shape[0]} x {traces.shape[1]}, the contest has "
                    f"{self.rules.users} users x {clock.times} events on its own clock"
                )
        if original.has_gaps:
            raise InvalidTraces("original traces of a contest have no gaps")

    def read_submission(self, path: Path) -> SetTraces:
        """A team's obfuscated traces; `InvalidFile` if they are none for this contest."""
        return self.read_obfuscated(path, self.rules.limits.reading)

    def read_original(self, path: Path) -> Traces:
        """Original traces that the organisers keep."""
        return read_traces(
            path,
            n_regions=self.city.n_regions,
            clock=self.clock.original,
            users=self.rules.users,
            limits=LIMITS,
        )

    def read_reference(self, path: Path) -> Traces:
        """Reference traces that the organisers keep."""
        return read_traces(
            path,
            "reference",
            n_regions=self.city.n_regions,
            clock=self.clock.reference,
            users=self.rules.users,
            gaps=True,
            limits=LIMITS,
        )

    def read_obfuscated(self, path: Path, limits: Limits = LIMITS) -> SetTraces:
        """Obfuscated traces that the organisers keep."""
        return read_obfuscated(
            path,
            users=self.rules.users,
            clock=self.clock.original,
            n_regions=self.city.n_regions,
            limits=limits,
        )

    def read_released(self, path: Path) -> SetTraces:
        """Published traces."""
        return read_released(
            path,
            users=self.rules.users,
            clock=self.clock.original,
            n_regions=self.city.n_regions,
            limits=LIMITS,
        )

    def read_id_table(self, path: Path) -> IdTable:
        """The ID table of a release, which the organisers keep."""
        return read_id_table(path, users=self.rules.users)

    @property
    def scorer(self) -> Scorer:
        """What scores by these rules."""
        return Scorer(self.city, self.rules.scores)

    def verdict(self, original: Traces, obfuscated: SetTraces) -> Verdict:
        """Judge obfuscated traces by their utility."""
        return self.scorer.verdict(original, obfuscated)

    def case(self, reference: Traces, released: SetTraces) -> Case:
        """What an attacker gets for one target: never an original trace or an ID table."""
        return Case(self.city, reference, released)

    def read_table(self, path: Path) -> IdTable:
        """An attacker's inferred ID table; `InvalidFile` if it is none for this contest."""
        return read_inferred_table(path, users=self.rules.users, limits=self.rules.limits.reading)

    def read_inferred(self, path: Path) -> Traces:
        """An attacker's inferred traces; `InvalidFile` if they are none for this contest."""
        return read_inferred_traces(
            path,
            users=self.rules.users,
            clock=self.clock.original,
            n_regions=self.city.n_regions,
            limits=self.rules.limits.reading,
        )

    def score(self, truth: Truth, answers: Answers) -> CellScores:
        """Score what one attacker handed in against one target; the stronger try counts."""
        return self.scorer.score(truth, answers)
