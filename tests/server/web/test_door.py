"""Whose tokens and sessions open the door for large bodies."""

from __future__ import annotations

import pytest
from django.test import Client

from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.doorkeeper import (
    is_known,
    owner,
)
from tracecup.server.judging import workers
from tracecup.server.models import ApiToken, Member
from tracecup.server.people import tokens, visits

PASSWORD = "correct horse battery"
pytestmark = pytest.mark.django_db


class TestOwner:
    """Whose turn a file has to wait for."""

    def test_all_tokens_and_sessions_of_a_team_are_one(self, contest, team, new_person):
        ada = team.members.get().person
        bob = new_person("bob")
        Member.objects.create(team=team, contest=contest, person=bob, since=clock.now())
        secrets = [
            tokens.new_token(one, name, 30, Actor(one))[1]
            for one, name in ((ada, "laptop"), (ada, "cluster"), (bob, "laptop"))
        ]
        path = "/api/v1/contests/spring/submissions"
        assert {owner(f"Bearer {one}", "", path) for one in secrets} == {f"team:{team.pk}"}
        client = Client()
        client.force_login(bob)
        cookie = f"sessionid={client.cookies['sessionid'].value}"
        assert owner("", cookie, "/c/spring/release/") == f"team:{team.pk}"
        assert owner("", cookie, "/c/another/release/") == f"person:{bob.pk}"

    def test_workers_and_strangers(self):
        secret = workers.new_worker_token("laptop", SYSTEM)
        assert owner(f"Bearer {secret}", "", "/").startswith("worker:")
        assert owner("Bearer made-up", "sessionid=made-up", "/c/spring/") == ""


class TestIsKnown:
    def test_tokens_of_people_until_they_are_revoked(self, new_person):
        ada = new_person("ada")
        token, secret = tokens.new_token(ada, "laptop", 30, Actor(ada))
        assert is_known(f"Bearer {secret}", "")
        assert is_known(f"bearer  {secret}", "sessionid=x")
        assert not is_known(f"Basic {secret}", "")
        assert ApiToken.objects.get().last_used_at is None
        tokens.revoke_token(token, SYSTEM)
        assert not is_known(f"Bearer {secret}", "")

    def test_tokens_of_workers(self):
        secret = workers.new_worker_token("laptop", SYSTEM)
        assert is_known(f"Bearer {secret}", "")
        workers.revoke_worker_token("laptop", SYSTEM)
        assert not is_known(f"Bearer {secret}", "")

    def test_sessions_until_they_end(self, new_person):
        ada, client = new_person("ada"), Client()
        client.post("/login/", {"username": "ada", "password": PASSWORD})
        cookie = f"a=b; sessionid={client.cookies['sessionid'].value}"
        assert is_known("", cookie)
        assert is_known("Bearer made-up", cookie)
        ada.is_active = False
        ada.save()
        assert not is_known("", cookie)
        ada.is_active = True
        ada.save()
        visits.end_other_sessions(ada, None, SYSTEM)
        assert not is_known("", cookie)

    @pytest.mark.parametrize(
        ("authorization", "cookie"),
        [
            ("", ""),
            ("Bearer", "sessionid="),
            ("Bearer tct_made-up", "sessionid=made-up"),
            ("Bearer tcw_made-up\0", "sessionid=\0"),
            ("Bearer tct_" + "x" * 9999, "csrftoken=x; sessionid=" + "x" * 9999),
            ("\xff\xfe", "\xff=\xfe;;="),
        ],
    )
    def test_nobody_else(self, authorization, cookie):
        assert not is_known(authorization, cookie)
