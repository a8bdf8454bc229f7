"""How sure the places of all awards are: rank intervals from users drawn again.

Every release is drawn again once, for all awards together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tracecup.contest.judging.release_scores import ReleaseScores
from tracecup.contest.rules import ATTACK_KINDS, AttackKind
from tracecup.contest.standing.awards import ATTACK_AWARDS, Award
from tracecup.contest.standing.bootstrap import (
    REPLICATES,
    RankInterval,
    UserScores,
    rank_intervals,
    score_replicates,
)
from tracecup.contest.standing.scoreboard import Scoreboard, State, Targets
from tracecup.engine import threads

BOOTSTRAP_SEED = 20190909
"""Anybody can repeat the draw; it is no secret and has nothing to do with the contest's seed."""

Drawn = dict[tuple[str, AttackKind], NDArray[np.float64]]


def award_ranks(
    board: Scoreboard,
    awards: Mapping[str, Award],
    targets: Sequence[ReleaseScores],
    counted: Targets,
    replicates: int = REPLICATES,
) -> dict[str, dict[str, RankInterval]]:
    """Award -> team -> its rank with the interval of ranks over resampled users.

    O(replicates x users x attackers) for each release and kind of attack.
    """
    attackers: dict[tuple[str, AttackKind], tuple[str, ...]] = {}
    drawn: Drawn = {}
    jobs = [(target, kind) for target in targets for kind in ATTACK_KINDS if target.of(kind)]

    def draw(job: tuple[ReleaseScores, AttackKind]) -> NDArray[np.float64]:
        target, kind = job
        return score_replicates(user_scores(target, kind), target.entry.release, BOOTSTRAP_SEED,
                                replicates)  # fmt: skip

    with threads() as pool:
        for (target, kind), scores in zip(jobs, pool.map(draw, jobs), strict=True):
            drawn[target.entry.release, kind] = scores
            attackers[target.entry.release, kind] = tuple(target.of(kind))
    minima = {at: scores.min(axis=1, initial=1.0) for at, scores in drawn.items()}

    def of_team(team: str, kind: AttackKind, challenge: AttackKind) -> NDArray[np.float64]:
        """Replicates of a team's minimum; 0 without a valid release."""
        for row in board.releases:
            if row.team == team and row.challenge == challenge and row.valid:
                at = (row.name, kind)
                return minima[at] if at in minima else np.ones(replicates)
        return np.zeros(replicates)

    found: dict[str, dict[str, RankInterval]] = {}
    for kind in board.challenges:
        key = f"best_anonymization_{kind}"
        found[key] = _intervals(
            awards[key], {p.team: of_team(p.team, kind, kind) for p in awards[key].places}
        )
    for kind, key in ATTACK_AWARDS.items():
        sums = _sums(board, kind, counted, drawn, attackers, replicates)
        found[key] = _intervals(awards[key], {p.team: sums[p.team] for p in awards[key].places})
    played = board.challenges
    overall = {
        place.team: np.sum(
            [of_team(place.team, k, k if k in played else played[0]) for k in ATTACK_KINDS], axis=0
        )
        for place in awards["overall"].places
    }
    found["overall"] = _intervals(awards["overall"], overall)
    return found


def user_scores(target: ReleaseScores, kind: AttackKind) -> UserScores:
    """The per-user scores of all attackers on a release."""
    scores = target.of(kind)
    weights = target.weights if kind == "trace" else None
    return UserScores(tuple(scores), np.stack([s.per_user for s in scores.values()]), weights)


def _intervals(
    award: Award, replicates: Mapping[str, NDArray[np.float64]]
) -> dict[str, RankInterval]:
    values = {place.team: place.value for place in award.places}
    return rank_intervals(values, replicates, award.better)


def _sums(
    board: Scoreboard,
    kind: AttackKind,
    counted: Targets,
    drawn: Drawn,
    attackers: Mapping[tuple[str, AttackKind], tuple[str, ...]],
    replicates: int,
) -> dict[str, NDArray[np.float64]]:
    """Attacker -> replicates of its sum: drawn where scored, else what the cell counts."""
    one = board.board(kind)
    sums = {name: np.zeros(replicates) for name in one.attackers}
    for i in np.flatnonzero(one.counted(counted)):
        at = (one.releases[i].name, kind)
        for j, name in enumerate(one.attackers):
            if one.states[i, j] == State.SCORED:
                sums[name] += drawn[at][:, attackers[at].index(name)]
            else:
                sums[name] += one.values[i, j]
    return sums
