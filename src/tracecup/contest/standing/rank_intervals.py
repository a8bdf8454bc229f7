"""How sure the places of all awards are: rank intervals from users drawn again.

Every release is drawn again once, for all awards together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES, AttackKind
from tracecup.contest.judging.release_scores import ReleaseScores
from tracecup.contest.standing.awards import AWARDS, Award
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
    drawn = _DrawnMeasures(board, targets, counted, replicates)
    found: dict[str, dict[str, RankInterval]] = {}
    for key, award in awards.items():
        values = {place.team: place.value for place in award.places}
        replicas = AWARDS[key].value(drawn)
        own = {team: replicas[team] for team in values}
        found[key] = rank_intervals(values, own, award.better)
    return found


class _DrawnMeasures:
    """The `Measures` of a round on users drawn again: arrays of shape (replicates,)."""

    def __init__(
        self,
        board: Scoreboard,
        targets: Sequence[ReleaseScores],
        counted: Targets,
        replicates: int,
    ) -> None:
        self._board, self._counted, self._replicates = board, counted, replicates
        jobs = [(target, kind) for target in targets for kind in ATTACK_KINDS if target.of(kind)]

        def draw(job: tuple[ReleaseScores, AttackKind]) -> NDArray[np.float64]:
            target, kind = job
            scores = user_scores(target, kind)
            return score_replicates(scores, target.entry.release, BOOTSTRAP_SEED, replicates)

        self._drawn: Drawn = {}
        self._attackers: dict[tuple[str, AttackKind], tuple[str, ...]] = {}
        with threads() as pool:
            for (target, kind), scores in zip(jobs, pool.map(draw, jobs), strict=True):
                self._drawn[target.entry.release, kind] = scores
                self._attackers[target.entry.release, kind] = tuple(target.of(kind))

    def minima(
        self, kind: AttackKind, challenge: AttackKind | None = None
    ) -> dict[str, NDArray[np.float64]]:
        """Team -> replicates of its minimum; 0 without a valid release."""
        challenge = challenge or self._board.challenge_for(kind)
        minima = {team: np.zeros(self._replicates) for team in self._board.teams}
        for row in self._board.releases:
            if not row.benchmark and row.challenge == challenge and row.valid:
                drawn = self._drawn.get((row.name, kind))
                minima[row.team] = (
                    np.ones(self._replicates) if drawn is None else drawn.min(axis=1, initial=1.0)
                )
        return minima

    def sums(self, kind: AttackKind) -> dict[str, NDArray[np.float64]]:
        """Attacker -> replicates of its sum: drawn where scored, else what the cell counts."""
        one = self._board.board(kind)
        sums = {name: np.zeros(self._replicates) for name in one.attackers}
        for i in np.flatnonzero(one.counted(self._counted)):
            at = (one.releases[i].name, kind)
            for j, name in enumerate(one.attackers):
                if one.states[i, j] == State.SCORED:
                    sums[name] += self._drawn[at][:, self._attackers[at].index(name)]
                else:
                    sums[name] += one.values[i, j]
        return sums


def user_scores(target: ReleaseScores, kind: AttackKind) -> UserScores:
    """The per-user scores of all attackers on a release."""
    scores = target.of(kind)
    weights = target.weights if CHALLENGES[kind].by_events else None
    return UserScores(tuple(scores), np.stack([s.per_user for s in scores.values()]), weights)
