"""Small demo data for the front door."""

from __future__ import annotations

import pytest

import tracecup as tc


@pytest.fixture(scope="session")
def demo() -> tc.Data:
    """Twelve virtual users, two days and two."""
    return tc.load_demo(days=2, users=12)
