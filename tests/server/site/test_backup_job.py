"""Backups that organisers ask for: made, restored elsewhere as a test, listed for staff."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Job
from tracecup.server.organising.repairs import ask_backup
from tracecup.server.site import backup_job as backups

# A backup is one moment of the database: it needs a transaction of its own.
pytestmark = pytest.mark.django_db(transaction=True)


class TestBackup:
    def test_asked_made_tested_and_listed(self, client, contest, organiser, new_person):
        ask_backup(Actor(organiser))
        with pytest.raises(Refused):
            ask_backup(Actor(organiser))
        drain()
        job = Job.objects.get(kind="backup")
        assert job.state == "done"
        assert job.result["restore_test"] == "ok"
        client.force_login(organiser)
        name = job.result["file"]
        page = client.get(reverse("run-backup", args=["spring"])).content.decode()
        assert name in page
        assert "tracecup backup DIR --out FILE" in page
        address = reverse("backup-file", args=[name])
        assert address not in page
        assert client.get(address).status_code == 403
        organiser.is_superuser = True
        organiser.save()
        assert address in client.get(reverse("run-backup", args=["spring"])).content.decode()
        fetched = client.get(address)
        assert len(b"".join(fetched.streaming_content)) == job.result["size"]
        assert client.get(reverse("backup-file", args=["secret_key"])).status_code == 404
        client.force_login(new_person("other"))
        assert client.get(reverse("backup-file", args=[name])).status_code == 403

    def test_a_broken_one_is_told(self, tmp_path):
        path = tmp_path / "x.tar.zst"
        path.write_bytes(b"nothing")
        assert backups.restore_test(path, 1).startswith("failed")
