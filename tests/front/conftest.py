"""Small demo data for the front door, and a registry that forgets the tests' methods."""

from __future__ import annotations

import pytest

import tracecup as tc


@pytest.fixture(autouse=True, scope="module")
def _forgetful(own_registry):
    """Tests of the front door make methods of their own."""


@pytest.fixture(scope="session")
def demo() -> tc.Data:
    """Twelve virtual users, two days and two."""
    return tc.load_demo(days=2, users=12)
