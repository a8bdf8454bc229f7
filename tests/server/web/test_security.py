"""What browsers are used for against their owners: forged posts, fixed sessions, redirects."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tracecup.server import settings as settings_module

PASSWORD = "correct horse battery"
COOKIE = "sessionid"
# What a browser's plain form can carry across sites without asking.
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain")


def page_paths() -> list[str]:
    """Every page of the site, with something in the place of its parameters."""

    def below(one: URLPattern | URLResolver, prefix: str) -> list[str]:
        here = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            return [path for inner in one.url_patterns for path in below(inner, here)]
        return [re.sub(r"<slug:\w+>", "spring", re.sub(r"<int:\w+>", "1", here))]

    return sorted(
        {
            re.sub(r"<(\w+:)?\w+>", "x", path)
            for one in get_resolver().url_patterns
            if getattr(one, "namespace", None) != "api"
            for path in below(one, "/")
            if "^" not in path
        }
    )


@pytest.fixture
def browser():
    """A browser, which is asked for CSRF tokens as a real one is."""
    return Client(enforce_csrf_checks=True)


@pytest.mark.django_db
class TestForgedPosts:
    @pytest.mark.parametrize("path", page_paths())
    def test_every_page_refuses_a_post_without_its_token(self, browser, member, path):
        browser.force_login(member)
        assert browser.post(path, {"x": "y"}).status_code in (403, 405)

    @pytest.mark.parametrize("path", page_paths())
    def test_another_sites_origin_does_not_help(self, browser, member, path):
        browser.force_login(member)
        browser.cookies["csrftoken"] = "a" * 32
        response = browser.post(
            path,
            {"csrfmiddlewaretoken": "a" * 32},
            headers={"Origin": "https://evil.example", "Referer": "https://evil.example/"},
        )
        assert response.status_code in (403, 405)

    @pytest.mark.parametrize("kind", FORM_TYPES)
    def test_forms_of_other_sites_cannot_use_the_api(self, browser, member, kind):
        browser.force_login(member)
        body = '{"name": "stolen", "days": 9}'
        response = browser.post("/api/v1/me/tokens", body, content_type=kind)
        assert response.status_code == 403
        assert member.tokens.count() == 0

    def test_the_session_cookie_does_not_travel_with_foreign_posts(self):
        assert django_settings.SESSION_COOKIE_SAMESITE == "Lax"
        assert django_settings.SESSION_COOKIE_HTTPONLY is True


@pytest.mark.django_db
class TestFixedSessions:
    def log_in(self, client, person, **more):
        return client.post("/login/", {"username": person.username, "password": PASSWORD, **more})

    def test_a_key_from_before_the_log_in_is_worth_nothing_after(self, client, member):
        session = client.session
        session["planted"] = "by somebody else"
        session.save()
        planted = session.session_key
        client.cookies[COOKIE] = planted
        assert self.log_in(client, member).status_code == 302
        assert client.cookies[COOKIE].value != planted
        thief = Client()
        thief.cookies[COOKIE] = planted
        assert thief.get("/api/v1/me").status_code == 401

    def test_a_made_up_key_is_not_taken(self, client, member):
        client.cookies[COOKIE] = "a" * 32
        self.log_in(client, member)
        assert client.cookies[COOKIE].value != "a" * 32

    def test_logging_in_as_somebody_else_leaves_nothing_of_the_first(
        self, client, member, new_person
    ):
        self.log_in(client, member)
        before = client.cookies[COOKIE].value
        other = new_person("other")
        self.log_in(client, other)
        thief = Client()
        thief.cookies[COOKIE] = before
        assert thief.get("/api/v1/me").status_code == 401

    def test_log_out_ends_the_session_on_the_server(self, client, member):
        self.log_in(client, member)
        kept = client.cookies[COOKIE].value
        client.post("/logout/")
        thief = Client()
        thief.cookies[COOKIE] = kept
        assert thief.get("/api/v1/me").status_code == 401


@pytest.mark.django_db
class TestRedirects:
    @pytest.mark.parametrize(
        "onward",
        [
            "https://evil.example/",
            "//evil.example/",
            "///evil.example/",
            "/\\evil.example/",
            "\\\\evil.example",
            "http:evil.example",
            "javascript:alert(1)",
            " https://evil.example",
            "https://testserver@evil.example/",
            "https://testserver.evil.example/",
            "/\t/evil.example",
        ],
    )
    def test_log_in_never_leads_to_another_site(self, client, member, onward):
        for where in (f"/login/?next={onward}", "/login/"):
            response = client.post(
                where, {"username": member.username, "password": PASSWORD, "next": onward}
            )
            assert response.status_code == 302
            assert response["Location"] == "/"
            client.logout()

    def test_it_leads_to_the_page_that_was_wanted(self, client, member):
        response = client.post(
            "/login/",
            {"username": member.username, "password": PASSWORD, "next": "/account/?a=b"},
        )
        assert response["Location"] == "/account/?a=b"


@pytest.mark.django_db
class TestHosts:
    @pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "localhost:8000@x"])
    @pytest.mark.parametrize("path", ["/login/", "/reset/", "/api/v1/contests"])
    def test_a_foreign_host_gets_no_answer(self, client, host, path, settings):
        settings.ALLOWED_HOSTS = ["localhost"]
        assert client.get(path, headers={"Host": host}).status_code == 400

    def test_forwarded_hosts_are_not_believed(self, client, settings):
        settings.ALLOWED_HOSTS = ["testserver"]
        headers = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
        response = client.get("/login/", headers=headers)
        assert "evil.example" not in response.content.decode()
        assert response.status_code == 200


@pytest.mark.django_db
class TestHeaders:
    @pytest.mark.parametrize("path", ["/", "/login/", "/nothing-here/", "/api/v1/contests"])
    def test_every_answer_is_strict(self, client, path):
        headers = client.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "same-origin"

    def test_no_inline_script_or_style(self, client):
        text = client.get("/login/").content.decode()
        assert not re.search(r"<script(?![^>]*\bsrc=)(?![^>]*type=\"application/json\")", text)
        assert not re.search(r"<style|\sstyle=|\son\w+=", text)


@pytest.mark.django_db
class TestNul:
    @pytest.mark.parametrize(
        "path",
        ["/receipt/a%00b/", "/c/spring/?round=%00", "/c/spring/files/%00", "/join/%00/", "/?x=%00"],
    )
    def test_an_address_with_one_leads_nowhere(self, client, contest, path):
        assert client.get(path).status_code == 404


@pytest.mark.django_db
class TestMethods:
    @pytest.mark.parametrize("path", page_paths())
    @pytest.mark.parametrize("method", ["DELETE", "TRACE", "PROPFIND"])
    def test_strange_methods_change_nothing_and_break_nothing(self, client, member, path, method):
        client.force_login(member)
        assert client.generic(method, path).status_code < 500


class TestTransport:
    @pytest.mark.parametrize(("secure", "seconds"), [("yes", 365 * 86400), ("no", 0)])
    def test_over_tls_browsers_are_told_to_stay_there(self, tmp_path, monkeypatch, secure, seconds):
        monkeypatch.setenv("TRACECUP_SERVER_DIR", str(tmp_path))
        monkeypatch.setenv("TRACECUP_SECURE", secure)
        found = runpy.run_path(str(Path(settings_module.__file__)))
        assert found["SECURE_HSTS_SECONDS"] == seconds

    def test_the_header_is_there(self, client, settings, db):
        settings.SECURE_HSTS_SECONDS = 60
        assert "Strict-Transport-Security" in client.get("/", secure=True).headers
        assert "Strict-Transport-Security" not in client.get("/").headers
