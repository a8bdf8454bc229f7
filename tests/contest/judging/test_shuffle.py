from __future__ import annotations

from collections import Counter

import pytest
from scipy import stats

from tracecup import Clock, SetTraces
from tracecup.contest.example import worked_example
from tracecup.contest.judging.shuffle import pseudonymize

FOUR = SetTraces.of_cells([[[k], [k, 9]] for k in range(4)], Clock.unknown(2))


class TestPseudonymize:
    def test_the_table_inverts_the_shuffle(self):
        released, table = pseudonymize(FOUR, rng=3)
        assert table.is_permutation
        assert released.take_users(table.inverse()).renamed(FOUR.users) == FOUR

    def test_pseudonyms_follow_the_users(self):
        released, _ = pseudonymize(FOUR, rng=3)
        assert released.users.tolist() == [5, 6, 7, 8]

    def test_same_seed_same_table(self):
        assert pseudonymize(FOUR, rng=3)[1] == pseudonymize(FOUR, rng=3)[1]

    @pytest.mark.parametrize("seeded", [True, False])
    def test_every_order_is_equally_likely(self, seeded, monkeypatch):
        # 4800 shuffles of 4 users, chi-square on 24 orders; false alarm 1 in 10,000. The system's
        # entropy is replaced by a seeded source so that the test gives one answer for ever.
        import random
        import secrets

        import numpy as np

        source = random.Random(5)
        monkeypatch.setattr(secrets, "SystemRandom", lambda: source)
        rng = np.random.default_rng(5)
        seen = Counter(
            tuple(pseudonymize(FOUR, rng if seeded else None)[1].users.tolist())
            for _ in range(4800)
        )
        counts = [*seen.values(), *([0] * (24 - len(seen)))]
        assert stats.chisquare(counts).pvalue > 1e-4

    def test_without_a_seed_it_is_the_systems_entropy(self):
        big = SetTraces.of_cells([[[0]]] * 50)
        assert pseudonymize(big)[1] != pseudonymize(big)[1]  # equal once in 50! runs


class TestWorkedExample:
    def test_scores(self):
        found = {score.name: score.value for score in worked_example().scores}
        assert found["s_U"] == pytest.approx(0.578984375)
        assert found["s_R"] == pytest.approx(1 / 3)
        assert found["s_T"] == pytest.approx(0.853125 / 13)
