"""Attacks by their names, and what each kind of them answers."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.attack import parse_inference, parse_reid
from tracecup.attack.naming import answer_of, kind_of
from tracecup.traces import IdTable, Traces


@pytest.fixture
def case(make_case):
    return make_case(3)


class TestKindOf:
    def test_is_the_kind_that_names_it(self):
        assert kind_of(parse_reid("Random-R")) == "reid"
        assert kind_of(parse_inference("Random-T")) == "trace"


class TestAnswerOf:
    def test_a_re_identification_gives_the_table_it_identifies(self, case):
        attack = parse_reid("Random-R")
        answer = answer_of(attack, case, 7)
        assert isinstance(answer, IdTable)
        assert answer == attack.identify(case, 7)

    def test_an_inference_gives_the_traces_it_infers(self, case):
        attack = parse_inference("Random-T")
        answer = answer_of(attack, case, 7)
        assert isinstance(answer, Traces)
        assert np.array_equal(answer.regions, attack.infer(case, 7).regions)

    def test_draws_from_the_generator_it_is_given(self, case):
        rng, other = np.random.default_rng(5), np.random.default_rng(5)
        answer_of(parse_reid("Random-R"), case, rng)
        parse_reid("Random-R").identify(case, other)
        assert rng.random() == other.random()
