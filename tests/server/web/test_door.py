"""Whose tokens and sessions open the door for large bodies."""

from __future__ import annotations

import pytest
from django.test import Client

from tracecup.server.access import SYSTEM, Actor
from tracecup.server.doorkeeper import (
    is_known,
)
from tracecup.server.judging import workers
from tracecup.server.models import ApiToken
from tracecup.server.people import tokens, visits

PASSWORD = "correct horse battery"
pytestmark = pytest.mark.django_db


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
