"""Results: equal to the contest's own, kept in sets, published once, hidden until then."""

from __future__ import annotations

import pytest

from tracecup.contest.archive import Archive
from tracecup.contest.verify import verify
from tracecup.server.access import SYSTEM, Role
from tracecup.server.errors import Refused
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Job, LogEntry, Release, ResultSet, StoredFile
from tracecup.server.services import results

pytestmark = pytest.mark.django_db


class TestArchiveFolder:
    def test_verification_finds_no_difference(self, court, tmp_path):
        court.to_results()
        folder = results.archive_folder(court.round, tmp_path / "archive")
        assert verify(folder, rerun_samples=True) == []
        assert len(Archive(folder).published()) == 3
