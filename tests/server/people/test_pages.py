"""Pages of people: log-in, links, joining, account, members; CSRF, redirects, what they say."""

from __future__ import annotations

import re

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client

from tracecup.server.access import SYSTEM, Actor, role_of
from tracecup.server.models import ApiToken, Member, Person, Team, Visit
from tracecup.server.people import accounts, links, throttle, tokens, visits
from tracecup.server.people import membership as members
from tracecup.server.teams import (
    registration,
)

PASSWORD = "correct horse battery"
NEW = "a brand new secret"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.setattr(registration, "ensure_data", lambda contest: None)


@pytest.fixture
def ada(new_person):
    return new_person("ada")


def log_in(client, name="ada", password=PASSWORD, **more):
    return client.post("/login/", {"username": name, "password": password, **more})


@pytest.fixture
def hers(client, ada):
    """A browser in which Ada is logged in."""
    log_in(client)
    return client


class TestLogIn:
    def test_the_page_is_there(self, client):
        response = client.get("/login/")
        assert response.status_code == 200
        assert b'autocomplete="current-password"' in response.content

    def test_it_leads_where_one_wanted_to_go(self, client, ada):
        assert client.get("/account/").url == "/login/?next=%2Faccount%2F"
        assert log_in(client, next="/account/").url == "/account/"

    @pytest.mark.parametrize(
        "wanted",
        [
            "https://evil.example/",
            "//evil.example/",
            "///evil.example",
            r"\\evil.example",
            "/\\evil.example",
            "javascript:alert(1)",
            "http:evil.example",
            " //evil.example",
            "",
        ],
    )
    def test_it_leads_to_no_other_site(self, client, ada, wanted):
        assert log_in(client, next=wanted).url == "/"
        assert client.get("/login/", {"next": wanted}).url == "/"

    def test_a_wrong_password_stays_here_and_is_not_repeated(self, client, ada):
        response = log_in(client, password="my-secret-guess")
        assert response.status_code == 401
        assert b"The name or the password is wrong." in response.content
        assert b"my-secret-guess" not in response.content
        assert "_auth_user_id" not in client.session

    def test_too_many_attempts_are_told_to_wait(self, client, ada):
        for _ in range(throttle.LOG_IN.by_name):
            log_in(client, password="guess")
        response = log_in(client)
        assert response.status_code == 429
        assert int(response["Retry-After"]) > 0

    def test_a_planted_session_is_not_taken_over(self, client, ada):
        client.cookies["sessionid"] = "plantedplantedplantedplantedplan"
        log_in(client)
        assert client.cookies["sessionid"].value != "plantedplantedplantedplantedplan"
        other = Client()
        other.cookies["sessionid"] = "plantedplantedplantedplantedplan"
        assert other.get("/account/").status_code == 302

    def test_the_language_of_the_account_is_spoken(self, client, new_person):
        new_person("hana", language="ja")
        response = log_in(client, "hana")
        assert response.cookies["django_language"].value == "ja"
        assert b'<html lang="ja"' in client.get("/account/").content

    def test_log_out_ends_the_session(self, hers):
        key = hers.session.session_key
        assert hers.get("/logout/").status_code == 405
        hers.post("/logout/")
        assert hers.get("/account/").status_code == 302
        assert not Session.objects.filter(session_key=key).exists()
        assert not Visit.objects.exists()

    @pytest.mark.parametrize(
        "path",
        [
            "/login/",
            "/logout/",
            "/reset/",
            "/join/",
            "/account/",
            "/account/password/",
            "/account/tokens/",
            "/account/tokens/1/revoke/",
            "/account/sessions/1/end/",
            "/account/sessions/end-others/",
            "/account/erase/",
            "/c/spring/join/",
            "/c/spring/team/members/invite/",
            "/c/spring/team/members/code/",
            "/c/spring/team/members/1/remove/",
            "/c/spring/team/members/1/captain/",
        ],
    )
    def test_nothing_is_posted_without_a_csrf_token(self, contest, ada, path):
        client = Client(enforce_csrf_checks=True)
        client.force_login(ada)
        assert client.post(path, {"username": "ada", "password": PASSWORD}).status_code == 403

    def test_with_the_token_of_the_page_it_works(self, ada):
        client = Client(enforce_csrf_checks=True)
        page = client.get("/login/").content.decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page).group(1)
        assert log_in(client, csrfmiddlewaretoken=token).status_code == 302


