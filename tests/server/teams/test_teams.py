"""Teams: numbers, names, divisions, registration, join codes, captains, organisers."""

from __future__ import annotations

import pytest

from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor, role_of
from tracecup.server.errors import Refused
from tracecup.server.models import Job, LogEntry, Member, Organiser, Person, Team
from tracecup.server.people import membership as members
from tracecup.server.people import throttle
from tracecup.server.teams import (
    registration,
)

NEW = "a brand new secret"
REAL = registration.ensure_data
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def wanted(monkeypatch):
    """The contests whose data was asked for; making it is not what is tested here."""
    asked = []
    monkeypatch.setattr(registration, "ensure_data", asked.append)
    return asked


def refusal(call) -> Refused:
    with pytest.raises(Refused) as refused:
        call()
    return refused.value


class TestCreateTeam:
    def test_numbers_go_from_one(self, contest, wanted):
        made = [registration.create_team(contest, f"T{k}", SYSTEM) for k in range(3)]
        assert [team.number for team in made] == [1, 2, 3]
        assert wanted == [contest] * 3

    def test_its_data_is_made_by_a_job(self, contest, monkeypatch):
        monkeypatch.setattr(registration, "ensure_data", REAL)
        assert not Job.objects.exists()
        registration.create_team(contest, "A", SYSTEM)
        assert Job.objects.filter(contest=contest, state="waiting").exists()

    def test_every_contest_counts_for_itself(self, contest, new_contest):
        registration.create_team(contest, "A", SYSTEM)
        assert registration.create_team(new_contest("autumn"), "A", SYSTEM).number == 1

    def test_a_deleted_team_keeps_its_number_and_name(self, contest):
        team = registration.create_team(contest, "A", SYSTEM)
        team.deleted_at = clock.now()
        team.save()
        assert refusal(lambda: registration.create_team(contest, "A", SYSTEM)).code == "invalid"
        assert registration.create_team(contest, "B", SYSTEM).number == 2

    @pytest.mark.parametrize("name", ["", "  ", "x" * 121, "a\nb", "a\0b", "\ud800"])
    def test_bad_names_are_refused(self, contest, name):
        found = refusal(lambda: registration.create_team(contest, name, SYSTEM))
        assert found.problems[0]["field"] == "name"

    @pytest.mark.parametrize("name", ["Rät", "RÄT", " rät ", "ra\u0308t"])
    def test_names_that_look_alike_are_one(self, contest, name):
        registration.create_team(contest, "Rät", SYSTEM)
        found = refusal(lambda: registration.create_team(contest, name, SYSTEM))
        assert found.problems[0]["expected"] == "a name that no other team has"

    def test_divisions_are_those_of_the_contest(self, contest):
        contest.divisions = ["student", "open"]
        contest.save()
        assert registration.create_team(contest, "A", SYSTEM, division="open").division == "open"
        assert registration.create_team(contest, "B", SYSTEM).division == ""
        found = refusal(lambda: registration.create_team(contest, "C", SYSTEM, division="pro"))
        assert found.problems[0]["expected"] == "student, open"

    def test_sample_teams_keep_their_numbers(self, contest):
        Team.objects.create(contest=contest, number=899, name="last", created_at=clock.now())
        assert refusal(lambda: registration.create_team(contest, "A", SYSTEM)).code == "conflict"

    def test_a_failure_leaves_no_team(self, contest, monkeypatch):
        def fail(contest):
            raise RuntimeError

        monkeypatch.setattr(registration, "ensure_data", fail)
        with pytest.raises(RuntimeError):
            registration.create_team(contest, "A", SYSTEM)
        assert not contest.teams.exists()
        assert not LogEntry.objects.exists()

    def test_it_stands_in_the_log(self, contest, organiser):
        registration.create_team(contest, "A", Actor(organiser, "page"), hors_concours=True)
        entry = LogEntry.objects.get()
        assert (entry.action, entry.subject) == ("team-create", "team:1")
        assert entry.after["hors_concours"] is True


class TestChangeTeam:
    def test_name_and_division(self, team):
        team.contest.divisions = ["open"]
        team.contest.save()
        changed = registration.change_team(team, SYSTEM, name="Other", division="open")
        assert (changed.name, changed.division) == ("Other", "open")
        assert LogEntry.objects.get().before == {"name": "team1", "division": ""}

    def test_the_own_name_in_another_case_is_free(self, team):
        assert registration.change_team(team, SYSTEM, name="TEAM1").name == "TEAM1"

    def test_the_name_of_another_is_not(self, contest, team, new_team):
        new_team(contest, "other")
        assert (
            refusal(lambda: registration.change_team(team, SYSTEM, name="Other")).code == "invalid"
        )

    def test_no_change_no_entry(self, team):
        registration.change_team(team, SYSTEM, name=team.name)
        assert not LogEntry.objects.exists()


