from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import City, Clock, Grid
from tracecup.errors import InvalidTraces
from tracecup.traces import SetTraces, Traces
from tracecup.usefulness import (
    grid_coordinates,
    population,
    release_population,
    release_tm_emd,
    release_tp_tv_top50,
    release_transitions,
    tm_emd,
    tp_tv_top50,
    transition_matrices,
)
from tracecup.usefulness.daytraces import DayTraces

CITY = City(Grid.from_metres(4, 3, width_m=300, height_m=300))
CLOCK = Clock.regular(days=3, slots=4)


def random_release(seed: int, largest: int = 3, users: int = 5) -> SetTraces:
    rng = np.random.default_rng(seed)
    cells = [
        [rng.integers(0, 12, rng.integers(0, largest + 1)).tolist() for _ in range(CLOCK.times)]
        for _ in range(users)
    ]
    return SetTraces.of_cells(cells, CLOCK)


def random_traces(seed: int, users: int = 5) -> Traces:
    return Traces.of(np.random.default_rng(seed).integers(0, 12, (users, CLOCK.times)), CLOCK)


def slow_population(released: SetTraces) -> np.ndarray:
    mass = np.zeros((CLOCK.slots, 12))
    for i in range(released.n_users):
        for j in range(released.times):
            cell = released.cell(i, j)
            for region in cell:
                mass[j % CLOCK.slots, region] += 1 / len(cell)
    for slot in mass:
        slot[:] = slot / slot.sum() if slot.sum() else 1 / 12
    return mass


def slow_transitions(released: SetTraces) -> np.ndarray:
    counts = np.zeros((12, 12))
    for i in range(released.n_users):
        for j in range(released.times - 1):
            if (j + 1) % CLOCK.slots == 0:
                continue
            before, after = released.cell(i, j), released.cell(i, j + 1)
            for r in before:
                for s in after:
                    counts[r, s] += 1 / (len(before) * len(after))
    for i in range(12):
        if counts[i].sum() == 0:
            counts[i, i] = 1
        counts[i] /= counts[i].sum()
    return counts


class TestReleasePopulation:
    @pytest.mark.parametrize("seed", range(3))
    def test_agrees_with_the_slow_loop(self, seed: int):
        released = random_release(seed)
        assert release_population(released, 12)[0] == pytest.approx(slow_population(released))

    def test_single_cells_equal_plain_traces(self):
        traces = random_traces(1)
        plain = release_population(traces, 12)
        assert release_population(SetTraces.of_traces(traces), 12) == pytest.approx(plain)

    def test_everything_deleted_is_uniform(self):
        nothing = SetTraces.of_cells([[[], []]], Clock.regular(days=1, slots=2))
        assert release_population(nothing, 4).tolist() == [[[0.25] * 4] * 2]


class TestReleaseTransitions:
    @pytest.mark.parametrize("seed", range(3))
    def test_agrees_with_the_slow_loop(self, seed: int):
        released = random_release(seed)
        found = release_transitions(released, 12).toarray()
        assert found == pytest.approx(slow_transitions(released))

    def test_by_hand_with_a_set_and_a_repeated_region(self):
        # {0, 1} -> {2}: half each; {3, 3, 0} -> {1}: 3 counts twice.
        clock = Clock.regular(days=2, slots=2)
        released = SetTraces.of_cells([[[0, 1], [2], [3, 3, 0], [1]]], clock)
        found = release_transitions(released, 4).toarray()
        # Row 0: 1/2 to 2 and 1/3 to 1.
        assert found[0] == pytest.approx([0, 0.4, 0.6, 0])
        assert found[1].tolist() == [0, 0, 1, 0]
        assert found[3].tolist() == [0, 1, 0, 0]
        assert found[2].tolist() == [0, 0, 1, 0]

    def test_single_cells_equal_plain_traces(self):
        traces = random_traces(2)
        expected = release_transitions(traces, 12).toarray()
        found = release_transitions(SetTraces.of_traces(traces), 12).toarray()
        assert found == pytest.approx(expected)

    def test_everything_deleted_stays(self):
        nothing = SetTraces.of_cells([[[], []]])
        assert np.array_equal(release_transitions(nothing, 3).toarray(), np.eye(3))


class TestReleaseMetrics:
    def test_top50_is_that_of_the_populations(self):
        original, released = random_traces(3), random_release(4)
        expected = tp_tv_top50(
            release_population(original, 12), release_population(released, 12), top=5
        )
        assert release_tp_tv_top50(CITY, original, released, top=5).value == expected.value

    def test_tm_emd_is_that_of_the_matrices_in_cells(self):
        original, released = random_traces(3), random_release(4)
        expected = tm_emd(
            release_transitions(original, 12),
            [release_transitions(released, 12)],
            grid_coordinates(4, 3),
        )
        assert release_tm_emd(CITY, original, released).value == expected.value

    def test_zero_for_an_unobfuscated_release(self):
        original = random_traces(5)
        released = SetTraces.of_traces(original)
        assert release_tp_tv_top50(CITY, original, released).value == pytest.approx(0)
        assert release_tm_emd(CITY, original, released).value == pytest.approx(0, abs=1e-12)

    def test_shuffling_users_changes_nothing(self):
        original, released = random_traces(6), random_release(7)
        shuffled = released.take_users([3, 1, 0, 4, 2])
        first = release_tm_emd(CITY, original, released).value
        assert release_tm_emd(CITY, original, shuffled).value == pytest.approx(first)
        top = release_tp_tv_top50(CITY, original, released).value
        assert release_tp_tv_top50(CITY, original, shuffled).value == pytest.approx(top)

    def test_one_day_agrees_with_the_synthesizer_metrics(self):
        clock = Clock.regular(days=1, slots=6)
        rng = np.random.default_rng(8)
        one, two = (Traces.of(rng.integers(0, 12, (9, 6)), clock) for _ in range(2))
        truth, other = (DayTraces.of_traces(traces, 12) for traces in (one, two))
        expected = tm_emd(
            transition_matrices(truth)[0], transition_matrices(other), grid_coordinates(4, 3)
        )
        assert release_tm_emd(CITY, one, two).value == pytest.approx(expected.value)
        expected = tp_tv_top50(population(truth), population(other))
        assert release_tp_tv_top50(CITY, one, two).value == pytest.approx(expected.value)

    def test_what_does_not_fit_is_named(self):
        original = random_traces(1)
        other = Traces.of([[0, 1]], Clock.regular(days=1, slots=2))
        with pytest.raises(InvalidTraces, match="4 slots a day, released ones 2"):
            release_tm_emd(CITY, original, other)
        with pytest.raises(InvalidTraces, match="region 12"):
            release_tm_emd(CITY, original, Traces.of(np.full((1, 12), 12), CLOCK))
