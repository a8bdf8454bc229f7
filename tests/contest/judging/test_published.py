"""Traces in memory are shuffled and scored as the judge of a round does it."""

import numpy as np
import pytest

from tracecup import IdTable, SetTraces, Traces
from tracecup.contest.judging.published import publish
from tracecup.contest.judging.scorer import Scorer
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.contest.rules import ScoreRules


@pytest.fixture
def made(toy_city, toy_original, toy_obfuscated):
    past = Traces.of(toy_original.regions[::-1])
    return publish(toy_city, past, toy_original, toy_obfuscated, 5)


class TestPublish:
    def test_the_shuffle_is_the_judges(self, made, toy_original, toy_obfuscated):
        released, table = pseudonymize(toy_obfuscated, 5)
        assert (made.case.released, made.table, made.truth.table) == (released, table, table)
        assert made.truth.original is toy_original

    def test_without_a_seed_no_two_shuffles_are_alike(self, toy_city):
        # 100 users: two equal permutations have probability 1/100!, about 1e-158.
        homes = Traces.of(np.zeros((100, 1), dtype=int))
        cells = SetTraces.of_traces(homes)
        first, second = (publish(toy_city, homes, homes, cells).table for _ in range(2))
        assert first != second

    def test_tells_nobody_who_is_who(self, made):
        assert repr(made) == "Published(<3 pseudonyms>)"


class TestScoreAnswer:
    def test_says_what_the_judge_says_of_one_try(self, made, toy_city, toy_original):
        scorer = Scorer(toy_city, ScoreRules(hospital_weight=3.0, lambda_t=1.0))
        for kind, answer in (("reid", IdTable.of([1, 1, 0])), ("trace", toy_original)):
            cell = scorer.score(made.truth, {kind: [answer]})
            found = scorer.score_answer(made.truth, kind, answer)
            told = [part for part in ("reid", "trace", "error") if cell.of(part) is not None]
            assert list(found) == told
            assert all(found[part].value == cell.of(part).value for part in told)
