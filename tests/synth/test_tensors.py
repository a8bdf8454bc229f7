from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tracecup import Clock, Traces
from tracecup.errors import InvalidParameter
from tracecup.synth import Training, make_tensors


def as_dicts(tensors):
    """F and G of every user as {(origin, context): value}."""
    users = []
    for u in range(tensors.n_users):
        part = slice(tensors.offsets[u], tensors.offsets[u + 1])
        users.append(
            dict(
                zip(
                    zip(tensors.origin[part].tolist(), tensors.context[part].tolist(), strict=True),
                    tensors.value[part].tolist(),
                    strict=True,
                )
            )
        )
    return users


def counted_by_hand(training):
    users = [Counter() for _ in range(training.n_users)]
    for user, before, after in zip(*training.steps(), strict=True):
        users[user][before, after] += 1
    for user, place, slot in zip(training.user, training.location, training.slot, strict=True):
        users[user][place, training.n_locations + slot] += 1
    return [dict(user) for user in users]


class TestMakeTensors:
    def test_counts_as_a_loop_does(self, town):
        assert as_dicts(make_tensors(town, rng=1)) == counted_by_hand(town)

    def test_transitions_come_first(self, town):
        tensors = make_tensors(town, rng=1)
        for u in range(tensors.n_users):
            contexts = tensors.context[tensors.offsets[u] : tensors.offsets[u + 1]]
            moves = contexts < town.n_locations
            assert moves.sum() == tensors.transitions[u]
            assert moves[: tensors.transitions[u]].all()

    def test_value_cap(self):
        training = Training.of_traces(Traces.of([[0] * 30], Clock.regular(1, 30)), 1)
        assert make_tensors(training, rng=1).value.max() == 10
        assert make_tensors(training, value_cap=200, rng=1).value.max() == 29

    def test_element_cap_counts_elements_of_each_tensor(self):
        training = Training.of_traces(Traces.of([list(range(9))], Clock.regular(1, 9)), 9)
        tensors = make_tensors(training, element_cap=4, rng=1)
        assert tensors.transitions.tolist() == [4]
        assert tensors.visits.tolist() == [4]
        (kept,), (all_of_them,) = as_dicts(tensors), counted_by_hand(training)
        assert kept.items() <= all_of_them.items()

    def test_element_cap_keeps_every_element_as_often(self):
        n, kept = 4000, 3
        training = Training.of_traces(Traces.of([list(range(9))] * n, Clock.regular(1, 9)), 9)
        tensors = make_tensors(training, element_cap=kept, rng=2)
        visits = tensors.context >= 9
        often = np.bincount(tensors.origin[visits], minlength=9)
        expected = n * kept / 9
        # Negatively correlated counts; beyond 4.5 standard deviations: below 1e-4 for all nine.
        assert np.abs(often - expected).max() < 4.5 * np.sqrt(expected * (1 - kept / 9))

    def test_same_seed_same_subset(self):
        training = Training.of_traces(Traces.of([list(range(9))] * 5, Clock.regular(1, 9)), 9)
        first, second, third = (make_tensors(training, element_cap=4, rng=k) for k in (1, 1, 2))
        assert first.fingerprint() == second.fingerprint()
        assert first.fingerprint() != third.fingerprint()

    def test_people_flow(self, data_dir):
        rows = np.genfromtxt(
            data_dir / "ppmtfplus_pf" / "traintraces_TK.csv",
            delimiter=",",
            skip_header=1,
            usecols=(0, 1, 5, 6),
            dtype=np.int64,
        )
        regions = rows[:, 1].reshape(500, 30)
        training = Training.of_traces(Traces.of(regions, Clock.regular(1, 30, 540, 20)), 400)
        tensors = make_tensors(training, rng=1)
        assert int(tensors.transitions.sum()) == 8915
        assert int(tensors.transitions.max()) == 29
        assert set(tensors.visits.tolist()) == {30}

    def test_too_many_locations(self):
        training = Training.of_traces(Traces.of([[0] * 600], Clock.regular(1, 600, 0, 1)), 65_000)
        with pytest.raises(InvalidParameter, match="fewer than 65536"):
            make_tensors(training)


class TestSupport:
    def test_is_what_anybody_showed(self, town):
        support = make_tensors(town, rng=1).support
        moves = {
            (i, j)
            for i in range(town.n_locations)
            for j in support.targets[support.starts[i] : support.starts[i + 1]].tolist()
        }
        _, before, after = town.steps()
        assert moves == set(zip(before.tolist(), after.tolist(), strict=True))
        places = set(zip(town.slot.tolist(), town.location.tolist(), strict=True))
        assert set(zip(*map(list, np.nonzero(support.visited)), strict=True)) == places
