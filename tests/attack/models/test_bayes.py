from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import numpy as np
import pytest

from tracecup.attack import BayesR, Case
from tracecup.attack.channel import learn_channel
from tracecup.attack.models import bayes
from tracecup.attack.models.bayes import bayes_evidence, remark_on
from tracecup.attack.models.slotwise import slot_likelihoods


class TestBayesEvidence:
    @pytest.mark.parametrize("channel", ["identity", "learned", "known(PL(4,1))"])
    def test_scores_are_likelihoods_under_prior_and_channel(
        self, make_case: Callable[..., Case], channel: str
    ) -> None:
        case = make_case(1)
        found = bayes_evidence(case, channel, rng=3)
        expected = np.einsum("utx,xy->uty", found.prior.probabilities, found.channel)
        slow = slot_likelihoods(expected.astype(np.float32), case.released).rows(0, 6)
        assert np.allclose(found.scores.rows(0, 6), slow, atol=1e-3)

    def test_the_same_case_is_learnt_once(self, make_case: Callable[..., Case]) -> None:
        case, other = make_case(2), make_case(2)
        first = bayes_evidence(case, "learned")
        assert bayes_evidence(case, "learned") is first
        again = bayes_evidence(other, "learned")
        assert again is not first
        assert np.array_equal(again.scores.rows(0, 6), first.scores.rows(0, 6))

    def test_who_asks_meanwhile_waits_for_it(
        self, make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case, begun, learnt = make_case(4), Barrier(3), []

        def slowly(asked: Case, channel: str, rng: object) -> object:
            learnt.append(channel)
            return object()

        def ask(_: int) -> object:
            begun.wait()
            return bayes_evidence(case, "learned")

        monkeypatch.setattr(bayes, "_evidence", slowly)
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(ask, range(3)))
        assert learnt == ["learned"]
        assert found[0] is found[1] is found[2]

    def test_another_seed_runs_a_known_defence_anew(self, make_case: Callable[..., Case]) -> None:
        case, attack = make_case(3), BayesR(channel="known(RR(1))")
        one, two = attack.score_matrix(case, 1), attack.score_matrix(case, 2)
        assert not np.array_equal(one, two)
        assert np.array_equal(one, attack.score_matrix(case, 1))


class TestRemarkOn:
    @pytest.mark.parametrize(("rounds", "told"), [(1, True), (50, False)])
    def test_a_channel_still_changing_is_told(
        self,
        make_case: Callable[..., Case],
        monkeypatch: pytest.MonkeyPatch,
        rounds: int,
        told: bool,
    ) -> None:
        monkeypatch.setattr(bayes, "learn_channel", partial(learn_channel, rounds=rounds))
        case = make_case(4)
        bayes_evidence(case, "learned")
        assert ("not converged" in remark_on(case, "learned")) is told
        assert "not converged" not in remark_on(case, "identity")
