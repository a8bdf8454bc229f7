from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tracecup import streams
from tracecup.kernels import kernel
from tracecup.streams import child, fill_normals, stream_key, uniform, word

MASK = 2**64 - 1


def mixed_by_hand(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


@kernel
def many_uniforms(key0, key1, out):
    for n in range(len(out)):
        out[n] = uniform(key0, key1, np.uint64(n))


class TestStreamKey:
    def test_same_seed_same_key(self):
        assert stream_key(5) == stream_key(5)

    def test_other_seed_other_key(self):
        assert stream_key(5) != stream_key(6)

    def test_a_generator_moves_on(self):
        random = np.random.default_rng(1)
        assert stream_key(random) != stream_key(random)


class TestWord:
    @pytest.mark.parametrize("n", [0, 1, 2**40 + 3])
    def test_is_the_documented_function(self, n):
        key0, key1 = stream_key(3)
        inner = mixed_by_hand((n * 0x9E3779B97F4A7C15 + int(key0)) & MASK)
        assert int(word(key0, key1, np.uint64(n))) == mixed_by_hand(inner ^ int(key1))

    def test_first_value_of_splitmix(self):
        # SplitMix64 seeded with 0 gives 0xE220A8397B1DCDAF first (its published test value).
        assert int(streams.mixed(streams.GOLDEN)) == 0xE220A8397B1DCDAF


class TestChild:
    def test_siblings_differ(self):
        key = stream_key(1)
        children = {child(*key, np.uint64(k)) for k in range(1000)}
        assert len(children) == 1000

    def test_siblings_are_uncorrelated(self):
        key = stream_key(2)
        left, right = np.empty(20_000), np.empty(20_000)
        for out, index in ((left, 7), (right, 8)):
            many_uniforms(*(np.uint64(w) for w in child(*key, np.uint64(index))), out)
        # |r| above 4.5 / sqrt(n) happens with probability 7e-6.
        assert abs(np.corrcoef(left, right)[0, 1]) < 4.5 / np.sqrt(20_000)


class TestUniform:
    def test_is_uniform(self):
        out = np.empty(50_000)
        many_uniforms(*stream_key(4), out)
        assert out.min() >= 0.0
        assert out.max() < 1.0
        assert stats.kstest(out, "uniform").pvalue > 1e-4


class TestFillNormals:
    @pytest.mark.parametrize("length", [1, 2, 5])
    def test_fills_all_of_any_length(self, length):
        out = np.full(length, np.nan)
        fill_normals(*stream_key(1), out)
        assert np.isfinite(out).all()

    def test_longer_draws_begin_alike(self):
        short, long = np.empty(3), np.empty(8)
        fill_normals(*stream_key(1), short)
        fill_normals(*stream_key(1), long)
        assert np.array_equal(short, long[:3])

    def test_is_normal(self):
        out = np.empty(50_000)
        fill_normals(*stream_key(6), out)
        assert stats.kstest(out, "norm").pvalue > 1e-4
        assert abs(np.corrcoef(out[::2], out[1::2])[0, 1]) < 4.5 / np.sqrt(25_000)
