"""Late releases: taken out of competition where the rules say so, from teams that have none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tracecup.server.access import Actor
from tracecup.server.entries import sets_of
from tracecup.server.errors import Refused
from tracecup.server.judging.kinds import shuffle
from tracecup.server.submissions import choices

pytestmark = pytest.mark.django_db
LATE = datetime(2030, 4, 3, 0, 10, tzinfo=UTC)


@pytest.fixture
def lenient(desk):
    """The desk of a contest that takes releases half an hour late."""
    contest = desk.contest
    contest.rules_text = contest.rules_text.replace("[limits]", "[limits]\nlate_minutes = 30")
    contest.save()
    desk.round.refresh_from_db()
    return desk


def hors_concours(desk, team, given):
    return shuffle._told(sets_of(desk.round, team)[0], team, given)["hors_concours"]


class TestLate:
    def test_refused_without_the_rule(self, desk, team, at):
        at(LATE)
        with pytest.raises(Refused) as caught:
            desk.hand_in(team, desk.release(team))
        assert caught.value.code == "closed"

    def test_taken_out_of_competition(self, lenient, team, at):
        at(LATE)
        made = lenient.hand_in(team, lenient.release(team)).submission
        assert (made.state, made.chosen) == ("scored", True)
        assert hors_concours(lenient, team, made)

    def test_one_in_time_stays_in_competition_and_is_not_replaced(self, lenient, team, member, at):
        made = lenient.hand_in(team, lenient.release(team)).submission
        at(LATE)
        with pytest.raises(Refused, match="would not count"):
            lenient.hand_in(team, lenient.release(team, moved=3))
        with pytest.raises(Refused):
            choices.withdraw(made, Actor(member))
        assert not hors_concours(lenient, team, made)

    def test_not_later_than_that(self, lenient, team, at):
        at(LATE + timedelta(minutes=20))
        with pytest.raises(Refused):
            lenient.hand_in(team, lenient.release(team))
