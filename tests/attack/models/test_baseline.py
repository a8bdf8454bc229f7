from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracecup.attack import Case, RandomR


class TestRandomR:
    def test_is_one_to_one(self, make_case: Callable[..., Case]) -> None:
        assert RandomR().identify(make_case(1, users=50), rng=1).is_permutation

    def test_scores_say_the_same(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=50)
        scores = RandomR().score_matrix(case, rng=3)
        assert np.array_equal(scores.argmax(axis=1), RandomR().identify(case, rng=3).users)

    def test_the_seed_of_a_shuffle_does_not_undo_it(self, make_case: Callable[..., Case]) -> None:
        # two independent permutations of 50 agree in 10 places with probability below 1e-6
        case = make_case(1, users=50)
        shuffle = np.random.default_rng(3).permutation(50)
        assert (RandomR().identify(case, rng=3).users == shuffle).sum() < 10

    def test_every_user_is_equally_likely(self, make_case: Callable[..., Case]) -> None:
        # 3000 tables of 3 users: each user is behind pseudonym 0 with probability 1/3; standard
        # deviation 25.8, 6 sigma = 155: a false alarm below 1e-8.
        case = make_case(1, users=3)
        random = np.random.default_rng(5)
        first = [int(RandomR().identify(case, random).users[0]) for _ in range(3000)]
        assert (np.abs(np.bincount(first, minlength=3) - 1000) < 155).all()