class TestRegister:
    @pytest.fixture
    def ada(self, new_person):
        return new_person("ada")

    def test_it_is_closed_unless_the_organisers_open_it(self, contest, ada):
        found = refusal(lambda: registration.register_team(contest, "A", ada, Actor(ada)))
        assert found.code == "closed"

    def test_who_registers_is_captain(self, contest, ada, wanted):
        contest.join_open = True
        contest.save()
        team = registration.register_team(contest, "A", ada, Actor(ada))
        assert team.members.get().captain
        assert role_of(contest, ada).team == team
        assert wanted == [contest]

    @pytest.mark.parametrize(
        ("phase", "expected"),
        [("before", True), ("anonymize", True), ("judge", False), ("results", False)],
    )
    def test_it_closes_with_the_last_release_window(self, new_contest, at, phase, expected):
        contest = new_contest(join_open=True)
        at(phase)
        assert registration.registration_open(contest) is expected

    def test_nobody_has_two_teams(self, new_contest, ada):
        contest = new_contest(join_open=True)
        registration.register_team(contest, "A", ada, Actor(ada))
        assert (
            refusal(lambda: registration.register_team(contest, "B", ada, Actor(ada))).code
            == "conflict"
        )
        assert contest.teams.count() == 1

    def test_one_account_does_not_use_up_the_numbers(self, new_contest, ada, new_person, at):
        """One account registered, left and registered again until no number was left."""
        at("before")
        contest = new_contest(join_open=True)
        for k in range(throttle.REGISTER.by_name):
            team = registration.register_team(contest, f"A{k}", ada, Actor(ada))
            assert team.number == 1
            members.remove_member(team, ada, Actor(ada))
        again = refusal(lambda: registration.register_team(contest, "B", ada, Actor(ada)))
        assert again.code == "throttled"
        bob = new_person("bob")
        assert registration.register_team(contest, "A0", bob, Actor(bob)).number == 1
        assert contest.teams.get().name == "A0"

    def test_mistakes_do_not_count(self, new_contest, team, ada):
        contest = new_contest("autumn", join_open=True, divisions=["open"])
        for _ in range(throttle.REGISTER.by_name + 1):
            refusal(lambda: registration.register_team(contest, "", ada, Actor(ada)))
        assert registration.register_team(contest, "A", ada, Actor(ada), division="open")

    def test_what_organisers_made_or_somebody_has_seen_is_not_taken_over(
        self, new_contest, ada, new_person, at
    ):
        at("before")
        contest, bob = new_contest(join_open=True), new_person("bob")
        registration.create_team(contest, "For a class", SYSTEM)
        team = registration.register_team(contest, "A", ada, Actor(ada))
        assert team.number == 2
        at("announce")
        members.remove_member(team, ada, Actor(ada))
        assert registration.register_team(contest, "B", bob, Actor(bob)).number == 3

    def test_a_division_has_to_be_chosen(self, new_contest, ada):
        contest = new_contest(join_open=True, divisions=["student", "open"])
        found = refusal(lambda: registration.register_team(contest, "A", ada, Actor(ada)))
        assert found.problems[0]["field"] == "division"

    def test_account_and_team_come_together_or_not_at_all(self, new_contest, team):
        contest = new_contest("autumn", join_open=True)
        registration.create_team(contest, "Taken", SYSTEM)
        call = registration.register_with_new_account
        assert refusal(lambda: call(contest, "taken", "bob", NEW)).code == "invalid"
        assert not Person.objects.filter(username="bob").exists()
        made, bob = call(contest, "Free", "bob", NEW, name="Bob")
        assert made.members.get().person == bob


