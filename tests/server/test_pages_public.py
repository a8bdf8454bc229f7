"""Pages for everybody."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.django_db


class TestHome:
    def test_answers(self, client):
        assert client.get("/").status_code == 200
