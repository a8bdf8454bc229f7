from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from tracecup import Clock, Traces
from tracecup.errors import InvalidParameter
from tracecup.synth import SGD, Markov, Training, Uniform


def training(regions, slots, n, instants_per_slot=1, days=1):
    traces = Traces.of(regions, Clock.regular(days, slots))
    return Training.of_traces(traces, n, instants_per_slot)


class TestSGD:
    def test_follows_the_frequencies_of_each_slot(self):
        # Slot 0: place 0 twice, 1 once. Into slot 1: 0 -> 1, 0 -> 2, 1 -> 1; into slot 2: 1 -> 0.
        data = training([[0, 1, 0], [0, 2, 0], [1, 1, 0]], 3, 3)
        days = SGD().fit(data).sample(1, 30_000, rng=1).regions.reshape(-1, 3)
        first = np.bincount(days[:, 0], minlength=3)
        assert first[2] == 0
        assert stats.binomtest(int(first[0]), 30_000, 2 / 3).pvalue > 1e-4
        from_0 = np.bincount(days[days[:, 0] == 0, 1], minlength=3)
        assert from_0[0] == 0
        assert stats.binomtest(int(from_0[1]), int(from_0.sum()), 1 / 2).pvalue > 1e-4
        assert set(days[days[:, 0] == 1, 1].tolist()) == {1}
        assert set(days[:, 2].tolist()) == {0}

    def test_rows_without_data_are_uniform(self):
        data = training([[0, 1, -1]], 3, 4)
        days = SGD().fit(data).sample(1, 20_000, rng=1).regions.reshape(-1, 3)
        assert stats.chisquare(np.bincount(days[:, 2], minlength=4)).pvalue > 1e-4

    def test_slots_of_several_instants(self):
        # Both steps into slot 1 count together: from 0 to 1 and from 0 to 2.
        data = training([[0, 0, 0, 1], [0, 0, 0, 2]], 4, 3, instants_per_slot=2)
        days = SGD().fit(data).sample(1, 20_000, rng=1, instants=2).regions.reshape(-1, 4)
        seen = np.bincount(days[:, 2], minlength=3)
        assert stats.chisquare(seen, 20_000 * np.array([0.5, 0.25, 0.25])).pvalue > 1e-4

    def test_copies_the_first_instants(self):
        data = training([[0, 1, 2], [2, 2, 1], [1, -1, 0]], 3, 3)
        days = SGD(2).fit(data).sample(days=5, rng=1).regions.reshape(3, 5, 3)
        assert (days[0, :, :2] == [0, 1]).all()
        assert (days[1, :, :2] == [2, 2]).all()
        assert (days[2, :, 0] == 1).all()

    def test_copies_have_only_the_training_users(self):
        model = SGD(1).fit(training([[0, 1]], 2, 2))
        with pytest.raises(InvalidParameter, match="within the 1 there are"):
            model.sample(2, rng=1)

    def test_copies_need_the_same_instants(self):
        model = SGD(1).fit(training([[0, 1]], 2, 2))
        with pytest.raises(InvalidParameter, match="copied instants"):
            model.sample(1, rng=1, instants=2)

    def test_too_many_copies(self):
        with pytest.raises(InvalidParameter, match="2 instants"):
            SGD(3).fit(training([[0, 1]], 2, 2))


class TestMarkov:
    def test_walks_like_its_user(self):
        data = training([[0, 1, 0, 0, 1, 1], [2, 2, 2, 2, 2, 2]], 6, 3)
        days = Markov().fit(data).sample(days=5000, rng=1).regions.reshape(2, 5000, 6)
        assert set(days[1].ravel().tolist()) == {2}
        assert set(days[0, :, 0].tolist()) == {0}
        pairs = Counter(
            zip(days[0, :, :-1].ravel().tolist(), days[0, :, 1:].ravel().tolist(), strict=True)
        )
        # 0 -> 0 once, 0 -> 1 twice; 1 -> 0 once, 1 -> 1 once.
        for place, share in ((0, 2 / 3), (1, 1 / 2)):
            total = pairs[place, 0] + pairs[place, 1]
            assert stats.binomtest(pairs[place, 1], total, share).pvalue > 1e-4

    def test_stays_where_the_user_never_left(self):
        data = training([[0, 1]], 2, 3)
        days = Markov().fit(data).sample(days=3, rng=1, instants=3)
        assert days.regions.reshape(3, 6).tolist() == [[0, 1, 1, 1, 1, 1]] * 3

    def test_begins_in_the_earliest_slot_with_records(self):
        data = training([[-1, 2, 1]], 3, 3)
        assert Markov().fit(data).sample(days=1, rng=1).regions[0, 0] == 2


class TestUniform:
    def test_every_place_as_often(self):
        model = Uniform().fit(training([[0, 1]], 2, 7))
        regions = model.sample(100, 100, rng=1).regions
        assert stats.chisquare(np.bincount(regions.ravel(), minlength=7)).pvalue > 1e-4


@pytest.mark.parametrize("method", [SGD(), SGD(2), Markov(), Uniform()], ids=str)
class TestEveryChain:
    def test_same_seed_same_traces(self, town, method):
        model = method.fit(town)
        assert model.sample(20, 3, rng=4) == model.sample(20, 3, rng=4)
        assert model.sample(20, 3, rng=4) != model.sample(20, 3, rng=5)

    def test_parts_make_the_whole(self, town, method):
        model = method.fit(town)
        whole, part = model.sample(20, 3, rng=4), model.sample(6, 3, rng=4, first_user=7)
        assert np.array_equal(whole.regions[7:13], part.regions)

    def test_locations_are_within_range(self, town, method):
        regions = method.fit(town).sample(20, 3, rng=4, pick=[0, 5]).regions
        assert regions.shape == (20, 6)
        assert regions.min() >= 0
        assert regions.max() < town.n_locations