class TestReset:
    def test_the_answer_does_not_tell_whether_there_is_an_account(self, client, ada):
        known = client.post("/reset/", {"who": "ada"})
        unknown = client.post("/reset/", {"who": "nobody"})
        assert known.status_code == unknown.status_code == 200
        # The CSRF token is masked anew in every answer.
        first, second = (re.sub(rb"[A-Za-z0-9]{64}", b"", one.content) for one in (known, unknown))
        assert first == second
        assert len(mail.outbox) == 1

    def test_the_link_of_the_letter_sets_a_password_and_logs_in(self, client, ada):
        client.post("/reset/", {"who": "ada@example.org"})
        path = re.search(r"http://localhost(/link/\S+)", mail.outbox[0].body).group(1)
        assert b"For the account ada" in client.get(path).content
        assert client.post(path, {"password": "short"}).status_code == 422
        assert client.post(path, {"password": NEW}).url == "/account/"
        assert b"all your API tokens are revoked" in client.get("/account/").content
        assert client.get(path).status_code == 404
        assert log_in(Client(), password=NEW).status_code == 302
        assert "was changed" in mail.outbox[1].body

    def test_the_configured_address_goes_before_the_one_asked_for(self, client, ada, monkeypatch):
        from dataclasses import replace

        from django.conf import settings

        monkeypatch.setattr(
            settings, "CONFIG", replace(settings.CONFIG, site_url="https://cup.example/")
        )
        client.post("/reset/", {"who": "ada"})
        assert "https://cup.example/link/" in mail.outbox[0].body
        assert "testserver" not in mail.outbox[0].body

    @pytest.mark.parametrize("host", ["testserver:8443", "127.0.0.1", "localhost:1"])
    def test_letters_do_not_believe_the_host_that_was_asked_for(self, client, ada, host, settings):
        """One of several names, or another port, may be somebody else's."""
        settings.ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
        client.post("/reset/", {"who": "ada"}, headers={"host": host})
        assert "http://localhost/link/" in mail.outbox[0].body
        settings.SERVED_AT = "http://localhost:8019"
        client.post("/reset/", {"who": "ada"}, headers={"host": host})
        assert "http://localhost:8019/link/" in mail.outbox[1].body

    def test_a_foreign_host_is_refused(self, client, ada):
        response = client.post("/reset/", {"who": "ada"}, headers={"host": "evil.example"})
        assert response.status_code == 400
        assert mail.outbox == []


class TestLink:
    def test_an_invitation_makes_an_account_and_logs_in(self, client, team):
        path = f"/link/{links.new_link('member', SYSTEM, team=team, name='Bob')}/"
        page = client.get(path)
        assert b'value="Bob"' in page.content
        assert "no-store" in page["Cache-Control"]
        response = client.post(path, {"username": "bob", "password": NEW, "name": "Bob"})
        assert response.url == "/c/spring/team/"
        assert role_of(team.contest, Person.objects.get(username="bob")).team == team
        assert client.get("/account/").status_code == 200

    def test_looking_does_not_use_it(self, client, team):
        path = f"/link/{links.new_link('member', SYSTEM, team=team)}/"
        for _ in range(3):
            assert client.get(path).status_code == 200
            assert client.head(path).status_code == 200

    def test_mistakes_are_told_beside_the_fields(self, client, team, ada):
        path = f"/link/{links.new_link('member', SYSTEM, team=team)}/"
        response = client.post(path, {"username": "ADA", "password": NEW})
        assert response.status_code == 422
        assert b"a name that nobody has yet" in response.content
        assert NEW.encode() not in response.content

    def test_who_is_logged_in_accepts_with_her_account(self, hers, ada, team):
        path = f"/link/{links.new_link('member', SYSTEM, team=team)}/"
        assert b"Accept as ada" in hers.get(path).content
        assert hers.post(path, {"accept": "yes"}).url == "/c/spring/team/"
        assert role_of(team.contest, ada).team == team

    def test_a_visitor_cannot_accept(self, client, team):
        path = f"/link/{links.new_link('member', SYSTEM, team=team)}/"
        assert client.post(path, {"accept": "yes"}).status_code == 422
        assert team.members.count() == 1

    def test_an_organiser_lands_on_her_page(self, client, contest):
        path = f"/link/{links.new_link('organiser', SYSTEM, contest=contest)}/"
        assert client.post(path, {"username": "bob", "password": NEW}).url == "/c/spring/run/"

    def test_the_first_organiser(self, client):
        path = f"/link/{links.first_organiser_link()}/"
        assert b"The first organiser of this site" in client.get(path).content
        assert client.post(path, {"username": "bob", "password": NEW}).url == "/"
        assert Person.objects.get().is_staff

    def test_a_dead_link_says_so(self, client):
        response = client.get("/link/nothing/")
        assert response.status_code == 404
        assert b"This link does not work" in response.content


