"""The schedule: acts at the set time on the contest's clock, each once, in order."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.server.conftest import BEGINS, with_rules

from tracecup.contest.rules import RoundRules
from tracecup.server import clock
from tracecup.server.jobs import schedule
from tracecup.server.jobs.worker import drain
from tracecup.server.judging.schedule import plan
from tracecup.server.models import Job, LogEntry

pytestmark = pytest.mark.django_db


def kinds() -> list[str]:
    return [job.kind for job in schedule.due()]


class TestDue:
    def test_nothing_before_the_announcement(self, court):
        court.at("before")
        assert kinds() == []

    def test_announcement_at_its_instant(self, court):
        court.at(court.round.rules.phases.announce - timedelta(seconds=1))
        assert kinds() == []
        court.at(court.round.rules.phases.announce)
        assert kinds() == ["announce"]
        assert Job.objects.filter(kind="data").exists()

    def test_asked_twice_gives_one_job(self, court):
        court.at("announce")
        assert kinds() == ["announce"]
        assert kinds() == []

    def test_paused_and_deleted_contests_rest(self, court):
        court.at("announce")
        court.contest.paused_at = clock.now()
        court.contest.save()
        assert kinds() == []
        court.contest.paused_at, court.contest.deleted_at = None, clock.now()
        court.contest.save()
        assert kinds() == []

    def test_contest_without_instants_rests(self, contest):
        with_rules(contest, rounds=(RoundRules(),))
        assert kinds() == []

    def test_demo_has_its_own_clock(self, court):
        court.at("before")
        court.contest.is_demo, court.contest.clock_offset = True, 24 * 3600.0
        court.contest.save()
        assert kinds() == ["announce"]

    def test_acts_follow_one_another_even_after_a_jump(self, court):
        """A demo's clock jumps over everything: all acts happen, in their order."""
        court.at("results")
        drain()
        acts = LogEntry.objects.filter(action__startswith="round.").values_list("action", flat=True)
        assert list(acts) == [
            "round.announced",
            "round.judging",
            "round.judged",
            "round.published",
            "round.closed",
        ]
        assert court.fresh().round.released_at is not None

    def test_judge_waits_for_files_to_settle(self, court):
        court.begin()
        deadline = court.round.rules.phases.judge
        court.at(deadline + timedelta(seconds=59))
        assert kinds() == []
        court.at(deadline + timedelta(seconds=60))
        assert kinds() == ["judge"]

    def test_extension_given_late_is_respected(self, court):
        """The job is there already; it waits again."""
        court.begin()
        court.at("judge")
        assert kinds() == ["judge"]
        court.teams[1].extensions.create(
            round=court.round,
            phase="anonymize",
            until=BEGINS["judge"] + timedelta(hours=1),
            reason="our fault",
            given_at=clock.now(),
        )
        drain()
        assert court.fresh().round.judging_at is None
        court.at(BEGINS["judge"] + timedelta(hours=1, seconds=61))
        drain()
        assert court.fresh().round.judging_at is not None


class TestPlan:
    def test_what_comes_next(self, court):
        court.at("before")
        phases = court.round.rules.phases
        settle = timedelta(seconds=60)
        assert plan(court.round) == [
            ("announce", phases.announce),
            ("judge", phases.judge + settle),
            ("publish", phases.attack),
            ("close", phases.results + settle),
        ]

    def test_nothing_is_left_in_the_end(self, court):
        court.at("results")
        drain()
        assert plan(court.fresh().round) == []
