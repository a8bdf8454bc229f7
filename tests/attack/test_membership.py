from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.attack.membership import membership, reidentification, transition_profiles
from tracecup.errors import InvalidTraces

N = 4


def records(seed: int, users: int, length: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, N, (users, length))


def profiles(traces: np.ndarray):
    users = np.repeat(np.arange(len(traces)), traces.shape[1])
    return transition_profiles(users, traces.ravel(), len(traces), N)


def slow_profiles(traces: np.ndarray) -> list[dict[tuple[int, int], float]]:
    found = []
    for trace in traces.tolist():
        steps = list(itertools.pairwise(trace))
        leaving = [i for i, _ in steps]
        found.append({s: steps.count(s) / leaving.count(s[0]) for s in set(steps)})
    return found


def slow_scores(day: list[int], known: list[dict[tuple[int, int], float]]) -> list[float]:
    steps = list(itertools.pairwise(day))
    return [sum(math.log(p.get(s, 1e-8)) if min(s) >= 0 else 0.0 for s in steps) for p in known]


def slow_membership(
    synthetic: np.ndarray, train: np.ndarray, test: np.ndarray
) -> tuple[np.ndarray, float, float]:
    everyone = slow_profiles(train) + slow_profiles(test)
    n, days = len(everyone), synthetic.shape[1]
    best = np.full((n, days), -np.inf)
    for c in range(n):
        for trace in synthetic:
            for d in range(days):
                day = trace[d].tolist()
                joined = ([int(trace[d - 1][-1])] if d else []) + day
                ratio = 0.0
                for s in itertools.pairwise(joined):
                    if min(s) < 0:
                        continue
                    others = [p[s] for u, p in enumerate(everyone) if u != c and s in p]
                    mean = sum(others) / (n - 1) if others else 1e-8
                    ratio += math.log(everyone[c].get(s, 1e-8)) - math.log(mean)
                best[c, d] = max(best[c, d], ratio)
    lo, hi = max(best[:, d].min() for d in range(days)), best.max()
    advantage, accuracy = -2.0, 0.0
    for s in range(1000):
        theta = lo + (hi - lo) * s / 1000
        # Guard the slow twin against a rounding tie exactly at the first threshold.
        said = best > theta + 1e-9
        tpr, tnr = said[: len(train)].mean(), 1 - said[len(train) :].mean()
        advantage = max(advantage, tpr + tnr - 1)
        right = said[: len(train)].sum() + (~said[len(train) :]).sum()
        accuracy = max(accuracy, right / said.size)
    return best, advantage, accuracy


class TestTransitionProfiles:
    def test_agrees_with_the_slow_loop(self):
        traces = records(0, 5)
        found = profiles(traces).toarray().reshape(5, N, N)
        for u, known in enumerate(slow_profiles(traces)):
            expected = np.zeros((N, N))
            for (i, j), p in known.items():
                expected[i, j] = p
            assert found[u] == pytest.approx(expected)

    def test_rows_without_counts_are_absent(self):
        assert transition_profiles([0, 0], [1, 2], 2, N).nnz == 1

    def test_a_single_record_has_no_transition(self):
        assert transition_profiles([0, 1], [1, 2], 2, N).nnz == 0

    @pytest.mark.parametrize(
        ("users", "places", "message"),
        [
            ([0, 2], [0, 0], r"users must be within 0\.\.1"),
            ([0, 0], [0, 4], r"locations must be within 0\.\.3"),
            ([1, 0], [0, 0], "ordered by user"),
            ([0], [0, 0], "two columns of one length"),
        ],
    )
    def test_bad_columns_are_named(self, users: list[int], places: list[int], message: str):
        with pytest.raises(InvalidTraces, match=message):
            transition_profiles(users, places, 2, N)


class TestReidentification:
    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=30)
    def test_agrees_with_the_slow_loop(self, seed: int):
        train = records(seed, 6)
        synthetic = np.random.default_rng(seed + 1).integers(-1, N, (5, 3, 6))
        found = reidentification(synthetic, profiles(train))
        known = slow_profiles(train)
        for u in range(5):
            for d in range(3):
                scores = slow_scores(synthetic[u, d].tolist(), known)
                first = next(k for k, s in enumerate(scores) if s >= max(scores) - 1e-9)
                assert found.guesses[u, d] == first

    def test_rate_counts_traces_of_the_right_user(self):
        known = transition_profiles([0, 0, 1, 1], [0, 1, 1, 0], 2, N)
        found = reidentification([[[0, 1], [1, 0]], [[1, 0], [1, 0]]], known)
        assert found.guesses.tolist() == [[0, 1], [1, 1]]
        assert found.rate == 0.75
        assert found.baseline == 0.5
        assert found.interval.low <= 0.75 <= found.interval.high

    def test_nothing_in_common_is_guessed_as_user_0(self):
        known = transition_profiles([0, 0, 1, 1], [0, 1, 1, 0], 2, N)
        assert reidentification([[[3, 3]], [[2, 3]]], known).guesses.tolist() == [[0], [0]]

    def test_ties_go_to_the_smallest_user(self):
        known = transition_profiles([0, 0, 1, 1, 2, 2], [3, 3, 0, 1, 0, 1], 3, N)
        assert reidentification([[[0, 1]]], known).guesses.tolist() == [[1]]

    def test_truth_says_who_belongs_to_whom(self):
        known = transition_profiles([0, 0, 1, 1], [0, 1, 1, 0], 2, N)
        days = [[[0, 1]], [[1, 0]]]
        assert reidentification(days, known, truth=[1, 0]).rate == 0
        assert reidentification(days, known, truth=[0, -1]).rate == 0.5

    def test_training_days_find_their_own_users(self):
        train = np.random.default_rng(2).integers(0, N, (20, 60))
        assert reidentification(train[:, None], profiles(train)).rate == 1

    def test_bad_traces_are_named(self):
        known = transition_profiles([0, 0], [0, 1], 1, N)
        with pytest.raises(InvalidTraces, match="users, days, instants"):
            reidentification([[0, 1]], known)
        with pytest.raises(InvalidTraces, match=r"within -1\.\.3"):
            reidentification([[[0, 4]]], known)
        with pytest.raises(InvalidTraces, match="truth needs one user"):
            reidentification([[[0, 1]]], known, truth=[0, 1])


