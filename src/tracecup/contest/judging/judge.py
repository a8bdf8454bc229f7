"""The judge: checks submissions, shuffles valid ones, hands out cases, scores the answers.

No web, no files of its own and no clock: the season, the server and the verification call it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tracecup.attack import Case
from tracecup.city import City, ContestClock
from tracecup.contest.entries import Entry
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.contest.rules import Rules
from tracecup.errors import InvalidFile, InvalidParameter, InvalidTraces
from tracecup.rng import Rng
from tracecup.safeio import Limits
from tracecup.score import (
    Score,
    UtilityScore,
    expected_error_score,
    inference_score,
    reid_score,
    utility_score,
)
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


@dataclass(frozen=True)
class Verdict:
    """What the judge says about obfuscated traces: valid or not, and the reason in words.

    `utility` is None where the file could not be read as obfuscated traces at all.
    """

    valid: bool
    reason: str
    utility: UtilityScore | None = None

    @property
    def readable(self) -> bool:
        """Whether the format was right; a readable release may still be below the floor."""
        return self.utility is not None


NOTHING = Verdict(False, "nothing was handed in")


@dataclass(frozen=True, eq=False)
class Truth:
    """What attackers are after: the original traces and, once shuffled, the ID table."""

    original: Traces
    table: IdTable | None = None

    def __repr__(self) -> str:
        """Never shows what it holds: it is a secret."""
        return f"Truth(<{self.original.n_users} users>)"


@dataclass(frozen=True, eq=False)
class CellScores:
    """One cell of the defender x attacker matrix: s_R, s_T and the expected error beside it.

    None where the attacker handed nothing in.
    """

    reid: Score | None = None
    trace: Score | None = None
    error: Score | None = None


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

    def check_submission(self, path: Path, original: Traces) -> Verdict:
        """Read a team's obfuscated traces and judge them; never raises for what is in the file."""
        try:
            obfuscated = self.read_submission(path)
        except (InvalidFile, InvalidTraces) as error:
            return Verdict(False, f"not in the format of obfuscated traces: {error}")
        return self.verdict(original, obfuscated)

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

    def verdict(self, original: Traces, obfuscated: SetTraces) -> Verdict:
        """Judge obfuscated traces by their utility."""
        rules = self.rules.scores
        utility = utility_score(
            self.city,
            original,
            obfuscated,
            rule=rules.utility_rule,
            reach_km=rules.lambda_u,
            floor=rules.utility_floor,
        )
        side = "reaches" if utility.valid else "is below"
        reason = f"utility {utility.value:.6f} {side} the floor {utility.floor:g}"
        return Verdict(utility.valid, reason, utility)

    def publish(
        self,
        obfuscated: SetTraces,
        verdict: Verdict,
        rng: Rng = None,
        *,
        hors_concours: bool = False,
    ) -> tuple[SetTraces, IdTable]:
        """Shuffle and pseudonymize a release; the ID table is the judge's to keep.

        Without `rng` the permutation comes from the operating system's entropy. Only valid
        releases are published, and demonstrations that play hors concours.
        """
        if not verdict.valid and not hors_concours:
            raise InvalidParameter(f"an invalid release is not published: {verdict.reason}")
        return pseudonymize(obfuscated, rng)

    def case(self, reference: Traces, released: SetTraces) -> Case:
        """What an attacker gets for one target: never an original trace or an ID table."""
        return Case(self.city, reference, released)

    def targets(self, attacker: int, published: Iterable[Entry]) -> list[Entry]:
        """The releases that a team may attack: everybody's but its own, and the benchmark."""
        return [entry for entry in published if entry.team != attacker]

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

    def user_weights(self, original: Traces) -> NDArray[np.float64]:
        """What each user weighs in s_T: her events, those in hospital regions more; shape (m,)."""
        weight = np.where(self.city.is_hospital, self.rules.scores.hospital_weight, 1.0)
        return np.asarray(weight[original.regions].sum(axis=1))

    def score(
        self, truth: Truth, tables: Sequence[IdTable] = (), inferred: Sequence[Traces] = ()
    ) -> CellScores:
        """Score what one attacker handed in against one target.

        Of several tries of a kind the lower score, the stronger attack, counts; the first one if
        they are equal.
        """
        if tables and truth.table is None:
            raise InvalidParameter("a release that was never shuffled has no ID table to infer")
        reid = trace = error = None
        for table in tables:
            assert truth.table is not None
            found = reid_score(truth.table, table)
            reid = found if reid is None or found.value < reid.value else reid
        for traces in inferred:
            found = inference_score(
                self.city,
                truth.original,
                traces,
                hospital_weight=self.rules.scores.hospital_weight,
                reach_km=self.rules.scores.lambda_t,
            )
            if trace is None or found.value < trace.value:
                trace, error = found, expected_error_score(self.city, truth.original, traces)
        return CellScores(reid, trace, error)