class TestJoin:
    def test_a_code_leads_to_the_team(self, client, team):
        assert client.post("/join/", {"code": team.join_code.upper()}).url == (
            f"/join/{team.join_code}/"
        )
        assert client.post("/join/", {"code": "wrong"}).status_code == 422

    def test_who_is_logged_in_joins(self, hers, ada, team):
        assert b"Join as ada" in hers.get(f"/join/{team.join_code}/").content
        assert not Member.objects.filter(person=ada).exists()
        assert hers.post(f"/join/{team.join_code}/").url == "/c/spring/team/"
        assert role_of(team.contest, ada).team == team

    def test_a_visitor_makes_an_account(self, client, team):
        path = f"/join/{team.join_code}/"
        assert client.get(path).status_code == 200
        assert client.post(path, {"username": "bob", "password": "short"}).status_code == 422
        assert client.post(path, {"username": "bob", "password": NEW}).url == "/c/spring/team/"
        assert team.members.filter(person__username="bob").exists()

    def test_sign_ups_of_one_address_are_counted(self, client, team):
        for _ in range(throttle.SIGN_UP.by_address):
            throttle.spend(throttle.SIGN_UP, "127.0.0.1", "127.0.0.1")
        response = client.post(f"/join/{team.join_code}/", {"username": "bob", "password": NEW})
        assert b"too many attempts" in response.content
        assert not Person.objects.filter(username="bob").exists()

    @pytest.mark.parametrize("code", ["wrong", "%00", "%2e%2e"])
    def test_other_codes_are_not_found(self, client, code):
        assert client.get(f"/join/{code}/").status_code == 404


class TestRegister:
    def test_closed_it_says_so(self, client, contest):
        response = client.get("/c/spring/join/")
        assert b"cannot register by themselves" in response.content
        sent = {"team": "Foxes", "username": "bob", "password": NEW}
        assert client.post("/c/spring/join/", sent).status_code == 422
        assert not Person.objects.exists()

    def test_a_visitor_makes_account_and_team(self, client, new_contest):
        new_contest(join_open=True, divisions=["open", "student"])
        sent = {"team": "Foxes", "division": "open", "username": "bob", "password": NEW}
        assert client.post("/c/spring/join/", sent).url == "/c/spring/team/"
        team = Team.objects.get()
        assert (team.name, team.division, team.members.get().person.username) == (
            "Foxes",
            "open",
            "bob",
        )

    def test_who_is_logged_in_makes_a_team(self, hers, ada, new_contest):
        contest = new_contest(join_open=True)
        assert hers.post("/c/spring/join/", {"team": "Foxes"}).url == "/c/spring/team/"
        assert role_of(contest, ada).team.name == "Foxes"

    def test_a_name_that_is_taken_is_told_at_the_teams_field(self, client, new_contest):
        contest = new_contest(join_open=True)
        registration.create_team(contest, "Foxes", SYSTEM)
        sent = {"team": "foxes", "username": "bob", "password": NEW}
        response = client.post("/c/spring/join/", sent)
        assert response.status_code == 422
        assert "team" in response.context["form"].errors

    def test_a_hidden_contest_is_not_found(self, client, new_contest):
        new_contest(join_open=True, is_public=False)
        assert client.get("/c/spring/join/").status_code == 404


