"""One check and its answer: a rule in words, and what to mend where it is broken.

A check is a function of a method; it raises `Broken`, and its docstring is the rule.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Check = Callable[[Any], str | None]
"""Raises `Broken`; may return a remark, for example why there was nothing to check."""


@dataclass(frozen=True)
class CheckResult:
    """The answer of one check; `message` tells the author what to do, or is a remark."""

    name: str
    passed: bool
    message: str = ""


class Broken(Exception):
    """A rule that a method does not keep; the message is for the method's author."""


def demand(kept: bool, message: str) -> None:
    """Raise `Broken` with the message unless the rule is kept."""
    if not kept:
        raise Broken(message)


def run_check(check: Check, method: object) -> CheckResult:
    """Run one check; whatever the method raises becomes a failure that says where.

    >>> def has_a_length(method):
    ...     '''Methods have a length.'''
    ...     len(method)
    >>> run_check(has_a_length, [])
    CheckResult(name='has a length', passed=True, message='')
    """
    name = check.__name__.replace("_", " ")
    rule = " ".join((inspect.getdoc(check) or "").split())
    # Other people's code may fail in any way, even by leaving the program.
    try:
        return CheckResult(name, True, check(method) or "")
    except Broken as broken:
        return CheckResult(name, False, str(broken))
    except (Exception, SystemExit) as error:
        raised = f"it raised {type(error).__name__}: {error}".rstrip(": ")
        return CheckResult(name, False, f"{raised} ({_where(error, method)}). {rule}")


def _where(error: BaseException, method: object) -> str:
    """The last line of the method's own file that was running, else the last line of all."""
    cls = method if inspect.isclass(method) else type(method)
    own = getattr(sys.modules.get(cls.__module__), "__file__", None)
    frames = traceback.extract_tb(error.__traceback__)
    frame = next((f for f in reversed(frames) if f.filename == own), frames[-1])
    return f"{Path(frame.filename).name}, line {frame.lineno}"
