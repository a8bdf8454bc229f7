"""A check's answer: what is said when a rule is broken or the method raises."""

from __future__ import annotations

import pytest

from tracecup.checks.result import Broken, Check, CheckResult, demand, run_check


def keeps_quiet(method: object) -> None:
    """Methods are quiet."""


def has_a_remark(method: object) -> str:
    """Methods are remarkable."""
    return "nothing to check"


def is_broken(method: object) -> None:
    """Methods are whole."""
    raise Broken("mend it")


def divides(method: int) -> None:
    """Methods are not zero."""
    1 / method


def leaves(method: object) -> None:
    """Methods stay."""
    raise SystemExit(2)


class TestRunCheck:
    @pytest.mark.parametrize(
        ("check", "expected"),
        [
            (keeps_quiet, CheckResult("keeps quiet", True)),
            (has_a_remark, CheckResult("has a remark", True, "nothing to check")),
            (is_broken, CheckResult("is broken", False, "mend it")),
        ],
    )
    def test_answers(self, check: Check, expected: CheckResult) -> None:
        assert run_check(check, 0) == expected

    def test_an_error_is_named_with_its_line_and_the_rule(self) -> None:
        message = run_check(divides, 0).message
        line = divides.__code__.co_firstlineno + 2
        assert message == (
            "it raised ZeroDivisionError: division by zero "
            f"(test_result.py, line {line}). Methods are not zero."
        )

    def test_a_method_cannot_leave_the_program(self) -> None:
        assert run_check(leaves, 0).message.startswith("it raised SystemExit: 2")

    def test_an_interruption_gets_through(self) -> None:
        def is_interrupted(method: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_check(is_interrupted, 0)


class TestDemand:
    def test_raises_with_the_message(self) -> None:
        demand(True, "nothing")
        with pytest.raises(Broken, match="this"):
            demand(False, "this")
