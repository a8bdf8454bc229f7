"""A made-up contest of any size."""

from __future__ import annotations

import pytest

from made_up import MakeFacts


@pytest.fixture(scope="session")
def make_facts() -> type[MakeFacts]:
    return MakeFacts
