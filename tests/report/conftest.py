"""A made-up contest of any size, and a browser that can be asked what it shows."""

from __future__ import annotations

import pytest

from chromium import chromium
from made_up import MakeFacts


@pytest.fixture(scope="session")
def make_facts() -> type[MakeFacts]:
    return MakeFacts


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A headless Chromium, or a skip where there is none."""
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found
