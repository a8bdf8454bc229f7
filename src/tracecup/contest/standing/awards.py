"""The awards: who defended best, who attacked best, who did best in all; ties are shared.

Paper, Section 3.3, with the switches of the rules of 2019. An award is declared once, in `AWARDS`:
its value and how sure its ranks are follow from one formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES, AttackKind, Challenge
from tracecup.contest.rules import AwardRules
from tracecup.contest.standing.scoreboard import Better, Scoreboard, combine_rounds, ranks
from tracecup.errors import InvalidParameter


class Exclusion(StrEnum):
    """Why a team is not eligible for an award."""

    HORS_CONCOURS = "hors concours"
    NO_VALID_RELEASE = "no valid release"
    NO_SCORE = "brought no score below 1"
    WON_DEFENCE = "won best anonymization"
    DISQUALIFIED = "disqualified"
    WITHDRAWN = "withdrawn"


class Measures(Protocol):
    """What awards are made of, by team: numbers of all rounds, or arrays of replicates."""

    def minima(self, kind: AttackKind, challenge: AttackKind | None = None) -> Mapping[str, Any]:
        """The lowest score of `kind` against each team's release in `challenge`.

        Without `challenge`: in that of the same name where it is played, else in the one that is.
        """

    def sums(self, kind: AttackKind) -> Mapping[str, Any]:
        """Each attacker's sum over the counted releases."""


@dataclass(frozen=True)
class AwardKind:
    """An award as it is declared.

    `value` is its formula over `Measures`. A defence award asks for a valid release
    in one of `challenges`, an attack award (`attack` is its kind) for a score below 1.
    """

    key: str
    title: str
    measure: str
    better: Better
    value: Callable[[Measures], Mapping[str, Any]]
    challenges: frozenset[AttackKind] = frozenset()
    attack: AttackKind | None = None

    def is_given(self, played: Sequence[AttackKind]) -> bool:
        """Whether it is given where these challenges are played; the attack awards always are."""
        return self.attack is not None or len(self.challenges) > 1 or self.challenges <= set(played)

    @property
    def is_defence(self) -> bool:
        """Whether it is for the best defence in one challenge."""
        return len(self.challenges) == 1


def _defence(challenge: Challenge) -> AwardKind:
    kind = challenge.key
    return AwardKind(
        challenge.defence_award,
        f"Best anonymization ({challenge.title})",
        f"{challenge.score},min",
        "higher",
        lambda rounds: rounds.minima(kind, kind),
        challenges=frozenset({kind}),
    )


def _attack(challenge: Challenge) -> AwardKind:
    kind = challenge.key
    return AwardKind(
        challenge.attack_award,
        f"Best {challenge.title}",
        f"Sum of {challenge.score}",
        "lower",
        lambda rounds: rounds.sums(kind),
        attack=kind,
    )


def _overall(all_rounds: Measures) -> dict[str, Any]:
    """With all challenges each kind's minimum of its own data set, as in 2019; else of the same.

    Minima of rounds are combined first and added then, as in the published totals.
    """
    parts = [all_rounds.minima(kind) for kind in ATTACK_KINDS]
    return {team: sum(part[team] for part in parts) for team in parts[0]}


AWARDS: Mapping[str, AwardKind] = {
    award.key: award
    for award in (
        *(_defence(CHALLENGES[kind]) for kind in reversed(ATTACK_KINDS)),
        *(_attack(CHALLENGES[kind]) for kind in ATTACK_KINDS),
        AwardKind(
            "overall",
            "Overall",
            "Sum of both minima",
            "higher",
            _overall,
            challenges=frozenset(ATTACK_KINDS),
        ),
    )
}
"""All awards in the order in which they are listed."""


@dataclass(frozen=True)
class Place:
    """A team's place in an award."""

    rank: int
    team: str
    value: float


def ranks_among(left: Iterable[int]) -> dict[int, int]:
    """Rank over all -> rank among those left, of the ranks of those left: ties stay ties.

    >>> ranks_among([2, 2, 5])
    {2: 1, 5: 3}
    """
    ordered = sorted(left)
    return {rank: 1 + ordered.index(rank) for rank in dict.fromkeys(ordered)}


