"""How sure ranks are: users are drawn again, scores and ranks computed anew.

Users are the independent unit; all attacks on a release are scored on the same drawn users.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.contest.standing.scoreboard import TIE, Better, ranks
from tracecup.errors import InvalidParameter
from tracecup.rng import child_seed, generator
from tracecup.score.intervals import CONFIDENCE, check_confidence

REPLICATES = 1000

Replicates = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class UserScores:
    """What each user of a release adds to the score of each attack on it.

    `per_user` has shape (attacks, users), `weights` (users,): an attack's score is the weighted
    mean of its row. s_R has equal weights; for s_T a user weighs as much as her events together.
    """

    attacks: tuple[str, ...]
    per_user: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        shape = self.per_user.shape
        if len(shape) != 2 or shape[0] != len(self.attacks) or shape[1] < 1:
            raise InvalidParameter(
                f"per-user scores need the shape ({len(self.attacks)} attacks, users), got {shape}"
            )
        if self.weights is not None and self.weights.shape != shape[1:]:
            raise InvalidParameter(f"{shape[1]} users, but weights of {self.weights.shape}")
        if self.weights is not None and not (self.weights > 0).all():
            raise InvalidParameter("the weights of users must be positive")


@dataclass(frozen=True)
class RankInterval:
    """The rank of a team, and the ranks low..high that it has in most replicates."""

    rank: int
    low: int
    high: int
    confidence: float

    def __str__(self) -> str:
        return str(self.rank) if self.low == self.high else f"{self.rank} ({self.low}-{self.high})"


def score_replicates(
    scores: UserScores, name: str, seed: int, replicates: int = REPLICATES
) -> NDArray[np.float64]:
    """Scores of all attacks on one release on users drawn again, shape (replicates, attacks).

    The draw belongs to `seed` and `name` alone: both kinds of attack on a release, called with
    the same name, see the same users, and the order of releases does not matter. The minimum
    over attacks of a replicate is lower on average than the score of the strongest attack: use
    it for ranks, not for values. O(replicates x users x attacks).
    """
    if replicates < 1:
        raise InvalidParameter(f"replicates must be >= 1, got {replicates}")
    users = scores.per_user.shape[1]
    rng = generator(child_seed(seed, "bootstrap", name))
    weights = np.ones(users) if scores.weights is None else scores.weights
    drawn = rng.multinomial(users, np.full(users, 1 / users), size=replicates) * weights
    return np.asarray((drawn @ scores.per_user.T) / drawn.sum(axis=1, keepdims=True))


def rank_intervals(
    values: Mapping[str, float],
    replicates: Replicates,
    better: Better = "higher",
    confidence: float = CONFIDENCE,
) -> dict[str, RankInterval]:
    """Team -> rank of its value, with the central interval of its ranks over the replicates.

    Replicates of several scores (both minima, several rounds) may be added before.

    >>> sure = {"a": np.array([0.9, 0.8]), "b": np.array([0.5, 0.6])}
    >>> {team: str(rank) for team, rank in rank_intervals({"a": 0.9, "b": 0.5}, sure).items()}
    {'a': '1', 'b': '2'}
    """
    check_confidence(confidence)
    if set(values) != set(replicates):
        raise InvalidParameter("every ranked team needs replicates, and only those do")
    if not values:
        return {}
    names = sorted(values)
    drawn = np.stack([replicates[name] for name in names])
    if drawn.ndim != 2 or drawn.shape[1] < 1:
        raise InvalidParameter(f"replicates need the shape (replicates,), got {drawn.shape[1:]}")
    signed = -drawn if better == "higher" else drawn
    # Rank = 1 + how many are better by more than a tie; (teams, teams, replicates) at once would
    # be large, so one team at a time.
    places = np.stack([1 + (signed < row - TIE).sum(axis=0) for row in signed])
    tail = (1 - confidence) / 2
    low, high = np.quantile(places, [tail, 1 - tail], axis=1, method="inverted_cdf")
    now = ranks(values, better)
    return {
        name: RankInterval(now[name], int(low[k]), int(high[k]), confidence)
        for k, name in enumerate(names)
    }
