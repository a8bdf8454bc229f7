"""Run the checks on classes of a test, in a registry that forgets them afterwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tracecup import registry
from tracecup.checks import check_method
from tracecup.checks.suite import kind_of
from tracecup.registry import KINDS, Method, methods, register

Failures = Callable[[type[Method]], dict[str, str]]


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = {kind: {c.name.lower(): c for c in methods(kind).values()} for kind in KINDS}
    monkeypatch.setattr(registry, "_methods", copies)


@pytest.fixture
def failures(own_registry: None) -> Failures:
    """failures(cls): register it, check it, and give the failed checks with their messages."""

    def run(cls: type[Method]) -> dict[str, str]:
        register(kind_of(cls).kind, cls.__name__, "made for a test")(cls)
        return {result.name: result.message for result in check_method(cls) if not result.passed}

    return run
