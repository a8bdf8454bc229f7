"""Log-in, throttling, sessions, tokens, profile and password."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module

import pytest
from django.conf import settings
from django.contrib.auth.hashers import identify_hasher
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session
from django.test import RequestFactory

from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.errors import Refused
from tracecup.server.models import ApiToken, LogEntry, LoginAttempt, Visit
from tracecup.server.people import accounts, throttle, tokens, visits
from tracecup.server.people.throttle import LOG_IN

PASSWORD = "correct horse battery"
pytestmark = pytest.mark.django_db


@pytest.fixture
def ask():
    """A request with a session, as the middleware makes it."""

    def make(address: str = "192.0.2.1", key: str | None = None, agent: str = "Firefox/1"):
        request = RequestFactory().post("/login/", REMOTE_ADDR=address, HTTP_USER_AGENT=agent)
        request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
        request.user = AnonymousUser()
        return request

    return make


@pytest.fixture
def ada(new_person):
    return new_person("ada")


class TestSignIn:
    def test_the_right_password_opens_a_session(self, ask, ada):
        request = ask()
        assert visits.sign_in(request, "ada", PASSWORD) == ada
        assert request.user == ada

    def test_case_and_width_of_the_name_do_not_matter(self, ask, ada):
        assert visits.sign_in(ask(), " ＡDA ", PASSWORD) == ada

    def test_the_key_before_is_not_valid_afterwards(self, ask, ada):
        request = ask()
        request.session["basket"] = "planted"
        request.session.save()
        planted = request.session.session_key
        visits.sign_in(request, "ada", PASSWORD)
        assert request.session.session_key != planted
        assert not Session.objects.filter(session_key=planted).exists()

    @pytest.mark.parametrize(
        ("name", "password"),
        [
            ("ada", "wrong"),
            ("nobody", PASSWORD),
            ("ada\0", PASSWORD),
            ("", ""),
            ("ada", "x" * 100_000),
            ("x" * 100_000, PASSWORD),
        ],
    )
    def test_wrong_ones_are_told_in_the_same_words(self, ask, ada, name, password):
        with pytest.raises(Refused) as refused:
            visits.sign_in(ask(), name, password)
        assert refused.value.code == "not-signed-in"
        assert refused.value.message == "The name or the password is wrong."

    def test_an_unknown_name_costs_a_hash_too(self, ask, ada, monkeypatch):
        from django.contrib.auth import hashers

        made = []
        hasher = hashers.get_hasher("default")
        before = type(hasher).encode

        def encode(self, password, salt, *more):
            made.append(password)
            return before(self, password, salt, *more)

        monkeypatch.setattr(type(hasher), "encode", encode)
        counts = []
        for name in ("ada", "nobody"):
            made.clear()
            with pytest.raises(Refused):
                visits.sign_in(ask(), name, "guess")
            counts.append(len(made))
        assert counts == [1, 1]

    def test_somebody_who_was_locked_out_cannot(self, ask, ada):
        ada.is_active = False
        ada.save()
        with pytest.raises(Refused, match="wrong"):
            visits.sign_in(ask(), "ada", PASSWORD)

    def test_a_session_is_listed(self, ask, ada):
        visits.sign_in(ask(agent="Firefox/1"), "ada", PASSWORD)
        (visit,) = visits.sessions(ada)
        assert visit.agent == "Firefox/1"
        assert visit.created_at == clock.now()


class TestThrottle:
    def guess(self, ask, name="ada", address="192.0.2.1"):
        with pytest.raises(Refused) as refused:
            visits.sign_in(ask(address), name, "guess")
        return refused.value

    def test_a_name_is_slowed_down_from_wherever(self, ask, ada):
        codes = [self.guess(ask, address=f"192.0.2.{k}").code for k in range(LOG_IN.by_name + 2)]
        assert codes == ["not-signed-in"] * LOG_IN.by_name + ["throttled"] * 2

    def test_the_right_password_has_to_wait_as_well(self, ask, ada):
        for _ in range(LOG_IN.by_name):
            self.guess(ask)
        with pytest.raises(Refused) as refused:
            visits.sign_in(ask(), "ada", PASSWORD)
        assert refused.value.code == "throttled"
        assert refused.value.details["retry_after"] == LOG_IN.minutes * 60

    def test_an_address_is_slowed_down_for_whatever_name(self, ask, ada):
        codes = [self.guess(ask, name=f"n{k}").code for k in range(LOG_IN.by_address + 1)]
        assert codes == ["not-signed-in"] * LOG_IN.by_address + ["throttled"]

    def test_waiting_helps(self, ask, ada, at):
        for _ in range(LOG_IN.by_name + 3):
            self.guess(ask)
        at(clock.now() + timedelta(minutes=LOG_IN.minutes, seconds=1))
        assert visits.sign_in(ask(), "ada", PASSWORD) == ada

    def test_a_success_forgets_the_mistakes(self, ask, ada):
        for _ in range(LOG_IN.by_name - 1):
            self.guess(ask)
        visits.sign_in(ask(), "ada", PASSWORD)
        assert self.guess(ask).code == "not-signed-in"

    def test_a_success_of_one_does_not_help_guesses_of_another(self, ask, ada, new_person):
        new_person("mallory")
        for _ in range(LOG_IN.by_name):
            self.guess(ask, "ada")
            visits.sign_in(ask(), "mallory", PASSWORD)
        assert self.guess(ask, "ada").code == "throttled"

    def test_spellings_of_a_name_count_together(self, ask, ada):
        codes = {self.guess(ask, name).code for name in ["ada", "ADA", " Ada"] * LOG_IN.by_name}
        assert "throttled" in codes

    def test_neither_name_nor_address_is_stored(self, ask, ada):
        self.guess(ask, "ozymandias", "192.0.2.77")  # no word of hexadecimal digits
        held = LoginAttempt.objects.values().get()
        assert "ozymandias" not in str(held)
        assert "192.0.2.77" not in str(held)

    def test_rows_are_forgotten_after_a_day(self, ask, ada, at):
        self.guess(ask)
        at(clock.now() + timedelta(days=1, seconds=1))
        self.guess(ask)
        assert LoginAttempt.objects.count() == 1

    def test_kinds_do_not_mix(self):
        for _ in range(LOG_IN.by_name):
            throttle.spend(LOG_IN, "ada", "192.0.2.1")
        throttle.spend(throttle.RESET, "ada", "192.0.2.1")

    def test_behind_a_proxy_the_proxy_tells_the_address(self, ask, monkeypatch):
        from dataclasses import replace

        request = ask("10.0.0.1")
        request.META["HTTP_X_FORWARDED_FOR"] = "203.0.113.9, 192.0.2.5"
        assert visits.address_of(request) == "10.0.0.1"
        monkeypatch.setattr(settings, "CONFIG", replace(settings.CONFIG, proxied=True))
        assert visits.address_of(request) == "192.0.2.5"


class TestSessions:
    def test_ending_one_removes_it_at_once(self, ask, ada):
        first, second = ask(), ask()
        visits.sign_in(first, "ada", PASSWORD)
        visits.sign_in(second, "ada", PASSWORD)
        visits.end_session(ada, first.session.session_key, Actor(ada))
        assert [one.session_key for one in visits.sessions(ada)] == [second.session.session_key]
        assert not Session.objects.filter(session_key=first.session.session_key).exists()

    def test_those_of_others_are_not_found(self, ask, ada, new_person):
        request = ask()
        visits.sign_in(request, "ada", PASSWORD)
        eve = new_person("eve")
        for end in (
            lambda: visits.end_session(eve, request.session.session_key, Actor(eve)),
            lambda: visits.end_visit(eve, Visit.objects.get().pk, Actor(eve)),
        ):
            with pytest.raises(Refused) as refused:
                end()
            assert refused.value.code == "not-found"
        assert Session.objects.filter(session_key=request.session.session_key).exists()

    def test_all_but_one_can_end(self, ask, ada):
        requests = [ask() for _ in range(3)]
        for request in requests:
            visits.sign_in(request, "ada", PASSWORD)
        keep = requests[1].session.session_key
        assert visits.end_other_sessions(ada, keep, Actor(ada)) == 2
        assert [one.session_key for one in visits.sessions(ada)] == [keep]

    def test_sessions_that_are_gone_are_not_listed(self, ask, ada):
        visits.sign_in(ask(), "ada", PASSWORD)
        Session.objects.all().delete()
        assert visits.sessions(ada) == []
        assert not Visit.objects.exists()

    def test_logging_in_again_leaves_one_entry(self, ask, ada):
        request = ask()
        visits.sign_in(request, "ada", PASSWORD)
        visits.sign_in(request, "ada", PASSWORD)
        assert Visit.objects.count() == 1

    def test_last_seen_moves_every_few_minutes_and_tells_of_the_team(
        self, ask, member, team, at, django_assert_num_queries
    ):
        request = ask()
        visits.sign_in(request, member.username, PASSWORD)
        at(clock.now() + timedelta(minutes=1))
        with django_assert_num_queries(1):
            visits.seen(request)
        later = at(clock.now() + timedelta(minutes=5))
        visits.seen(request)
        team.refresh_from_db()
        assert Visit.objects.get().seen_at == later == team.seen_at


class TestTokens:
    def test_a_token_is_its_persons(self, ada):
        token, secret = tokens.new_token(ada, "laptop", 30, Actor(ada))
        assert secret.startswith("tct_")
        assert tokens.person_of_token(secret) == ada
        assert token.hint == secret[:8]

    def test_only_a_hash_is_stored(self, ada):
        _token, secret = tokens.new_token(ada, "laptop", 30, Actor(ada))
        assert secret not in str(list(ApiToken.objects.values()))
        assert secret not in str(list(LogEntry.objects.values()))

    def test_it_expires(self, ada, at):
        _token, secret = tokens.new_token(ada, "laptop", 30, Actor(ada))
        at(clock.now() + timedelta(days=30) - timedelta(seconds=1))
        assert tokens.person_of_token(secret) == ada
        at(clock.now() + timedelta(seconds=1))
        assert tokens.person_of_token(secret) is None

    def test_revoked_it_is_worthless(self, ada):
        token, secret = tokens.new_token(ada, "laptop", 30, Actor(ada))
        tokens.revoke_token(token, Actor(ada))
        tokens.revoke_token(token, Actor(ada))
        assert tokens.person_of_token(secret) is None
        assert LogEntry.objects.filter(action="token-revoke").count() == 1

    def test_that_of_another_cannot_be_revoked(self, ada, new_person):
        token, secret = tokens.new_token(ada, "laptop", 30, Actor(ada))
        eve = new_person("eve")
        with pytest.raises(Refused, match="no such token"):
            tokens.revoke_by_number(eve, token.pk, Actor(eve))
        assert tokens.person_of_token(secret) == ada

    def test_somebody_who_was_locked_out_has_none(self, ada):
        _token, secret = tokens.new_token(ada, "laptop", 30, Actor(ada))
        ada.is_active = False
        ada.save()
        assert tokens.person_of_token(secret) is None

    @pytest.mark.parametrize("secret", ["", "tct_", "tct_wrong", "x" * 5000, "tct_\ud800", "é"])
    def test_anything_else_is_nobodys(self, ada, secret):
        assert tokens.person_of_token(secret) is None

    @pytest.mark.parametrize(("name", "days"), [("", 3), ("x" * 81, 3), ("a\nb", 3), ("a", 0)])
    def test_bad_ones_are_refused(self, ada, name, days):
        with pytest.raises(Refused) as refused:
            tokens.new_token(ada, name, days, Actor(ada))
        assert refused.value.code == "invalid"

    def test_names_are_used_once_at_a_time(self, ada):
        token, _secret = tokens.new_token(ada, "laptop", 30, Actor(ada))
        with pytest.raises(Refused):
            tokens.new_token(ada, "laptop", 30, Actor(ada))
        tokens.revoke_token(token, Actor(ada))
        tokens.new_token(ada, "laptop", 30, Actor(ada))

    def test_there_is_a_limit(self, ada):
        for k in range(20):
            tokens.new_token(ada, f"t{k}", 30, Actor(ada))
        with pytest.raises(Refused, match="revoke one first"):
            tokens.new_token(ada, "one more", 30, Actor(ada))

    def test_the_last_use_is_written_once_a_minute(self, ada, at):
        token, secret = tokens.new_token(ada, "laptop", 30, Actor(ada))
        first = clock.now()
        tokens.person_of_token(secret)
        at(first + timedelta(seconds=30))
        tokens.person_of_token(secret)
        token.refresh_from_db()
        assert token.last_used_at == first
        later = at(first + timedelta(seconds=90))
        tokens.person_of_token(secret)
        token.refresh_from_db()
        assert token.last_used_at == later


class TestProfile:
    def test_what_is_given_changes(self, ada):
        accounts.change_profile(ada, Actor(ada), name=" Ada L. ", language="ja", zone="Asia/Tokyo")
        ada.refresh_from_db()
        assert (ada.first_name, ada.language, ada.zone) == ("Ada L.", "ja", "Asia/Tokyo")
        assert ada.email == "ada@example.org"

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("name", "x" * 151),
            ("name", "two\nlines"),
            ("email", "no address"),
            ("language", "tlh"),
            ("zone", "Mars/Olympus"),
            ("zone", "../etc/passwd"),
        ],
    )
    def test_bad_values_change_nothing(self, ada, column, value):
        with pytest.raises(Refused) as refused:
            accounts.change_profile(
                ada, Actor(ada), **{"zone": "Asia/Tokyo", column: value}, password=PASSWORD
            )
        assert refused.value.problems[0]["field"] == column
        ada.refresh_from_db()
        assert ada.zone == ""

    def test_another_address_needs_the_password(self, ada):
        with pytest.raises(Refused) as refused:
            accounts.change_profile(ada, Actor(ada), email="new@example.org", password="wrong")
        assert refused.value.problems[0]["field"] == "password"
        accounts.change_profile(ada, Actor(ada), email="new@example.org", password=PASSWORD)
        ada.refresh_from_db()
        assert ada.email == "new@example.org"

    def test_the_log_knows_columns_and_no_names(self, ada):
        accounts.change_profile(ada, Actor(ada), name="Ada Lovelace")
        entry = LogEntry.objects.get(action="person-change")
        assert entry.after == {"columns": ["first_name"]}
        assert entry.subject == f"person:{ada.pk}"

    def test_no_change_no_entry(self, ada):
        accounts.change_profile(ada, Actor(ada), name=ada.first_name)
        assert not LogEntry.objects.exists()


class TestPassword:
    def test_a_new_one_works(self, ada):
        accounts.change_password(ada, PASSWORD, "a brand new secret", Actor(ada))
        ada.refresh_from_db()
        assert ada.check_password("a brand new secret")

    @pytest.mark.parametrize("new", ["short", "password123", "ada@example.org", "x" * 2000])
    def test_a_weak_one_is_refused_and_not_repeated(self, ada, new):
        with pytest.raises(Refused) as refused:
            accounts.change_password(ada, PASSWORD, new, Actor(ada))
        assert {one["field"] for one in refused.value.problems} == {"new"}
        assert all(one["found"] == "" for one in refused.value.problems)

    def test_it_needs_the_old_one(self, ada):
        with pytest.raises(Refused) as refused:
            accounts.change_password(ada, "wrong", "a brand new secret", Actor(ada))
        assert refused.value.problems[0]["field"] == "old"

    def test_guesses_with_a_stolen_token_are_slowed_down(self, ada, at):
        for _ in range(throttle.OWN_PASSWORD.by_name):
            with pytest.raises(Refused) as refused:
                accounts.require_password(ada, "wrong")
            assert refused.value.code == "invalid"
        for guess in ("wrong", PASSWORD):
            with pytest.raises(Refused) as refused:
                accounts.change_password(ada, guess, "a brand new secret", Actor(ada))
            assert refused.value.code == "throttled"
        at(clock.now() + timedelta(minutes=16))
        accounts.change_password(ada, PASSWORD, "a brand new secret", Actor(ada))
        accounts.require_password(ada, "a brand new secret")

    def test_argon2_is_what_the_server_uses(self, ada):
        from django.test import override_settings

        from tracecup.server import settings as ours

        with override_settings(PASSWORD_HASHERS=ours.PASSWORD_HASHERS):
            self.check_argon2(ada)

    def check_argon2(self, ada):
        ada.set_password("a brand new secret")
        assert identify_hasher(ada.password).algorithm == "argon2"
        assert ada.check_password("a brand new secret")

    def test_a_hash_of_today_is_not_in_the_log(self, ada):
        accounts.change_password(ada, PASSWORD, "a brand new secret", SYSTEM)
        assert ada.password not in str(list(LogEntry.objects.values()))
