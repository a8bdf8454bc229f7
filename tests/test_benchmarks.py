"""Parts of the benchmarks on which published figures rest."""

from __future__ import annotations

import http.client
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def deadline(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import server_deadline

    return server_deadline


class TestDeadline:
    def test_everybody_has_time_to_send_before_the_deadline(self, deadline: ModuleType) -> None:
        due = deadline.moments(200)
        assert len(due) == 200
        assert min(due) >= 0
        assert max(due) <= deadline.MINUTE - 5
        assert sum(at > deadline.LAST_MOMENT / 2 for at in due) > 140

    def test_the_clock_is_set_so_that_it_comes_then(
        self, deadline: ModuleType, tmp_path: Path
    ) -> None:
        pytest.importorskip("django")
        from tracecup.server.clock import FileClock

        stand = deadline.Stand.__new__(deadline.Stand)
        stand.clock = tmp_path / "clock"
        ends = datetime.now(UTC) + timedelta(days=7)
        stand.let_come(ends, 60)
        left = ends - FileClock(stand.clock).now()
        assert timedelta(seconds=50) < left <= timedelta(seconds=60)

    @pytest.mark.parametrize("error", [http.client.IncompleteRead(b""), OSError("gone")])
    def test_an_answer_that_breaks_off_is_a_receipt_that_is_missing(
        self, error: Exception, deadline: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def put(path: str, token: str, file: Path) -> tuple[int, object]:
            if token == "2":
                raise error
            return http.client.CREATED, {}

        monkeypatch.setattr(deadline, "LAST_MOMENT", 0.01)
        players = [deadline.Player(number, str(number), "") for number in (1, 2, 3)]
        told = deadline.hand_in(SimpleNamespace(put=put), players, [Path("a")] * 3)
        assert [(one.team, one.status) for one in told] == [(1, 201), (2, 0), (3, 201)]
        assert type(error).__name__ in told[1].told
