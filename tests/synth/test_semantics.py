from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tracecup.rng import generator
from tracecup.synth.semantics import FIRST_WEIGHT, Profiles, location_graph, place_classes


def profiles(visits):
    """From visits (users, places)."""
    visits = np.asarray(visits)
    user, place = np.nonzero(visits)
    count = visits[user, place]
    return Profiles.counted(
        np.repeat(user, count), np.repeat(place, count).astype(np.int32), *visits.shape
    )


def shares(visits):
    visits = np.asarray(visits, dtype=float)
    return (visits + 0.01) / (visits.sum(axis=1, keepdims=True) + 0.01 * visits.shape[1])


def slow_graph(visits, ranks):
    """All ordered pairs, rank by rank."""
    p = shares(visits)
    n = p.shape[1]
    order = [sorted(range(n), key=lambda i, u=u: (-p[u, i], i)) for u in range(len(p))]
    graph = np.full((n, n), FIRST_WEIGHT)
    for u in range(len(p)):
        for v in range(len(p)):
            least = [min(p[u, i], p[v, j]) for i, j in zip(order[u], order[v], strict=True)]
            for r in range(ranks):
                graph[order[u][r], order[v][r]] += sum(least) * least[r]
    return graph


def looseness(weights, label, classes):
    """The sum that the classes minimise, from its definition."""
    total = 0.0
    for s in range(classes):
        own = label == s
        inside = weights[np.ix_(own, own)].sum()
        total += own.sum() ** 2 * weights[np.ix_(own, ~own)].sum() / max(inside, FIRST_WEIGHT)
    return total


def slow_classes(graph, visits, classes, rng):
    """Every move tried out on the whole sum."""
    n = len(graph)
    weights = (graph + graph.T) / 2 * (1 - np.eye(n))
    label = np.empty(n, dtype=int)
    for s, chunk in enumerate(np.array_split(np.argsort(-visits, kind="stable"), classes)):
        label[chunk] = s
    random = generator(rng)
    for _ in range(10):
        moved = False
        for i in random.permutation(n):
            tried = []
            for s in range(classes):
                other = label.copy()
                other[i] = s
                full = (other == s).sum() > math.ceil(1.5 * n / classes)
                if s != label[i] and (other == label[i]).any() and not full:
                    tried.append((looseness(weights, other, classes), s))
            if tried and min(tried)[0] < looseness(weights, label, classes) * (1 - 1e-12):
                label[i] = min(tried)[1]
                moved = True
        if not moved:
            break
    return label


class TestProfiles:
    def test_users_without_records(self):
        found = profiles([[0, 2], [0, 0], [1, 1]])
        assert found.starts.tolist() == [0, 1, 1, 3]
        assert found.records.tolist() == [2, 0, 2]
        assert found.visits.tolist() == [1, 3]

    def test_ranked_ties_by_place_then_unvisited(self):
        order, share, least = profiles([[0, 1, 3, 0, 1]]).ranked(np.array([0]), 5)
        assert order.tolist() == [[2, 1, 4, 0, 3]]
        assert share[0] == pytest.approx(np.array([3.01, 1.01, 1.01, 0.01, 0.01]) / 5.05)
        assert least == pytest.approx([0.01 / 5.05])

    @given(st.lists(st.lists(st.integers(0, 4), min_size=8, max_size=8), min_size=2, max_size=2))
    def test_matching_by_rank_is_the_best_assignment(self, visits):
        # In value: with ties the assignment itself need not be the same.
        p = shares(visits)
        gain = np.log2(np.minimum(p[0][:, None], p[1]))
        best = gain[linear_sum_assignment(gain, maximize=True)].sum()
        _, share, _ = profiles(visits).ranked(np.array([0, 1]), 8)
        assert np.log2(share.min(axis=0)).sum() == pytest.approx(best)


class TestLocationGraph:
    def test_two_mirrored_profiles_by_hand(self):
        graph = location_graph(profiles([[3, 1, 0], [0, 1, 3]]), np.arange(2), 3)
        # Each ordered pair of the two adds 0.74690, 0.25062 and 0.00248, as does each with itself.
        expected = [
            [0.74690 + 0.00248, 0, 0.74690 + 0.00248],
            [0, 4 * 0.25062, 0],
            [0.74690 + 0.00248, 0, 0.74690 + 0.00248],
        ]
        assert graph == pytest.approx(np.array(expected), abs=2e-5)

    def test_is_the_slow_sum(self):
        visits = np.random.default_rng(1).integers(0, 4, (19, 12))
        found = location_graph(profiles(visits), np.arange(19), 12)
        assert found == pytest.approx(slow_graph(visits, 12))

    def test_links_only_ranks_that_somebody_visits(self):
        visits = np.array([[2, 1, 0, 0, 0], [0, 3, 0, 0, 1]])
        found = location_graph(profiles(visits), np.arange(2))
        assert found == pytest.approx(slow_graph(visits, 2))

    def test_takes_the_users_it_is_given(self):
        visits = np.random.default_rng(2).integers(1, 4, (6, 5))
        some = np.array([1, 4, 5])
        found = location_graph(profiles(visits), some)
        assert found == pytest.approx(slow_graph(visits[some], 5))

    def test_thread_count_does_not_matter(self, monkeypatch):
        held = profiles(np.random.default_rng(3).integers(0, 9, (40, 20)))
        monkeypatch.setenv("TRACECUP_THREADS", "1")
        alone = location_graph(held, np.arange(40))
        monkeypatch.setenv("TRACECUP_THREADS", "5")
        assert np.array_equal(location_graph(held, np.arange(40)), alone)


class TestPlaceClasses:
    @pytest.mark.parametrize("seed", range(4))
    def test_is_the_slow_search(self, seed):
        random = np.random.default_rng(seed)
        graph, visits = random.random((14, 14)) ** 3, random.integers(0, 9, 14)
        found = place_classes(graph, visits, 4, rng=seed)
        assert found.tolist() == slow_classes(graph, visits, 4, rng=seed).tolist()

    def test_finds_two_groups(self):
        group = np.arange(12) % 2
        graph = np.where(group[:, None] == group, 1.0, 0.01)
        found = place_classes(graph, np.arange(12), 2, rng=1)
        assert len({(a, b) for a, b in zip(group, found.tolist(), strict=True)}) == 2

    @settings(max_examples=25)
    @given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 25))
    def test_no_class_is_empty_or_crowded(self, seed, n, classes):
        random = np.random.default_rng(seed)
        found = place_classes(random.random((n, n)), random.integers(0, 3, n), classes, rng=seed)
        size = np.bincount(found, minlength=min(classes, n))
        assert len(size) == min(classes, n)
        assert size.min() >= 1
        assert size.max() <= math.ceil(1.5 * n / min(classes, n))
