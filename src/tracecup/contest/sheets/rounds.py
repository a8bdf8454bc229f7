"""Several rounds together: every round's standings, weighted totals and sums, awards.

In 2019 the preliminary round had weight 1 and the final 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracecup.contest.challenges import ATTACK_KINDS, AttackKind
from tracecup.contest.rules import AwardRules
from tracecup.contest.sheets.places import attackers_table, award_table, totals_table
from tracecup.contest.sheets.sheet import column_of
from tracecup.contest.sheets.standings import Standings
from tracecup.contest.standing.awards import Award, give_awards
from tracecup.contest.standing.scoreboard import combine_rounds
from tracecup.errors import InvalidParameter


@dataclass(frozen=True)
class Round:
    """A round's name, its weight in the whole, and what its sheets say."""

    name: str
    weight: float
    standings: Standings


@dataclass(frozen=True)
class WeightedStandings:
    """Weighted rounds: totals of the teams, sums of the attackers, awards."""

    rounds: tuple[Round, ...]
    total: Mapping[str, tuple[float, float]]
    sums: Mapping[AttackKind, Mapping[str, float]]
    awards: Mapping[str, Award]

    def as_dict(self) -> dict[str, Any]:
        """One JSON object: the whole, and each round as if it were alone."""
        return {
            "rounds": {
                one.name: {"weight": one.weight, **one.standings.as_dict()} for one in self.rounds
            },
            "total": totals_table(self.total, self.awards),
            "sums": {
                kind: {column_of(name): value for name, value in sums.items()}
                for kind, sums in self.sums.items()
            },
            "attackers": attackers_table(self.awards),
            "awards": {key: award_table(award) for key, award in self.awards.items()},
        }


def combine(rounds: Sequence[Round], winner_excluded: bool = False) -> WeightedStandings:
    """Totals and sums over rounds, each value times the round's weight.

    total = sum_r w_r (minimum of s_R in r) + sum_r w_r (minimum of s_T in r), added in this
    order, as the published totals are. Where a team or sample attack is missing in a round its
    minima are 0 and every target counts 1 in its sum.
    """
    names = [one.name for one in rounds]
    if not names or len(set(names)) < len(names):
        raise InvalidParameter(f"rounds need names, each once, got {', '.join(names) or 'none'}")
    weights = [one.weight for one in rounds]
    parts = [
        combine_rounds(
            [{team: pair[k] for team, pair in one.standings.total.items()} for one in rounds],
            weights,
            [0.0] * len(rounds),
        )
        for k in range(2)
    ]
    sums = {
        kind: combine_rounds(
            [one.standings.sums[kind] for one in rounds],
            weights,
            [float(len(one.standings.board.board(kind).sought())) for one in rounds],
        )
        for kind in ATTACK_KINDS
    }
    awards = give_awards(
        [(one.weight, one.standings.board) for one in rounds], AwardRules("all", winner_excluded)
    )
    total = {team: (parts[0][team], parts[1][team]) for team in parts[0]}
    return WeightedStandings(tuple(rounds), total, sums, awards)
