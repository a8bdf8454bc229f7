from __future__ import annotations

import numpy as np

from tracecup.streams import stream_key
from tracecup.synth.features import fresh_features


class TestFreshFeatures:
    def test_mean_and_covariance(self, random_factors):
        factors = random_factors(9)
        n = 40_000
        drawn = fresh_features(factors.mean, factors.precision, 0, n, stream_key(1))[:, :3]
        covariance = np.linalg.inv(factors.precision)
        error = np.sqrt(np.diag(covariance) / n)
        assert (np.abs(drawn.mean(axis=0) - factors.mean) < 4.5 * error).all()
        spread = np.sqrt(np.diag(covariance))
        difference = (np.cov(drawn.T) - covariance) / np.outer(spread, spread)
        assert np.abs(difference).max() < 4.5 * np.sqrt(2 / n)

    def test_a_user_is_the_same_in_any_block(self, random_factors):
        factors = random_factors(9)
        arguments = factors.mean, factors.precision
        whole = fresh_features(*arguments, 0, 10, stream_key(1))
        assert np.array_equal(whole[4:], fresh_features(*arguments, 4, 6, stream_key(1)))
