"""No change of times ends a phase, or a contest, before somebody has typed that she means it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tracecup.contest.rules import PHASES
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs.schedule import due
from tracecup.server.models import LogEntry
from tracecup.server.organising import contests, rulechange, running
from tracecup.server.organising.ruletext import instants_of, with_instants

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)
YEAR = timedelta(days=366)
SLIP = {"act": "deadline", "phase": "anonymize", "until": "2030-04-02 21:00", "why": "a slip"}


@pytest.fixture
def actor(organiser):
    return Actor(organiser, "page")


@pytest.fixture
def boss(client, organiser):
    client.force_login(organiser)
    return client


def past(round, by):
    return {phase: getattr(round.rules.phases, phase) - by for phase in PHASES}


def jobs_due():
    return [job.kind for job in due() if job.kind in ("announce", "judge", "publish", "close")]


class TestMovedDeadline:
    def test_one_that_ends_the_phase_now_is_asked_about(self, contest, final, team, actor):
        with pytest.raises(Refused) as found:
            running.move_deadline(final, "anonymize", clock.now() - MINUTE, actor, "a slip")
        assert found.value.message.startswith(
            "This closes anonymization of round final now, for 1 team, for good."
        )
        assert found.value.details["confirm"] == contest.slug
        contest.refresh_from_db()
        assert contest.rules.round("final").phases.judge > clock.now()

    def test_typed_it_is_done(self, contest, final, team, actor):
        until = clock.now() - MINUTE
        running.move_deadline(final, "anonymize", until, actor, "all are ready", confirm="spring")
        contest.refresh_from_db()
        assert contest.rules.round("final").phases.judge == until

    def test_who_has_more_time_is_not_counted(self, contest, final, team, new_team, actor):
        new_team(contest)
        running.extend(
            team, final, "anonymize", actor, until=clock.now() + 3 * YEAR, reason="a storm"
        )
        with pytest.raises(Refused, match="for 1 team, for good"):
            running.move_deadline(final, "anonymize", clock.now() - MINUTE, actor, "a slip")

    def test_a_later_one_needs_no_word(self, final, actor):
        running.move_deadline(final, "anonymize", clock.now() + YEAR, actor, "more time")

    def test_grace_that_goes_ends_a_phase_too(self, contest, final, actor, at):
        text = contest.rules_text.replace("[limits]", "[limits]\ngrace_seconds = 600")
        rulechange.change_rules(contest, text, actor, "slow networks")
        at(final.rules.phases.judge + MINUTE)
        with pytest.raises(Refused, match="closes anonymization"):
            rulechange.change_rules(contest, text.replace("= 600", "= 0"), actor, "tidy")


class TestPlansInThePast:
    def test_a_round_that_would_be_over_at_once_is_refused(self, contest, final, actor):
        with pytest.raises(Refused) as found:
            running.set_phases(final, past(final, YEAR), actor, "wrong year", confirm="spring")
        assert "All times of this round are in the past" in found.value.problems[0]["expected"]
        assert jobs_due() == ["announce"]

    def test_so_is_the_text_of_the_rules(self, contest, actor):
        earlier = {place: when - YEAR for place, when in instants_of(contest.rules).items()}
        text = with_instants(contest.rules_text, earlier)
        assert rulechange.plan_rules(contest, text).problems
        with pytest.raises(Refused):
            rulechange.change_rules(contest, text, actor, "wrong year", confirm="spring")

    def test_a_round_that_runs_can_be_ended_by_a_typed_word(self, contest, final, actor, at):
        final.announced_at = clock.now()
        final.save()
        with pytest.raises(Refused) as found:
            running.set_phases(final, _ended(final), actor, "call it off")
        acts = [one["act"] for one in found.value.details["endings"]]
        assert acts == ["judge", "publish", "close"]
        running.set_phases(final, _ended(final), actor, "call it off", confirm="spring")

    def test_a_new_contest_does_not_begin_with_its_end(self, contest, actor):
        text = contest.rules_text.replace("2030-", "2020-")
        with pytest.raises(Refused, match="over before it begins"):
            contests.create_contest(actor, name="Old", slug="old", rules_text=text)

    def test_nor_does_a_clone(self, contest, actor):
        with pytest.raises(Refused, match="over before it begins"):
            contests.clone_contest(
                contest, actor, name="Old", slug="old", starts=clock.now() - YEAR
            )


class TestStandingStill:
    def test_a_pause_longer_than_the_phase_is_asked_about(self, contest, final, actor, at):
        running.pause(contest, actor, "a fire")
        at("attack")
        with pytest.raises(Refused, match="closes anonymization"):
            running.resume(contest, actor, "over", shift=False)
        running.resume(contest, actor, "over", shift=False, confirm=contest.slug)

    def test_moved_deadlines_need_no_word(self, contest, final, actor, at):
        running.pause(contest, actor, "a fire")
        at("attack")
        running.resume(contest, actor, "over")
        contest.refresh_from_db()
        assert contest.rules.round("final").phases.judge > clock.now()

    def test_a_deleted_contest_comes_back_as_it_went(self, contest, final, actor, at):
        contests.delete(contest, actor, "by mistake")
        at("results")
        contests.undelete(contest, actor)
        assert contest.paused_at is not None
        assert jobs_due() == []
        running.resume(contest, actor, "it was a mistake")
        assert contest.rules.round("final").phases.judge > clock.now()

    def test_an_extension_taken_back_ends_the_phase_of_its_team(self, final, team, actor, at):
        until = final.rules.phases.judge + YEAR
        made = running.extend(team, final, "anonymize", actor, until=until, reason="a storm")
        at(final.rules.phases.judge + MINUTE)
        with pytest.raises(Refused, match="now for team 1 team1, for good"):
            running.take_back_extension(made, actor, "not needed")
        running.take_back_extension(made, actor, "not needed", confirm="spring")


class TestPage:
    def test_it_asks_and_then_does_it(self, boss, contest, team):
        asked = boss.post(f"/c/{contest.slug}/run/", SLIP)
        assert asked.status_code == 409
        text = asked.content.decode()
        assert "for 1 team, for good" in text
        assert 'id="confirm-word"' in text
        assert 'name="until" value="2030-04-02 21:00"' in text
        done = boss.post(f"/c/{contest.slug}/run/", SLIP | {"confirm": "spring"})
        assert done.status_code == 302
        assert LogEntry.objects.filter(action="contest.deadline").count() == 1

    def test_times_are_typed_on_a_clock_of_24_hours(self, boss, contest):
        for page in ("", "settings/"):
            text = boss.get(f"/c/{contest.slug}/run/{page}").content.decode()
            assert "datetime-local" not in text
            assert "24-hour clock, in the contest&#x27;s time zone, Asia/Tokyo" in text

    def test_the_check_of_rules_tells_what_would_end(self, boss, contest, team):
        text = contest.rules_text.replace("2030-04-03T00", "2030-04-02T02")
        form = {"act": "rules_check", "text": text, "version": 1}
        shown = boss.post(f"/c/{contest.slug}/run/settings/", form).content.decode()
        assert "This closes anonymization of round final now, for 1 team, for good." in shown


def _ended(round):
    """All of a round is over since a minute, in its order; what has happened stays."""
    phases = round.rules.phases
    over = {phase: clock.now() - (5 - k) * MINUTE for k, phase in enumerate(PHASES) if k > 1}
    return {"announce": phases.announce, "anonymize": phases.anonymize, **over}
