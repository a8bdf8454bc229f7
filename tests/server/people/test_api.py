"""The API of people and teams: what the pages can do, with tokens and with sessions."""

from __future__ import annotations

import json
import re

import pytest
from django.core import mail
from django.test import Client

from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor, role_of
from tracecup.server.models import Person, Team, Visit
from tracecup.server.people import links, throttle, tokens, visits
from tracecup.server.people import membership as members
from tracecup.server.teams import (
    registration,
    teamlist,
)

PASSWORD = "correct horse battery"
NEW = "a brand new secret"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    for module in (registration, teamlist):
        monkeypatch.setattr(module, "ensure_data", lambda contest: None)


class Caller:
    """Calls the API with a token (None: as a visitor)."""

    def __init__(self, person: Person | None) -> None:
        self.client = Client()
        self.headers = {}
        if person is not None:
            _token, secret = tokens.new_token(person, f"t{clock.now()}", 1, Actor(person))
            self.headers = {"Authorization": f"Bearer {secret}"}

    def __call__(self, method: str, path: str, body=None, expect: int = 200):
        more = (
            {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        )
        call = getattr(self.client, method)
        response = call(f"/api/v1{path}", headers=self.headers, **more)
        assert response.status_code == expect, response.content
        return response.json() if response.content else None


@pytest.fixture
def ada(new_person):
    return new_person("ada")


@pytest.fixture
def hers(ada):
    return Caller(ada)


@pytest.fixture
def captain(member):
    return Caller(member)


@pytest.fixture
def runs(organiser):
    return Caller(organiser)


@pytest.fixture
def visitor():
    return Caller(None)


class TestMe:
    def test_who_am_i(self, captain, member, team):
        found = captain("get", "/me")
        assert found["username"] == member.username
        assert found["roles"] == [
            {
                "contest": "spring",
                "contest_name": "Spring contest",
                "role": "member",
                "team": 1,
                "team_name": team.name,
                "captain": True,
            }
        ]

    def test_only_what_is_given_changes(self, hers, ada):
        assert hers("patch", "/me", {"zone": "Asia/Tokyo"})["zone"] == "Asia/Tokyo"
        ada.refresh_from_db()
        assert (ada.zone, ada.email) == ("Asia/Tokyo", "ada@example.org")

    def test_mistakes_name_the_field(self, hers):
        error = hers("patch", "/me", {"zone": "Mars"}, 422)["error"]
        assert error["code"] == "invalid"
        assert error["problems"][0]["field"] == "zone"

    def test_a_token_cannot_take_over_the_account(self, hers, ada):
        hers("patch", "/me", {"email": "eve@example.org"}, 422)
        hers("post", "/me/password", {"old": "guess", "new": NEW}, 422)
        hers("post", "/me/erase", {"password": "guess"}, 422)
        ada.refresh_from_db()
        assert ada.email == "ada@example.org"
        assert ada.check_password(PASSWORD)
        assert ada.erased_at is None

    def test_a_new_password_ends_sessions(self, hers, ada):
        browser = Client()
        browser.login(username="ada", password=PASSWORD)
        browser.get("/account/")
        hers("post", "/me/password", {"old": PASSWORD, "new": NEW}, 204)
        assert browser.get("/account/").status_code == 302
        assert mail.outbox[0].to == [ada.email]

    def test_erasing_is_the_end(self, hers, ada):
        hers("post", "/me/erase", {"password": PASSWORD}, 204)
        hers("get", "/me", expect=401)

    def test_a_visitor_is_nobody(self, visitor):
        for path in ("/me", "/me/tokens", "/me/sessions"):
            assert visitor("get", path, expect=401)["error"]["code"] == "not-signed-in"


class TestTokens:
    def test_a_password_gives_a_token(self, visitor, ada):
        sent = {"username": "ada", "password": PASSWORD, "token_name": "laptop", "days": 7}
        made = visitor("post", "/log-in", sent, 201)
        assert tokens.person_of_token(made["secret"]) == ada
        assert "sessionid" not in visitor.client.cookies

    def test_guessing_is_throttled(self, visitor, ada):
        sent = {"username": "ada", "password": "guess", "token_name": "laptop"}
        for _ in range(throttle.LOG_IN.by_name):
            visitor("post", "/log-in", sent, 401)
        error = visitor("post", "/log-in", {**sent, "password": PASSWORD}, 429)["error"]
        assert error["code"] == "throttled"
        assert error["details"]["retry_after"] > 0

    def test_made_listed_revoked(self, hers):
        made = hers("post", "/me/tokens", {"name": "laptop", "days": 7}, 201)
        listed = hers("get", "/me/tokens")
        assert made["id"] in [one["id"] for one in listed]
        assert all("secret" not in one for one in listed)
        hers("delete", f"/me/tokens/{made['id']}", expect=204)
        assert made["id"] not in [one["id"] for one in hers("get", "/me/tokens")]
        assert tokens.person_of_token(made["secret"]) is None

    def test_those_of_others_are_not_found(self, hers, new_person):
        eve = new_person("eve")
        token, _secret = tokens.new_token(eve, "laptop", 7, Actor(eve))
        hers("delete", f"/me/tokens/{token.pk}", expect=404)
        hers("delete", f"/me/tokens/{10**30}", expect=404)


class TestSessions:
    def test_listed_without_keys_and_ended(self, hers, ada):
        browser = Client()
        browser.login(username="ada", password=PASSWORD)
        browser.get("/account/", headers={"User-Agent": "X11; Linux Firefox/140.0"})
        (one,) = hers("get", "/me/sessions")
        assert (one["agent"], one["current"]) == ("Firefox, Linux", False)
        assert browser.session.session_key not in str(one)
        hers("delete", f"/me/sessions/{one['id']}", expect=204)
        assert browser.get("/account/").status_code == 302

    def test_a_session_knows_itself_and_ends_the_others(self, ada):
        browser, other = Client(), Client()
        for one in (browser, other):
            one.login(username="ada", password=PASSWORD)
            one.get("/account/")
        found = browser.get("/api/v1/me/sessions").json()
        assert sorted(one["current"] for one in found) == [False, True]
        ended = browser.post("/api/v1/me/sessions/end-others").json()
        assert ended == {"ended": 1}
        assert (browser.get("/account/").status_code, other.get("/account/").status_code) == (
            200,
            302,
        )

    def test_a_session_needs_its_csrf_token(self, ada):
        browser = Client(enforce_csrf_checks=True)
        browser.force_login(ada)
        assert browser.post("/api/v1/me/sessions/end-others").status_code == 403

    def test_those_of_others_are_not_found(self, hers, new_person):
        browser = Client()
        new_person("eve")
        browser.login(username="eve", password=PASSWORD)
        browser.get("/account/")
        hers("delete", f"/me/sessions/{Visit.objects.get().pk}", expect=404)


class TestLinks:
    def test_looking_then_making_an_account(self, visitor, team):
        secret = links.new_link("member", SYSTEM, team=team, name="Bob")
        found = visitor("get", f"/links/{secret}")
        assert (found["purpose"], found["team"], found["name"]) == ("member", team.name, "Bob")
        made = visitor("post", f"/links/{secret}", {"username": "bob", "password": NEW}, 201)
        assert made["roles"][0]["team"] == 1
        visitor("get", f"/links/{secret}", expect=404)

    def test_accepting(self, hers, ada, team):
        secret = links.new_link("member", SYSTEM, team=team)
        assert hers("post", f"/links/{secret}/accept")["roles"][0]["role"] == "member"
        assert role_of(team.contest, ada).team == team

    def test_a_visitor_cannot_accept(self, visitor, team):
        secret = links.new_link("member", SYSTEM, team=team)
        visitor("post", f"/links/{secret}/accept", expect=401)

    def test_a_forgotten_password(self, visitor, ada):
        known = visitor("post", "/password-reset", {"who": "ada"}, 202)
        assert known == visitor("post", "/password-reset", {"who": "nobody"}, 202)
        (letter,) = mail.outbox
        secret = re.search(r"/link/([\w-]+)/", letter.body).group(1)
        assert visitor("post", f"/links/{secret}", {"password": NEW}, 201)["username"] == "ada"
        assert visits.check_password("ada", NEW, "192.0.2.1") == ada


class TestMembers:
    def test_joining(self, hers, ada, team):
        assert hers("post", "/join", {"code": team.join_code})["number"] == 1
        hers("post", "/join", {"code": "wrong"}, 404)

    def test_registering(self, hers, new_contest):
        contest = new_contest()
        sent = {"name": "Foxes"}
        assert hers("post", "/contests/spring/register", sent, 409)["error"]["code"] == "closed"
        contest.join_open = True
        contest.save()
        assert hers("post", "/contests/spring/register", sent, 201)["number"] == 1

    def test_the_own_team(self, captain, hers, team, ada):
        members.add_member(team, ada, SYSTEM)
        found = captain("get", "/contests/spring/team/members")
        assert [one["username"] for one in found["members"]] == ["spring-team1", "ada"]
        assert [one["email"] for one in found["members"]] == [None, None]
        assert found["may_manage"] is True
        assert hers("get", "/contests/spring/team/members")["may_manage"] is False

    def test_captains_manage_and_members_do_not(self, captain, hers, team, ada, member):
        members.add_member(team, ada, SYSTEM)
        base = "/contests/spring/teams/1"
        hers("post", f"{base}/code", expect=403)
        hers("post", f"{base}/links", {}, 403)
        hers("patch", f"{base}/members/{ada.pk}", {"captain": True}, 403)
        hers("delete", f"{base}/members/{member.pk}", expect=403)
        captain("patch", f"{base}/members/{ada.pk}", {"captain": True})
        assert captain("post", f"{base}/code")["code"] != team.join_code
        captain("delete", f"{base}/members/{ada.pk}", expect=204)

    def test_a_member_may_leave(self, hers, team, ada):
        members.add_member(team, ada, SYSTEM)
        hers("delete", f"/contests/spring/teams/1/members/{ada.pk}", expect=204)
        hers("get", "/contests/spring/team/members", expect=403)

    def test_another_team_is_not_found(self, captain, contest, new_team):
        other = new_team(contest, "other")
        base, person = "/contests/spring/teams/2", other.members.get().person_id
        captain("get", f"{base}/members", expect=404)
        captain("post", f"{base}/code", expect=404)
        captain("delete", f"{base}/members/{person}", expect=404)
        captain("delete", f"/contests/spring/teams/1/members/{person}", expect=404)

    def test_captains_do_not_invite_the_whole_world(self, captain, runs, monkeypatch):
        where = "/contests/spring/teams/1/links"
        monkeypatch.setattr(throttle, "INVITE", throttle.Limit("invite", 2, 2, 60))
        for k in range(2):
            captain("post", where, {"email": f"p{k}@example.org"}, 201)
        captain("post", where, {"email": "p3@example.org"}, 429)
        assert len(mail.outbox) == 2
        for k in range(3):
            runs("post", where, {"email": f"q{k}@example.org"}, 201)

    def test_an_invitation_is_sent_and_can_be_revoked(self, captain, visitor, team, contest):
        made = captain(
            "post", "/contests/spring/teams/1/links", {"email": "bob@example.org", "days": 3}, 201
        )
        assert made["address"] == f"http://localhost{made['path']}"
        assert made["address"] in mail.outbox[0].body
        (link,) = captain("get", "/contests/spring/team/members")["invitations"]
        captain("delete", f"/contests/spring/links/{link['id']}", expect=204)
        visitor("get", made["path"].replace("/link/", "/links/").rstrip("/"), expect=404)


class TestOrganiser:
    def test_teams_are_made_and_changed(self, runs, contest):
        contest.divisions = ["open"]
        contest.save()
        made = runs("post", "/contests/spring/teams", {"name": "Foxes"}, 201)
        assert made["number"] == 1
        changed = runs("patch", "/contests/spring/teams/1", {"division": "open"})
        assert (changed["name"], changed["division"]) == ("Foxes", "open")

    def test_a_list_is_planned_and_carried_out(self, runs, contest):
        text = "team,email\nFoxes,ada@example.org\nHares,\n"
        plan = runs("post", "/contests/spring/team-list/plan", {"text": text})
        assert (plan["ok"], plan["new_teams"], plan["new_links"]) == (True, 2, 2)
        assert not Team.objects.exists()
        made = runs("post", "/contests/spring/team-list", {"text": text, "send": True}, 201)
        assert [one["team_name"] for one in made] == ["Foxes", "Hares"]
        assert made[0]["address"] in mail.outbox[0].body

    def test_a_list_with_mistakes_does_nothing(self, runs, contest):
        text = "team,email\nFoxes,\nHares,nobody\n"
        plan = runs("post", "/contests/spring/team-list/plan", {"text": text})
        assert (plan["ok"], plan["problems"][0]["line"]) == (False, 3)
        error = runs("post", "/contests/spring/team-list", {"text": text}, 422)["error"]
        assert error["problems"][0]["line"] == 3
        assert not Team.objects.exists()

    def test_she_sees_addresses_and_manages_every_team(self, runs, team, member):
        found = runs("get", "/contests/spring/teams/1/members")
        assert found["members"][0]["email"] == member.email
        runs("delete", f"/contests/spring/teams/1/members/{member.pk}", expect=204)

    def test_other_organisers_are_invited_and_removed(self, runs, visitor, contest, organiser):
        made = runs("post", "/contests/spring/organisers", {"email": "bob@example.org"}, 201)
        assert [one["purpose"] for one in runs("get", "/contests/spring/links")] == ["organiser"]
        secret = made["path"].split("/")[2]
        visitor("post", f"/links/{secret}", {"username": "bob", "password": NEW}, 201)
        listed = runs("get", "/contests/spring/organisers")
        assert [one["username"] for one in listed] == ["organiser", "bob"]
        runs("delete", f"/contests/spring/organisers/{listed[1]['id']}", expect=204)
        runs("delete", f"/contests/spring/organisers/{organiser.pk}", expect=409)

    def test_those_of_the_site_are_invited_by_those_of_the_site(self, runs, hers):
        runs("post", "/site/organisers", {}, 201)
        hers("post", "/site/organisers", {}, 403)

    def test_people_are_forgotten_after_the_contest(self, runs, contest, member):
        assert runs("post", "/contests/spring/erase-people", expect=409)
        contest.rounds.update(released_at=clock.now())
        assert runs("post", "/contests/spring/erase-people") == {"erased": 1}

    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("post", "/teams", {"name": "Foxes"}),
            ("patch", "/teams/1", {"name": "Foxes"}),
            ("post", "/team-list/plan", {"text": "team\nA\n"}),
            ("post", "/team-list", {"text": "team\nA\n"}),
            ("get", "/links", None),
            ("get", "/organisers", None),
            ("post", "/organisers", {}),
            ("delete", "/organisers/1", None),
            ("post", "/erase-people", None),
        ],
    )
    def test_nobody_else_may(self, captain, visitor, contest, new_contest, method, path, body):
        captain(method, f"/contests/spring{path}", body, 403)
        visitor(method, f"/contests/spring{path}", body, 401)
        new_contest("hidden", is_public=False)
        captain(method, f"/contests/hidden{path}", body, 404)
