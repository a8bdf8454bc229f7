"""The scoreboard: every release against every attack, minima, sums, ranks.

Paper, Section 3.3: a team's privacy is what is left after the strongest attack on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tracecup.contest.challenges import ATTACK_KINDS, AttackKind
from tracecup.contest.correlation import Correlation, correlate
from tracecup.contest.entries import Entry, is_published
from tracecup.errors import InvalidParameter
from tracecup.score.intervals import CONFIDENCE

# Scores are compared at 1e-9 everywhere; two values nearer than that are a tie.
TIE = 1e-9

Targets = Literal["trace-inference", "all"]
Better = Literal["higher", "lower"]


class State(IntEnum):
    """What a cell of the matrix is."""

    SCORED = 0
    MISSING = 1  # a valid target that was not attacked: counts 1 for the attacker
    OWN = 2  # the attacker's own release: counts 0
    INVALID = 3  # a target below the utility floor: counts 0


class Judged(Protocol):
    """Whatever knows the verdict on a release."""

    @property
    def valid(self) -> bool:
        """Whether it reaches the floor."""

    @property
    def hors_concours(self) -> bool:
        """Whether it takes no part in the competition."""


@dataclass(frozen=True)
class BoardRow:
    """A row of the matrix: what a team released in a challenge.

    An invalid release has privacy 0. A team that plays *hors concours* is attacked and shown
    with its raw scores whatever its utility is, but takes no part in sums, awards and the
    correlation; its attacks count in the minima of others like any attack. The `benchmark` is
    the judge's pseudonymized data: attacked, but no entrant.
    """

    name: str
    team: str
    challenge: AttackKind = "trace"
    valid: bool = True
    benchmark: bool = False
    hors_concours: bool = False

    @classmethod
    def of(cls, entry: Entry, judged: Judged) -> BoardRow:
        """The row of a data set about which the judge has decided."""
        return cls(
            entry.release,
            entry.number,
            entry.challenge,
            judged.valid,
            benchmark=entry.is_benchmark,
            hors_concours=judged.hors_concours,
        )

    @property
    def attacked(self) -> bool:
        """Whether its cells hold scores."""
        return is_published(self.valid, self.hors_concours)


@dataclass(frozen=True, eq=False)
class AttackBoard:
    """The defender x attacker matrix of one kind of attack.

    `values` and `states` have shape (releases, attackers + sample attacks), columns in the order
    of `columns`. A value is what the cell counts in its attacker's sum: the score (the lower of
    several tries), 1 if missing, 0 if own or invalid.

    >>> board = AttackBoard.of(
    ...     "trace",
    ...     [
    ...         BoardRow("a.csv", "001"),
    ...         BoardRow("b.csv", "002"),
    ...         BoardRow("c.csv", "003", valid=False),
    ...     ],
    ...     ["001", "002"],
    ...     ["T1"],
    ...     {("a.csv", "002"): [0.5, 0.4], ("a.csv", "T1"): [0.9]},
    ... )
    >>> board.minimum(), board.sums()
    ({'a.csv': 0.4, 'b.csv': 1.0, 'c.csv': 0.0}, {'001': 1.0, '002': 0.4, 'T1': 1.9})
    """

    kind: AttackKind
    releases: tuple[BoardRow, ...]
    attackers: tuple[str, ...]
    samples: tuple[str, ...]
    values: NDArray[np.float64]
    states: NDArray[np.int8]

    @classmethod
    def of(
        cls,
        kind: AttackKind,
        releases: Iterable[BoardRow],
        attackers: Iterable[str],
        samples: Iterable[str],
        tries: Mapping[tuple[str, str], Sequence[float]],
    ) -> AttackBoard:
        """The matrix from scores: (name of a release, attacker or sample attack) -> its tries.

        The lowest try counts. Tries on an invalid release are left out; a try on an own release
        is an error.
        """
        rows, teams, machines = tuple(releases), tuple(attackers), tuple(samples)
        columns = teams + machines
        _distinct("release", [row.name for row in rows])
        _distinct("attacker or sample attack", columns)
        row_of = {row.name: i for i, row in enumerate(rows)}
        column_of = {name: j for j, name in enumerate(columns)}
        values = np.ones((len(rows), len(columns)))
        states = np.full(values.shape, State.MISSING, dtype=np.int8)
        for i, row in enumerate(rows):
            if not row.attacked:
                states[i], values[i] = State.INVALID, 0.0
            elif row.team in teams:
                j = column_of[row.team]
                states[i, j], values[i, j] = State.OWN, 0.0
        for (name, attacker), scores in tries.items():
            if name not in row_of or attacker not in column_of:
                raise InvalidParameter(f"a score of {attacker!r} on {name!r}, which is not here")
            i, j = row_of[name], column_of[attacker]
            if states[i, j] == State.OWN:
                raise InvalidParameter(f"{attacker!r} cannot attack its own release {name!r}")
            if any(not 0 <= score <= 1 for score in scores):
                raise InvalidParameter(
                    f"scores lie between 0 and 1, got {list(scores)} of {attacker!r} on {name!r}"
                )
            if len(scores) and states[i, j] != State.INVALID:
                states[i, j], values[i, j] = State.SCORED, min(scores)
        values.flags.writeable = states.flags.writeable = False
        return cls(kind, rows, teams, machines, values, states)

    @property
    def columns(self) -> tuple[str, ...]:
        """Attackers, then sample attacks."""
        return self.attackers + self.samples

    def minimum(self) -> dict[str, float]:
        """Release -> lowest score over all attackers and sample attacks.

        An invalid release has 0, one that nobody attacked 1.
        """
        open_cells = np.where(self.states == State.SCORED, self.values, 1.0)
        lowest = open_cells.min(axis=1, initial=1.0)
        return {
            row.name: float(low) if row.attacked else 0.0
            for row, low in zip(self.releases, lowest, strict=True)
        }

    def strongest(self, release: str) -> tuple[str, ...]:
        """Who set the minimum of a release: all attackers and sample attacks that reach it."""
        i = [row.name for row in self.releases].index(release)
        scored = self.states[i] == State.SCORED
        if not scored.any():
            return ()
        reached = scored & (self.values[i] <= self.values[i][scored].min() + TIE)
        return tuple(self.columns[j] for j in np.flatnonzero(reached))

    def counted(self, targets: Targets = "all") -> NDArray[np.bool_]:
        """Which releases are in an attacker's sum, shape (releases,).

        `all`, or those of the trace-inference challenge and the benchmark (the paper).
        """
        if targets not in ("trace-inference", "all"):
            raise InvalidParameter(f"targets must be 'trace-inference' or 'all', got {targets!r}")
        return np.array(
            [
                not row.hors_concours
                and (targets == "all" or row.benchmark or row.challenge == "trace")
                for row in self.releases
            ],
            dtype=np.bool_,
        )

    def sought(self, targets: Targets = "all") -> tuple[BoardRow, ...]:
        """The counted releases that are valid: each counts 1 for who does not attack it."""
        rows = zip(self.releases, self.counted(targets), strict=True)
        return tuple(row for row, counted in rows if counted and row.valid)

    def sums(self, targets: Targets = "all") -> dict[str, float]:
        """Attacker or sample attack -> sum of its values over the counted releases.

        Lower is the stronger attacker. Added row by row, as the published sheets are.
        """
        rows = self.values[self.counted(targets)]
        if len(rows) == 0:
            return dict.fromkeys(self.columns, 0.0)
        return dict(zip(self.columns, np.add.accumulate(rows)[-1].tolist(), strict=True))

    def contributors(self, targets: Targets = "all") -> frozenset[str]:
        """Attackers who brought at least one counted score below 1."""
        rows = self.counted(targets)
        lowered = (self.states[rows] == State.SCORED) & (self.values[rows] < 1)
        return frozenset(self.columns[j] for j in np.flatnonzero(lowered.any(axis=0)))


@dataclass(frozen=True, eq=False)
class Scoreboard:
    """All matrices of a round: the same releases against every kind of attack.

    `boards` has one for each kind, in the order of `ATTACK_KINDS`. `withdrawn` names teams that
    play hors concours without a release of their own.
    """

    boards: tuple[AttackBoard, ...]
    withdrawn: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, board: Callable[[AttackKind], AttackBoard], withdrawn: Collection[str] = ()
    ) -> Scoreboard:
        """From a function that makes the board of each kind of attack."""
        return cls(tuple(board(kind) for kind in ATTACK_KINDS), frozenset(withdrawn))

    def __post_init__(self) -> None:
        if tuple(board.kind for board in self.boards) != ATTACK_KINDS:
            kinds = " and ".join(ATTACK_KINDS)
            raise InvalidParameter(f"a scoreboard has one board of each kind, {kinds}")
        if any(board.releases != self.releases for board in self.boards):
            raise InvalidParameter("both boards of a scoreboard must have the same releases")
        owners = [(row.team, row.challenge) for row in self.releases if not row.benchmark]
        _distinct("team and challenge", owners)

    @property
    def releases(self) -> tuple[BoardRow, ...]:
        """The rows of all boards."""
        return self.boards[0].releases

    @property
    def hors_concours(self) -> frozenset[str]:
        """Teams that are shown but win nothing."""
        return self.withdrawn | {row.team for row in self.releases if row.hors_concours}

    @property
    def teams(self) -> tuple[str, ...]:
        """All entrants: who released or attacks, in order; without the benchmark."""
        owners = [row.team for row in self.releases if not row.benchmark]
        attackers = [name for board in self.boards for name in board.attackers]
        return tuple(sorted({*owners, *attackers}))

    @property
    def challenges(self) -> tuple[AttackKind, ...]:
        """The challenges that entrants have releases in."""
        played = {row.challenge for row in self.releases if not row.benchmark}
        return tuple(kind for kind in ATTACK_KINDS if kind in played)

    def challenge_for(self, kind: AttackKind) -> AttackKind:
        """Whose releases count against an attack: its own challenge's, or the one that is played.

        With both challenges: re-identification of the one data set, trace inference of the
        other, as in 2019.
        """
        played = self.challenges
        return kind if kind in played or not played else played[0]

    def board(self, kind: AttackKind) -> AttackBoard:
        """The matrix of one kind of attack."""
        return self.boards[ATTACK_KINDS.index(kind)]

    @property
    def reid(self) -> AttackBoard:
        """The matrix of re-identification."""
        return self.board("reid")

    @property
    def trace(self) -> AttackBoard:
        """The matrix of trace inference."""
        return self.board("trace")

    def team_minima(self, kind: AttackKind, challenge: AttackKind) -> dict[str, float]:
        """Team -> minimum against `kind` of its release in `challenge`; 0 without a valid one."""
        lowest = self.board(kind).minimum()
        minima = dict.fromkeys(self.teams, 0.0)
        for row in self.releases:
            if not row.benchmark and row.challenge == challenge:
                minima[row.team] = lowest[row.name]
        return minima

    def total(self) -> dict[str, tuple[float, float]]:
        """Team -> the two minima whose sum is the overall score."""
        parts = [self.team_minima(kind, self.challenge_for(kind)) for kind in ATTACK_KINDS]
        return {team: (parts[0][team], parts[1][team]) for team in self.teams}

    def correlation(self, targets: Targets = "all", confidence: float = CONFIDENCE) -> Correlation:
        """Pearson correlation of the two minima over valid releases and the benchmark."""
        reid, trace = self.reid.minimum(), self.trace.minimum()
        names = [row.name for row in self.reid.sought(targets)]
        return correlate([reid[n] for n in names], [trace[n] for n in names], confidence)


def ranks(values: Mapping[str, float], better: Better = "higher") -> dict[str, int]:
    """Name -> rank; ties (within 1e-9 of the best of them) share one: 1, 1, 3.

    >>> ranks({"a": 0.5, "b": 0.7, "c": 0.7, "d": 0.1})
    {'b': 1, 'c': 1, 'a': 3, 'd': 4}
    """
    if any(not math.isfinite(value) for value in values.values()):
        raise InvalidParameter("only finite values can be ranked")
    sign = -1 if better == "higher" else 1
    given: dict[str, int] = {}
    head, rank = math.nan, 0
    for place, (name, value) in enumerate(
        sorted(values.items(), key=lambda item: (sign * item[1], item[0])), start=1
    ):
        if not abs(value - head) <= TIE:
            head, rank = value, place
        given[name] = rank
    return given


def combine_rounds(
    rounds: Sequence[Mapping[str, float]], weights: Sequence[float], absent: Sequence[float]
) -> dict[str, float]:
    """Sum of weight times value over rounds; who is missing in round k has the value absent[k].

    >>> combine_rounds([{"a": 0.5, "b": 0.6}, {"a": 0.2}], [1, 9], [0, 0])
    {'a': 2.3, 'b': 0.6}
    """
    if not len(rounds) == len(weights) == len(absent):
        raise InvalidParameter(
            f"{len(rounds)} rounds need as many weights and values of the absent, "
            f"got {len(weights)} and {len(absent)}"
        )
    names = sorted({name for values in rounds for name in values})
    return {
        name: math.fsum(
            weight * values.get(name, otherwise)
            for values, weight, otherwise in zip(rounds, weights, absent, strict=True)
        )
        for name in names
    }


def _distinct(what: str, names: Sequence[object]) -> None:
    seen: set[object] = set()
    for name in names:
        if name in seen:
            raise InvalidParameter(f"the {what} {name!r} is there twice")
        seen.add(name)