@dataclass(frozen=True)
class Award:
    """An award: all eligible teams from first to last, and who is not eligible, and why.

    Ties share a rank. Without an eligible team there is no winner.
    """

    key: str
    better: Better
    places: tuple[Place, ...]
    excluded: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The award's name for people."""
        return AWARDS[self.key].title

    def without(self, gone: Mapping[str, str]) -> Award:
        """The award once some teams are out, each for a reason: those behind them move up.

        >>> award = Award("overall", "higher", (Place(1, "001", 0.9), Place(2, "002", 0.8)))
        >>> award.without({"001": "disqualified"}).winners
        ('002',)
        """
        left = [one for one in self.places if one.team not in gone]
        now = ranks_among(one.rank for one in left)
        places = tuple(Place(now[one.rank], one.team, one.value) for one in left)
        return Award(self.key, self.better, places, {**self.excluded, **gone})

    @property
    def winners(self) -> tuple[str, ...]:
        """The first place; several where there is a tie, none where nobody is eligible."""
        return tuple(place.team for place in self.places if place.rank == 1)

    @property
    def tied(self) -> bool:
        """Whether the first place is shared."""
        return len(self.winners) > 1

    def __str__(self) -> str:
        if not self.places:
            return f"{self.title}: nobody"
        shared = " (tie)" if self.tied else ""
        return f"{self.title}: {', '.join(self.winners)} with {self.places[0].value:.6f}{shared}"


def give_awards(
    rounds: Scoreboard | Sequence[tuple[float, Scoreboard]], rules: AwardRules | None = None
) -> dict[str, Award]:
    """All awards of a contest, by key, from one scoreboard or from weighted rounds.

    - Best anonymization, for every challenge played: largest minimum of the challenge's score.
    - Best re-identification, best trace inference: smallest sum over `rules.attack_targets`.
    - Overall: largest sum of the two minima.

    Values of rounds are added with their weights. In a round that a team missed its minimum is
    0, and every target counts 1 in its sum. Not eligible: teams hors concours; for a defence
    those without a valid release; for an attack those that never brought a score below 1, and
    (`rules.winner_excluded`) the winners of best anonymization.
    """
    rules = rules or AwardRules()
    weighted = [(1.0, rounds)] if isinstance(rounds, Scoreboard) else list(rounds)
    if not weighted:
        raise InvalidParameter("awards need at least one round")
    season = _Season(weighted, rules)
    given: dict[str, Award] = {}
    for kind in AWARDS.values():
        if kind.is_given(season.challenges):
            given[kind.key] = season.award(kind)
    return given


class _Season:
    """The `Measures` of the weighted rounds of a contest; remembers who won a defence award."""

    def __init__(self, weighted: Sequence[tuple[float, Scoreboard]], rules: AwardRules) -> None:
        self.rules = rules
        self.weights = [weight for weight, _ in weighted]
        self.boards = [board for _, board in weighted]
        self.hors_concours = frozenset[str]().union(*(board.hors_concours for board in self.boards))
        played = {kind for board in self.boards for kind in board.challenges}
        self.challenges = tuple(kind for kind in ATTACK_KINDS if kind in played)
        self.defended: set[str] = set()

    def minima(self, kind: AttackKind, challenge: AttackKind | None = None) -> dict[str, float]:
        """Team -> minimum; 0 in a round that it missed or had no valid release in."""
        rounds = [
            board.team_minima(kind, challenge or board.challenge_for(kind)) for board in self.boards
        ]
        return combine_rounds(rounds, self.weights, [0.0] * len(rounds))

    def sums(self, kind: AttackKind) -> dict[str, float]:
        """Attacking team -> sum; every target counts 1 in a round that it missed."""
        targets = self.rules.attack_targets
        boards = [board.board(kind) for board in self.boards]
        sums = [board.sums(targets) for board in boards]
        own = [
            {team: one[team] for team in board.attackers}
            for board, one in zip(boards, sums, strict=True)
        ]
        everything = [float(len(board.sought(targets))) for board in boards]
        return combine_rounds(own, self.weights, everything)

    def award(self, kind: AwardKind) -> Award:
        values = kind.value(self)
        out = self.reasons(kind, values) | dict.fromkeys(
            self.hors_concours, Exclusion.HORS_CONCOURS
        )
        eligible = {team: value for team, value in values.items() if team not in out}
        places = [
            Place(rank, team, eligible[team]) for team, rank in ranks(eligible, kind.better).items()
        ]
        excluded = {team: str(out[team]) for team in sorted(values) if team in out}
        given = Award(kind.key, kind.better, tuple(places), excluded)
        if kind.is_defence:
            self.defended |= set(given.winners)
        return given

    def reasons(self, kind: AwardKind, values: Mapping[str, float]) -> dict[str, Exclusion]:
        if kind.attack is None:
            having = {
                row.team
                for board in self.boards
                for row in board.releases
                if row.valid and not row.benchmark and row.challenge in kind.challenges
            }
            teams = {team for board in self.boards for team in board.teams}
            return dict.fromkeys(teams - having, Exclusion.NO_VALID_RELEASE)
        boards = [board.board(kind.attack) for board in self.boards]
        active = frozenset[str]().union(
            *(board.contributors(self.rules.attack_targets) for board in boards)
        )
        reasons = dict.fromkeys(set(values) - active, Exclusion.NO_SCORE)
        if self.rules.winner_excluded:
            reasons |= dict.fromkeys(self.defended, Exclusion.WON_DEFENCE)
        return reasons
