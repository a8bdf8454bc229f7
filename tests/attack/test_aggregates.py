"""Membership in counts of groups: a slow twin, hand-made extremes, what noise does to it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize

from tracecup.attack import AggMia, Case, aggregate_membership
from tracecup.attack.aggregates import _random_groups, logistic_coefficients, slot_visits
from tracecup.city import City, Clock, Grid
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.registry import parse
from tracecup.rng import child_seed, generator
from tracecup.traces import SetTraces, Traces

ROW = City(Grid.from_metres(9, 1, width_m=300, height_m=300))


def slow_visits(city: City, cells: SetTraces) -> np.ndarray:
    """Mean visits a day, cell by cell."""
    slots, days = cells.clock.slots, cells.clock.days
    counts = np.zeros((cells.n_users, slots, city.n_regions))
    for u in range(cells.n_users):
        for t in range(cells.times):
            for r in cells.cell(u, t).tolist():
                counts[u, t % slots, r] += 1 / (len(cells.cell(u, t)) * days)
    return counts.reshape(cells.n_users, -1)


def slow_auc(score: np.ndarray, inside: np.ndarray) -> float:
    wins = [
        (a > b + 5e-10) + 0.5 * (abs(a - b) <= 5e-10) for a in score[inside] for b in score[~inside]
    ]
    return float(np.mean(wins))


class TestSlotVisits:
    def test_cells_sets_and_gaps(self, make_case: Callable[..., Case]) -> None:
        case = make_case(5, users=6, slots=4, days=3)
        found = slot_visits(case.city, case.released).toarray()
        assert np.allclose(found, slow_visits(case.city, case.released), 1e-12)
        seen = slot_visits(ROW, Traces.of([[1, -1], [-1, -1]])).toarray()
        assert seen.sum(axis=1).tolist() == [1.0, 0.0]


class TestLogisticCoefficients:
    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_agrees_with_a_general_minimiser(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        samples, inside = random.normal(size=(40, 5)), random.random(40) < 0.4
        samples[inside, 0] += 2.0 * seed

        def loss(at: np.ndarray) -> float:
            margin = np.where(inside, 1, -1) * (samples @ at[:-1] + at[-1])
            return float(np.logaddexp(0, -margin).sum() + (at[:-1] ** 2).sum() / 2)

        wanted = optimize.minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-7}).x
        weights, constant = logistic_coefficients(samples, inside)
        assert np.allclose([*weights, constant], wanted, atol=1e-4)
        assert loss(np.array([*weights, constant])) <= loss(wanted) + 1e-9

    def test_separable_samples_have_an_end(self) -> None:
        samples = np.array([[-100.0], [-90.0], [90.0], [100.0]])
        weights, _ = logistic_coefficients(samples, samples[:, 0] > 0)
        assert 0 < weights[0] < 1


class TestRandomGroups:
    def test_sizes_and_the_target(self) -> None:
        inside = np.arange(10) < 5
        member = _random_groups(8, 3, 4, inside, np.random.default_rng(1))
        assert (member.sum(axis=1) == 4).all()
        assert np.array_equal(member[:, 3] == 1, inside)

    def test_others_are_equally_likely(self) -> None:
        inside = np.arange(4000) < 2000
        member = _random_groups(6, 0, 3, inside, np.random.default_rng(2))
        # two or three of five others: standard deviation below 0.011, five of them per number
        assert np.abs(member[inside, 1:].mean(axis=0) - 2 / 5).max() < 0.055
        assert np.abs(member[~inside, 1:].mean(axis=0) - 3 / 5).max() < 0.055


class TestAggregateMembership:
    def test_agrees_with_a_slow_program(self, make_case: Callable[..., Case]) -> None:
        case = make_case(7, users=9, slots=3, days=2)
        found = aggregate_membership(
            case.city, case.reference, case.released, 4, rng=3, groups=12, features=5, targets=4
        )
        random = generator(3)
        seed = int(random.integers(2**63))
        assert found.target.tolist() == sorted(random.permutation(9)[:4].tolist())
        known = slow_visits(case.city, SetTraces.of_traces(case.reference))
        shown = slow_visits(case.city, case.released)
        inside = np.arange(12) < 6
        for target, auc in zip(found.target.tolist(), found.auc, strict=True):
            most = sorted(np.flatnonzero(known[target]), key=lambda c: (-known[target, c], c))[:5]
            own = generator(child_seed(seed, target))
            sums = []
            for side in (known, shown):
                member = _random_groups(9, target, 4, inside, own) == 1
                sums.append(
                    np.array([[side[who, c].sum() for c in sorted(most)] for who in member])
                )
            centre, spread = sums[0].mean(axis=0), sums[0].std(axis=0)
            spread = np.where(spread == 0, 1, spread)
            weights, _ = logistic_coefficients((sums[0] - centre) / spread, inside)
            assert auc == pytest.approx(slow_auc((sums[1] - centre) / spread @ weights, inside))

    def test_users_with_places_of_their_own_are_always_told(self) -> None:
        habits = Traces.of([[u, u] for u in range(9)])
        found = aggregate_membership(ROW, habits, SetTraces.of_traces(habits), 3, rng=1, groups=20)
        assert found.auc.tolist() == [1.0] * 9

    def test_equal_users_are_never_told(self) -> None:
        same = Traces.of([[4, 4]] * 9)
        found = aggregate_membership(ROW, same, SetTraces.of_traces(same), 3, rng=1, groups=20)
        assert found.auc.tolist() == [0.5] * 9

    def test_nothing_released_is_guessing(self) -> None:
        habits = Traces.of([[u, u] for u in range(9)])
        empty = SetTraces.of_cells([[[], []]] * 9)
        assert aggregate_membership(ROW, habits, empty, 3, rng=1, groups=20).value == 0.5

    def test_larger_groups_tell_less(self) -> None:
        random = np.random.default_rng(5)
        city = City(Grid.from_metres(6, 6, width_m=300, height_m=300))
        haunts = random.integers(36, size=(60, 3))
        reference, original = (
            Traces.of(
                np.take_along_axis(haunts, random.integers(3, size=(60, 12)), axis=1),
                Clock.regular(4, 3),
            )
            for _ in range(2)
        )
        cells = SetTraces.of_traces(original)
        small, large = (
            aggregate_membership(city, reference, cells, g, rng=1, groups=60, targets=30).value
            for g in (3, 30)
        )
        assert 0.55 < large < small - 0.1

    def test_unknown_users_are_left_out(self) -> None:
        known = Traces.of([[0, 0], [1, 1], [-1, -1], [2, 2]])
        cells = SetTraces.of_cells([[[k], [k]] for k in (0, 1, 5, 2)])
        found = aggregate_membership(ROW, known, cells, 2, rng=1, groups=8)
        assert np.isnan(found.auc[2])
        assert found.value == 1.0

    def test_wrong_input(self) -> None:
        one = Traces.of([[0, 1]])
        with pytest.raises(InvalidTraces, match="second user"):
            aggregate_membership(ROW, one, SetTraces.of_traces(one))
        with pytest.raises(InvalidTraces, match="1 users .* release of 2"):
            aggregate_membership(ROW, one, SetTraces.of_cells([[[0], [1]]] * 2))


class TestAggMia:
    def test_by_name(self) -> None:
        method = parse("measure", "aggmia(10,targets=4)")
        assert method == AggMia(10, targets=4)
        assert str(method) == "AggMIA(10,targets=4)"
        assert "NDSS 2018" in AggMia.citation
        with pytest.raises(InvalidParameter, match=r"AggMIA.g must be .* >= 1"):
            parse("measure", "AggMIA(0)")

    def test_measures_what_the_function_finds(self, make_case: Callable[..., Case]) -> None:
        case = make_case(7, users=9, slots=3, days=2)
        found = AggMia(4, targets=5).measure(case.city, case.reference, case.released, 2)
        wanted = aggregate_membership(case.city, case.reference, case.released, 4, 2, targets=5)
        assert found.value == wanted.value
        assert found.interval.low <= found.value <= found.interval.high
        assert found.meaning == "AUC of membership in counts of 4 users, mean of 5 targets"
