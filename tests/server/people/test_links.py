"""One-time links: what they do, that they do it once, and the letters that carry them."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail

from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor, role_of
from tracecup.server.errors import Refused
from tracecup.server.models import LogEntry, OneTimeLink, Person
from tracecup.server.people import accounts, letters, links, throttle, tokens, visits

PASSWORD = "correct horse battery"
NEW = "a brand new secret"
SITE = "https://contest.example"
pytestmark = pytest.mark.django_db


def code_of(call) -> str:
    with pytest.raises(Refused) as refused:
        call()
    return refused.value.code


class TestNewLink:
    def test_only_a_hash_is_stored(self, team):
        secret = links.new_link("member", SYSTEM, team=team)
        assert len(secret) >= 43
        assert secret not in str(list(OneTimeLink.objects.values()))
        assert secret not in str(list(LogEntry.objects.values()))

    def test_the_log_knows_no_address(self, team):
        # A name that no hash of the log can hold.
        links.new_link("member", SYSTEM, team=team, name="Otto", email="otto@example.org")
        assert "otto" not in str(list(LogEntry.objects.values())).lower()

    @pytest.mark.parametrize(
        ("purpose", "more", "field"),
        [
            ("other", {}, "purpose"),
            ("member", {}, "team"),
            ("reset", {}, "person"),
            ("organiser", {"email": "nobody"}, "email"),
            ("organiser", {"days": 0}, "days"),
            ("organiser", {"days": 1000}, "days"),
            ("organiser", {"name": "a\nb"}, "name"),
        ],
    )
    def test_bad_ones_are_refused(self, contest, purpose, more, field):
        with pytest.raises(Refused) as refused:
            links.new_link(purpose, SYSTEM, contest=contest, **more)
        assert refused.value.problems[0]["field"] == field

    def test_a_second_invitation_of_an_address_replaces_the_first(self, team, new_team, contest):
        other = new_team(contest, "other")
        first = links.new_link("member", SYSTEM, team=team, email="ada@example.org")
        elsewhere = links.new_link("member", SYSTEM, team=other, email="ada@example.org")
        second = links.new_link("member", SYSTEM, team=team, email="ADA@example.org")
        assert code_of(lambda: links.link_of(first)) == "not-found"
        assert links.link_of(second).team == team
        assert links.link_of(elsewhere).team == other


class TestRedeem:
    def test_the_first_organiser_may_create_contests(self):
        secret = links.first_organiser_link()
        person = links.redeem(secret, "Ada", NEW, name="Ada L.", email="ada@example.org")
        assert person.is_staff
        assert person.is_superuser
        assert (person.username, person.first_name) == ("ada", "Ada L.")
        assert person.check_password(NEW)
        assert links.first_organiser_link() is None

    def test_only_the_last_first_link_works(self):
        first, second = links.first_organiser_link(), links.first_organiser_link()
        assert code_of(lambda: links.redeem(first, "ada", NEW)) == "not-found"
        assert links.redeem(second, "ada", NEW).is_staff

    def test_there_is_one_first_organiser(self, new_person):
        secret = links.first_organiser_link()
        new_person("other", is_staff=True)
        assert code_of(lambda: links.redeem(secret, "ada", NEW)) == "conflict"
        assert not Person.objects.filter(username="ada").exists()
        assert OneTimeLink.objects.get().used_at is None

    def test_a_member_comes_into_the_team(self, team):
        secret = links.new_link("member", SYSTEM, team=team, name="Ada", email="a@example.org")
        person = links.redeem(secret, "ada", NEW)
        assert role_of(team.contest, person).team == team
        assert (person.first_name, person.email) == ("Ada", "a@example.org")
        assert not person.is_staff
        assert not team.members.get(person=person).captain

    def test_an_organiser_comes_into_the_contest_and_nowhere_else(self, contest, new_contest):
        other = new_contest("autumn")
        person = links.redeem(links.new_link("organiser", SYSTEM, contest=contest), "ada", NEW)
        assert role_of(contest, person).organiser
        assert not role_of(other, person).organiser
        assert not person.is_staff

    def test_an_organiser_of_no_contest_may_create_some(self):
        person = links.redeem(links.new_link("organiser", SYSTEM), "ada", NEW)
        assert person.is_staff

    def test_it_works_once(self, team):
        secret = links.new_link("member", SYSTEM, team=team)
        links.redeem(secret, "ada", NEW)
        assert code_of(lambda: links.redeem(secret, "eve", NEW)) == "not-found"
        assert not Person.objects.filter(username="eve").exists()

    def test_of_two_in_the_same_moment_one_wins(self, team):
        secret = links.new_link("member", SYSTEM, team=team)
        link = links.link_of(secret)
        links.redeem(secret, "ada", NEW)
        assert code_of(lambda: links._use(link)) == "conflict"

    def test_it_expires(self, team, at):
        secret = links.new_link("member", SYSTEM, team=team, days=2)
        at(clock.now() + timedelta(days=2) - timedelta(seconds=1))
        assert links.link_of(secret)
        at(clock.now() + timedelta(seconds=1))
        assert code_of(lambda: links.redeem(secret, "ada", NEW)) == "not-found"

    @pytest.mark.parametrize("gone", ["team", "contest"])
    def test_it_dies_with_what_it_leads_to(self, team, gone):
        secret = links.new_link("member", SYSTEM, team=team)
        thing = team if gone == "team" else team.contest
        thing.deleted_at = clock.now()
        thing.save()
        assert code_of(lambda: links.redeem(secret, "ada", NEW)) == "not-found"

    @pytest.mark.parametrize(
        ("username", "password", "field"),
        [
            ("", NEW, "username"),
            ("a", NEW, "username"),
            ("a b", NEW, "username"),
            ("a\0b", NEW, "username"),
            ("x" * 61, NEW, "username"),
            ("TAKEN", NEW, "username"),
            ("Erased-1", NEW, "username"),
            ("ada", "short", "password"),
            ("ada", "1234567890", "password"),
            ("adalovelace", "adalovelace1", "password"),
        ],
    )
    def test_a_mistake_does_not_use_it_up(self, team, new_person, username, password, field):
        new_person("taken")
        secret = links.new_link("member", SYSTEM, team=team)
        with pytest.raises(Refused) as refused:
            links.redeem(secret, username, password)
        assert {one["field"] for one in refused.value.problems} == {field}
        assert links.redeem(secret, "ada", NEW).pk

    def test_a_full_failure_leaves_nothing(self, team):
        secret = links.new_link("member", SYSTEM, team=team)
        team.status = "withdrawn"
        team.save()
        assert code_of(lambda: links.redeem(secret, "ada", NEW)) == "conflict"
        assert not Person.objects.filter(username="ada").exists()
        assert links.link_of(secret).used_at is None

    def test_a_used_link_holds_no_name(self, team):
        secret = links.new_link("member", SYSTEM, team=team, name="Ada", email="a@example.org")
        links.redeem(secret, "ada", NEW)
        held = OneTimeLink.objects.get()
        assert (held.name, held.email) == ("", "")

    @pytest.mark.parametrize("token", ["", "x", "x" * 10_000, "\0", "é"])
    def test_nonsense_is_not_found(self, token):
        assert code_of(lambda: links.redeem(token, "ada", NEW)) == "not-found"


class TestRedeemReset:
    def test_every_token_is_revoked_and_other_people_keep_theirs(self, new_person):
        ada, eve = new_person("ada"), new_person("eve")
        secrets = [tokens.new_token(ada, name, 30, Actor(ada))[1] for name in ("a", "b")]
        others = tokens.new_token(eve, "a", 30, Actor(eve))[1]
        link = links.new_link("reset", SYSTEM, person=ada)
        assert code_of(lambda: links.redeem(link, "", "short")) == "invalid"
        assert tokens.person_of_token(secrets[0]) == ada
        links.redeem(link, "", NEW)
        assert [tokens.person_of_token(one) for one in (*secrets, others)] == [None, None, eve]
        assert len(LogEntry.objects.get(action="token-revoke").after["tokens"]) == 2

    def test_a_password_changed_by_its_owner_leaves_tokens_alone(self, new_person):
        ada = new_person("ada")
        secret = tokens.new_token(ada, "laptop", 30, Actor(ada))[1]
        accounts.change_password(ada, PASSWORD, NEW, Actor(ada))
        assert tokens.person_of_token(secret) == ada

    def test_the_letter_says_what_ended(self, new_person):
        letters.tell_password_changed(new_person("ada"), SITE)
        letters.tell_password_changed(new_person("eve"), SITE, by_link=True)
        assert [("revoked" in one.body) for one in mail.outbox] == [False, True]


class TestAccept:
    def test_an_account_that_exists_comes_in(self, team, new_person):
        ada = new_person("ada")
        links.accept(links.new_link("member", SYSTEM, team=team), ada)
        assert role_of(team.contest, ada).team == team

    def test_staff_by_invitation(self, new_person):
        ada = new_person("ada")
        links.accept(links.new_link("organiser", SYSTEM), ada)
        ada.refresh_from_db()
        assert ada.is_staff

    def test_a_player_cannot_become_organiser(self, contest, member):
        secret = links.new_link("organiser", SYSTEM, contest=contest)
        assert code_of(lambda: links.accept(secret, member)) == "conflict"
        assert links.link_of(secret).used_at is None

    def test_other_links_are_no_invitations(self, new_person):
        ada = new_person("ada")
        for secret in (links.first_organiser_link(), links.new_link("reset", SYSTEM, person=ada)):
            assert code_of(lambda secret=secret: links.accept(secret, ada)) == "conflict"


class TestRevoke:
    def test_a_revoked_link_is_gone(self, contest, team):
        secret = links.new_link("member", SYSTEM, team=team, email="a@example.org")
        link = links.link_by_number(contest, links.link_of(secret).pk)
        links.revoke_link(link, SYSTEM)
        assert code_of(lambda: links.link_of(secret)) == "not-found"
        assert not OneTimeLink.objects.exists()

    def test_organisers_reach_their_own_invitations_only(self, contest, new_contest, new_person):
        other = new_contest("autumn")
        reset = links.link_of(links.new_link("reset", SYSTEM, person=new_person("ada")))
        foreign = links.link_of(links.new_link("organiser", SYSTEM, contest=other))
        for link in (reset, foreign):
            code = code_of(lambda link=link: links.link_by_number(contest, link.pk))
            assert code == "not-found"


class TestReset:
    def ask(self, who: str, address: str = "192.0.2.1") -> None:
        letters.ask_reset(who, address, SITE)

    def secret(self) -> str:
        (letter,) = mail.outbox
        return re.search(rf"{SITE}/link/([^/]+)/", letter.body).group(1)

    @pytest.mark.parametrize("who", ["ada", "ADA@example.org", " ada "])
    def test_a_link_comes_by_mail_and_sets_the_password(self, new_person, who):
        ada = new_person("ada")
        self.ask(who)
        assert mail.outbox[0].to == ["ada@example.org"]
        assert links.redeem(self.secret(), "", NEW) == ada
        ada.refresh_from_db()
        assert ada.check_password(NEW)

    @pytest.mark.parametrize("who", ["nobody", "nobody@example.org", "", "a\0b", "%"])
    def test_nothing_happens_for_others(self, new_person, who):
        new_person("ada")
        self.ask(who)
        assert mail.outbox == []
        assert not OneTimeLink.objects.exists()

    def test_an_account_without_address_gets_nothing(self, new_person):
        ada = new_person("ada")
        ada.email = ""
        ada.save()
        self.ask("ada")
        assert mail.outbox == []

    def test_it_works_once_and_two_hours(self, new_person, at):
        new_person("ada")
        self.ask("ada")
        at(clock.now() + timedelta(hours=2))
        assert code_of(lambda: links.redeem(self.secret(), "", NEW)) == "not-found"

    def test_the_last_link_counts(self, new_person):
        new_person("ada")
        self.ask("ada")
        first = self.secret()
        mail.outbox.clear()
        self.ask("ada")
        assert code_of(lambda: links.redeem(first, "", NEW)) == "not-found"
        assert links.redeem(self.secret(), "", NEW)

    def test_it_ends_sessions_and_the_waiting(self, new_person, client):
        new_person("ada")
        client.login(username="ada", password=PASSWORD)
        client.get("/account/")
        for _ in range(throttle.LOG_IN.by_name):
            throttle.spend(throttle.LOG_IN, "ada", "198.51.100.1")
        self.ask("ada")
        links.redeem(self.secret(), "", NEW)
        assert client.get("/account/").status_code == 302
        assert visits.check_password("ada", NEW, "192.0.2.1")

    def test_a_weak_password_keeps_the_link(self, new_person):
        new_person("ada")
        self.ask("ada")
        assert code_of(lambda: links.redeem(self.secret(), "", "short")) == "invalid"
        assert links.redeem(self.secret(), "", NEW)

    def test_one_account_gets_few_letters(self, new_person):
        new_person("ada")
        for k in range(6):
            self.ask("ada", f"192.0.2.{k}")
        assert len(mail.outbox) == 3

    def test_one_address_asks_few_times(self, new_person):
        new_person("ada")
        for k in range(30):
            self.ask(f"guess{k}")
        assert code_of(lambda: self.ask("ada")) == "throttled"
        assert mail.outbox == []

    def test_it_is_written_in_the_accounts_language(self, new_person, monkeypatch):
        from django.utils import translation

        seen = []
        before = letters._hello
        monkeypatch.setattr(
            letters, "_hello", lambda name: seen.append(translation.get_language()) or before(name)
        )
        new_person("ada", language="ja")
        self.ask("ada")
        assert seen == ["ja"]


class TestLetters:
    def test_an_invitation_carries_its_link(self, team):
        secret = links.new_link("member", SYSTEM, team=team)
        letters.invite(team, "Ada", "ada@example.org", f"/link/{secret}/", SITE, 7)
        (letter,) = mail.outbox
        assert f"{SITE}/link/{secret}/" in letter.body
        assert "within 7 days" in letter.body
        assert team.name in letter.subject

    def test_organisers_are_invited_to_a_contest_or_to_the_site(self, contest):
        letters.invite_organiser(contest, "", "ada@example.org", "/link/x/", SITE)
        letters.invite_organiser(None, "", "ada@example.org", "/link/x/", SITE)
        assert contest.name in mail.outbox[0].subject
        assert contest.name not in mail.outbox[1].subject

    def test_notices_go_to_the_right_address(self, new_person):
        ada = new_person("ada")
        letters.tell_email_changed(ada, "before@example.org", SITE)
        letters.tell_password_changed(ada, SITE)
        assert [letter.to for letter in mail.outbox] == [["before@example.org"], [ada.email]]

    def test_a_broken_post_office_stops_nothing_and_names_nobody(
        self, new_person, monkeypatch, caplog
    ):
        from django.core.mail import EmailMessage

        def fail(self, *more, **named):
            raise ConnectionRefusedError("ada@example.org")

        monkeypatch.setattr(EmailMessage, "send", fail)
        letters.tell_password_changed(new_person("ada"), SITE)
        assert "could not be sent" in caplog.text
        assert "example.org" not in caplog.text

    @pytest.mark.django_db(transaction=True)
    def test_outside_of_tests_it_is_sent_by_a_thread(self, settings, monkeypatch):
        settings.TRACECUP_INLINE = False
        import threading

        done = threading.Event()
        where = []
        monkeypatch.setattr(
            letters, "_send", lambda *_: (where.append(threading.current_thread().name), done.set())
        )
        letters.later(letters._send, "ada@example.org", "s", "t")
        assert done.wait(120)
        assert where[0].startswith("post")


def test_an_actor_is_told_by_number(team, new_person):
    ada = new_person("ada")
    links.new_link("member", Actor(ada, "page"), team=team)
    assert LogEntry.objects.get().actor == f"person:{ada.pk}"