class TestMembership:
    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=20)
    def test_agrees_with_the_slow_loop(self, seed: int):
        train, test = records(seed, 5, 5), records(seed + 1, 4, 5)
        synthetic = np.random.default_rng(seed + 2).integers(-1, N, (4, 2, 5))
        scores, _, _ = slow_membership(synthetic, train, test)
        found = membership(synthetic, profiles(train), profiles(test))
        assert found.scores == pytest.approx(scores, abs=1e-9)

    @pytest.mark.parametrize("seed", range(6))
    def test_advantage_and_accuracy_agree_with_the_slow_loop(self, seed: int):
        train, test = records(seed, 8), records(seed + 50, 7)
        synthetic = np.repeat(train[:, None], 3, axis=1)
        synthetic[:, 1:] = np.random.default_rng(seed).integers(0, N, synthetic[:, 1:].shape)
        _, advantage, accuracy = slow_membership(synthetic, train, test)
        found = membership(synthetic, profiles(train), profiles(test))
        # One score may lie within rounding of a threshold: one of 24 or 21 pooled answers.
        assert found.advantage == pytest.approx(advantage, abs=1 / 21)
        assert found.accuracy == pytest.approx(accuracy, abs=1 / 45)
        assert found.advantage > 0

    def test_by_hand(self):
        # Training user: 0 -> 1. Testing user: 1 -> 0. The synthetic day walks 0 -> 1.
        train = transition_profiles([0, 0], [0, 1], 1, N)
        test = transition_profiles([0, 0], [1, 0], 1, N)
        found = membership([[[0, 1]]], train, test)
        # Target 0: log 1 - log 1e-8 (nobody else); target 1: log 1e-8 - log 1.
        top = -math.log(1e-8)
        assert found.scores.ravel() == pytest.approx([top, -top])
        assert found.advantage == 1
        assert found.accuracy == 1
        assert found.threshold == pytest.approx(-top)

    def test_zero_without_the_target_is_exact(self):
        # 1/3 is not a binary fraction: S - P would leave a rounding residue if S had one.
        train = transition_profiles([0] * 4, [0, 1, 0, 2], 1, N)
        test = transition_profiles([0] * 4, [0, 3, 0, 3], 1, N)
        found = membership([[[0, 1]]], train, test)
        assert found.scores[0, 0] == pytest.approx(math.log(0.5) - math.log(1e-8))

    def test_the_step_over_midnight_belongs_to_the_later_day(self):
        train = transition_profiles([0, 0], [0, 1], 1, N)
        test = transition_profiles([0, 0], [1, 0], 1, N)
        found = membership([[[2, 0], [1, 2]]], train, test)
        assert found.scores[:, 0].tolist() == [0, 0]
        assert found.scores[0, 1] == pytest.approx(-math.log(1e-8))

    def test_unknown_transitions_add_nothing(self):
        train = transition_profiles([0, 0], [0, 1], 1, N)
        test = transition_profiles([0, 0], [1, 0], 1, N)
        short = membership([[[0, 1]]], train, test).scores
        long = membership([[[0, 1, 3, 3, 2]]], train, test).scores
        assert np.array_equal(short, long)

    def test_best_synthetic_user_counts(self):
        train = transition_profiles([0, 0], [0, 1], 1, N)
        test = transition_profiles([0, 0], [1, 0], 1, N)
        found = membership([[[0, 1]], [[3, 3]]], train, test)
        assert found.scores.ravel() == pytest.approx([-math.log(1e-8), 0])

    def test_threads_do_not_change_the_bytes(self, monkeypatch: pytest.MonkeyPatch):
        train, test = profiles(records(1, 9)), profiles(records(2, 9))
        synthetic = np.random.default_rng(3).integers(0, N, (10, 2, 6))
        found = []
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            guesses = reidentification(synthetic, train).guesses
            found.append(membership(synthetic, train, test).scores.tobytes() + guesses.tobytes())
        assert len(set(found)) == 1

    def test_bad_input_is_named(self):
        one = transition_profiles([0, 0], [0, 1], 1, N)
        with pytest.raises(InvalidTraces, match="different locations"):
            membership([[[0, 1]]], one, transition_profiles([0, 0], [0, 1], 1, 3))
        none = transition_profiles([], [], 0, N)
        with pytest.raises(InvalidTraces, match="training users and testing users"):
            membership([[[0, 1]]], transition_profiles([0, 1], [0, 1], 2, N), none)
        with pytest.raises(InvalidTraces, match="at least two users"):
            membership([[[0, 1]]], one, none)
