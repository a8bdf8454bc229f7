"""The awards: who defended best, who attacked best, who did best in all; ties are shared.

Paper, Section 3.3, with the switches of the rules of 2019.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tracecup.contest.rules import ATTACK_KINDS, AttackKind, AwardRules
from tracecup.contest.standing.scoreboard import Better, Scoreboard, combine_rounds, ranks
from tracecup.errors import InvalidParameter

TITLES = {
    "best_anonymization_trace": "Best anonymization (trace inference)",
    "best_anonymization_reid": "Best anonymization (re-identification)",
    "best_reidentification": "Best re-identification",
    "best_trace_inference": "Best trace inference",
    "overall": "Overall",
}
ATTACK_AWARDS: dict[AttackKind, str] = {
    "reid": "best_reidentification",
    "trace": "best_trace_inference",
}


@dataclass(frozen=True)
class Place:
    """A team's place in an award."""

    rank: int
    team: str
    value: float


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
        return TITLES[self.key]

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
    season = _Season(weighted)
    given = {f"best_anonymization_{kind}": season.defence(kind) for kind in season.challenges}
    winners = {team for award in given.values() for team in award.winners}
    barred = winners if rules.winner_excluded else set()
    for kind in ATTACK_KINDS:
        given[ATTACK_AWARDS[kind]] = season.attack(kind, rules, barred)
    given["overall"] = season.overall()
    return {key: given[key] for key in TITLES if key in given}


class _Season:
    """The weighted rounds of a contest."""

    def __init__(self, weighted: Sequence[tuple[float, Scoreboard]]) -> None:
        self.weights = [weight for weight, _ in weighted]
        self.boards = [board for _, board in weighted]
        self.hors_concours = frozenset[str]().union(*(board.hors_concours for board in self.boards))
        played = {kind for board in self.boards for kind in board.challenges}
        self.challenges = tuple(kind for kind in ATTACK_KINDS if kind in played)

    def defence(self, kind: AttackKind) -> Award:
        values = self.combined([board.team_minima(kind, kind) for board in self.boards])
        valid = self.releasing({kind})
        return self.award(f"best_anonymization_{kind}", "higher", values, valid)

    def overall(self) -> Award:
        totals = [board.total() for board in self.boards]
        reid, trace = (
            self.combined([{team: pair[k] for team, pair in one.items()} for one in totals])
            for k in range(2)
        )
        # Minima are combined first and added then, as in the published totals.
        values = {team: reid[team] + trace[team] for team in reid}
        return self.award("overall", "higher", values, self.releasing(set(ATTACK_KINDS)))

    def attack(self, kind: AttackKind, rules: AwardRules, barred: set[str]) -> Award:
        targets = rules.attack_targets
        boards = [board.board(kind) for board in self.boards]
        sums = [{team: board.sums(targets)[team] for team in board.attackers} for board in boards]
        everything = [float(len(board.sought(targets))) for board in boards]
        values = combine_rounds(sums, self.weights, everything)
        active = frozenset[str]().union(*(board.contributors(targets) for board in boards))
        reasons = dict.fromkeys(set(values) - active, "brought no score below 1")
        reasons |= dict.fromkeys(barred, "won best anonymization")
        return self.award(ATTACK_AWARDS[kind], "lower", values, reasons)

    def combined(self, values: Sequence[Mapping[str, float]]) -> dict[str, float]:
        return combine_rounds(values, self.weights, [0.0] * len(values))

    def releasing(self, challenges: set[AttackKind]) -> dict[str, str]:
        """Why teams without a valid release are not eligible."""
        having = {
            row.team
            for board in self.boards
            for row in board.releases
            if row.valid and not row.benchmark and row.challenge in challenges
        }
        teams = {team for board in self.boards for team in board.teams}
        return dict.fromkeys(teams - having, "no valid release")

    def award(
        self, key: str, better: Better, values: Mapping[str, float], reasons: Mapping[str, str]
    ) -> Award:
        out = dict(reasons) | dict.fromkeys(self.hors_concours, "hors concours")
        eligible = {team: value for team, value in values.items() if team not in out}
        places = [
            Place(rank, team, eligible[team]) for team, rank in ranks(eligible, better).items()
        ]
        excluded = {team: out[team] for team in sorted(values) if team in out}
        return Award(key, better, tuple(places), excluded)
