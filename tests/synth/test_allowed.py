from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tracecup.streams import stream_key
from tracecup.synth.allowed import Classes, allowed_places

TWO_CLASSES = [0, 0, 0, 0, 1, 1, 1, 1]


def allowed(seed, label, par_c=0.0, par_m=0.0, par_l=0.0, drawn=False, compat=False, rng=1):
    """The sets of all instants."""
    seed, label = np.asarray(seed, dtype=np.int32), np.asarray(label, dtype=np.int32)
    starts = np.empty(len(seed) + 1, dtype=np.int64)
    places = np.empty(len(seed) * len(label), dtype=np.int32)
    blurring = (par_c, par_m, par_l, drawn, compat)
    allowed_places(seed, Classes.of(label).arrays, blurring, *stream_key(rng), starts, places)
    found = [places[low:high].tolist() for low, high in pairwise(starts)]
    assert all(len(set(one)) == len(one) for one in found)
    return [set(one) for one in found]


def slow_sets(seed, label, par_m):
    """The sets with whole classes, word by word."""
    members = {s: [i for i, own in enumerate(label) if own == s] for s in label}
    sets = [set(members[label[x]]) for x in seed]
    for t, x in enumerate(seed):
        changes = [f for f in range(t, len(seed)) if seed[f] != x]
        if not changes or label[seed[changes[0]]] == label[x]:
            continue
        f = changes[0]
        stay = 0
        while f + stay + 1 < len(seed) and seed[f + stay + 1] == seed[f]:
            stay += 1
        share = par_m ** ((f - t) ** 2)
        for s in (label[x], label[seed[f]]):
            some = members[s][: math.floor(share * len(members[s]))]
            for later in range(t, min(f + min(stay, f - t), len(seed) - 1) + 1):
                sets[later] |= set(some)
    return sets


class TestMerge:
    def test_change_of_place_by_hand(self):
        first, second = {0, 1, 2, 3}, {4, 5, 6, 7}
        assert allowed([0, 0, 0, 4, 4], TWO_CLASSES, par_m=0.75) == [
            first,
            first | {4},
            first | {4, 5, 6},
            second | {0, 1, 2},
            second | {0, 1, 2},
        ]

    def test_change_within_a_class_mixes_nothing(self):
        assert allowed([0, 1, 2], TWO_CLASSES, par_m=1.0) == [{0, 1, 2, 3}] * 3

    @given(
        st.lists(st.integers(0, 9), min_size=1, max_size=12),
        st.lists(st.integers(0, 2), min_size=10, max_size=10),
        st.sampled_from([0.0, 0.5, 0.75, 0.9, 1.0]),
    )
    def test_is_what_the_words_say(self, seed, label, par_m):
        label = np.unique(label, return_inverse=True)[1].tolist()
        assert allowed(seed, label, par_m=par_m) == slow_sets(seed, label, par_m)

    def test_random_places_are_as_many(self):
        # Three of four places of either class are mixed in, all as likely.
        left = [
            next(
                iter({4, 5, 6, 7} - allowed([0, 4], TWO_CLASSES, par_m=0.75, drawn=True, rng=k)[0])
            )
            for k in range(800)
        ]
        counts = np.bincount(left, minlength=8)[4:]
        assert stats.chisquare(counts).pvalue > 1e-4  # false alarm: one in 10 000


class TestThinning:
    @pytest.mark.parametrize(
        ("size", "par_c", "remain"),
        [(8, 0.25, 6), (7, 0.25, 6), (4, 0.25, 3), (3, 0.4, 3), (4, 0.5, 4), (9, 1.0, 9)],
    )
    def test_leaves_out_a_share_if_three_remain(self, size, par_c, remain):
        assert len(allowed([0], [0] * size, par_c=par_c)[0]) == remain

    def test_is_the_same_at_all_instants(self):
        sets = allowed([0, 8, 1, 9, 0], [0] * 8 + [1] * 8, par_c=0.5)
        assert sets[0] == sets[2] == sets[4]
        assert sets[1] == sets[3]

    def test_every_place_is_left_out_as_often(self):
        left = [
            next(iter(set(range(4)) - allowed([0], [0] * 4, 0.25, rng=k)[0])) for k in range(800)
        ]
        assert stats.chisquare(np.bincount(left)).pvalue > 1e-4  # false alarm: one in 10 000


class TestForbidding:
    def test_always(self):
        seed = [0, 5, 5, 2]
        sets = allowed(seed, TWO_CLASSES, par_m=0.75, par_l=1.0)
        assert all(x not in one for x, one in zip(seed, sets, strict=True))
        assert sets[0] >= {1, 2, 3}

    def test_by_chance(self):
        sets = allowed([0] * 2000, TWO_CLASSES, par_l=0.3)
        free = sum(0 in one for one in sets)
        assert stats.binomtest(free, 2000, 0.7).pvalue > 1e-4  # false alarm: one in 10 000

    def test_an_emptied_set_is_all_others(self):
        assert allowed([2], [0, 0, 1, 0], par_l=1.0) == [{0, 1, 3}]
        assert allowed([2], [0, 0, 1, 0], par_l=1.0, compat=True) == [set()]

    def test_the_only_place_stays(self):
        assert allowed([0, 0], [0], par_l=1.0) == [{0}, {0}]
