"""A full disk is told as such (507), wherever it is found out."""

from __future__ import annotations

import errno

import pytest
from django.db import OperationalError

from tracecup.server.web.incoming import is_disk_full

FULL = [
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EDQUOT, "Disk quota exceeded"),
    OperationalError("database or disk is full"),
    OperationalError('could not extend file "base/1": No space left on device'),
]


class TestIsDiskFull:
    @pytest.mark.parametrize("error", FULL)
    def test_also_as_a_cause(self, error):
        outer = RuntimeError("x")
        outer.__cause__ = error
        assert is_disk_full(error)
        assert is_disk_full(outer)

    @pytest.mark.parametrize("error", [OSError(errno.EIO, "x"), OperationalError("locked"), None])
    def test_others_are_none(self, error):
        assert not is_disk_full(error)


@pytest.mark.django_db
class TestAnswers:
    @pytest.mark.parametrize("error", FULL)
    @pytest.mark.parametrize("path", ["/", "/api/v1/contests"])
    def test_pages_and_api_say_507(self, client, contest, monkeypatch, error, path):
        def full(*_args, **_more):
            raise error

        monkeypatch.setattr("tracecup.server.site.data._card", full)
        answer = client.get(path)
        assert answer.status_code == 507
        assert b"disk is full" in answer.content
