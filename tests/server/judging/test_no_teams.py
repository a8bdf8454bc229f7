"""A contest that nobody joined ends like any other: nothing dies, and its archive is all equal."""

from __future__ import annotations

import pytest

from archived import archive_folder
from tracecup.contest.archive.verify import verify
from tracecup.contest.entries import BENCHMARK
from tracecup.server.jobs.worker import drain
from tracecup.server.judging.service import ensure_data
from tracecup.server.models import Job, Release

pytestmark = pytest.mark.django_db


def test_it_ends_with_results_and_an_archive(contest, final, at, client, organiser, tmp_path):
    at("announce")
    ensure_data(contest)
    for phase in ("announce", "anonymize", "attack", "results"):
        at(phase)
        drain()
    assert list(Job.objects.exclude(state="done").values_list("kind", "state", "error")) == []
    final.refresh_from_db()
    assert final.released_at is not None
    assert list(Release.objects.values_list("label", flat=True)) == [BENCHMARK.label]
    assert verify(archive_folder(final, tmp_path / "archive")) == []
    for page in ("", "results/"):
        assert client.get(f"/c/{contest.slug}/{page}").status_code == 200
    client.force_login(organiser)
    for page in ("", "scores/", "teams/", "rounds/", "files/"):
        assert client.get(f"/c/{contest.slug}/run/{page}").status_code in (200, 404)
