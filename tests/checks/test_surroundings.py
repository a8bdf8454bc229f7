"""Threads, global random numbers and inputs: what is set, restored and noticed."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from tracecup.checks.result import Broken
from tracecup.checks.samples import ordinary_case, original_traces
from tracecup.checks.surroundings import (
    demand_any_rng,
    demand_same_bytes,
    demand_untouched,
    inputs_of,
    surroundings,
)
from tracecup.errors import InvalidParameter
from tracecup.rng import generator
from tracecup.traces import IdTable


class TestSurroundings:
    def test_sets_threads_and_global_states(self) -> None:
        with surroundings(2):
            assert os.environ["TRACECUP_THREADS"] == "2"
            drawn = random.random()
        with surroundings(1):
            assert random.random() != drawn

    def test_restores_after_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TRACECUP_THREADS", "7")
        with pytest.raises(KeyError), surroundings(2):
            raise KeyError
        assert os.environ["TRACECUP_THREADS"] == "7"


class TestDemandSameBytes:
    def test_answers_of_every_sort(self) -> None:
        demand_same_bytes(lambda seed: generator(seed).random(5))
        demand_same_bytes(lambda seed: (IdTable.of(generator(seed).permutation(5)), seed))
        demand_same_bytes(lambda seed: original_traces())

    def test_the_last_bit_counts(self) -> None:
        with pytest.raises(Broken, match="with two threads"):
            demand_same_bytes(lambda seed: 1.0 + 2.0**-52 * int(os.environ["TRACECUP_THREADS"]))

    def test_a_later_part_of_the_answer_counts(self) -> None:
        calls = iter(range(9))
        with pytest.raises(Broken, match="the same seed gave another answer"):
            demand_same_bytes(lambda seed: (np.zeros(2), next(calls)))


class TestDemandAnyRng:
    def test_a_generator_may_be_refused_in_words(self) -> None:
        def work(rng: object) -> None:
            if isinstance(rng, np.random.Generator):
                raise InvalidParameter("a replay needs a whole seed")

        demand_any_rng(work)

    @pytest.mark.parametrize("unloved", [int, type(None)])
    def test_seeds_and_nothing_may_not(self, unloved: type) -> None:
        def work(rng: object) -> None:
            if isinstance(rng, unloved):
                raise InvalidParameter("no")

        with pytest.raises(InvalidParameter):
            demand_any_rng(work)


class TestDemandUntouched:
    @pytest.mark.parametrize("part", ["reference.regions", "released.offsets", "released.users"])
    def test_notices_a_change_in_any_part(self, part: str) -> None:
        case = ordinary_case()
        owner, name = part.split(".")
        array = getattr(getattr(case, owner), name)

        def work() -> None:
            array.flags.writeable = True
            array[-1] += 1

        with pytest.raises(Broken, match=rf"\w+\.{name} that was handed in has been changed"):
            demand_untouched(work, *inputs_of(case))

    def test_is_content_with_copies(self) -> None:
        case = ordinary_case()
        demand_untouched(lambda: case.reference.regions.copy().fill(0), *inputs_of(case))
