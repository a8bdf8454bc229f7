"""The API's edges: who asks, one format for every refusal, nothing told that was not asked for."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import path
from ninja import NinjaAPI, Schema

from tracecup.server.access import SYSTEM
from tracecup.server.errors import Refused
from tracecup.server.models import Organiser
from tracecup.server.people import auth
from tracecup.server.people.tokens import new_token, revoke_token
from tracecup.server.web import (
    answers,
)

pytestmark = pytest.mark.django_db


class Said(Schema):
    name: str
    size: int = 1


def toy() -> NinjaAPI:
    """An API with one operation for each way to fail."""
    api = NinjaAPI(
        urls_namespace="toy", docs_url=None, auth=auth.signed_in, parser=answers.StrictParser()
    )
    answers.install(api)

    @api.post("/echo", response=Said)
    def echo(request, said: Said):
        return said

    @api.get("/who", auth=auth.anyone)
    def who(request):
        person = auth.person_of(request)
        return {"who": person.username if person else None, "via": auth.actor_of(request).via}

    @api.post("/open", auth=auth.anyone)
    def opened(request):
        return {}

    @api.get("/broken", auth=None)
    def broken(request):
        raise RuntimeError("the secret is 4711")

    @api.get("/refused", auth=None)
    def refused(request):
        raise Refused("quota", "All 3 tries are used.", [{"line": 2}], used=3)

    return api


_toy = toy()
_urls, _app, _name = _toy.urls
for _one in _urls:
    _one.callback = answers.in_our_format(_one.callback)
urlpatterns = [path("api/v1/", (_urls, _app, _name))]


@pytest.fixture
def toys(settings):
    """The toy API at the place of the real one."""
    settings.ROOT_URLCONF = __name__


@pytest.fixture
def person(new_person):
    return new_person("ann")


@pytest.fixture
def bearer(person):
    """Headers with a token of ann."""
    _, secret = new_token(person, "laptop", 30, SYSTEM)
    return {"Authorization": f"Bearer {secret}"}


def refused(response, status: int, code: str) -> dict:
    """The error of an answer, whose shape is always the same."""
    assert response.status_code == status, response.content
    assert response["Content-Type"].startswith("application/json")
    held = json.loads(response.content)
    assert set(held) == {"error"}
    assert set(held["error"]) == {"code", "message", "problems", "details"}
    assert held["error"]["code"] == code
    assert held["error"]["message"]
    return held["error"]


def post(client, where: str, payload, **more):
    return client.post(f"/api/v1{where}", payload, content_type="application/json", **more)


@pytest.mark.usefixtures("toys")
class TestTokens:
    def test_a_token_tells_who_it_is(self, client, bearer):
        assert client.get("/api/v1/who", headers=bearer).json() == {"who": "ann", "via": "api"}

    def test_the_client_is_told_from_other_programs(self, client, bearer):
        headers = {**bearer, "User-Agent": "tracecup-client/1"}
        assert client.get("/api/v1/who", headers=headers).json()["via"] == "client"

    @pytest.mark.parametrize(
        "value", ["Bearer", "Bearer tct_wrong", "Bearer ", "Basic YTpi", "tct_x", "Bearer tct_a b"]
    )
    def test_a_wrong_one_is_an_error_even_where_visitors_are_welcome(self, client, value):
        response = client.get("/api/v1/who", headers={"Authorization": value})
        refused(response, 401, "not-signed-in")
        assert response["WWW-Authenticate"] == "Bearer"

    def test_a_wrong_token_does_not_fall_back_to_the_session(self, client, person):
        client.force_login(person)
        response = client.get("/api/v1/who", headers={"Authorization": "Bearer tct_wrong"})
        refused(response, 401, "not-signed-in")

    def test_an_expired_one(self, client, bearer, at):
        at(at("results").replace(year=2031))
        refused(client.get("/api/v1/who", headers=bearer), 401, "not-signed-in")

    def test_a_revoked_one(self, client, person, bearer):
        revoke_token(person.tokens.get(), SYSTEM)
        refused(client.get("/api/v1/who", headers=bearer), 401, "not-signed-in")

    def test_of_somebody_who_was_locked_out(self, client, person, bearer):
        person.is_active = False
        person.save()
        refused(client.get("/api/v1/who", headers=bearer), 401, "not-signed-in")

    def test_needs_no_csrf_token(self, bearer):
        strict = Client(enforce_csrf_checks=True)
        assert post(strict, "/echo", {"name": "a"}, headers=bearer).status_code == 200

    def test_answers_are_not_kept_by_caches(self, client, bearer):
        assert "no-store" in client.get("/api/v1/who", headers=bearer)["Cache-Control"]


@pytest.mark.usefixtures("toys")
class TestSessions:
    def test_visitor_is_nobody(self, client):
        assert client.get("/api/v1/who").json()["who"] is None

    def test_visitor_may_not_where_somebody_is_wanted(self, client):
        refused(post(client, "/echo", {"name": "a"}), 401, "not-signed-in")

    def test_changing_needs_the_csrf_token(self, person):
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(person)
        refused(post(strict, "/echo", {"name": "a"}), 403, "forbidden")
        refused(post(strict, "/open", {}), 403, "forbidden")

    def test_with_the_csrf_token(self, person):
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(person)
        secret = "a" * 32
        strict.cookies["csrftoken"] = secret
        said = post(strict, "/echo", {"name": "a"}, headers={"X-CSRFToken": secret})
        assert said.json() == {"name": "a", "size": 1}

    def test_reading_needs_none(self, person):
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(person)
        assert strict.get("/api/v1/who").json()["who"] == "ann"

    def test_a_visitor_has_no_session_to_protect(self):
        assert post(Client(enforce_csrf_checks=True), "/open", {}).status_code == 200


@pytest.mark.usefixtures("toys")
class TestErrors:
    def test_a_refusal_of_a_service(self, client):
        error = refused(client.get("/api/v1/refused"), 409, "quota")
        assert error["problems"] == [{"line": 2}]
        assert error["details"] == {"used": 3}

    def test_wrong_fields_are_named_and_not_repeated(self, client, bearer):
        response = post(client, "/echo", {"size": "canary-77"}, headers=bearer)
        error = refused(response, 422, "invalid")
        assert {one["field"] for one in error["problems"]} == {"said.name", "said.size"}
        assert "canary-77" not in response.content.decode()

    def test_what_nobody_foresaw_tells_nothing(self, client, caplog):
        response = client.get("/api/v1/broken")
        refused(response, 500, "internal")
        assert "4711" not in response.content.decode()
        assert "unexpected error in the API" in caplog.text

    @pytest.mark.parametrize(
        "body",
        [
            "{",
            '{"name": NaN}',
            '{"name": "a", "size": Infinity}',
            '{"name": "a\\u0000b"}',
            '{"name": "\\ud800"}',
            '{"name": ["\\udfff"]}',
            '{"na\\u0000me": 1}',
            b'{"name": "\xff"}',
            "[" * 100_000,
        ],
    )
    def test_json_that_cannot_be_kept(self, client, bearer, body):
        refused(post(client, "/echo", body, headers=bearer), 422, "invalid")

    def test_wrong_content_type(self, client, bearer):
        response = client.post(
            "/api/v1/echo", '{"name": "a"}', content_type="text/plain", headers=bearer
        )
        refused(response, 415, "wrong-type")

    def test_a_body_that_is_too_large(self, client, bearer, settings):
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
        refused(post(client, "/echo", {"name": "a" * 200}, headers=bearer), 413, "too-large")

    def test_wrong_method(self, client):
        response = client.delete("/api/v1/echo")
        refused(response, 405, "wrong-method")
        assert response["Allow"] == "POST"


class TestAddresses:
    def test_root_says_where_the_document_is(self, client):
        assert client.get("/api/v1/").json()["document"] == "openapi.json"

    @pytest.mark.parametrize(
        "where", ["nothing", "contests/", "contests//x", "docs", "a%00b", "a%0Ab"]
    )
    def test_unknown_addresses_have_the_same_format(self, client, where):
        refused(client.get(f"/api/v1/{where}"), 404, "not-found")
        refused(client.post(f"/api/v1/{where}"), 404, "not-found")

    @pytest.mark.parametrize(
        ("where", "status"),
        [("contests/a%00b", 404), ("contests/spring?round=%00", 422), ("contests?%00=1", 200)],
    )
    def test_nul_in_an_address(self, client, contest, where, status):
        assert client.get(f"/api/v1/{where}").status_code == status

    def test_no_viewer_that_fetches_things_from_elsewhere(self, client):
        assert client.get("/api/v1/docs").status_code == 404


class TestContests:
    def test_visitors_see_public_ones(self, client, contest, new_contest):
        new_contest("hidden", is_public=False)
        slugs = [one["slug"] for one in client.get("/api/v1/contests").json()["contests"]]
        assert slugs == ["spring"]
        refused(client.get("/api/v1/contests/hidden"), 404, "not-found")

    def test_members_see_their_own(self, client, new_contest, new_team):
        hidden = new_contest("hidden", is_public=False)
        client.force_login(new_team(hidden).members.get().person)
        said = client.get("/api/v1/contests/hidden")
        assert said.json()["slug"] == "hidden"

    def test_a_round_of_another_name(self, client, contest):
        refused(client.get("/api/v1/contests/spring?round=none"), 404, "not-found")

    def test_a_deleted_contest_is_gone_for_its_organiser_too(
        self, client, contest, organiser, fixed_clock
    ):
        contest.deleted_at = fixed_clock.at
        contest.save()
        client.force_login(organiser)
        assert Organiser.objects.filter(contest=contest).exists()
        refused(client.get("/api/v1/contests/spring"), 404, "not-found")

    def test_rules_are_a_file_that_the_tools_read(self, client, contest):
        from tracecup.contest.rules.file import parse_rules

        response = client.get("/api/v1/contests/spring/rules")
        assert response["Content-Type"] == "application/toml; charset=utf-8"
        assert parse_rules(response.content.decode()) == contest.rules
