"""The test by hand, its likelihoods by sampling and by slow sums, and the filter around a model."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tracecup.city import Clock
from tracecup.errors import InvalidParameter
from tracecup.streams import stream_key
from tracecup.synth import (
    PD,
    PPMTF,
    SGD,
    DeniabilityTest,
    Markov,
    PPMTFPlus,
    Training,
    seed_likelihoods,
)
from tracecup.synth.base import Walk
from tracecup.synth.deniability import IMPOSSIBLE, buckets
from tracecup.traces import Traces


class TestDeniabilityTest:
    def test_worked_check(self) -> None:
        logs = np.log([[0.30, 0.26, 0.24]])
        assert buckets(logs, 2.0).tolist() == [[1, 1, 2]]
        passed = [DeniabilityTest(k, 2.0).passes(logs, np.array([0]))[0] for k in (1, 2, 3)]
        assert passed == [True, True, False]

    def test_nested_buckets_never_turn_a_pass_into_a_failure(self) -> None:
        gen = np.random.default_rng(1)
        logs = -gen.exponential(5, size=(200, 40))
        seeds = gen.integers(40, size=200)
        for k in (2, 5, 10):
            narrow = DeniabilityTest(k, 1.5).passes(logs, seeds)
            wide = DeniabilityTest(k, 1.5**2).passes(logs, seeds)
            fewer = DeniabilityTest(k - 1, 1.5).passes(logs, seeds)
            assert (wide | ~narrow).all()
            assert (fewer | ~narrow).all()

    def test_users_who_cannot_have_made_it_do_not_count(self) -> None:
        logs = np.array([[0.0, -np.inf, -np.inf], [-np.inf, 0.0, 0.0]])
        assert buckets(logs, 2.0)[0].tolist() == [0, IMPOSSIBLE, IMPOSSIBLE]
        assert DeniabilityTest(2, 2.0).passes(logs, np.array([0, 0])).tolist() == [False, False]

    def test_the_randomised_bound_has_laplace_noise(self) -> None:
        # 12 of 20 users alike: P(k + X <= 12), X ~ Laplace(1/eps0); 4 standard deviations.
        logs = np.repeat(np.where(np.arange(20) < 12, 0.0, -50.0)[None], 20_000, axis=0)
        seeds = np.zeros(20_000, dtype=np.int64)
        for k, eps0 in ((12, 1.0), (14, 1.0), (10, 0.5)):
            share = DeniabilityTest(k, 2.0, eps0).passes(logs, seeds, 3).mean()
            gap = (12 - k) * eps0
            wanted = 1 - 0.5 * math.exp(-gap) if gap >= 0 else 0.5 * math.exp(gap)
            assert share == pytest.approx(wanted, abs=4 * 0.5 / math.sqrt(20_000))

    def test_bound_of_the_randomised_test(self) -> None:
        eps, delta = DeniabilityTest(20, 2.0, 0.5).privacy(4)
        assert eps == pytest.approx(0.5 + math.log(1.5))
        assert delta == pytest.approx(math.exp(-8))
        for wrong in (DeniabilityTest(20, 2.0), DeniabilityTest(4, 2.0, 1.0)):
            with pytest.raises(InvalidParameter, match="t must be within"):
                wrong.privacy(4)


@pytest.fixture(scope="module")
def small() -> Training:
    gen = np.random.default_rng(5)
    regions = gen.integers(3, size=(8, 4))
    regions[2, 1] = -1
    return Training.of_traces(Traces.of(regions, Clock.regular(1, 4)), 3)


def shares_of_days(model, user: int, many: int) -> dict[tuple[int, ...], float]:
    """How often each day is made from a training user."""
    found: dict[tuple[int, ...], float] = {}
    traces = model.sample(1, many, rng=9, first_user=user).regions.reshape(many, -1)
    for day in traces.tolist():
        found[tuple(day)] = found.get(tuple(day), 0.0) + 1 / many
    return found


class TestSeedLikelihoods:
    @pytest.mark.parametrize("method", [SGD(2), PPMTF(2, iterations=3, rho=5)], ids=str)
    def test_are_those_of_what_the_model_makes(self, method, small: Training) -> None:
        model = method.fit(small, rng=2)
        every = np.array(np.meshgrid(*[range(3)] * 4)).reshape(4, -1).T.astype(np.int32)
        law = np.exp(seed_likelihoods(model, every))
        assert np.allclose(law.sum(axis=0), 1.0)
        for user in (0, 2, 5):
            seen = shares_of_days(model, user, 20_000)
            for day, chance in zip(every.tolist(), law[:, user], strict=True):
                off = 5 * math.sqrt(max(chance * (1 - chance), 1e-5) / 20_000)
                assert seen.get(tuple(day), 0.0) == pytest.approx(chance, abs=off)

    def test_a_copied_day_counts_users_with_the_same_beginning(self, small: Training) -> None:
        model = SGD(2).fit(small)
        prefix = small.prefix(2)
        days = np.hstack([prefix, np.zeros((8, 2), dtype=np.int32)])
        whole = [u for u in range(8) if (prefix[u] >= 0).all()]
        possible = np.isfinite(seed_likelihoods(model, days[whole]))
        for row, u in enumerate(whole):
            for other in whole:
                same = bool((prefix[u] == prefix[other]).all())
                assert not (possible[row, other] and not same)

    @pytest.mark.parametrize("method", [SGD(), Markov(), PPMTFPlus(2, iterations=2)], ids=str)
    def test_others_are_refused(self, method, small: Training) -> None:
        with pytest.raises(InvalidParameter, match="plausible deniability needs"):
            seed_likelihoods(method.fit(small, rng=1), np.zeros((1, 4), dtype=np.int32))

    def test_masks_and_homes_are_refused(self, small: Training) -> None:
        model = PPMTF(2, iterations=2, rho=5, masks=True).fit(small, rng=1)
        with pytest.raises(InvalidParameter, match="without masks"):
            seed_likelihoods(model, np.zeros((1, 4), dtype=np.int32))


def order(days: int = 3) -> Walk:
    return Walk(0, days, 1, np.ones(4, dtype=np.bool_), stream_key(3))


class TestPD:
    def test_what_passed_is_deniable(self, small: Training) -> None:
        model = PD(2, copied=3, tries=1).fit(small, rng=1)
        days, passed = model.tested(order(), 0, 20)
        logs = seed_likelihoods(model.seeded, days[passed])
        assert 0 < passed.mean() < 1
        assert (np.isfinite(logs).sum(axis=1) >= 2).all()

    def test_one_user_is_always_enough_for_k_of_one(self, small: Training) -> None:
        _, passed = PD(1, copied=4).fit(small, rng=1).tested(order(), 0, 20)
        assert passed.all()

    def test_with_k_above_the_users_days_have_no_seed(self, small: Training) -> None:
        model = PD(9, copied=4, tries=1).fit(small, rng=1)
        _, passed = model.tested(order(), 0, 5)
        assert not passed.any()
        made = model.sample(1500, 1, rng=1).regions
        plain = SGD().fit(small).sample(1500, 1, rng=1).regions
        counts = [np.bincount(r.ravel(), minlength=3) / r.size for r in (made, plain)]
        assert np.abs(counts[0] - counts[1]).max() < 0.05

    def test_ppmtf_is_tested_too(self, small: Training) -> None:
        model = PD(3, 1.2, of="PPMTF", z=2, iterations=3, tries=2).fit(small, rng=1)
        days, passed = model.tested(order(), 0, 10)
        bucket = buckets(seed_likelihoods(model.seeded, days[passed]), 1.2)
        assert passed.any()
        assert all(np.bincount(row[row >= 0]).max() >= 3 for row in bucket)

    def test_promise_names_k_and_gamma(self) -> None:
        assert "at least 5 training users" in PD(5, 2.0).guarantee()
        assert "noise" in PD(5, 2.0, 1.0).guarantee()
