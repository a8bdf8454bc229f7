"""Private: nearly the counted chain at a huge budget, nothing but the noisy tables in the model."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tracecup.city import Clock, Grid
from tracecup.synth import Private, Training
from tracecup.synth.noisycounts import noisy_counts, weighted_counts
from tracecup.synth.private import PrivateModel
from tracecup.traces import Traces


@pytest.fixture(scope="module")
def training() -> Training:
    """300 people of nine places: half stay at home, half go to the place in the middle."""
    gen = np.random.default_rng(1)
    homes = gen.integers(9, size=300)
    goes = gen.random(300) < 0.5
    regions = np.stack([homes, np.where(goes, 4, homes), np.where(goes, 4, homes)], axis=1)
    grid = Grid.from_metres(3, 3, width_m=2000, height_m=2000)
    return Training.of_traces(Traces.of(regions, Clock.regular(1, 3)), 9).placed(grid)


class TestPrivate:
    def test_with_a_huge_budget_it_is_the_counted_chain(self, training: Training) -> None:
        made = Private(1e6).fit(training, rng=1).sample(20_000, 1, rng=2).regions
        slots = np.stack([np.bincount(made[:, t], minlength=9) for t in range(3)]) / 20_000
        seen = training.location.reshape(300, 3)
        real = np.stack([np.bincount(seen[:, t], minlength=9) for t in range(3)]) / 300
        assert np.abs(slots - real).sum(axis=1).max() / 2 < 0.05
        moved = (made[:, 1] != made[:, 0]).mean()
        assert moved == pytest.approx((seen[:, 1] != seen[:, 0]).mean(), abs=0.03)
        assert (made[:, 2] == made[:, 1]).mean() > 0.97

    def test_depends_on_the_noisy_tables_only(self, training: Training) -> None:
        counts = noisy_counts(weighted_counts(training), 1.0, 5)
        made = PrivateModel.of_counts(counts, training.day, training.positions).sample(50, 2, 7)
        again = Private(1.0).fit(training, rng=5).sample(50, 2, 7)
        assert np.array_equal(made.regions, again.regions)

    def test_any_number_of_virtual_users(self, training: Training) -> None:
        assert Private(1.0).fit(training, rng=1).n_users is None

    def test_more_budget_is_more_useful(self, training: Training) -> None:
        seen = np.bincount(training.location, minlength=9) / len(training.location)
        off = []
        for eps in (0.05, 1.0, 100.0):
            distance = 0.0
            for seed in range(10):
                made = Private(eps).fit(training, rng=seed).sample(500, 1, rng=seed).regions
                shares = np.bincount(made.ravel(), minlength=9) / made.size
                distance += np.abs(shares - seen).sum() / 20
            off.append(distance)
        assert off == sorted(off, reverse=True)

    def test_moves_prefer_what_is_near(self, training: Training) -> None:
        law = Private(1e6).fit(training, rng=1).moves
        shares = np.diff(law[0], prepend=0.0) / law[0, -1]
        assert shares[0] == 0
        assert shares[1] > shares[2]

    def test_promise(self) -> None:
        assert Private(0.5).guarantee().startswith("0.5-differentially private for all records")


class TestSyntheticMembership:
    @pytest.mark.parametrize("eps", [1.0, 4.0])
    def test_counting_the_targets_place_in_synthetic_traces_stays_below_the_bound(
        self, eps: float
    ) -> None:
        # The target alone lives at place 3. Member iff place 3 begins more than its share of the
        # virtual users' days. Clopper-Pearson at 99.9 %, fixed seed.
        regions = np.zeros((8, 3), dtype=np.int64)
        regions[:4] = 1
        regions[-1] = 3
        clock = Clock.regular(1, 3)
        gen = np.random.default_rng(4)
        rates = []
        for people in (regions, regions[:-1]):
            training = Training.of_traces(Traces.of(people, clock), 4)
            said = 0
            for _ in range(1500):
                model = Private(eps).fit(training, rng=gen)
                made = model.sample(40, 1, rng=gen).regions[:, 0]
                said += (made == 3).mean() > 1 / 16
            rates.append(said)
        low = stats.binomtest(rates[0], 1500).proportion_ci(0.998).low
        high = stats.binomtest(rates[1], 1500).proportion_ci(0.998).high
        assert low <= math.exp(eps) * high
        assert low - high <= math.tanh(eps / 2)
