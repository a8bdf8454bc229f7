"""A rehearsal: the organiser's own rules, small, played by bots to the end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tracecup.contest.rules import Rules
from tracecup.server.access import Actor
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Submission
from tracecup.server.organising.rehearsal import rehearsals_of, rehearse, small_rules
from tracecup.server.resultsets import (
    published,
)

pytestmark = pytest.mark.django_db


class TestSmallRules:
    def test_only_sizes_and_times_change(self):
        rules = Rules.preset("organisers2019")
        small = small_rules(rules, 30)
        assert (small.users, small.clock.days, small.rounds[0].days) == (30, 2, 2)
        assert [one.name for one in small.rounds] == ["preliminary", "final"]
        assert small.samples == rules.samples
        assert small.scores == rules.scores
        assert small.challenges == rules.challenges
        assert small.rounds[0].phases.results < small.rounds[1].phases.announce
        small.check()

    def test_a_small_contest_stays_as_small(self):
        assert small_rules(Rules(users=12), 30).users == 12


class TestRehearse:
    def test_bots_play_to_the_end(self, contest, organiser, fixed_clock):
        made = rehearse(contest, Actor(organiser), teams=2, users=20)
        assert made.is_rehearsal
        assert not made.is_public
        for _ in range(60):
            drain()
            fixed_clock.at += timedelta(seconds=2)
            if rehearsals_of(contest)[0].state == "done":
                break
        played = rehearsals_of(contest)[0]
        assert (played.contest, played.step) == (made, "played to the end")
        assert published(made.rounds.get()) is not None
        assert not Submission.objects.exclude(contest=made).exists()
        kinds = Submission.objects.filter(state="scored").values_list("kind", flat=True)
        assert set(kinds) == {"release", "reid", "trace"}

    def test_a_job_that_died_is_told(self, contest, organiser, fixed_clock):
        made = rehearse(contest, Actor(organiser), teams=2, users=20)
        made.jobs.filter(kind="data").update(state="dead")
        drain()
        played = rehearsals_of(contest)[0]
        assert (played.state, played.step) == ("dead", "a job of the rehearsal died")
