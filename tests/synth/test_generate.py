from __future__ import annotations

import resource
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tracecup.errors import InvalidParameter
from tracecup.streams import stream_key
from tracecup.synth.features import widened
from tracecup.synth.generate import Generator

FALSE_ALARM = 1e-4  # of each chi-square test below; seeds are fixed


def explicit(factors, a, *, masks=False, home=None, gamma=20.0, floor=1e-8):
    """pi (T, N) and the Metropolis-Hastings kernels K (T, N, N), from their definitions."""
    N = len(factors.B)
    v = (a * factors.D) @ factors.B.T
    w = np.maximum((a * factors.B) @ factors.C.T, floor)
    v = np.where(v < 0, floor, v)
    if masks:
        seen = np.zeros((N, N), dtype=bool)
        for i in range(N):
            seen[
                i,
                factors.support.targets[factors.support.starts[i] : factors.support.starts[i + 1]],
            ] = True
        v, w = np.where(factors.support.visited, v, floor), np.where(seen, w, floor)
    pi = v / v.sum(axis=1, keepdims=True)
    if home is not None:
        for t in {0, 1, len(pi) - 2, len(pi) - 1}:
            pi[t, home] += gamma
            pi[t] /= pi[t].sum()
    q = w / w.sum(axis=1, keepdims=True)
    K = q * np.minimum(1, pi[:, None, :] * q.T / (pi[:, :, None] * q))
    for k in K:
        np.fill_diagonal(k, 0)
        np.fill_diagonal(k, 1 - k.sum(axis=1))
    return pi, K


def walk(generator, features, days, instants=1, first=0, seed=1):
    slots = generator.factors.day.slots * instants
    out = np.empty((len(features), days, slots), dtype=np.int32)
    kept = np.ones(slots, dtype=bool)
    generator.walk(widened(features), first, days, instants, kept, stream_key(seed), out)
    return out


def agrees(counts, law):
    """Chi-square test of counts against probabilities, cells below 5 expected taken together."""
    expected = counts.sum() * law
    big = expected >= 5
    observed = np.append(counts[big], counts[~big].sum())
    wanted = np.append(expected[big], expected[~big].sum())
    if wanted[-1] < 5:
        if observed[-1] > 40:  # so rare a cell: beyond any chance
            return False
        observed, wanted = observed[:-1], wanted[:-1]
        wanted = wanted * observed.sum() / wanted.sum()
    return len(observed) < 2 or stats.chisquare(observed, wanted).pvalue > FALSE_ALARM


def check_steps(days, pi, K, instants, N):
    """First instants follow pi_0, and every step its slot's kernel."""
    assert agrees(np.bincount(days[:, 0], minlength=N), pi[0])
    for s in range(1, days.shape[1]):
        for i in range(N):
            after = days[days[:, s - 1] == i, s]
            if len(after) >= 200:
                assert agrees(np.bincount(after, minlength=N), K[s // instants, i])


class TestExplicitKernel:
    """The yardstick itself: what the specification demands of the kernel."""

    @pytest.mark.parametrize("masks", [False, True])
    def test_is_reversible_and_keeps_pi(self, masks, random_factors):
        factors = random_factors(1)
        pi, K = explicit(factors, factors.A[0], masks=masks, home=3)
        for p, k in zip(pi, K, strict=True):
            flow = p[:, None] * k
            assert np.allclose(flow, flow.T, atol=1e-15)
            assert np.allclose(p @ k, p, rtol=1e-12)


class TestWalk:
    @pytest.mark.parametrize(
        ("locations", "z", "floor"), [(12, 3, 1e-8), (12, 3, 0.3), (70, 9, 0.05)]
    )
    @pytest.mark.parametrize("masks", [False, True])
    def test_follows_the_kernel(self, locations, z, floor, masks, random_factors):
        factors = random_factors(2, locations=locations, z=z)
        generator = Generator(factors, masks=masks, floor=floor)
        a = factors.A[1]
        pi, K = explicit(factors, a, masks=masks, floor=floor)
        days = walk(generator, a[None], 30_000, instants=2)[0]
        check_steps(days, pi, K, 2, locations)

    def test_pi_is_stationary(self, random_factors):
        factors = random_factors(3, slots=1)
        pi, _ = explicit(factors, factors.A[0])
        days = walk(Generator(factors), factors.A[:1], 30_000, instants=30)[0]
        assert agrees(np.bincount(days[:, -1], minlength=12), pi[0])

    @pytest.mark.parametrize("masks", [False, True])
    def test_homes_strengthen_mornings_and_evenings(self, masks, random_factors):
        factors = random_factors(4, slots=6)
        a = factors.A[:1]
        certain = Generator(factors, masks, "own", gamma=1e12)
        (home,) = set(walk(certain, a, 50)[0][:, 0].tolist())
        days = walk(Generator(factors, masks, "own", gamma=0.5), a, 30_000)[0]
        pi, K = explicit(factors, a[0], masks=masks, home=home, gamma=0.5)
        check_steps(days, pi, K, 1, 12)

    @pytest.mark.parametrize("kind", ["own", "population"])
    def test_where_homes_are_drawn(self, kind, random_factors):
        factors = random_factors(5)
        n = 20_000
        certain = Generator(factors, home=kind, gamma=1e12)
        homes = walk(certain, np.repeat(factors.A[:1], n, axis=0), 1)[:, 0, 0]
        pi, _ = explicit(factors, factors.A[0])
        law = pi[0] if kind == "own" else factors.population / factors.population.sum()
        assert agrees(np.bincount(homes, minlength=12), law)

    def test_a_user_is_the_same_in_any_block(self, random_factors):
        factors = random_factors(6, n=9)
        generator = Generator(factors, home="own")
        whole = walk(generator, factors.A, 3)
        assert np.array_equal(whole[4:7], walk(generator, factors.A[4:7], 3, first=4))

    def test_users_with_equal_features_differ(self, random_factors):
        factors = random_factors(6)
        both = walk(Generator(factors), np.repeat(factors.A[:1], 2, axis=0), 50)
        assert not np.array_equal(both[0], both[1])

    def test_kept_instants_are_those_of_the_whole_walk(self, random_factors):
        factors = random_factors(7)
        generator = Generator(factors)
        kept = np.array([False, True, False, True])
        out = np.empty((1, 20, 2), dtype=np.int32)
        generator.walk(widened(factors.A[:1]), 0, 20, 1, kept, stream_key(1), out)
        assert np.array_equal(out[0], walk(generator, factors.A[:1], 20)[0][:, kept])

    def test_no_matrix_over_pairs_of_locations(self, random_factors):
        # 12000 x 12000 numbers would be 1.1 GB.
        factors = random_factors(8, locations=40)
        many = random_factors(8, locations=40)
        rows = {name: np.tile(getattr(many, name), (300, 1)) for name in ("B", "C")}
        starts = np.zeros(12_001, dtype=np.int64)
        support = type(factors.support)(
            starts, np.empty(0, np.int32), np.ones((4, 12_000), dtype=bool)
        )
        wide = type(factors)(
            **{**vars(many), **rows, "support": support, "population": np.ones(12_000)}
        )
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        walk(Generator(wide), many.A, 2)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert after - before < 200_000  # kilobytes


class TestPopulationHomes:
    def test_need_records_in_the_first_slot(self, random_factors):
        factors = random_factors(5)
        empty = replace(factors, population=np.zeros(12))
        with pytest.raises(InvalidParameter, match="first slot"):
            walk(Generator(empty, home="population"), factors.A, 1)
