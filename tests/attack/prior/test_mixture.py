from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tracecup.attack.prior import COMPONENTS, slot_prior
from tracecup.attack.prior.mixture import Habits
from tracecup.attack.prior.topics import fit_topics
from tracecup.city import City, Clock, Grid
from tracecup.traces import Traces, visit_counts

CITY = City(Grid.from_metres(5, 4, width_m=341.25, height_m=346.875), hospitals=[3])


def _traces(seed: int, users: int = 6, days: int = 4, slots: int = 3, gaps: float = 0.1) -> Traces:
    """Users with habits: three regions each, one of them most of the time."""
    random = np.random.default_rng(seed)
    homes = random.integers(20, size=(users, 3))
    picks = random.choice(3, p=[0.7, 0.2, 0.1], size=(users, days * slots))
    regions = np.take_along_axis(homes, picks, axis=1)
    regions[random.random(regions.shape) < gaps] = -1
    return Traces.of(regions, Clock.regular(days, slots))


def _slow_components(reference: Traces, habits: Habits) -> NDArray[np.float64]:
    """The seven components (7, users, slots, regions) by their definitions."""
    users, slots = reference.n_users, reference.clock.slots
    distance = CITY.grid.distances
    blur = np.where(distance <= 5 * 0.35, np.exp(-distance / 0.35), 0.0)
    blur /= blur.sum(axis=1, keepdims=True)
    apart = np.exp(-np.abs(np.subtract.outer(np.arange(slots), np.arange(slots))).astype(float))
    same, crowd = np.zeros((users, slots, 20)), np.full((slots, 20), 1 / 20)
    for u in range(users):
        for j, r in enumerate(reference.regions[u]):
            if r >= 0:
                same[u, j % slots, r] += 1
                crowd[j % slots, r] += 1
    crowd = apart @ crowd
    crowd /= crowd.sum(axis=1, keepdims=True)
    around = np.einsum("st,utx->usx", apart, same)
    day = np.repeat(same.sum(axis=1, keepdims=True), slots, axis=1)
    topic = (habits.topics.theta @ habits.topics.phi.T)[:, None] * (crowd / crowd.mean(axis=0))
    parts = [same, around, around @ blur, day, day @ blur, topic]
    for part in parts:
        total = part.sum(axis=2, keepdims=True)
        part[:] = np.where(total > 0, part / np.where(total > 0, total, 1), crowd)
    return np.stack([*parts, np.broadcast_to(crowd, same.shape)])


class TestHabits:
    @pytest.mark.parametrize("gaps", [0.0, 0.3, 0.9])
    def test_components_are_what_they_are_called(self, gaps: float) -> None:
        reference = _traces(1, gaps=gaps)
        habits = Habits.of(CITY, reference, fit_topics(visit_counts(reference, 20)))
        slow = _slow_components(reference, habits)
        for c in range(len(COMPONENTS)):
            only = np.zeros((3, 7))
            only[:, c] = 1.0
            assert np.allclose(habits.mixed(only), slow[c], rtol=1e-5, atol=1e-7)

    def test_values_at_events_are_those_of_the_mixture(self) -> None:
        reference, events = _traces(2), _traces(3, days=2)
        habits = Habits.of(CITY, reference, fit_topics(visit_counts(reference, 20)))
        values, slow = habits.values_at(events), _slow_components(reference, habits)
        for u in range(6):
            for j, r in enumerate(events.regions[u]):
                expected = slow[:, u, j % 3, r] if r >= 0 else np.zeros(7)
                assert np.allclose(values[u, j], expected)


class TestSlotPrior:
    def test_is_a_distribution_that_excludes_nothing(self) -> None:
        prior = slot_prior(CITY, _traces(4))
        assert prior.probabilities.shape == (6, 3, 20)
        assert np.allclose(prior.probabilities.sum(axis=2), 1, atol=1e-5)
        assert (prior.probabilities > 0).all()
        assert np.allclose(prior.weights.sum(axis=1), 1)

    def test_knows_habits_better_than_everybody_does(self) -> None:
        prior = slot_prior(CITY, _traces(5, users=40, days=12, gaps=0.0))
        assert -np.log(20) < prior.log_likelihood < 0

    def test_weights_do_not_lower_the_likelihood_of_held_out_days(self) -> None:
        reference = _traces(6, users=40, days=8)
        known, test = reference.take_days(0, 6), reference.take_days(6, 8)
        habits = Habits.of(CITY, known, fit_topics(visit_counts(known, 20)))
        values = habits.values_at(test)[test.regions >= 0]
        usual = np.log(values @ (0.03, 0.06, 0.05, 0.12, 0.01, 0.64, 0.09)).mean()
        assert slot_prior(CITY, reference).log_likelihood > usual

    def test_one_day_holds_nothing_out(self) -> None:
        prior = slot_prior(CITY, _traces(7, days=1))
        assert np.isnan(prior.log_likelihood)
        assert np.allclose(prior.probabilities.sum(axis=2), 1, atol=1e-5)

    def test_nobody_was_observed(self) -> None:
        prior = slot_prior(CITY, _traces(8, gaps=1.0))
        assert np.allclose(prior.probabilities.sum(axis=2), 1, atol=1e-5)
        assert np.allclose(prior.probabilities, 1 / 20, atol=0.02)

    def test_permuted_users_have_permuted_beliefs(self) -> None:
        reference, order = _traces(9), np.array([3, 0, 5, 1, 4, 2])
        prior, moved = slot_prior(CITY, reference), slot_prior(CITY, reference.take_users(order))
        assert np.allclose(moved.probabilities, prior.probabilities[order], rtol=1e-5)
