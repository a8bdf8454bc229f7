from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tracecup.attack import Case, InferenceAttack, ReidAttack, match_table
from tracecup.errors import InvalidParameter
from tracecup.registry import methods, parse
from tracecup.rng import Rng

NAMES = [
    ("reid", "Random-R"),
    ("reid", "VisitProb-R"),
    ("reid", "HomeProb-R"),
    ("reid", "Fuzzy-R(0.33,1)"),
    ("inference", "Random-T"),
    ("inference", "VisitProb-T"),
    ("inference", "HomeProb-T"),
    ("inference", "Fuzzy-T(0.33,1,0)"),
    ("inference", "Replay-T"),
    ("inference", "Prior-T"),
]
OPTIONS = [
    ("reid", "Bayes-R"),
    ("reid", "Bayes-R(channel=identity,match=assignment)"),
    ("reid", "Bayes-R(channel=known(MRLH(0,0,0.5)))"),
    ("inference", "Bayes-T"),
    ("inference", "Bayes-T(channel=identity,match=assignment)"),
    ("inference", "Bayes-T(channel=known(PL(4,1)),tau=4)"),
    ("reid", "VisitProb-R(cells=0.1,members=10)"),
    ("reid", "HomeProb-R(slots=3,members=10)"),
    ("reid", "Fuzzy-R(0.2,0.5,tf=count,idf=log,order=spread-first)"),
    ("inference", "VisitProb-T(cells=0.1,members=10,match=assignment)"),
    ("reid", "VisitProb-R(cells=0.5,match=assignment)"),
    ("reid", "Fuzzy-R(0.33,1,match=soft,tau=2)"),
    ("inference", "VisitProb-T(match=soft,tau=3)"),
    ("inference", "Fuzzy-T(0.33,1,0,match=assignment)"),
    ("inference", "Fuzzy-T(0.33,0.5,5)"),
    ("inference", "Prior-T(user=1,population=4)"),
    ("inference", "Prior-T(habits=mixture)"),
]


@dataclass(frozen=True)
class LastUser(ReidAttack):
    """Always names the last user: the smallest attack one can write."""

    def score_matrix(self, case: Case, rng: Rng = None) -> NDArray[np.float64]:
        scores = np.zeros((case.n_users, case.n_users))
        scores[:, -1] = 1.0
        return scores


class TestReidAttack:
    def test_a_score_matrix_is_enough(self, make_case: Callable[..., Case]) -> None:
        assert LastUser().identify(make_case(1)).users.tolist() == [5] * 6

    @pytest.mark.parametrize("match", ["argmax", "greedy", "assignment", "soft"])
    def test_links_as_its_parameter_says(self, make_case: Callable[..., Case], match: str) -> None:
        case, attack = make_case(2, users=12), LastUser(match=match, tau=0.5)
        expected = match_table(attack.score_matrix(case), match, 0.5)
        assert attack.identify(case).users.tolist() == expected.users.tolist()

    @pytest.mark.parametrize("bad", [{"match": "best"}, {"tau": 0.0}, {"tau": np.nan}])
    def test_refuses_another_way_to_link(
        self, make_case: Callable[..., Case], bad: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidParameter, match="LastUser"):
            LastUser(**bad).identify(make_case(1))

    def test_every_known_attack_takes_a_match(self) -> None:
        for name in methods("reid"):
            assert str(parse("reid", f"{name}(match=greedy)")).endswith("match=greedy)")
            default = parse("reid", name)
            assert "match" not in str(parse("reid", f"{name}(match={default.match})"))

    def test_without_scores_it_says_so(self, make_case: Callable[..., Case]) -> None:
        with pytest.raises(NotImplementedError, match="ReidAttack defines no score_matrix"):
            ReidAttack().identify(make_case(1))


class TestInferenceAttack:
    def test_without_infer_it_says_so(self, make_case: Callable[..., Case]) -> None:
        with pytest.raises(NotImplementedError, match="InferenceAttack defines no infer"):
            InferenceAttack().infer(make_case(1))


class TestNames:
    def test_all_names_of_the_contest_are_known(self) -> None:
        known = {*methods("reid"), *methods("inference")}
        assert {name.split("(")[0] for _, name in NAMES} <= known

    @pytest.mark.parametrize(("kind", "name"), NAMES + OPTIONS)
    def test_prints_as_it_is_written(self, kind: str, name: str) -> None:
        assert str(parse(kind, name)) == name  # type: ignore[arg-type]  # a word of Kind

    @pytest.mark.parametrize(("kind", "name"), NAMES + OPTIONS)
    @pytest.mark.parametrize("shape", [(1, 1, 1), (5, 7, 3)])
    def test_every_attack_answers_on_odd_cities(
        self, make_case: Callable[..., Case], kind: str, name: str, shape: tuple[int, int, int]
    ) -> None:
        nx, ny, slots = shape
        case = make_case(3, users=4, nx=max(nx, 2), ny=ny, slots=slots, gaps=0.3)
        attack = parse(kind, name)  # type: ignore[arg-type]  # a word of Kind
        if isinstance(attack, ReidAttack):
            assert len(attack.identify(case, rng=1)) == 4
            assert attack.score_matrix(case, rng=1).shape == (4, 4)
        else:
            assert isinstance(attack, InferenceAttack)
            inferred = attack.infer(case, rng=1)
            assert inferred.shape == case.released.shape
            assert not inferred.has_gaps
            assert inferred.regions.max() < case.city.n_regions
            assert np.array_equal(inferred.users, case.reference.users)
            assert inferred.clock == case.released.clock

    @pytest.mark.parametrize(("kind", "name"), NAMES + OPTIONS)
    def test_one_user(self, make_case: Callable[..., Case], kind: str, name: str) -> None:
        case = make_case(5, users=1)
        attack = parse(kind, name)  # type: ignore[arg-type]  # a word of Kind
        if isinstance(attack, ReidAttack):
            assert attack.identify(case, rng=1).users.tolist() == [0]
        else:
            assert isinstance(attack, InferenceAttack)
            assert attack.infer(case, rng=1).n_users == 1

    @pytest.mark.parametrize(("kind", "name"), NAMES + OPTIONS)
    def test_same_seed_same_answer_on_one_and_two_threads(
        self,
        make_case: Callable[..., Case],
        monkeypatch: pytest.MonkeyPatch,
        kind: str,
        name: str,
    ) -> None:
        case = make_case(7, users=23, nx=8, ny=6, slots=4, days=3)
        attack = parse(kind, name)  # type: ignore[arg-type]  # a word of Kind
        answers = []
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            if isinstance(attack, ReidAttack):
                scores = attack.score_matrix(case, rng=11)
                answers.append(attack.identify(case, rng=11).users.tobytes() + scores.tobytes())
            else:
                assert isinstance(attack, InferenceAttack)
                answers.append(attack.infer(case, rng=11).regions.tobytes())
        assert answers[0] == answers[1] == answers[2]
