"""Parts of beyond3 against slow, obvious loops; the study itself is in test_reproduce_long."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tracecup.attack import Case
from tracecup.city import City, Clock, Grid
from tracecup.errors import InvalidTraces
from tracecup.study.markov_speed import CrowdSize, crowd
from tracecup.study.maximum_knowledge import nearest_trace, unicity
from tracecup.study.textbook_markov import markov_identify, markov_track
from tracecup.traces import IdTable, SetTraces, Traces

USERS, DAYS, SLOTS, SIDE = 6, 3, 4, 3
CITY = City(Grid.from_metres(SIDE, SIDE, width_m=500, height_m=400))
CLOCK = Clock.regular(DAYS, SLOTS)
N = SIDE * SIDE


def random_traces(seed: int) -> Traces:
    return Traces.of(np.random.default_rng(seed).integers(0, N, (USERS, DAYS * SLOTS)), CLOCK)


def chain_of(trace: list[int]) -> np.ndarray:
    """Relative frequencies of the steps within a day, 1e-8 where there is none."""
    counts = np.zeros((N, N))
    for j in range(len(trace) - 1):
        if (j + 1) % SLOTS:
            counts[trace[j], trace[j + 1]] += 1
    total = counts.sum(axis=1, keepdims=True)
    return np.where(counts > 0, counts / np.where(total > 0, total, 1), 1e-8)


class TestNearestTrace:
    @pytest.mark.parametrize("seed", range(3))
    def test_agrees_with_the_slow_loop(self, seed):
        rng = np.random.default_rng(seed)
        cells = [
            [rng.integers(0, N, rng.integers(0, 3)).tolist() for _ in range(CLOCK.times)]
            for _ in range(USERS)
        ]
        known, costs = random_traces(seed), CITY.grid.distances
        expected = []
        for row in cells:
            sums = [
                sum(
                    float(np.mean([costs[a, known.regions[u, j]] for a in cell]))
                    for j, cell in enumerate(row)
                    if cell
                )
                for u in range(USERS)
            ]
            expected.append(int(np.argmin(sums)))
        found = nearest_trace(SetTraces.of_cells(cells, CLOCK), known, costs)
        assert found.users.tolist() == expected

    def test_who_knows_the_traces_finds_everybody(self):
        known = random_traces(5)
        order = [3, 1, 0, 5, 4, 2]
        released = SetTraces.of_traces(known).take_users(order)
        assert nearest_trace(released, known, CITY.grid.distances).users.tolist() == order


class TestUnicity:
    def test_one_point_that_all_share_tells_nobody(self):
        assert unicity(Traces.of([[4, 4]] * 5), 2, rng=1) == 0.0

    def test_gaps_are_no_events(self):
        # Users 1 and 2 share what is known of them; a shared gap is no place that they share.
        traces = Traces.of([[4, -1], [4, -1], [-1, 2], [-1, -1]])
        assert unicity(traces, 2, rng=1) == 1 / 3
        assert np.isnan(unicity(Traces.of([[-1, -1]]), 1, rng=1))

    def test_more_points_tell_more(self):
        traces = Traces.of(np.random.default_rng(1).integers(0, 4, (60, 12)))
        assert unicity(traces, 1, rng=1) < unicity(traces, 4, rng=1) <= unicity(traces, 12, rng=1)


class TestMarkovIdentify:
    @pytest.mark.parametrize("seed", range(3))
    def test_agrees_with_the_slow_loop(self, seed):
        reference, shown = random_traces(seed), random_traces(seed + 50)
        scores = np.zeros((USERS, USERS))
        for u in range(USERS):
            chain = chain_of(reference.regions[u].tolist())
            for k in range(USERS):
                for j in range(CLOCK.times - 1):
                    if (j + 1) % SLOTS:
                        scores[k, u] += math.log(
                            chain[shown.regions[k, j], shown.regions[k, j + 1]]
                        )
        found = markov_identify(Case(CITY, reference, SetTraces.of_traces(shown)))
        assert found.users.tolist() == scores.argmax(axis=1).tolist()

    def test_cells_of_several_regions_are_refused(self):
        released = SetTraces.of_cells([[[0, 1], [2]]] * 2)
        with pytest.raises(InvalidTraces, match="single regions only"):
            markov_identify(Case(CITY, Traces.of([[0, 1], [2, 3]]), released))


class TestMarkovTrack:
    @pytest.mark.parametrize("seed", range(3))
    def test_agrees_with_the_sum_over_all_paths(self, seed):
        reference, shown = random_traces(seed), random_traces(seed + 50)
        noise = np.exp(-3 * CITY.grid.distances)
        case = Case(CITY, reference, SetTraces.of_traces(shown))
        found = markov_track(case, IdTable.of(range(USERS)), noise)
        paths = np.indices((N,) * SLOTS).reshape(SLOTS, -1).T
        for u in (0, USERS - 1):
            trace = reference.regions[u].tolist()
            chain = chain_of(trace)
            visits = np.bincount(trace, minlength=N) / len(trace) + 1e-8
            for day in range(DAYS):
                at = slice(day * SLOTS, (day + 1) * SLOTS)
                seen = shown.regions[u, at]
                weight = visits[paths[:, 0]] * noise[seen[0], paths[:, 0]]
                for j in range(1, SLOTS):
                    weight = weight * chain[paths[:, j - 1], paths[:, j]]
                    weight = weight * noise[seen[j], paths[:, j]]
                best = [
                    int(np.bincount(paths[:, j], weights=weight, minlength=N).argmax())
                    for j in range(SLOTS)
                ]
                assert found.regions[u, at].tolist() == best

    def test_the_table_says_whose_trace_it_is(self):
        reference, shown = random_traces(1), random_traces(2)
        case = Case(CITY, reference, SetTraces.of_traces(shown))
        order = [2, 0, 1, 5, 3, 4]
        inferred = markov_track(case, IdTable.of(order), np.eye(N))
        assert (inferred.regions[order] == shown.regions).all()


class TestCrowd:
    def test_has_the_size_that_was_asked_for(self):
        case = crowd(CrowdSize(users=7, days=2, side=5), rng=1)
        assert case.reference.shape == case.released.shape == (7, 40)
        assert case.city.n_regions == 25
        assert case.released.is_single
