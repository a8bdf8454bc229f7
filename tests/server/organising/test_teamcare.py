"""Teams in the hands of organisers: merged, listed with names, helped to a password."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.errors import Refused
from tracecup.server.models import LogEntry, Member, OneTimeLink, Person, Team
from tracecup.server.organising.teamcare import merge_teams, password_link
from tracecup.server.people.links import new_link, redeem
from tracecup.server.teams.teamlist import plan_csv, teams_csv

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(client, organiser):
    client.force_login(organiser)
    return client


@pytest.fixture
def other(contest, new_team):
    return new_team(contest, "second")


@pytest.fixture
def silent(member):
    """A member without an e-mail address."""
    Person.objects.filter(pk=member.pk).update(email="")
    member.refresh_from_db()
    return member


def act(browser, name, query="", /, **values):
    return browser.post(reverse("run-teams", args=["spring"]) + query, {"act": name, **values})


class TestMerge:
    def test_people_and_links_go_along(self, contest, team, other, organiser, at):
        at("before")
        new_link("member", SYSTEM, team=other, name="Ida", email="ida@mail.example")
        assert merge_teams(other, team, Actor(organiser), "they asked") == 1
        assert team.members.count() == 2
        assert team.members.filter(captain=True).count() == 1
        assert OneTimeLink.objects.get(name="Ida").team == team
        other.refresh_from_db()
        assert other.deleted_at is not None
        assert LogEntry.objects.get(action="team.merge").why == "they asked"

    def test_not_once_data_are_out(self, contest, team, other, organiser, at):
        at("announce")
        with pytest.raises(Refused, match="Data are out"):
            merge_teams(other, team, Actor(organiser), "they asked")
        assert other.members.count() == 1

    def test_not_with_itself_nor_with_a_bot(self, contest, team, other, organiser, at):
        at("before")
        with pytest.raises(Refused):
            merge_teams(team, team, Actor(organiser), "why not")
        Team.objects.filter(pk=other.pk).update(bot="Uniform")
        other.refresh_from_db()
        with pytest.raises(Refused):
            merge_teams(team, other, Actor(organiser), "why not")

    def test_on_the_page(self, boss, contest, team, other, at):
        at("before")
        answer = act(boss, "merge", "?team=2", team="2", into="1", why="one is enough")
        assert answer.status_code == 302
        assert team.members.count() == 2


class TestPasswordLink:
    def test_sets_a_password(self, contest, team, silent, organiser):
        secret = password_link(team, silent, Actor(organiser))
        redeem(secret, "", "a brand new secret")
        silent.refresh_from_db()
        assert silent.check_password("a brand new secret")

    def test_shown_once_on_the_page(self, boss, contest, team, silent):
        page = boss.get(reverse("run-teams", args=["spring"]) + "?team=1").content.decode()
        assert "Password link" in page
        answer = act(boss, "new_password", "?team=1", team="1", person=silent.pk)
        assert "/link/" in answer.content.decode()
        again = boss.get(reverse("run-teams", args=["spring"]) + "?team=1").content.decode()
        assert "/link/" not in again

    def test_not_where_a_letter_can_be_sent(self, contest, team, member, organiser):
        with pytest.raises(Refused, match="e-mail"):
            password_link(team, member, Actor(organiser))

    def test_not_for_who_has_more_rights_than_the_contest_gives(
        self, contest, new_contest, team, silent, organiser
    ):
        actor = Actor(organiser)
        Person.objects.filter(pk=silent.pk).update(is_staff=True)
        silent.refresh_from_db()
        with pytest.raises(Refused, match="outside"):
            password_link(team, silent, actor)
        Person.objects.filter(pk=silent.pk).update(is_staff=False)
        silent.refresh_from_db()
        autumn = new_contest("autumn")
        away = Team.objects.create(contest=autumn, number=1, name="x", created_at=clock.now())
        Member.objects.create(team=away, contest=autumn, person=silent, since=clock.now())
        with pytest.raises(Refused, match="outside"):
            password_link(team, silent, actor)

    def test_only_members(self, contest, other, silent, organiser):
        with pytest.raises(Refused):
            password_link(other, silent, Actor(organiser))


class TestCsv:
    def test_what_is_taken_out_changes_nothing_when_put_in(self, contest, team, other, silent):
        Team.objects.create(contest=contest, number=3, name="empty", created_at=clock.now())
        text = teams_csv(contest)
        plan = plan_csv(contest, text)
        assert plan.problems == ()
        assert [row.effect for row in plan.rows] == ["nothing"] * 3
        assert f",,1,{silent.username},yes,active" in text

    def test_a_line_more_makes_a_link(self, contest, team):
        text = teams_csv(contest) + f"{team.name},,Ida,ida@mail.example,,,,\r\n"
        assert [row.effect for row in plan_csv(contest, text).rows] == ["nothing", "new-link"]

    def test_only_organisers_fetch_it(self, client, boss, contest, team, member):
        address = reverse("run-teams-export", args=["spring"])
        answer = boss.get(address)
        assert answer.content.decode().startswith("\ufeffteam,division,name,email")
        assert member.email in answer.content.decode()
        client.force_login(member)
        assert client.get(address).status_code == 403

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "cp932"])
    def test_a_file_is_read_and_shown(self, boss, contest, encoding):
        file = SimpleUploadedFile("list.csv", "team,name\n青組,花子\n".encode(encoding))
        answer = act(boss, "csv_check", text="", file=file)
        assert "This makes 1" in answer.content.decode()
        assert "青組,花子</textarea>" in answer.content.decode().replace("\n</", "</")


class TestRows:
    def test_every_row_leads_to_its_acts_and_these_ask_for_no_team(self, boss, contest, team):
        page = boss.get(reverse("run-teams", args=["spring"])).content.decode()
        assert "?team=1#status" in page
        shown = boss.get(reverse("run-teams", args=["spring"]) + "?team=1").content.decode()
        assert '<input type="hidden" name="team" value="1" id="status_team">' in shown
        answer = act(boss, "status", "?team=1", team="1", status="withdrawn", why="they left")
        assert answer.status_code == 302
        team.refresh_from_db()
        assert team.status == "withdrawn"