class TestAccount:
    def test_it_shows_roles_tokens_and_sessions(self, client, member, team):
        log_in(client, member.username)
        tokens.new_token(member, "my laptop", 30, Actor(member))
        page = client.get("/account/").content.decode()
        for text in (team.name, "my laptop", "captain", "this one"):
            assert text in page
        assert client.session.session_key not in page

    def test_name_language_and_zone_change(self, hers, ada):
        sent = {"name": "Ada L.", "email": ada.email, "language": "ja", "zone": "Asia/Tokyo"}
        response = hers.post("/account/", sent)
        assert response.url == "/account/"
        assert response.cookies["django_language"].value == "ja"
        ada.refresh_from_db()
        assert (ada.first_name, ada.language, ada.zone) == ("Ada L.", "ja", "Asia/Tokyo")

    def test_another_address_needs_the_password_and_is_told_to_the_old_one(self, hers, ada):
        sent = {"email": "new@example.org"}
        assert hers.post("/account/", sent).status_code == 422
        assert hers.post("/account/", {**sent, "password": PASSWORD}).status_code == 302
        assert [letter.to for letter in mail.outbox] == [["ada@example.org"]]

    def test_a_new_password_logs_out_everywhere_else(self, hers, ada):
        other = Client()
        log_in(other)
        response = hers.post("/account/password/", {"old": PASSWORD, "new": NEW})
        assert response.url == "/account/"
        assert hers.get("/account/").status_code == 200
        assert other.get("/account/").status_code == 302
        assert len(visits.sessions(ada)) == 1

    def test_a_wrong_old_password_changes_nothing(self, hers, ada):
        assert hers.post("/account/password/", {"old": "no", "new": NEW}).status_code == 422
        ada.refresh_from_db()
        assert ada.check_password(PASSWORD)

    def test_a_token_is_shown_once(self, hers, ada):
        page = hers.post("/account/tokens/", {"name": "laptop", "days": 30}).content.decode()
        secret = re.search(r"tct_[\w-]{20,}", page).group(0)
        assert tokens.person_of_token(secret) == ada
        assert secret not in hers.get("/account/").content.decode()

    def test_a_token_can_be_revoked(self, hers, ada):
        token, secret = tokens.new_token(ada, "laptop", 30, Actor(ada))
        assert hers.post(f"/account/tokens/{token.pk}/revoke/").url == "/account/"
        assert tokens.person_of_token(secret) is None

    def test_things_of_others_are_not_found(self, hers, ada, new_person):
        eve = new_person("eve")
        token, _secret = tokens.new_token(eve, "laptop", 30, Actor(eve))
        other = Client()
        log_in(other, "eve")
        visit = Visit.objects.get(person=eve)
        assert hers.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
        assert hers.post(f"/account/sessions/{visit.pk}/end/").status_code == 404
        assert hers.post(f"/account/sessions/{10**30}/end/").status_code == 404
        assert ApiToken.objects.get().revoked_at is None
        assert other.get("/account/").status_code == 200

    def test_a_session_can_be_ended_from_another(self, hers, ada):
        other = Client()
        log_in(other)
        visit = Visit.objects.get(session_key=other.session.session_key)
        hers.post(f"/account/sessions/{visit.pk}/end/")
        assert other.get("/account/").status_code == 302
        assert hers.get("/account/").status_code == 200

    def test_all_others_can_be_ended(self, hers, ada):
        others = [Client(), Client()]
        for other in others:
            log_in(other)
        hers.post("/account/sessions/end-others/")
        assert [one.get("/account/").status_code for one in (*others, hers)] == [302, 302, 200]

    def test_deleting_needs_the_password(self, hers, ada):
        assert hers.post("/account/erase/", {"password": "no"}).status_code == 422
        assert hers.post("/account/erase/", {"password": PASSWORD}).url == "/"
        ada.refresh_from_db()
        assert ada.erased_at is not None
        assert hers.get("/account/").status_code == 302

    def test_a_name_is_text_and_not_markup(self, hers, ada):
        accounts.change_profile(ada, Actor(ada), name="<script>alert(1)</script>")
        assert b"<script>alert" not in hers.get("/account/").content

    def test_visitors_are_sent_to_the_log_in(self, client):
        for path in ("/account/", "/account/password/", "/account/erase/"):
            assert client.post(path).url.startswith("/login/?next=")


