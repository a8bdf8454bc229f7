"""Blobs that nobody names are removed after a day, all others stay."""

from __future__ import annotations

import os
import time
from datetime import timedelta

import pytest
from django.apps import apps

from tracecup.server.jobs import schedule
from tracecup.server.jobs.worker import Worker
from tracecup.server.models import Contest, Job, LogEntry, ResultSet, StoredFile, Submission
from tracecup.server.site import backup, tidying
from tracecup.server.storage import store

pytestmark = pytest.mark.django_db
DAY = 86400.0


def put(content: bytes, age: float = 2 * DAY) -> str:
    """A blob that was put so many seconds ago."""
    sha256 = store().put_blocks([content], 1 << 20).sha256
    at = time.time() - age
    os.utime(store().path(sha256), (at, at))
    return sha256


class TestHandleTidy:
    def test_old_blobs_without_a_row_go_and_the_log_says_how_many(self):
        old, fresh = put(b"old"), put(b"fresh", age=0)
        assert tidying.handle_tidy({}) == {"removed": 1, "bytes": 3, "left": 0}
        assert (store().has(old), store().has(fresh)) == (False, True)
        assert LogEntry.objects.get().after["bytes"] == 3
        assert tidying.handle_tidy({})["removed"] == 0
        assert LogEntry.objects.count() == 1

    def test_everything_of_a_played_contest_stays(self, court):
        court.to_results()
        blobs = store().unused_since(-DAY)
        for sha256 in blobs:
            os.utime(store().path(sha256), (1, 1))
        tidying.handle_tidy({})
        named = set(StoredFile.objects.values_list("sha256", flat=True))
        named |= set(Submission.objects.values_list("sha256", flat=True))
        named |= {court.contest.city_sha256}
        for files in ResultSet.objects.values_list("files", flat=True):
            named |= {sha256 for sha256, _ in files.values()}
        assert len(named) > 20
        assert all(store().has(sha256) for sha256 in named)

    def test_what_is_put_again_meanwhile_stays(self, monkeypatch):
        sha256 = put(b"again")
        really = tidying.named_blobs

        def uploaded_meanwhile():
            found = really()
            store().put_blocks([b"again"], 1 << 20)
            return found

        monkeypatch.setattr(tidying, "named_blobs", uploaded_meanwhile)
        assert tidying.handle_tidy({}) == {"removed": 0, "bytes": 0, "left": 1}
        assert store().has(sha256)

    def test_nothing_goes_while_a_backup_is_made(self, tmp_path, contest, monkeypatch):
        sha256 = put(b"named when the backup began")

        def rows():
            assert tidying.handle_tidy({})["left"] == 1
            return b"", {}, set()

        monkeypatch.setattr(backup, "_rows", rows)
        backup.save(tmp_path / "all.tar.zst")
        assert store().has(sha256)
        assert tidying.handle_tidy({})["removed"] == 1

    def test_other_files_in_the_folder_are_left_alone(self):
        stranger = store().root / "ab" / "readme.txt"
        stranger.parent.mkdir(exist_ok=True)
        stranger.touch()
        os.utime(stranger, (1, 1))
        tidying.handle_tidy({})
        assert stranger.exists()

    def test_every_column_that_names_a_blob_is_known(self):
        """A new column with a SHA-256 has to be looked at here."""
        no_blobs = {"inputs_sha256"}
        found = {
            (model, column.name)
            for model in apps.get_app_config("server").get_models()
            for column in model._meta.get_fields()
            if "sha256" in column.name and column.name not in no_blobs
        }
        assert found == set(tidying.NAMING.items())


class TestDue:
    def test_once_a_day_on_a_server_that_is_a_day_old(self, contest, fixed_clock):
        with_jobs = [job.kind for job in schedule.due() if job.kind == "tidy"]
        fixed_clock.at += timedelta(days=1, seconds=1)
        Contest.objects.update(paused_at=fixed_clock.at)
        for _ in range(2):
            with_jobs += [job.kind for job in schedule.due()]
        assert with_jobs == ["tidy"]
        assert Worker("w").run_one()
        assert Job.objects.get(kind="tidy").state == "done"
        fixed_clock.at += timedelta(days=1)
        assert [job.kind for job in schedule.due()] == ["tidy"]