class TestJoin:
    @pytest.fixture
    def ada(self, new_person):
        return new_person("ada")

    def test_a_code_leads_into_the_team(self, team, ada):
        assert members.join(team.join_code, ada, Actor(ada)) == team
        assert not team.members.get(person=ada).captain

    @pytest.mark.parametrize(
        "spell", [str.upper, lambda c: c.replace("-", ""), lambda c: f" {c.replace('-', ' ')}\n"]
    )
    def test_spelling_does_not_matter(self, team, ada, spell):
        code = spell(team.join_code).strip("\n")
        assert members.join(code, ada, Actor(ada)) == team

    @pytest.mark.parametrize("code", ["", "-", "aaaa-bbbb-cccc", "\0", "x" * 5000, "%"])
    def test_others_are_not_found(self, team, ada, code):
        assert refusal(lambda: members.join(code, ada, Actor(ada))).code == "not-found"

    def test_joining_again_changes_nothing(self, team, ada):
        members.join(team.join_code, ada, Actor(ada))
        members.join(team.join_code, ada, Actor(ada))
        assert Member.objects.filter(person=ada).count() == 1
        assert LogEntry.objects.count() == 1

    def test_one_team_per_contest(self, contest, team, new_team, new_contest, ada):
        other = new_team(contest, "other")
        elsewhere = new_team(new_contest("autumn"), "elsewhere")
        members.join(team.join_code, ada, Actor(ada))
        assert refusal(lambda: members.join(other.join_code, ada, Actor(ada))).code == "conflict"
        assert members.join(elsewhere.join_code, ada, Actor(ada)) == elsewhere

    @pytest.mark.parametrize("change", [{"status": "withdrawn"}, {"bot": "MRLH(1,1,0.5)"}])
    def test_some_teams_take_nobody(self, team, ada, change):
        Team.objects.filter(pk=team.pk).update(**change)
        assert refusal(lambda: members.join(team.join_code, ada, Actor(ada))).code == "conflict"

    def test_deleted_ones_are_not_found(self, team, ada):
        team.contest.deleted_at = clock.now()
        team.contest.save()
        assert refusal(lambda: members.join(team.join_code, ada, Actor(ada))).code == "not-found"

    def test_organisers_do_not_play_but_in_a_demo(self, contest, organiser, team):
        join = lambda: members.join(team.join_code, organiser, Actor(organiser))  # noqa: E731 - twice
        assert refusal(join).code == "conflict"
        contest.is_demo = True
        contest.save()
        assert join() == team

    def test_a_new_code_ends_the_old_one(self, team, ada):
        old = team.join_code
        new = members.new_code(team, SYSTEM)
        assert refusal(lambda: members.join(old, ada, Actor(ada))).code == "not-found"
        assert members.join(new, ada, Actor(ada)) == team
        assert new not in str(list(LogEntry.objects.values()))

    def test_an_account_can_be_made_on_the_way(self, team):
        joined, bob = registration.join_with_new_account(team.join_code, "bob", NEW)
        assert role_of(team.contest, bob).team == joined == team

    def test_no_account_is_made_for_a_team_that_takes_nobody(self, team):
        Team.objects.filter(pk=team.pk).update(status="disqualified")
        call = lambda: registration.join_with_new_account(team.join_code, "bob", NEW)  # noqa: E731 - short
        assert refusal(call).code == "conflict"
        assert not Person.objects.filter(username="bob").exists()


class TestMembers:
    @pytest.fixture
    def crew(self, team, member, new_person):
        """The captain and two more, in the order they came."""
        found = [member]
        for name in ("ada", "bob"):
            person = new_person(name)
            members.add_member(team, person, Actor(person))
            found.append(person)
        return found

    def test_a_removed_one_sees_nothing_and_cannot_come_back(self, team, crew):
        code = team.join_code
        members.remove_member(team, crew[1], Actor(crew[0]))
        assert role_of(team.contest, crew[1]).team is None
        assert refusal(lambda: members.join(code, crew[1], Actor(crew[1]))).code == "not-found"

    def test_the_longest_member_follows_the_last_captain(self, team, crew):
        members.remove_member(team, crew[0], Actor(crew[0]))
        assert [one.captain for one in team.members.order_by("pk")] == [True, False]

    def test_a_second_captain_keeps_it_as_it_is(self, team, crew):
        members.set_captain(team, crew[2], Actor(crew[0]))
        members.remove_member(team, crew[0], Actor(crew[0]))
        assert team.members.get(captain=True).person == crew[2]

    def test_the_last_captain_stays_captain(self, team, crew):
        found = refusal(lambda: members.set_captain(team, crew[0], Actor(crew[0]), False))
        assert found.code == "conflict"

    def test_strangers_are_not_found(self, team, crew, new_person):
        eve = new_person("eve")
        for call in (
            lambda: members.remove_member(team, eve, SYSTEM),
            lambda: members.set_captain(team, eve, SYSTEM),
        ):
            assert refusal(call).code == "not-found"

    def test_the_first_of_an_empty_team_is_captain(self, team, crew):
        for person in crew:
            members.remove_member(team, person, SYSTEM)
        assert members.add_member(team, crew[2], SYSTEM).captain

    def test_captains_and_organisers_manage(self, team, crew, organiser, contest, new_team):
        other = new_team(contest, "other").members.get().person
        expected = {crew[0]: True, crew[1]: False, organiser: True, other: False, None: False}
        assert {
            person: members.may_manage(role_of(contest, person), team) for person in expected
        } == expected

    def test_an_organiser_of_another_contest_does_not(self, team, new_contest, new_person):
        eve = new_person("eve")
        autumn = new_contest("autumn")
        Organiser.objects.create(contest=autumn, person=eve, since=clock.now())
        assert not members.may_manage(role_of(autumn, eve), team)
        assert (
            refusal(lambda: members.require_manager(role_of(autumn, eve), team)).code == "forbidden"
        )


class TestOrganisers:
    def test_the_last_one_stays(self, contest, organiser):
        found = refusal(lambda: members.remove_organiser(contest, organiser, SYSTEM))
        assert found.code == "conflict"

    def test_another_one_can_go(self, contest, organiser, new_person):
        ada = new_person("ada")
        Organiser.objects.create(contest=contest, person=ada, since=clock.now())
        members.remove_organiser(contest, organiser, Actor(ada))
        assert not role_of(contest, organiser).organiser
        assert refusal(lambda: members.remove_organiser(contest, organiser, SYSTEM)).code == (
            "not-found"
        )