class TestMembers:
    @pytest.fixture
    def captain(self, client, member):
        log_in(client, member.username)
        return client

    def test_it_shows_the_members_and_the_link(self, captain, team, ada):
        members.add_member(team, ada, SYSTEM)
        page = captain.get("/c/spring/team/members/").content.decode()
        assert f"http://localhost/join/{team.join_code}/" in page
        assert "ada" in page
        assert "ada@example.org" not in page

    def test_it_shows_the_own_tokens_and_no_others(self, captain, member, team, ada):
        members.add_member(team, ada, SYSTEM)
        tokens.new_token(member, "my laptop", 30, Actor(member))
        tokens.new_token(ada, "her laptop", 30, Actor(ada))
        page = captain.get("/c/spring/team/members/").content.decode()
        assert "my laptop" in page
        assert "her laptop" not in page

    def test_a_bad_address_makes_no_link(self, captain, team):
        sent = {"email": "nobody"}
        assert captain.post("/c/spring/team/members/invite/", sent).status_code == 422
        assert not links.open_links("member", team.contest).exists()

    def test_strangers_do_not_see_it(self, hers, team):
        assert hers.get("/c/spring/team/members/").status_code == 403
        assert Client().get("/c/spring/team/members/").status_code == 302

    def test_a_captain_removes_and_appoints(self, captain, team, ada):
        members.add_member(team, ada, SYSTEM)
        base = f"/c/spring/team/members/{ada.pk}"
        captain.post(f"{base}/captain/", {"on": "yes"})
        assert team.members.get(person=ada).captain
        captain.post(f"{base}/captain/", {"on": "no"})
        assert not team.members.get(person=ada).captain
        captain.post(f"{base}/remove/")
        assert not team.members.filter(person=ada).exists()

    def test_a_member_can_only_leave(self, hers, team, member, ada):
        members.add_member(team, ada, SYSTEM)
        base = "/c/spring/team/members"
        for path in ("/code/", "/invite/", f"/{member.pk}/remove/", f"/{ada.pk}/captain/"):
            assert hers.post(base + path, {"on": "yes"}).status_code == 403
        assert team.members.count() == 2
        assert hers.post(f"{base}/{ada.pk}/remove/").url == "/account/"
        assert team.members.count() == 1

    def test_people_of_other_teams_cannot_be_removed(self, captain, contest, new_team):
        other = new_team(contest, "other").members.get()
        path = f"/c/spring/team/members/{other.person_id}/remove/"
        assert captain.post(path).status_code == 404
        assert Member.objects.filter(pk=other.pk).exists()

    def test_an_invitation_is_shown_once_and_sent(self, captain, team):
        response = captain.post(
            "/c/spring/team/members/invite/", {"name": "Bob", "email": "bob@example.org"}
        )
        secret = re.search(r"http://localhost/link/([\w-]+)/", response.content.decode()).group(1)
        assert links.link_of(secret).team == team
        assert secret in mail.outbox[0].body
        page = captain.get("/c/spring/team/members/").content.decode()
        assert secret not in page
        assert "Bob" in page
        number = links.link_of(secret).pk
        captain.post(f"/c/spring/team/members/invitations/{number}/revoke/")
        assert Client().get(f"/link/{secret}/").status_code == 404

    def test_a_captain_reaches_the_invitations_of_her_team_only(self, captain, contest, new_team):
        other = links.link_of(links.new_link("member", SYSTEM, team=new_team(contest, "other")))
        path = f"/c/spring/team/members/invitations/{other.pk}/revoke/"
        assert captain.post(path).status_code == 404

    def test_a_new_code(self, captain, team):
        captain.post("/c/spring/team/members/code/")
        before = team.join_code
        team.refresh_from_db()
        assert team.join_code != before
