"""A published result set for tests of what is shown of results."""

from __future__ import annotations

import pytest

from tracecup.contest.correlation import correlate
from tracecup.server import clock
from tracecup.server.models import ResultSet, Round


@pytest.fixture
def published(final):
    """A maker: the final round's published result set with these tables."""

    def make(**tables):
        now = clock.now()
        Round.objects.update(published_at=now, closed_at=now, released_at=now)
        return ResultSet.objects.create(
            round=final, number=1, state="published", scorer="tracecup 0", inputs_sha256="a" * 64,
            seconds=1.0, tables=tables, created_at=now, published_at=now,
            summary={"correlation": vars(correlate([0.4], [0.4]))},
        )  # fmt: skip

    return make
