"""Plain functions as methods: parameters, knobs, what they may return."""

from __future__ import annotations

import numpy as np
import pytest

import tracecup as tc
from tracecup.checks import check_method
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.registry import parse
from tracecup.traces import IdTable


def _drift(original, city, rng, steps=1, kind="both"):
    """Everything moves by up to some columns.

    A second paragraph.
    """
    grid, regions = city.grid, np.asarray(original)
    x = np.clip(grid.x[regions] + rng.integers(-steps, steps + 1, regions.shape), 0, grid.nx - 1)
    return grid.y[regions] * grid.nx + x


def _overlap(case, power=1.0):
    """Users who share regions with a pseudonym."""
    from tracecup.traces import visit_counts

    sides = [visit_counts(t, case.city.n_regions) for t in (case.released, case.reference)]
    return (sides[0] ** power) @ (sides[1] ** power).T


def _stay(case):
    """Everybody is always where the reference begins."""
    first = np.maximum(np.asarray(case.reference)[:, :1], 0)  # it may be unobserved
    return np.repeat(first, case.released.times, axis=1)


@pytest.fixture(scope="module")
def drift():
    return tc.obfuscator(steps=(0, 4), name="Drift")(_drift)


@pytest.fixture(scope="module")
def overlap():
    return tc.attack(power=(0.1, 2.0), name="overlap")(_overlap)


class TestObfuscator:
    def test_is_a_method_with_a_name(self, drift):
        assert str(drift(3)) == "Drift(3,both)"
        assert parse("obfuscator", "drift(2)") == drift(2)
        assert drift.summary == "Everything moves by up to some columns."

    def test_range_of_the_knob_is_checked(self, demo, drift):
        with pytest.raises(InvalidParameter, match=r"Drift.steps must be a whole number >= 0"):
            tc.publish(demo, drift(5))

    def test_passes_the_checks_of_the_house(self, drift):
        failed = [result for result in check_method(drift) if not result.passed]
        assert failed == []

    def test_is_tuned(self, demo, drift):
        made = tc.publish(demo, drift, floor=0.7)
        assert made.utility.value >= 0.7
        assert tc.publish(demo, drift, seed=1).released == tc.publish(demo, "Drift").released

    def test_may_look_at_the_reference(self, demo):
        @tc.obfuscator(share=(0.0, 1.0))
        def replay(original, reference, rng, share=1.0):
            kept = rng.random(original.shape) >= share
            return np.where(kept, original, reference)

        made = tc.publish(demo, replay, floor=0.8)
        assert made.utility.value == pytest.approx(0.8, abs=0.01)

    def test_defined_again_as_in_a_notebook(self, demo):
        for amount in (0, 1):

            @tc.obfuscator
            def again(original, city):
                return (np.asarray(original) + amount) % city.n_regions  # noqa: B023

            utility = tc.publish(demo, "again").utility.value
            assert (utility == 1.0) == (amount == 0)

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda original, steps: original, "no default"),
            (lambda original, *rest: original, r"may not take \*rest"),
        ],
    )
    def test_nonsense(self, function, message):
        function.__name__ = "nonsense"
        with pytest.raises(InvalidParameter, match=message):
            tc.obfuscator(function)

    def test_a_knob_that_is_no_parameter(self):
        with pytest.raises(InvalidParameter, match="no parameter step to be a knob"):
            tc.obfuscator(step=(0, 1))(lambda original: original)

    def test_a_name_that_is_taken(self, drift):
        with pytest.raises(InvalidParameter, match="already taken"):
            tc.obfuscator(name="PL")(drift.function)

    def test_wrong_answers(self, demo):
        @tc.obfuscator
        def short(original):
            return np.asarray(original)[:, :3]

        with pytest.raises(InvalidTraces, match="short has shape"):
            tc.publish(demo, short)


class TestAttack:
    def test_both_kinds_pass_the_checks_of_the_house(self, overlap):
        for method in (overlap, tc.attack(kind="trace", name="stay")(_stay)):
            assert [r for r in check_method(method) if not r.passed] == []

    def test_linking_comes_along(self, demo, overlap):
        made = tc.publish(demo)
        table = tc.attack(made, "overlap(0.5,match=assignment)")
        assert table.is_permutation
        assert tc.score(made, table).value < 0.5

    def test_a_table_is_an_answer_too(self, demo):
        @tc.attack
        def backwards(case):
            return np.arange(case.n_users)[::-1]

        assert tc.attack(tc.publish(demo), backwards) == IdTable.of(np.arange(12)[::-1])

    def test_nonsense(self, demo):
        @tc.attack
        def wide(case):
            return np.zeros((2, 3))

        with pytest.raises(InvalidTraces, match=r"\(pseudonyms, users\) = \(12, 12\)"):
            tc.attack(tc.publish(demo), wide)
        with pytest.raises(InvalidParameter, match="kind='reid' or kind='trace'"):
            tc.attack(kind="both")
