"""The five worked cases: organisers' programs with all cells and members, and the winner's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tracecup.attack import (
    FuzzyR,
    FuzzyT,
    HomeProbR,
    HomeProbT,
    ReidAttack,
    ReplayT,
    VisitProbR,
    VisitProbT,
    greedy_table,
)
from tracecup.attack.infer.linked import copy_linked
from tracecup.score import expected_error_score, inference_score, reid_score
from tracecup.traces import IdTable, SetTraces, Traces, visit_counts
from tracecup.traces.files import read_inferred_table, read_inferred_traces

REIDS: list[tuple[str, ReidAttack]] = [
    ("visitprob", VisitProbR()),
    ("homeprob", HomeProbR()),
    ("fuzzy_lambda1", FuzzyR(0.33, 1.0)),
    ("fuzzy_lambda0.5", FuzzyR(0.33, 0.5)),
]
LINKED = [("visitprob", VisitProbR(), VisitProbT()), ("homeprob", HomeProbR(), HomeProbT())]
WITHOUT_RANDOM_PICKS = ("s01_none", "s03_pl_4_1", "s04_cheat_1")

Oracle = Any  # the fixture's class lives in conftest.py


def table_of(folder: Path, name: str) -> IdTable:
    return read_inferred_table(folder / f"{name}.csv.gz", users=200)


def traces_of(oracle: Oracle, name: str) -> Traces:
    path = oracle.folder / f"{name}.csv.gz"
    return read_inferred_traces(path, users=200, clock=oracle.original.clock)


def summed_in_slot_order(reference: Traces, released: SetTraces) -> NDArray[np.float64]:
    """Log-likelihoods added up slot by slot, as the program does: the same rounding."""
    counts = visit_counts(reference, 1024).astype(float)
    V = np.where(counts > 0, counts / counts.sum(axis=1, keepdims=True), 1e-8)
    scores = np.zeros((200, 200))
    for k in range(200):
        for j in range(released.times):
            cell = released.cell(k, j)
            if len(cell):
                scores[k] += np.log(sum(V[:, r] for r in cell) / len(cell))
    return scores


class TestReidentification:
    @pytest.mark.parametrize(("name", "attack"), REIDS)
    def test_tables_agree_up_to_ties(self, oracle: Oracle, name: str, attack: ReidAttack) -> None:
        scores = attack.score_matrix(oracle.case)
        given = table_of(oracle.folder, f"etable_{name}")
        top = scores.max(axis=1)
        assert (scores[np.arange(200), given.users] >= top - 1e-9).all()
        alone = (scores >= top[:, None] - 1e-9).sum(axis=1) == 1
        mine = attack.identify(oracle.case)
        assert np.array_equal(mine.users[alone], given.users[alone])

    @pytest.mark.parametrize("name", ["visitprob", "homeprob"])
    def test_as_many_ties(self, oracle: Oracle, name: str) -> None:
        scores = dict(REIDS)[name].score_matrix(oracle.case)
        tied = (scores >= scores.max(axis=1, keepdims=True) - 1e-9).sum(axis=1) > 1
        expected = oracle.expected["reidentification"][name]
        assert int(tied.sum()) == expected["pseudonyms_with_tied_maximum"]

    def test_score_of_visitprob(self, oracle: Oracle) -> None:
        score = reid_score(oracle.table, VisitProbR().identify(oracle.case))
        expected = oracle.expected["reidentification"]["visitprob"]["s_R"]
        assert score.value == pytest.approx(expected, abs=1e-9)

    def test_score_of_homeprob_up_to_its_ties(self, oracle: Oracle) -> None:
        # a quarter to a third of the pseudonyms are tied; at most five tables entries differ
        mine = HomeProbR().identify(oracle.case)
        given = table_of(oracle.folder, "etable_homeprob")
        assert int((mine.users != given.users).sum()) <= 5
        expected = oracle.expected["reidentification"]["homeprob"]["s_R"]
        assert reid_score(oracle.table, given).value == pytest.approx(expected, abs=1e-9)
        assert reid_score(oracle.table, mine).value == pytest.approx(expected, abs=5 / 200)

    @pytest.mark.parametrize("lambda0", [1.0, 0.5])
    @pytest.mark.parametrize(
        ("order", "key"),
        [
            ("log-first", "s_R"),
            ("spread-first", "s_R_if_log_is_applied_after_fuzzy_counting"),
        ],
    )
    def test_scores_of_fuzzy(self, oracle: Oracle, lambda0: float, order: str, key: str) -> None:
        table = FuzzyR(0.33, lambda0, order=order).identify(oracle.case)
        expected = oracle.expected["best_attack"][f"eta0=0.33,lambda0={lambda0:g}"][key]
        assert reid_score(oracle.table, table).value == pytest.approx(expected, abs=1e-9)


class TestOneToOne:
    @pytest.mark.parametrize(("name", "attack", "_"), LINKED)
    def test_the_assignment_is_greedy_up_to_ties(
        self, oracle: Oracle, name: str, attack: ReidAttack, _: object
    ) -> None:
        given = table_of(oracle.folder, f"assignment_{name}").users
        scores = attack.score_matrix(oracle.case)
        free = np.ones(200, dtype=bool)
        for k in range(200):
            assert free[given[k]]
            assert scores[k, given[k]] >= scores[k, free].max() - 1e-9
            free[given[k]] = False

    @pytest.mark.parametrize(("name", "attack", "_"), LINKED)
    def test_with_the_programs_rounding_the_table_is_the_same(
        self, oracle: Oracle, name: str, attack: ReidAttack, _: object
    ) -> None:
        reference, released = oracle.case.reference, oracle.case.released
        if name == "homeprob":
            reference, released = reference.take_slots([0, 1]), released.take_slots([0, 1])
        rounded = summed_in_slot_order(reference, released)
        assert rounded == pytest.approx(attack.score_matrix(oracle.case), abs=1e-9)
        given = table_of(oracle.folder, f"assignment_{name}")
        mine = greedy_table(rounded, tie=0.0)
        agreement = float((mine.users == given.users).mean())
        key = "assignment_agrees_with_independent_greedy"
        expected = oracle.expected["trace_inference"][name][key]
        assert agreement == pytest.approx(expected, abs=1e-9)


class TestTraceInference:
    @pytest.mark.parametrize(("name", "_", "attack"), LINKED)
    def test_traces_follow_from_the_assignment(
        self, oracle: Oracle, name: str, _: object, attack: object
    ) -> None:
        given = traces_of(oracle, f"etraces_{name}")
        mine = copy_linked(oracle.case, table_of(oracle.folder, f"assignment_{name}"), rng=1)
        table = table_of(oracle.folder, f"assignment_{name}")
        single = oracle.case.released.sizes[table.inverse()] == 1
        assert np.array_equal(mine.regions[single], given.regions[single])
        if oracle.name in WITHOUT_RANDOM_PICKS:
            assert single.all()

    @pytest.mark.parametrize("name", ["visitprob", "homeprob"])
    def test_scores_follow_from_the_assignment(self, oracle: Oracle, name: str) -> None:
        if oracle.name in WITHOUT_RANDOM_PICKS:
            table = table_of(oracle.folder, f"assignment_{name}")
            inferred = copy_linked(oracle.case, table)
        else:
            inferred = traces_of(oracle, f"etraces_{name}")
        city, expected = oracle.case.city, oracle.expected["trace_inference"][name]
        score = inference_score(city, oracle.original, inferred)
        assert score.value == pytest.approx(expected["s_T"], abs=1e-9)
        error = expected_error_score(city, oracle.original, inferred)
        assert error.value == pytest.approx(expected["expected_error_km"], abs=1e-9)

    @pytest.mark.parametrize(("name", "_", "attack"), LINKED)
    def test_own_traces_score_nearly_the_same(
        self, oracle: Oracle, name: str, _: object, attack: VisitProbT | HomeProbT
    ) -> None:
        # ties and random picks may differ: 200 users x 40 events leave about 0.01
        inferred = attack.infer(oracle.case, rng=1)
        score = inference_score(oracle.case.city, oracle.original, inferred)
        expected = oracle.expected["trace_inference"][name]["s_T"]
        assert score.value == pytest.approx(expected, abs=0.01)

    def test_replay(self, oracle: Oracle) -> None:
        inferred = ReplayT().infer(oracle.case)
        score = inference_score(oracle.case.city, oracle.original, inferred)
        assert score.value == pytest.approx(oracle.expected["reference_replay"]["s_T"], abs=1e-9)

    @pytest.mark.parametrize("lambda0", [1.0, 0.5])
    def test_fuzzy_with_threshold_one(self, oracle: Oracle, lambda0: float) -> None:
        inferred = FuzzyT(0.33, lambda0, 1).infer(oracle.case, rng=1)
        score = inference_score(oracle.case.city, oracle.original, inferred)
        expected = oracle.expected["best_attack"][f"eta0=0.33,lambda0={lambda0:g}"]
        assert score.value == pytest.approx(expected["s_T_threshold_1"], abs=1e-9)
        given = traces_of(oracle, "etraces_fuzzy_lambda1_thr1")
        assert np.array_equal(inferred.regions, given.regions)

    def test_fuzzy_with_threshold_two_where_nothing_is_random(self, oracle: Oracle) -> None:
        given = traces_of(oracle, "etraces_fuzzy_lambda1_thr2")
        inferred = FuzzyT(0.33, 1.0, 2).infer(oracle.case, rng=1)
        users = FuzzyR(0.33, 1.0).identify(oracle.case).users
        kept, first = np.unique(users, return_index=True)
        sizes = oracle.case.released.sizes[first]
        certain = sizes <= 1
        assert certain.sum() > 900
        assert np.array_equal(inferred.regions[kept][certain], given.regions[kept][certain])
