from __future__ import annotations

import numpy as np
import pytest

from tracecup.kernels import kernel
from tracecup.synth import lanes


@kernel
def call_outer(vectors, count, totals, k):
    lanes.add_outer_products(vectors, count, totals, k)


@kernel
def call_multiply(left, i, right, j, out, k):
    lanes.multiply_rows(left, i, right, j, out, k)


@kernel
def call_dot(left, i, right, j):
    return lanes.dot_rows(left, i, right, j)


@kernel
def call_weights(factors, i, blocks, k, floor, out):
    return lanes.block_weights(factors, i, blocks, k, floor, out)


@pytest.fixture
def random():
    return np.random.default_rng(5)


class TestAddOuterProducts:
    @pytest.mark.parametrize("zp", [8, 16, 24, 32])
    @pytest.mark.parametrize("count", [0, 1, 7])
    def test_is_the_sum_of_outer_products(self, random, zp, count):
        vectors, totals = random.normal(size=(9, zp)), random.normal(size=(3, zp, zp))
        expected = totals[1] + sum((np.outer(v, v) for v in vectors[:count]), np.zeros((zp, zp)))
        others = totals[[0, 2]].copy()
        call_outer(vectors, count, totals, 1)
        lower = np.tril_indices(zp)
        assert np.allclose(totals[1][lower], expected[lower], rtol=1e-13, atol=1e-13)
        assert np.array_equal(totals[[0, 2]], others)


class TestMultiplyRows:
    def test_writes_one_row(self, random):
        left, right, out = (
            random.normal(size=(3, 16)),
            random.normal(size=(4, 16)),
            np.zeros((5, 16)),
        )
        call_multiply(left, 2, right, 3, out, 4)
        assert np.array_equal(out[4], left[2] * right[3])
        assert not out[:4].any()


class TestDotRows:
    @pytest.mark.parametrize("zp", [8, 32])
    def test_is_the_inner_product(self, random, zp):
        left, right = random.normal(size=(3, zp)), random.normal(size=(4, zp))
        assert call_dot(left, 2, right, 1) == pytest.approx(left[2] @ right[1], rel=1e-13)


class TestBlockWeights:
    @pytest.mark.parametrize("z", [1, 5, 16])
    def test_floors_and_sums(self, random, z):
        factors, rows = random.normal(size=(2, z)), random.normal(size=(70, z))
        out = np.empty(lanes.BLOCK)
        total = call_weights(factors, 1, lanes.in_blocks(rows), 1, 0.25, out)
        expected = np.maximum(rows[32:64] @ factors[1], 0.25)
        assert np.allclose(out, expected, rtol=1e-13)
        assert total == pytest.approx(expected.sum(), rel=1e-13)


class TestInBlocks:
    def test_pads_the_last_block(self, random):
        rows = random.normal(size=(40, 3))
        blocks = lanes.in_blocks(rows)
        assert np.array_equal(blocks[1, :, :8].T, rows[32:])
        assert not blocks[1, :, 8:].any()
