"""One person plays in one team: once data are out she takes nothing from one to another."""

from __future__ import annotations

import pytest

from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.models import FormerMember, LogEntry
from tracecup.server.organising.data_checks import is_leaky
from tracecup.server.organising.rulechange import plan_rules
from tracecup.server.people import membership
from tracecup.server.submissions.quotas import all_quotas

pytestmark = pytest.mark.django_db


@pytest.fixture
def other(contest, team, new_team):
    return new_team(contest, "other")


@pytest.fixture
def boss(client, organiser):
    client.force_login(organiser)
    return client


class TestMoves:
    def test_before_data_are_out_people_may_change_teams(self, team, other, member, at):
        at("before")
        membership.remove_member(team, member, Actor(member))
        assert membership.join(other.join_code, member, Actor(member)) == other

    def test_afterwards_they_may_not(self, team, other, member, at):
        at("anonymize")
        membership.remove_member(team, member, Actor(member))
        with pytest.raises(Refused, match="only organisers can move you"):
            membership.join(other.join_code, member, Actor(member))

    def test_nor_by_leaving_early_and_joining_late(self, team, other, member, at):
        at("before")
        membership.remove_member(team, member, Actor(member))
        at("anonymize")
        with pytest.raises(Refused, match="only organisers"):
            membership.join(other.join_code, member, Actor(member))

    def test_back_into_the_own_team(self, team, member, at):
        at("anonymize")
        membership.remove_member(team, member, Actor(member))
        team.refresh_from_db()
        assert membership.join(team.join_code, member, Actor(member)) == team

    def test_who_was_in_none_may_join_at_any_time(self, team, new_person, at):
        at("anonymize")
        ada = new_person("ada")
        assert membership.join(team.join_code, ada, Actor(ada)) == team

    def test_organisers_make_an_exception_and_the_log_says_so(self, boss, team, other, member, at):
        at("anonymize")
        form = {"act": "move_here", "team": other.number, "person": member.pk, "why": "a merger"}
        assert boss.post("/c/spring/run/teams/", form).status_code == 302
        assert other.members.filter(person=member).exists()
        entry = LogEntry.objects.get(action="member-move")
        assert (entry.before["team"], entry.after["team"], entry.why) == (1, 2, "a merger")
        assert FormerMember.objects.get().team == team


class TestTries:
    def test_they_are_counted_by_person_too(self, desk, team, attackable, contest, organiser):
        """Eight teams of one account gave a whole ID table."""
        ada = team.members.get().person
        for first in (1, 2):
            desk.answer(team, 2, desk.table(first))
        third = contest.teams.get(number=3)
        membership.move_member(team, ada, third, Actor(organiser), "a merger")
        actor = Actor(ada, "api")
        with pytest.raises(Refused, match="tries yourself") as found:
            desk.answer(third, 2, desk.table(3), actor=actor)
        assert found.value.code == "quota"
        # Her new team has its own, and she has those for other targets.
        bob = third.members.exclude(person=ada).get().person
        assert desk.answer(third, 2, desk.table(3), actor=Actor(bob, "api")).submission.charged
        assert desk.answer(third, 0, challenge="reid", actor=actor).submission.charged

    def test_what_a_person_may_still_learn_is_told(
        self, desk, team, attackable, contest, organiser
    ):
        ada = team.members.get().person
        desk.answer(team, 2, desk.table(1))
        third = contest.teams.get(number=3)
        membership.move_member(team, ada, third, Actor(organiser), "a merger")
        left = {
            (kind, target): one.left for kind, _, target, one in all_quotas(desk.round, third, ada)
        }
        assert (left["reid", 2], left["trace", 2]) == (1, 2)


class TestWarning:
    def test_exact_feedback_and_open_registration(self, boss, contest, final, at):
        text = contest.rules_text + '[feedback]\npolicy = "exact"\n'
        contest.join_open = True
        contest.save()
        said = [one.sentence for one in plan_rules(contest, text).effects]
        assert (
            "Anybody may register: with several accounts, exact scores give everything away."
            in said
        )
        assert not is_leaky(contest)
        contest.rules_text = text
        contest.save()
        assert is_leaky(contest)
        shown = boss.get("/c/spring/run/").content.decode()
        assert "learns a whole ID table from scores alone" in shown
        assert "Nothing needs you" not in shown
