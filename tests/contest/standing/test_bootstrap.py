"""Rank intervals from resampled users: determinism, coverage on clear cases, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.contest.standing.bootstrap import (
    RankInterval,
    UserScores,
    rank_intervals,
    score_replicates,
)
from tracecup.errors import InvalidParameter


def scores(seed: int, level: float, users: int = 200, attacks: int = 3) -> UserScores:
    rng = np.random.default_rng(seed)
    per_user = (rng.random((attacks, users)) < level).astype(float)
    return UserScores(tuple(f"t{k}" for k in range(attacks)), per_user)


class TestScoreReplicates:
    def test_same_seed_same_values_in_any_order(self):
        first = score_replicates(scores(1, 0.5), "a", 7, 50)
        score_replicates(scores(2, 0.5), "b", 7, 50)
        assert np.array_equal(first, score_replicates(scores(1, 0.5), "a", 7, 50))
        assert not np.array_equal(first, score_replicates(scores(1, 0.5), "b", 7, 50))
        assert not np.array_equal(first, score_replicates(scores(1, 0.5), "a", 8, 50))

    def test_both_kinds_see_the_same_users(self):
        one = UserScores(("x",), np.arange(20.0)[None] / 20)
        two = UserScores(("y", "z"), np.stack([np.arange(20.0) / 20, np.arange(20.0) / 40]))
        first, second = (score_replicates(s, "a", 3, 30) for s in (one, two))
        assert first[:, 0] == pytest.approx(second[:, 0], abs=1e-12)
        assert first[:, 0] == pytest.approx(2 * second[:, 1], abs=1e-12)

    def test_one_user_has_no_spread(self):
        lone = UserScores(("x",), np.array([[0.3]]), np.array([5.0]))
        assert score_replicates(lone, "a", 1, 10) == pytest.approx(0.3)

    def test_weights_make_a_weighted_mean(self):
        # Users are drawn n_0, n_1 times: the score is 3 n_1 / (n_0 + 3 n_1), n_0 + n_1 = 2.
        pair = UserScores(("x",), np.array([[0.0, 1.0]]), np.array([1.0, 3.0]))
        found = set(np.round(score_replicates(pair, "a", 1, 200)[:, 0], 12))
        assert found == {0.0, 0.75, 1.0}

    def test_spread_is_that_of_a_mean(self):
        # Standard deviation of the mean of 400 coins: sqrt(p (1 - p) / 400), p the share drawn.
        # 4000 replicates estimate it within 5 % but for a chance below 1e-5; the seed is fixed.
        one = scores(5, 0.5, users=400, attacks=1)
        p = one.per_user.mean()
        drawn = score_replicates(one, "a", 11, 4000)
        assert drawn.std() == pytest.approx(np.sqrt(p * (1 - p) / 400), rel=0.05)
        assert drawn.mean() == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 400 / 4000))

    @pytest.mark.parametrize(
        ("attacks", "shape", "weights"),
        [
            (("x",), (2, 3), None),
            (("x",), (1, 0), None),
            (("x",), (1, 3), np.ones(2)),
            (("x",), (1, 3), np.array([1.0, 0.0, 1.0])),
        ],
    )
    def test_refuses_shapes(self, attacks, shape, weights):
        with pytest.raises(InvalidParameter):
            UserScores(attacks, np.zeros(shape), weights)

    def test_refuses_no_replicates(self):
        with pytest.raises(InvalidParameter, match="replicates"):
            score_replicates(scores(1, 0.5), "a", 1, 0)


class TestRankIntervals:
    def test_by_hand(self):
        drawn = {
            "a": np.array([0.9, 0.9, 0.5, 0.9]),
            "b": np.array([0.8, 0.9, 0.8, 0.8]),
            "c": np.array([0.1, 0.1, 0.1, 0.1]),
        }
        found = rank_intervals({"a": 0.9, "b": 0.8, "c": 0.1}, drawn, confidence=0.99)
        assert found["a"] == RankInterval(1, 1, 2, 0.99)
        assert found["b"] == RankInterval(2, 1, 2, 0.99)
        assert found["c"] == RankInterval(3, 3, 3, 0.99)
        assert [str(r) for r in found.values()] == ["1 (1-2)", "2 (1-2)", "3"]

    def test_lower_may_be_better(self):
        drawn = {"a": np.array([3.0]), "b": np.array([2.0])}
        found = rank_intervals({"a": 3.0, "b": 2.0}, drawn, "lower")
        assert (found["a"].rank, found["a"].low) == (2, 2)

    def test_equal_teams_are_unsure_and_distant_ones_sure(self):
        levels = {"a": 0.9, "b": 0.9, "c": 0.2}
        given = {team: scores(k, level) for k, (team, level) in enumerate(levels.items())}
        drawn = {t: score_replicates(s, t, 1).min(axis=1) for t, s in given.items()}
        values = {t: float(s.per_user.mean(axis=1).min()) for t, s in given.items()}
        found = rank_intervals(values, drawn)
        assert (found["a"].low, found["a"].high) == (1, 2)
        assert (found["c"].low, found["c"].high) == (3, 3)

    def test_permuting_teams_permutes_intervals(self):
        given = {name: scores(k, 0.5 + 0.02 * k) for k, name in enumerate("abcd")}
        drawn = {n: score_replicates(s, n, 1, 200).min(axis=1) for n, s in given.items()}
        values = {n: float(s.per_user.mean(axis=1).min()) for n, s in given.items()}
        turned = rank_intervals({n: values[n] for n in "dbca"}, {n: drawn[n] for n in "cadb"})
        assert turned == rank_intervals(values, drawn)

    def test_nobody(self):
        assert rank_intervals({}, {}) == {}

    @pytest.mark.parametrize(
        ("values", "drawn", "confidence"),
        [
            ({"a": 1.0}, {"b": np.ones(3)}, 0.95),
            ({"a": 1.0}, {"a": np.ones(0)}, 0.95),
            ({"a": 1.0}, {"a": np.ones(3)}, 0.0),
        ],
    )
    def test_refuses(self, values, drawn, confidence):
        with pytest.raises(InvalidParameter):
            rank_intervals(values, drawn, confidence=confidence)
