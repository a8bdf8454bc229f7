"""Workers on other machines: same results over HTTP, and nothing beyond the job they hold."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tracecup.contest.judging.commitment import SCORER
from tracecup.server import clock
from tracecup.server.access import SYSTEM
from tracecup.server.errors import Refused
from tracecup.server.jobs.remote import RemoteWorker
from tracecup.server.jobs.worker import drain
from tracecup.server.judging import service as judging
from tracecup.server.judging import workers
from tracecup.server.models import Job, Release, StoredFile, WorkerToken
from tracecup.server.storage import store

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def token(db):
    return workers.new_worker_token("far", SYSTEM)


@pytest.fixture
def call(client, token):
    """Ask the API as the worker."""

    def ask(method: str, address: str, body=None, secret: str = token):
        return client.generic(
            method,
            f"/api/v1/worker{address}",
            json.dumps(body) if isinstance(body, dict) else body or b"",
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}"},
        )

    return ask


class TestRemoteWorker:
    def test_does_the_same_as_one_here(self, court, token, live_server):
        court.to_attack()
        here = {row.label: row.scores for row in Release.objects.all()}
        given = court.attack(2, 1, what=4)
        Job.objects.filter(kind="sample").update(state="waiting", attempts=0)
        Release.objects.update(scores={})
        far = RemoteWorker(live_server.url, token)
        while far.run_one():
            pass
        given.refresh_from_db()
        assert given.state == "scored"
        for row in Release.objects.all():
            for column, score in row.scores.items():
                before = here[row.label][column]
                assert (score["score"], score["inputs_sha256"]) == (
                    before["score"],
                    before["inputs_sha256"],
                )
        assert set(Job.objects.filter(kind="sample").values_list("worker", flat=True)) == {
            "far (remote)"
        }

    def test_data_and_shuffle_too(self, court, token, live_server):
        court.at("announce")
        judging.ensure_data(court.contest)
        far = RemoteWorker(live_server.url, token)
        while far.run_one():
            court.at(clock.now() + timedelta(seconds=2))
        assert StoredFile.objects.filter(kind="orgtraces").count() == 7

    def test_failure_is_told(self, court, token, live_server):
        court.to_attack()
        given = court.attack(1, 2)
        store().path(given.sha256).write_bytes(b"damaged")
        assert RemoteWorker(live_server.url, token).run_one()
        job = Job.objects.get(kind="score")
        assert (job.state, job.error) == ("waiting", "did not arrive as it was sent")


class TestApi:
    def test_needs_a_token(self, call, contest):
        assert call("POST", "/lease", {"scorer": SCORER}, secret="tcw_wrong").status_code == 401
        assert call("POST", "/lease", {"scorer": SCORER}, secret="x").status_code == 401

    def test_revoked_token(self, call, token):
        workers.revoke_worker_token("far", SYSTEM)
        assert call("POST", "/lease", {"scorer": SCORER}).status_code == 401
        assert WorkerToken.objects.get().token_hash != token

    def test_empty_queue(self, call):
        assert call("POST", "/lease", {"scorer": SCORER}).status_code == 204

    def test_other_version_is_refused(self, call):
        answer = call("POST", "/lease", {"scorer": "tracecup 0.0.1"})
        assert answer.status_code == 409

    def test_only_files_of_the_own_job(self, call, court):
        court.to_attack()
        court.attack(1, 2)
        job = call("POST", "/lease", {"scorer": SCORER}).json()
        sha256 = job["inputs"]["answer"]
        where = f"/jobs/{job['job']}/files"
        found = call("GET", f"{where}/{sha256}?fence={job['fence']}")
        assert found.status_code == 200
        assert b"".join(found.streaming_content) == court.table(1)
        found.close()
        assert call("GET", f"{where}/{sha256}?fence={job['fence'] + 1}").status_code == 409
        other = StoredFile.objects.get(name="ptable_team001_data02_TRP.csv.zst").sha256
        assert call("GET", f"{where}/{other}?fence={job['fence']}").status_code == 404

    def test_late_result_is_not_written(self, call, court):
        court.to_attack()
        given = court.attack(1, 2)
        job = call("POST", "/lease", {"scorer": SCORER}).json()
        stored = call("PUT", f"/jobs/{job['job']}/files?fence={job['fence']}", b'{"score": 0}')
        court.at(clock.now() + timedelta(seconds=60))
        drain()
        told = {
            "fence": job["fence"],
            "result": stored.json()["sha256"],
            "outputs": {},
            "seconds": 1,
            "inputs_sha256": job["inputs_sha256"],
        }
        assert call("POST", f"/jobs/{job['job']}/finish", told).status_code == 409
        given.refresh_from_db()
        assert given.score not in (None, 0)

    def test_result_of_another_shape(self, call, court):
        court.to_attack()
        given = court.attack(1, 2)
        job = call("POST", "/lease", {"scorer": SCORER}).json()
        stored = call("PUT", f"/jobs/{job['job']}/files?fence={job['fence']}", b'{"other": 0}')
        told = {
            "fence": job["fence"],
            "result": stored.json()["sha256"],
            "outputs": {},
            "seconds": 1,
            "inputs_sha256": job["inputs_sha256"],
        }
        assert call("POST", f"/jobs/{job['job']}/finish", told).status_code == 422
        given.refresh_from_db()
        assert given.state == "scoring"

    @pytest.mark.parametrize(
        ("answer", "changes"),
        [
            (b"[]", {}),
            (b'{"score": NaN, "low": 0, "high": 1, "scorer": "x"}', {}),
            (b"{}", {"outputs": {"../../../../outside.csv": "RESULT"}}),
            (b"{}", {"outputs": {".hidden": "RESULT"}}),
            (b'{"score": 0, "low": 0, "high": 1, "scorer": "x"}', {"inputs_sha256": "0" * 64}),
        ],
    )
    def test_no_forged_result(self, call, court, answer, changes):
        court.to_attack()
        given = court.attack(1, 2)
        job = call("POST", "/lease", {"scorer": SCORER}).json()
        put = call("PUT", f"/jobs/{job['job']}/files?fence={job['fence']}", answer).json()
        told = {
            "fence": job["fence"],
            "result": put["sha256"],
            "outputs": {},
            "seconds": 1,
            "inputs_sha256": job["inputs_sha256"],
            **changes,
        }
        told["outputs"] = dict.fromkeys(told["outputs"], put["sha256"])
        assert call("POST", f"/jobs/{job['job']}/finish", told).status_code == 422
        given.refresh_from_db()
        assert (given.state, given.score) == ("scoring", None)

    def test_sample_attacks_replace_no_other_file(self, call, court):
        court.to_attack()
        name = "ptable_team001_data02_TRP.csv.zst"
        before = StoredFile.objects.get(name=name).sha256
        Job.objects.filter(kind="sample").update(state="waiting", attempts=0)
        job = call("POST", "/lease", {"scorer": SCORER}).json()
        put = call("PUT", f"/jobs/{job['job']}/files?fence={job['fence']}", b'{"scores": {}}')
        told = {
            "fence": job["fence"],
            "result": put.json()["sha256"],
            "outputs": {name: put.json()["sha256"]},
            "seconds": 1,
            "inputs_sha256": job["inputs_sha256"],
        }
        assert call("POST", f"/jobs/{job['job']}/finish", told).status_code == 422
        assert StoredFile.objects.get(name=name).sha256 == before

    @pytest.mark.parametrize("name", ["", "x" * 61, "two\nlines"])
    def test_names_that_fit(self, db, name):
        with pytest.raises(Refused, match="name"):
            workers.new_worker_token(name, SYSTEM)

    def test_names_are_given_once(self, token):
        with pytest.raises(Refused, match="already"):
            workers.new_worker_token("far", SYSTEM)
