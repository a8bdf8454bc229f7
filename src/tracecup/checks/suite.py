"""All checks of a method: those of every method, then those of its kind.

The kind follows from the base class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import isclass
from typing import Any

from tracecup.attack import InferenceAttack, Measure, ReidAttack
from tracecup.checks.general import explains_itself, name_parses_back, refuses_bad_parameters
from tracecup.checks.inference import INFERENCE_CHECKS, start_inference
from tracecup.checks.measures import MEASURE_CHECKS, start_measuring
from tracecup.checks.obfuscators import OBFUSCATOR_CHECKS, start_obfuscation
from tracecup.checks.reid import REID_CHECKS, start_scoring
from tracecup.checks.result import Check, CheckResult, run_check
from tracecup.checks.synthesizers import SYNTHESIZER_CHECKS, start_fitting
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import Obfuscator
from tracecup.registry import Kind, Method
from tracecup.synth import Synthesizer


def check_method(method: Method | type[Method]) -> list[CheckResult]:
    """Run every contract test that fits `method`, a class (its defaults are used) or an object.

    Works on small inputs, so a fast method is through in a second; a method that never ends is
    not interrupted. Raises `InvalidParameter` for what is no method of a known kind. Changes the
    environment variable TRACECUP_THREADS and the global random states while it runs.

    >>> from tracecup.obfuscate import RR
    >>> all(result.passed for result in check_method(RR(8.0)))
    True
    """
    kind = kind_of(method if isclass(method) else type(method))
    built = run_check(is_built_from_its_defaults, method)
    if isclass(method):
        if not built.passed:
            return [built]
        method = method()
    return [built, *(run_check(check, method) for check in kind.checks)]


@dataclass(frozen=True)
class CheckedKind:
    """A kind of method: its base class, and how it is checked."""

    kind: Kind
    base: type[Method]
    own: tuple[Check, ...]
    start: Callable[[Any], object]
    where: str

    @property
    def checks(self) -> tuple[Check, ...]:
        """Those of every method, then its own."""
        inherited = getattr(self.base, "__dataclass_fields__", {})
        refuses = refuses_bad_parameters(self.start, self.where, inherited)
        return (name_parses_back(self.kind), explains_itself, refuses, *self.own)


KINDS = (
    CheckedKind("obfuscator", Obfuscator, OBFUSCATOR_CHECKS, start_obfuscation, "obfuscate"),
    CheckedKind("reid", ReidAttack, REID_CHECKS, start_scoring, "score_matrix or scores"),
    CheckedKind("inference", InferenceAttack, INFERENCE_CHECKS, start_inference, "infer"),
    CheckedKind("synthesizer", Synthesizer, SYNTHESIZER_CHECKS, start_fitting, "fit"),
    CheckedKind("measure", Measure, MEASURE_CHECKS, start_measuring, "measure"),
)


def kind_of(cls: type) -> CheckedKind:
    """The kind of a class, by its base class."""
    for kind in KINDS:
        if issubclass(cls, kind.base):
            return kind
    bases = ", ".join(kind.base.__name__ for kind in KINDS)
    raise InvalidParameter(f"{cls.__name__} is no method: a method derives from one of {bases}")


def is_built_from_its_defaults(method: Method | type[Method]) -> None:
    """The class can be built without arguments; its constructor only stores its parameters."""
    (method if isclass(method) else type(method))()
