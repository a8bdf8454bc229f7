"""Publish, attack and score from Python, the same numbers as the rooms below."""

from __future__ import annotations

import numpy as np
import pytest

import tracecup as tc
from tracecup.attack import Case, VisitProbR
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.obfuscate import PlanarLaplace
from tracecup.score import inference_score, reid_score, utility_score
from tracecup.traces import SetTraces, Traces
from tracecup.traces.files import (
    read_inferred_traces,
    read_obfuscated,
    read_released,
    read_traces,
)


class TestPublish:
    @pytest.mark.parametrize("same", ["pl(4, 1)", PlanarLaplace(4.0, 1.0), PlanarLaplace])
    def test_names_objects_and_classes_mean_the_same(self, demo, same):
        one, other = tc.publish(demo, "PL(4,1)"), tc.publish(demo, same)
        if not isinstance(same, type):
            assert one.released == other.released
        assert other.defence.startswith("PL(")

    def test_tuned_to_a_floor(self, demo):
        made = tc.publish(demo, "RR(8)", floor=0.7)
        assert made.utility.value == pytest.approx(0.7, abs=0.01)
        assert made.defence != "RR(8)"

    @pytest.mark.parametrize("kind", ["array", "traces", "cells", "lists"])
    def test_takes_what_is_obfuscated_already(self, demo, kind):
        regions = np.array(demo.original)
        regions[:, ::2] = 5
        given = {
            "array": regions,
            "traces": Traces(regions, demo.original.users, demo.original.clock),
            "cells": SetTraces.of_traces(Traces.of(regions, demo.original.clock)),
            "lists": [[[cell] for cell in row] for row in regions.tolist()],
        }[kind]
        made = tc.publish(demo, given)
        cells = SetTraces.of_traces(Traces.of(regions, demo.original.clock))
        assert made.utility.value == utility_score(demo.city, demo.original, cells).value
        assert sorted(made.released.as_traces().regions.tolist()) == sorted(regions.tolist())

    def test_minus_one_is_a_deleted_cell(self, demo):
        made = tc.publish(demo, np.full(demo.original.shape, -1))
        assert made.utility.value == 0
        assert made.released.regions.size == 0

    def test_a_seed_decides_and_none_does_not_repeat(self, demo):
        def order(seed):
            return tc.publish(demo, seed=seed).truth.table.users.tolist()

        assert order(3) == order(3)
        assert order(None) != order(None)  # equal with probability 1/12!

    def test_nonsense(self, demo):
        with pytest.raises(InvalidTraces, match="expected \\(users, times\\)"):
            tc.publish(demo, np.zeros((2, 2), dtype=int))
        with pytest.raises(InvalidTraces, match="whole numbers"):
            tc.publish(demo, np.zeros(demo.original.shape))
        with pytest.raises(InvalidParameter, match="@tc.obfuscator above"):
            tc.publish(demo, lambda original: original)
        with pytest.raises(InvalidParameter, match="tc.load"):
            tc.publish(demo.original, "RR(8)")
        with pytest.raises(InvalidParameter, match="cannot be tuned"):
            tc.publish(demo, np.array(demo.original), floor=0.7)


class TestAttackAndScore:
    def test_numbers_of_the_rooms(self, demo):
        made = tc.publish(demo, "RR(8)")
        table, traces = tc.attack(made, VisitProbR()), tc.attack(made, "Prior-T")
        truth = made.truth
        assert tc.score(made, table).value == reid_score(truth.table, table).value
        expected = inference_score(demo.city, truth.original, traces).value
        assert tc.score(made, traces).value == tc.score(made, np.array(traces)).value == expected
        assert tc.score(made, table.users).value == tc.score(made, table).value
        assert tc.score(made) is made.utility

    def test_utility_before_the_shuffle(self, demo):
        assert tc.score(demo, demo.original).value == 1.0
        assert float(tc.score(demo, np.array(demo.original))) == 1.0

    def test_a_case_is_a_target(self, demo):
        made = tc.publish(demo)
        assert tc.attack(made.case, "VisitProb-R") == tc.attack(made, "VisitProb-R")

    def test_nonsense(self, demo):
        made = tc.publish(demo)
        with pytest.raises(InvalidParameter, match="tc.publish"):
            tc.attack(demo, "VisitProb-R")
        with pytest.raises(InvalidParameter, match="which attack"):
            tc.attack(made)
        with pytest.raises(InvalidParameter, match="SetTraces"):
            tc.score(made, made.released)
        with pytest.raises(InvalidParameter, match="second argument"):
            tc.score(demo)


class TestMisuse:
    def test_swapped_reference_and_release(self, demo):
        made = tc.publish(demo)
        with pytest.raises(InvalidTraces, match="swapped"):
            Case(demo.city, made.released, demo.reference)

    def test_traces_where_a_release_is_expected(self, demo):
        with pytest.raises(InvalidTraces, match="SetTraces.of_traces"):
            Case(demo.city, demo.reference, demo.original)

    def test_the_clock_of_a_contest_for_a_trace(self, demo):
        with pytest.raises(InvalidTraces, match=r"\.reference or \.original"):
            Traces.of(np.array(demo.original), demo.clock)
        with pytest.raises(InvalidTraces, match=r"\.reference or \.original"):
            SetTraces.of_cells([[[0]]], demo.clock)

    def test_the_clock_of_a_contest_for_a_file(self, demo, tmp_path):
        folder = demo.save(tmp_path)
        file = folder / "orgtraces.csv.zst"
        for read in (read_traces, read_released):
            with pytest.raises(InvalidTraces, match=r"\.reference or \.original"):
                read(file, clock=demo.clock)
        for read in (read_obfuscated, read_inferred_traces):
            with pytest.raises(InvalidTraces, match=r"\.reference or \.original"):
                read(file, users=12, clock=demo.clock)

    def test_swapped_reference_and_original(self, demo):
        with pytest.raises(InvalidParameter, match="before the reference traces .* swapped"):
            tc.Data("mine", demo.city, demo.original, demo.reference)

    @pytest.mark.parametrize(
        ("given", "message"), [([1, 2], "shape"), ([[1, 2], [3]], "no array of regions")]
    )
    def test_lists_that_are_no_release(self, demo, given, message):
        with pytest.raises(InvalidTraces, match=message):
            tc.publish(demo, given)

    def test_an_id_table_of_another_length(self, demo):
        with pytest.raises(InvalidParameter, match="each of 12 pseudonyms, got 2"):
            tc.score(tc.publish(demo), [1, 2])

    def test_sizes_and_folders_of_another_kind(self):
        for days in ("x", 2.5, 0):
            with pytest.raises(InvalidParameter, match="days >= 1, a whole number"):
                tc.load_demo(days=days)
        with pytest.raises(InvalidParameter, match="load takes a folder"):
            tc.load(3)

    def test_traces_where_data_are_expected(self, demo):
        for verb in (tc.evaluate, tc.audit, tc.publish):
            with pytest.raises(InvalidParameter, match="data are .* got Traces"):
                verb(demo.original)
