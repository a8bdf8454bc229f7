"""A clock that jumps judges and publishes nothing: the judge waits, an organiser is asked."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tracecup.server import auditlog, clock, clockwatch
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs.schedule import due
from tracecup.server.jobs.worker import drain
from tracecup.server.models import ClockWatch, Job, LogEntry
from tracecup.server.organising import running
from tracecup.server.windows import window

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("city_is_read_once")]
MONTH = timedelta(days=30)
ACTS = ("announce", "judge", "publish", "close")


class Computer:
    """A computer's two clocks: one can be set, one cannot."""

    def __init__(self, at: datetime) -> None:
        self.wall, self.steady = at, 1000.0

    def wait(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.steady += seconds

    def clock(self) -> clock.SystemClock:
        """The clock of a process that starts now."""
        return clock.SystemClock(lambda: self.wall, lambda: self.steady)


@pytest.fixture
def computer(fixed_clock):
    """The server's clock is a computer's, in the anonymization phase."""
    made = Computer(fixed_clock.at)
    clock.use(made.clock())
    return made


@pytest.fixture
def actor(organiser):
    return Actor(organiser, "page")


def acts():
    """Acts of the judge that were asked for."""
    due()
    return [job.kind for job in Job.objects.order_by("pk") if job.kind in ACTS]


class TestSystemClock:
    def test_small_steps_are_followed(self, computer):
        for _ in range(5):
            computer.wait(10)
            computer.wall += timedelta(seconds=20)
            assert clock.now() == computer.wall

    def test_time_goes_on_evenly_over_a_jump(self, computer):
        before = clock.now()
        computer.wall += MONTH
        computer.wait(8)
        assert clock.now() == before + timedelta(seconds=8)
        assert clock.watched().jump() == MONTH
        computer.wall -= MONTH
        assert clock.watched().jump() == timedelta(0)


class TestJump:
    def test_a_month_ahead_for_eight_seconds_does_nothing(self, computer, final, team):
        assert acts() == ["announce"]
        computer.wall += MONTH
        computer.wait(4)
        assert acts() == ["announce"]
        assert window(final, "release", clock.now(), team).is_open
        assert clockwatch.open_doubt().shown == computer.wall
        computer.wait(4)
        computer.wall -= MONTH
        assert acts() == ["announce"]
        assert clockwatch.open_doubt() is None
        told = LogEntry.objects.filter(action__startswith="clock.").values_list("action", flat=True)
        assert list(told) == ["clock.doubt", "clock.agrees"]

    def test_an_act_that_waits_in_the_queue_waits_on(self, computer, final):
        assert acts() == ["announce"]
        computer.wall += MONTH
        due()
        drain()
        final.refresh_from_db()
        assert final.announced_at is None
        assert Job.objects.get(kind="announce").error == "the clock is in doubt"

    def test_accepted_by_an_organiser_it_goes_on(self, computer, contest, final, team, actor):
        due()
        elsewhere = computer.clock()  # a web server's
        computer.wall += 2 * timedelta(days=1)
        due()
        with pytest.raises(Refused, match="closes anonymization of round final now, for 1 team"):
            running.accept_clock(contest, actor, "it had been two days late")
        running.accept_clock(contest, actor, "it had been two days late", confirm=contest.slug)
        Job.objects.all().delete()
        assert acts() == ["announce"]
        assert clock.now() == computer.wall
        assert LogEntry.objects.get(action="clock.accepted").why == "it had been two days late"
        clock.use(elsewhere)
        clockwatch.follow()
        assert clock.now() == computer.wall

    def test_the_next_jump_is_asked_about_again(self, computer, contest, actor):
        due()
        computer.wall += timedelta(hours=1)
        due()
        running.accept_clock(contest, actor, "summer time")
        due()
        computer.wait(100)
        computer.wall += timedelta(hours=1)
        due()
        assert clockwatch.open_doubt() is not None

    def test_demonstrations_play_on(self, computer, contest):
        contest.is_demo = True
        contest.save()
        due()
        computer.wall += MONTH
        assert acts() == ["announce"]


class TestRestart:
    def test_a_clock_that_was_set_while_nobody_looked(self, computer, contest):
        due()
        Job.objects.all().delete()
        computer.wait(3600)
        computer.wall += MONTH
        clock.use(computer.clock())
        assert acts() == []
        assert clockwatch.open_doubt().why == "restart"

    def test_before_the_last_entry_of_the_log(self, computer, contest):
        auditlog.record(SYSTEM, "something")
        computer.wall -= MONTH
        clock.use(computer.clock())
        due()
        assert clockwatch.open_doubt().why == "back"

    def test_a_machine_that_was_off_for_long_asks_before_it_judges(self, computer, contest):
        due()
        ClockWatch.objects.update(boot="another")
        Job.objects.all().delete()
        computer.wall += timedelta(days=2)
        clock.use(computer.clock())
        assert acts() == []
        assert clockwatch.open_doubt().why == "away"

    def test_a_short_absence_is_no_news(self, computer, contest):
        due()
        ClockWatch.objects.update(boot="another")
        computer.wall += timedelta(hours=2)
        clock.use(computer.clock())
        due()
        assert clockwatch.open_doubt() is None

    def test_tests_move_their_clock_as_they_like(self, contest, at):
        at("anonymize")
        due()
        at("results")
        due()
        assert not ClockWatch.objects.exists()


class TestPage:
    def test_it_asks(self, computer, contest, organiser, client):
        client.force_login(organiser)
        due()
        computer.wall += timedelta(hours=2)
        due()
        address = f"/c/{contest.slug}/run/"
        text = client.get(address).content.decode()
        assert "Which time is right?" in text
        assert "Nothing needs you" not in text
        client.post(address, {"act": "accept_clock", "why": "I looked at my watch"})
        assert "Which time is right?" not in client.get(address).content.decode()
