"""Workers on other machines: same results over HTTP, and nothing beyond the job they hold."""

from __future__ import annotations

import json
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar
from urllib.error import HTTPError

import pytest

from tracecup.contest.judging.commitment import SCORER
from tracecup.errors import InvalidParameter, UnreadableFile
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
        assert job.state == "waiting"
        assert f"{given.sha256[:12]} is damaged" in job.error


class HostileServer(BaseHTTPRequestHandler):
    """Answers every request with what the test says, and notes what was asked."""

    answers: ClassVar[dict[str, tuple[int, dict[str, str], bytes]]] = {}
    asked: ClassVar[list[str]] = []

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append(self.path)
        status, headers, body = self.answers.get(self.path.partition("?")[0], (404, {}, b""))
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815 - so the library calls it

    def log_message(self, *_):
        pass


class TestHostileServer:
    """A worker is a guest on somebody's machine: no answer of a server writes elsewhere there."""

    JOB: ClassVar = {
        "job": 1, "fence": 1, "kind": "score", "function": "score.answer", "payload": {},
        "inputs": {}, "inputs_sha256": "0" * 64, "lease_seconds": 30, "memory_mib": 64,
        "seconds": 5,
    }  # fmt: skip

    @pytest.fixture
    def server(self):
        HostileServer.answers, HostileServer.asked = {}, []
        made = ThreadingHTTPServer(("127.0.0.1", 0), HostileServer)
        Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()
        made.server_close()

    def worker(self, server):
        return RemoteWorker(f"http://127.0.0.1:{server.server_port}", "tcw_x")

    def lease(self, **changes):
        job = json.dumps(self.JOB | changes).encode()
        HostileServer.answers["/api/v1/worker/lease"] = (200, {}, job)

    def test_names_of_files_are_hashes(self, server, tmp_path):
        outside = tmp_path / "outside"
        self.lease(inputs={"answer": str(outside)})
        HostileServer.answers[f"/api/v1/worker/jobs/1/files/{outside}"] = (200, {}, b"owned")
        with pytest.raises(UnreadableFile, match="no job"):
            self.worker(server).run_one()
        assert not outside.exists()
        assert HostileServer.asked == ["/api/v1/worker/lease"]

    @pytest.mark.parametrize(
        "changes",
        [
            {"inputs": {"a": "A" * 64}},
            {"inputs": {"a": ["0" * 64]}},
            {"inputs": ["0" * 64]},
            {"job": "1/../../x"},
            {"fence": "1&x"},
            {"lease_seconds": 0},
            {"payload": 3},
            {"inputs_sha256": None},
        ],
    )
    def test_anything_else_is_no_job(self, server, changes):
        self.lease(**changes)
        with pytest.raises(UnreadableFile, match="no job"):
            self.worker(server).run_one()

    def test_other_bytes_are_not_computed_with(self, server):
        digest = "1" * 64
        self.lease(inputs={"answer": digest})
        HostileServer.answers[f"/api/v1/worker/jobs/1/files/{digest}"] = (200, {}, b"other")
        HostileServer.answers["/api/v1/worker/jobs/1/fail"] = (200, {}, b"{}")
        assert self.worker(server).run_one()
        assert HostileServer.asked[-1] == "/api/v1/worker/jobs/1/fail"

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_no_redirect_is_followed(self, server, status):
        goal = {"Location": f"http://127.0.0.1:{server.server_port}/elsewhere"}
        HostileServer.answers["/api/v1/worker/lease"] = (status, goal, b"")
        HostileServer.answers["/elsewhere"] = (200, {}, b"{}")
        with pytest.raises(HTTPError):
            self.worker(server).run_one()
        assert HostileServer.asked == ["/api/v1/worker/lease"]

    def test_an_answer_that_is_no_json(self, server):
        HostileServer.answers["/api/v1/worker/lease"] = (200, {}, b"{" * 100_000)
        with pytest.raises(UnreadableFile, match="no JSON"):
            self.worker(server).run_one()


class TestAddress:
    def test_another_machine_has_to_be_encrypted(self):
        with pytest.raises(InvalidParameter, match="not encrypted"):
            RemoteWorker("http://cup.example.org", "tcw_x")
        RemoteWorker("https://cup.example.org", "tcw_x")
        RemoteWorker("http://cup.example.org", "tcw_x", insecure=True)

    @pytest.mark.parametrize("url", ["http://localhost:8000", "http://127.0.0.1", "http://[::1]:1"])
    def test_this_machine_need_not(self, url):
        RemoteWorker(url, "tcw_x")


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
            (b'{"score": -1, "low": 0, "high": 1, "error": null, "scorer": "SCORER"}', {}),
            (b'{"score": 1e300, "low": 0, "high": 1, "error": null, "scorer": "SCORER"}', {}),
            (b'{"score": "0", "low": 0, "high": 1, "error": null, "scorer": "SCORER"}', {}),
            (b'{"score": 0.5, "low": 1, "high": 0, "error": null, "scorer": "SCORER"}', {}),
            (b'{"score": 0.5, "low": 0, "high": 1, "error": -1, "scorer": "SCORER"}', {}),
            (b'{"score": 0.5, "low": 0, "high": 1, "error": null, "scorer": "other"}', {}),
        ],
    )
    def test_no_forged_result(self, call, court, answer, changes):
        court.to_attack()
        given = court.attack(1, 2)
        job = call("POST", "/lease", {"scorer": SCORER}).json()
        answer = answer.replace(b"SCORER", SCORER.encode())
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
