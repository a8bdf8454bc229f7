from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup import City, Grid, IdTable, InvalidTraces, SetTraces, Traces
from tracecup.errors import InvalidParameter
from tracecup.score import (
    expected_error_score,
    inference_score,
    is_valid,
    reid_score,
    utility_score,
)

CITY = City(Grid.from_metres(6, 4, width_m=700, height_m=900), hospitals=[3, 7, 8])
N = CITY.n_regions

cases = st.tuples(st.integers(1, 4), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(
        st.lists(
            st.lists(st.integers(0, N - 1), min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        ),
        st.lists(
            st.lists(
                st.lists(st.integers(0, N - 1), max_size=5), min_size=shape[1], max_size=shape[1]
            ),
            min_size=shape[0],
            max_size=shape[0],
        ),
    )
)


def km(a: int, b: int) -> float:
    return math.hypot(0.7 * (a % 6 - b % 6), 0.9 * (a // 6 - b // 6))


def slow_utility(original, cells, rule):
    total = []
    for row, cell_row in zip(original, cells, strict=True):
        for o, cell in zip(row, cell_row, strict=True):
            if not cell:
                total.append(0.0)
            elif rule == "paper":
                total.append(max(0.0, 1 - sum(km(o, s) for s in cell) / len(cell) / 2))
            else:
                total.append(sum(max(0.0, 1 - km(o, s) / 2) for s in cell) / len(cell))
    return sum(total) / len(total)


class TestUtility:
    def test_the_papers_example(self, toy_city, toy_original, toy_obfuscated):
        score = utility_score(toy_city, toy_original, toy_obfuscated)
        assert score.value == pytest.approx(6.9478125 / 12, abs=1e-12)
        assert score.value == pytest.approx(score.per_user.mean())
        assert not score.valid

    @given(cases, st.sampled_from(["paper", "organisers"]))
    def test_equals_a_slow_loop(self, case, rule):
        original, cells = case
        score = utility_score(CITY, Traces.of(original), SetTraces.of_cells(cells), rule=rule)
        assert score.value == pytest.approx(slow_utility(original, cells, rule), abs=1e-9)

    @given(cases)
    def test_organisers_rule_is_never_lower(self, case):
        original, cells = Traces.of(case[0]), SetTraces.of_cells(case[1])
        paper = utility_score(CITY, original, cells).value
        assert utility_score(CITY, original, cells, rule="organisers").value >= paper - 1e-12

    @given(cases, st.randoms(use_true_random=False))
    def test_permuting_users_permutes_the_breakdown(self, case, random):
        original, cells = Traces.of(case[0]), SetTraces.of_cells(case[1])
        order = list(range(original.n_users))
        random.shuffle(order)
        before = utility_score(CITY, original, cells)
        after = utility_score(CITY, original.take_users(order), cells.take_users(order))
        assert np.array_equal(after.per_user, before.per_user[order])
        assert after.value == pytest.approx(before.value, abs=1e-12)

    @given(cases)
    def test_splitting_users_averages(self, case):
        original, cells = Traces.of(case[0]), SetTraces.of_cells(case[1])
        parts = [
            utility_score(CITY, original.take_users([k]), cells.take_users([k])).value
            for k in range(original.n_users)
        ]
        assert utility_score(CITY, original, cells).value == pytest.approx(np.mean(parts))

    @given(cases)
    def test_adding_a_farther_region_never_helps(self, case):
        original, cells = case
        worse = [
            [
                [*cell, max(range(N), key=lambda r, o=o: km(o, r))] if cell else cell
                for o, cell in zip(row, cell_row, strict=True)
            ]
            for row, cell_row in zip(original, cells, strict=True)
        ]
        before = utility_score(CITY, Traces.of(original), SetTraces.of_cells(cells)).value
        after = utility_score(CITY, Traces.of(original), SetTraces.of_cells(worse)).value
        assert after <= before + 1e-12

    def test_threads_do_not_matter(self, monkeypatch):
        rng = np.random.default_rng(1)
        original = Traces.of(rng.integers(0, N, (9, 7)))
        cells = SetTraces.of_cells(
            [[rng.integers(0, N, rng.integers(0, 4)).tolist() for _ in range(7)] for _ in range(9)]
        )
        values = set()
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            values.add(utility_score(CITY, original, cells).value)
        assert len(values) == 1

    def test_nothing_changed_and_everything_deleted(self):
        original = Traces.of([[0, 1], [2, 3]])
        assert utility_score(CITY, original, SetTraces.of_traces(original)).value == 1.0
        empty = SetTraces.of_cells([[[], []], [[], []]])
        assert utility_score(CITY, original, empty).value == 0.0

    @pytest.mark.parametrize(
        ("original", "cells", "text"),
        [
            ([[0, -1]], [[[0], [0]]], "no gaps"),
            ([[0, 99]], [[[0], [0]]], "original region 99"),
            ([[0, 1]], [[[0], [99]]], "obfuscated region 99"),
            ([[0, 1]], [[[0]]], "obfuscated ones"),
        ],
    )
    def test_bad_input(self, original, cells, text):
        with pytest.raises(InvalidTraces, match=text):
            utility_score(CITY, Traces.of(original), SetTraces.of_cells(cells))

    @pytest.mark.parametrize(
        "options", [{"rule": "mine"}, {"reach_km": 0.0}, {"reach_km": math.nan}]
    )
    def test_bad_options(self, options):
        original = Traces.of([[0]])
        with pytest.raises(InvalidParameter):
            utility_score(CITY, original, SetTraces.of_traces(original), **options)


class TestIsValid:
    def test_exactly_the_floor_is_valid(self):
        assert is_valid(0.7)
        assert is_valid(0.7 - 1e-10)
        assert not is_valid(0.7 - 1e-8)


class TestReid:
    def test_the_papers_example(self, toy_table):
        score = reid_score(toy_table, IdTable.of([1, 1, 0]))
        assert score.value == pytest.approx(1 / 3)
        # Pseudonym 2002 belongs to user 3 and was given to user 2.
        assert score.per_user.tolist() == [0.0, 0.0, 1.0]

    @given(st.integers(1, 20).flatmap(lambda m: st.permutations(range(m))), st.data())
    def test_equals_a_slow_count(self, truth, data):
        m = len(truth)
        guess = data.draw(st.lists(st.integers(0, m - 1), min_size=m, max_size=m))
        right = sum(a == b for a, b in zip(truth, guess, strict=True))
        assert reid_score(IdTable.of(truth), IdTable.of(guess)).value == 1 - right / m

    def test_bad_input(self):
        with pytest.raises(InvalidTraces, match="2 pseudonyms"):
            reid_score(IdTable.of([0, 1]), IdTable.of([0]))
        with pytest.raises(InvalidTraces, match="exactly one"):
            reid_score(IdTable.of([0, 0]), IdTable.of([0, 0]))
        with pytest.raises(InvalidTraces, match="empty"):
            reid_score(IdTable.of(np.empty(0, int)), IdTable.of(np.empty(0, int)))


class TestInference:
    def test_the_papers_example(self, toy_city):
        score = inference_score(toy_city, Traces.of([[0, 2, 1, 0]]), Traces.of([[0, 0, 1, 3]]))
        assert score.value == pytest.approx(0.853125 / 13, abs=1e-12)

    @given(cases, st.sampled_from([0.5, 1, 10, 1000]), st.sampled_from([0.5, 2.0, 9.0]), st.data())
    def test_equals_a_slow_loop(self, case, weight, reach, data):
        original = case[0]
        guess = [[data.draw(st.integers(0, N - 1)) for _ in row] for row in original]
        pairs = [
            (o, g) for r, s in zip(original, guess, strict=True) for o, g in zip(r, s, strict=True)
        ]
        weights = [weight if o in (3, 7, 8) else 1 for o, _ in pairs]
        misses = [min(1.0, km(o, g) / reach) for o, g in pairs]
        wanted = sum(w * g for w, g in zip(weights, misses, strict=True)) / sum(weights)
        traces, inferred = Traces.of(original), Traces.of(guess)
        found = inference_score(CITY, traces, inferred, hospital_weight=weight, reach_km=reach)
        assert found.value == pytest.approx(wanted, abs=1e-9)
        error = expected_error_score(CITY, traces, inferred)
        assert error.value == pytest.approx(np.mean([km(o, g) for o, g in pairs]), abs=1e-9)
        assert np.isfinite(found.per_user).all()

    def test_perfect_guess(self):
        traces = Traces.of([[0, 3], [5, 7]])
        assert inference_score(CITY, traces, traces).value == 0.0
        assert expected_error_score(CITY, traces, traces).value == 0.0

    @pytest.mark.parametrize(
        ("guess", "text"),
        [([[0, -1]], "every event"), ([[0, 99]], "inferred region 99"), ([[0]], "inferred")],
    )
    def test_bad_input(self, guess, text):
        with pytest.raises(InvalidTraces, match=text):
            inference_score(CITY, Traces.of([[0, 1]]), Traces.of(guess))

    @pytest.mark.parametrize("options", [{"hospital_weight": 0.0}, {"reach_km": -1.0}])
    def test_bad_options(self, options):
        traces = Traces.of([[0]])
        with pytest.raises(InvalidParameter):
            inference_score(CITY, traces, traces, **options)
