from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup import Clock, Grid, Traces
from tracecup.streams import stream_key, uniform
from tracecup.synth import Training
from tracecup.synth.decoding import HOPELESS, decode, mobility, stationary


def chain(seed, n):
    random = np.random.default_rng(seed)
    M = random.random((n, n)) ** 3 + 1e-3
    M /= M.sum(axis=1, keepdims=True)
    return stationary(M), M


def random_sets(seed, n, slots, fewest=1):
    random = np.random.default_rng(seed + 1)
    return [
        sorted(random.choice(n, random.integers(fewest, n + 1), replace=False).tolist())
        for _ in range(slots)
    ]


def decoded(sets, pi, M, shake=1.0, compat=False, rng=1):
    starts = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.int64)
    places = np.array([x for one in sets for x in one], dtype=np.int32)
    out = np.empty(len(sets), dtype=np.int32)
    decode(starts, places, pi, M, shake, compat, *stream_key(rng), out)
    return out.tolist()


def log_noise(shake, rng, number):
    return np.log(1.0 + (shake - 1.0) * uniform(*stream_key(rng), np.uint64(number)))


def noises(shake, rng, slots, n):
    """log U of every start and of every (slot, from, to)."""
    start = np.array([log_noise(shake, rng, j) for j in range(n)])
    step = np.array(
        [
            [[log_noise(shake, rng, (t * n + i) * n + j) for j in range(n)] for i in range(n)]
            for t in range(slots)
        ]
    )
    return start, step


def slow_viterbi(sets, pi, M, shake, rng, compat=False):
    """Over all places: those outside the sets are hopeless."""
    slots, n = len(sets), len(pi)
    start, step = noises(shake, rng, slots, n)
    least = np.log(HOPELESS) if compat else -np.inf
    inside = np.array([[j in one for j in range(n)] for one in sets])
    value = [np.where(inside[0], np.maximum(np.log(pi) + start, least), least)]
    back = [np.zeros(n, dtype=int)]
    for t in range(1, slots):
        ways = value[-1][:, None] + np.log(M) + step[t]
        best, came = ways.max(axis=0), ways.argmax(axis=0)
        back.append(np.where(best > least, came, 0))
        value.append(np.where(inside[t], np.maximum(best, least), least))
    y = [int(value[-1].argmax()) if value[-1].max() > least else 0]
    for t in range(slots - 1, 0, -1):
        y.append(int(back[t][y[-1]]))
    return y[::-1]


class TestMobility:
    def test_by_hand(self):
        # Steps 0 -> 1 -> 1, and from the last instant to the first: 1 -> 0; positions 0, 1, 3 km.
        training = Training.of_traces(Traces.of([[0, 1, 1]]), 3).placed([[0, 0], [1, 0], [3, 0]])
        M, _ = mobility(training)
        counted = np.array([[1, 4, 1], [4, 4, 1], [2, 2, 2]]) / [[6], [9], [6]]
        near = np.array([[1, 1, 1 / 9], [1, 1, 1 / 4], [1 / 9, 1 / 4, 1]])
        near /= near.sum(axis=1, keepdims=True)
        assert pytest.approx((counted + near) / 2) == M

    def test_without_positions_counts_alone(self):
        M, _ = mobility(Training.of_traces(Traces.of([[0, 1, 1]]), 3))
        assert pytest.approx(np.array([[1, 4, 1], [4, 4, 1], [2, 2, 2]]) / [[6], [9], [6]]) == M

    def test_gaps_and_nights_are_no_steps(self):
        # Day 1 has no second instant, day 2 no last one: neither steps nor a way round.
        clock = Clock.regular(2, 3)
        M, _ = mobility(Training.of_traces(Traces.of([[0, -1, 1, 1, 0, -1]], clock), 2))
        # From day 1's last to its first instant 1 -> 0, within day 2 1 -> 0.
        assert pytest.approx(np.array([[1, 1], [5, 1]]) / [[2], [6]]) == M

    def test_rows_sum_to_one_everywhere_positive(self, town):
        M, pi = mobility(town.placed(Grid.from_metres(3, 3, width_m=500, height_m=500)))
        assert M.sum(axis=1) == pytest.approx(np.ones(9))
        assert M.min() > 0
        assert pi @ M == pytest.approx(pi)
        assert pi.sum() == pytest.approx(1)


class TestDecode:
    @settings(max_examples=30)
    @given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 5), st.sampled_from([1.5, 4.0]))
    def test_is_viterbi_over_all_places(self, seed, n, slots, shake):
        pi, M = chain(seed, n)
        sets = random_sets(seed, n, slots)
        found = decoded(sets, pi, M, shake, rng=seed)
        assert found == slow_viterbi(sets, pi, M, shake, seed)
        assert all(y in one for y, one in zip(found, sets, strict=True))

    def test_no_sequence_is_more_likely(self):
        pi, M = chain(3, 4)
        sets = random_sets(3, 4, 5)
        start, step = noises(4.0, 3, 5, 4)

        def likelihood(y):
            moves = sum(
                np.log(M[i, j]) + step[t + 1, i, j]
                for t, (i, j) in enumerate(itertools.pairwise(y))
            )
            return np.log(pi[y[0]]) + start[y[0]] + moves

        best = max(likelihood(y) for y in itertools.product(*sets))
        assert likelihood(decoded(sets, pi, M, 4.0, rng=3)) == pytest.approx(best)

    def test_without_noise_nothing_is_random(self):
        pi, M = chain(1, 8)
        sets = random_sets(1, 8, 12)
        assert len({tuple(decoded(sets, pi, M, 1.0, rng=k)) for k in range(5)}) == 1
        assert len({tuple(decoded(sets, pi, M, 4.0, rng=k)) for k in range(5)}) > 1

    def test_ties_go_to_the_smaller_place(self):
        pi, M = np.full(3, 1 / 3), np.full((3, 3), 1 / 3)
        assert decoded([[2, 1], [2, 0, 1], [1, 2]], pi, M) == [1, 0, 1]

    def test_long_traces_do_not_underflow(self):
        pi, M = np.array([1 - 1e-6, 1e-6]), np.array([[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]])
        sets = [[0], [1]] * 400
        assert decoded(sets, pi, M) == [0, 1] * 400


class TestCompat:
    def test_falls_through_to_the_first_place(self):
        pi, M = chain(2, 4)
        sets = [[3], [2, 3], [], [1, 2], [3]]
        found = decoded(sets, pi, M, 1.0, compat=True)
        assert found[0] == 3
        assert found[1] in (2, 3)
        assert found[2:] == [0, 0, 0]

    def test_without_empty_sets_it_changes_nothing(self):
        pi, M = chain(4, 6)
        sets = random_sets(4, 6, 10)
        assert decoded(sets, pi, M, 4.0, compat=True) == decoded(sets, pi, M, 4.0)

    @settings(max_examples=30)
    @given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.sampled_from([1.0, 9.0]))
    def test_is_the_slow_program(self, seed, n, slots, shake):
        pi, M = chain(seed, n)
        sets = random_sets(seed, n, slots, fewest=0)
        found = decoded(sets, pi, M, shake, compat=True, rng=seed)
        assert found == slow_viterbi(sets, pi, M, shake, seed, compat=True)
