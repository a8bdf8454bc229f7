"""When what is allowed: phases, grace, extension, pause, and what the judge has closed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tracecup.contest.rules.file import rules_text
from tracecup.server import clock
from tracecup.server.errors import Refused
from tracecup.server.models import Extension
from tracecup.server.windows import (
    current_round,
    last_end,
    phase_now,
    require_open,
    was_late,
    window,
)

pytestmark = pytest.mark.django_db
DEADLINE = datetime(2030, 4, 3, tzinfo=UTC)
TICK = timedelta(microseconds=1)


class TestRelease:
    @pytest.mark.parametrize(
        ("phase", "state"),
        [
            ("before", "before"),
            ("announce", "before"),
            ("anonymize", "open"),
            ("judge", "closed"),
            ("attack", "closed"),
            ("results", "closed"),
        ],
    )
    def test_open_in_its_phase_only(self, final, at, phase, state):
        assert window(final, "release", at(phase)).state == state

    def test_the_deadline_itself_is_too_late(self, final):
        assert window(final, "release", DEADLINE - TICK).is_open
        assert not window(final, "release", DEADLINE).is_open

    def test_grace_is_added(self, final):
        rules = final.contest.rules
        limits = replace(rules.limits, grace_seconds=60)
        final.contest.rules_text = rules_text(replace(rules, limits=limits))
        assert window(final, "release", DEADLINE + timedelta(seconds=59)).is_open
        assert not window(final, "release", DEADLINE + timedelta(seconds=60)).is_open

    def test_late_ones_are_taken_for_a_while_where_the_rules_say_so(self, final, team):
        rules = final.contest.rules
        limits = replace(rules.limits, late_minutes=30, grace_seconds=60)
        final.contest.rules_text = rules_text(replace(rules, limits=limits))
        closes = DEADLINE + timedelta(seconds=60)
        assert not window(final, "release", closes - TICK).late
        found = window(final, "release", closes, team)
        assert found.is_open
        assert found.late
        assert found.closes == closes
        assert found.late_until == last_end(final, "release") == closes + timedelta(minutes=30)
        assert window(final, "release", found.late_until).state == "closed"
        assert not was_late(final, team, closes - TICK)
        assert was_late(final, team, closes)
        assert window(final, "attack", closes).late_until is None

    def test_an_extension_is_for_one_team(self, final, team, new_team):
        other = new_team(final.contest)
        until = DEADLINE + timedelta(hours=2)
        Extension.objects.create(
            team=team, round=final, phase="anonymize", until=until, reason="x", given_at=DEADLINE
        )
        late = DEADLINE + timedelta(hours=1)
        assert window(final, "release", late, team).is_open
        assert window(final, "release", late, team).extended
        assert not window(final, "release", late, other).is_open
        assert last_end(final, "release") == until

    def test_what_is_judged_stays_closed_when_the_clock_steps_back(self, final, at):
        final.judging_at = DEADLINE
        assert window(final, "release", at("anonymize")).state == "closed"

    def test_a_pause_closes_it(self, final, at):
        final.contest.paused_at = clock.now()
        assert window(final, "release", at("anonymize")).state == "paused"
        with pytest.raises(Refused) as refused:
            require_open(final, "release", clock.now())
        assert refused.value.code == "paused"

    def test_the_refusal_names_the_instants(self, final):
        with pytest.raises(Refused) as refused:
            require_open(final, "release", DEADLINE)
        assert refused.value.details == {
            "closed": DEADLINE.isoformat(),
            "arrived": DEADLINE.isoformat(),
        }


class TestAttack:
    def test_it_waits_for_the_publication(self, final, at):
        assert window(final, "attack", at("attack")).state == "before"
        final.published_at = at("attack")
        assert window(final, "attack", at("attack")).is_open

    def test_it_ends_with_the_results(self, final, at):
        final.published_at = at("attack")
        assert window(final, "attack", at("results")).state == "closed"


class TestPhaseNow:
    def test_every_phase(self, final, at):
        for phase in ("announce", "anonymize", "judge", "attack", "results"):
            assert phase_now(final, at(phase)) == phase
        assert phase_now(final, at("before")) is None

    def test_the_current_round_of_a_contest(self, contest, final, at):
        assert current_round(contest, at("before")) == final
        assert current_round(contest, at("attack")) == final


class TestClock:
    def test_a_demo_moves_its_own_clock(self, contest):
        contest.clock_offset = 3600
        assert clock.contest_now(contest) - clock.now() == timedelta(hours=1)

    def test_arrival_is_when_the_body_was_there(self, contest, monkeypatch):
        monkeypatch.setattr("time.monotonic", lambda: 110.0)
        assert clock.arrival(contest, 100.0) == clock.now() - timedelta(seconds=10)
        assert clock.arrival(contest, None) == clock.now()

    def test_a_file_clock_moves_all_processes(self, tmp_path):
        path = tmp_path / "offset"
        made = clock.FileClock(path)
        before = made.now()
        path.write_text("86400")
        assert made.now() - before >= timedelta(days=1)
