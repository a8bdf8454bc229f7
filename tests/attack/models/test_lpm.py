from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracecup.attack import Case, LpmR, VisitProbR
from tracecup.attack.models.lpm import shortlisted, weak_scores
from tracecup.registry import parse
from tracecup.traces import SetTraces


class TestLpmR:
    def test_weak_with_members_and_floor_is_visitprob(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=9)
        weak = LpmR("weak", profile="floor", emission="member").score_matrix(case)
        assert np.allclose(weak, VisitProbR().score_matrix(case), 1e-12)

    def test_finds_everybody_in_her_own_reference(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2, users=20, slots=5, days=4, gaps=0.0)
        same = Case(case.city, case.reference, SetTraces.of_traces(case.reference))
        for strength in ("weak", "strong"):
            assert LpmR(strength).identify(same).users.tolist() == list(range(20))

    def test_gives_users_out_one_to_one_by_default(self, make_case: Callable[..., Case]) -> None:
        assert LpmR().identify(make_case(3, users=9)).is_permutation

    def test_users_outside_the_shortlist_stand_below_it(
        self, make_case: Callable[..., Case]
    ) -> None:
        case = make_case(4, users=12, slots=4, gaps=0.0)
        few, all_ = LpmR(shortlist=2).score_matrix(case), LpmR().score_matrix(case)
        weak = weak_scores(case, "lpm", 20.0, "robust", 0.2, 0.35)
        wanted = shortlisted(case, weak, 2)
        assert ((wanted[:-1].sum(axis=1) >= 2) & (wanted[:-1].sum(axis=1) <= 4)).all()
        assert wanted[-1].all()  # all cells deleted: everybody is tied
        assert np.array_equal(few[wanted], all_[wanted])
        for k in range(11):
            assert np.allclose(few[k, ~wanted[k]], few[k, wanted[k]].min() - 50.0)

    def test_everything_deleted_is_a_tie(self, make_case: Callable[..., Case]) -> None:
        case = make_case(5)
        assert np.allclose(LpmR().score_matrix(case)[-1], 0.0)

    def test_a_fitted_channel_is_a_robust_one_with_other_numbers(
        self, make_case: Callable[..., Case]
    ) -> None:
        case = make_case(5, users=8)
        fitted = LpmR("weak", emission="fitted")
        known = fitted.fitted(case)
        assert known.emission == "robust"
        assert (known.eta, known.spread) != (0.2, 0.35)
        assert np.array_equal(fitted.score_matrix(case), known.score_matrix(case))
        assert LpmR("weak").fitted(case) == LpmR("weak")

    def test_four_periods_change_strong_scores_only(self, make_case: Callable[..., Case]) -> None:
        case = make_case(5, users=8, slots=20)
        one, four = LpmR(), LpmR(periods="4")
        assert not np.allclose(one.score_matrix(case), four.score_matrix(case))
        weak = LpmR("weak"), LpmR("weak", periods="4")
        assert np.array_equal(*(attack.score_matrix(case) for attack in weak))
        assert str(parse("reid", "LPM-R(periods=4)")) == "LPM-R(strong,periods=4)"
