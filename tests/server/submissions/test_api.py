"""Handing in and fetching over HTTP: forms, raw bodies, archives, receipts, wrong requests."""

from __future__ import annotations

import hashlib

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tracecup.server.access import SYSTEM
from tracecup.server.models import Download, Submission
from tracecup.server.people import tokens
from tracecup.server.storage import BlobStore, store
from tracecup.server.submissions import service as submissions

pytestmark = pytest.mark.django_db
BASE = "/api/v1/contests/spring"
ANOTRACES = "anotraces_team001_data02_TRP.csv"


def client_of(team) -> Client:
    person = team.members.get().person
    _, secret = tokens.new_token(person, "test", 7, SYSTEM)
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.fixture
def client(desk, team):
    """The member of team 1 with a token."""
    return client_of(team)


def upload(content: bytes, name: str = ANOTRACES) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, "text/csv")


def post(client, path, content, name=ANOTRACES, key="k-1", **fields):
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(f"{BASE}/{path}", {"file": upload(content, name), **fields}, headers=headers)


class TestSubmit:
    def test_a_form_with_fields(self, client, desk, team):
        content = desk.release(team, 2).read_bytes()
        fields = {"kind": "release", "challenge": "trace", "method": "delete", "consent": "true"}
        answer = post(client, "submissions", content, "mine.csv", **fields)
        assert answer.status_code == 201
        told = answer.json()
        assert told["state"] == "scored"
        assert told["utility"] == pytest.approx(1 - 2 / 24)
        assert told["sha256"] == hashlib.sha256(content).hexdigest()
        assert (told["method"], told["consent"], told["counts"]) == ("delete", True, True)
        assert told["receipt"].startswith("/receipt/")

    def test_the_name_says_what_it_is(self, client, desk, team):
        answer = post(client, "submissions", desk.release(team).read_bytes())
        assert answer.json()["kind"] == "release"

    def test_again_it_is_the_same_with_200(self, client, desk, team):
        content = desk.release(team).read_bytes()
        first = post(client, "submissions", content)
        again = post(client, "submissions", content)
        assert (again.status_code, again.json()["ref"]) == (200, first.json()["ref"])

    def test_a_rejected_file_has_problems_and_a_receipt(self, client, desk, team):
        answer = post(client, "submissions", b"reg_id\nx\n")
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (422, "rejected")
        assert error["problems"]
        assert error["details"]["charged"] is False
        assert client.get(error["details"]["receipt"].replace("/receipt/", "/api/v1/receipts/"))

    def test_below_the_floor_asks_for_a_confirmation(self, client, desk, team):
        content = desk.release(team, 12).read_bytes()
        answer = post(client, "submissions", content)
        assert answer.json()["error"]["details"]["confirm"] == "confirm_invalid"
        answer = post(client, "submissions", content, confirm_invalid="true")
        assert (answer.status_code, answer.json()["valid"]) == (201, False)

    @pytest.mark.parametrize(
        ("fields", "wrong"),
        [
            ({"kind": "reid", "challenge": "trace", "target": "x"}, "target"),
            ({"kind": "reid", "challenge": "trace", "target": "-1"}, "target"),
            ({"kind": "release", "challenge": "trace", "consent": "maybe"}, "consent"),
            ({"kind": "release", "challenge": "trace", "confirm_invalid": "2"}, "confirm_invalid"),
            ({"kind": "nonsense", "challenge": "trace"}, "kind"),
        ],
    )
    def test_wrong_fields_are_named(self, client, desk, team, fields, wrong):
        answer = post(client, "submissions", b"x", **fields)
        assert answer.status_code == 422
        assert wrong in [problem["field"] for problem in answer.json()["error"]["problems"]]

    def test_without_a_key_it_is_invalid(self, client, desk, team):
        answer = post(client, "submissions", desk.release(team).read_bytes(), key="")
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")

    def test_an_unknown_round_is_not_found(self, client, desk, team):
        answer = post(client, "submissions", desk.release(team).read_bytes(), round="other")
        assert answer.status_code == 404

    def test_another_content_type_is_refused(self, client, desk):
        for kind in ("application/json", "text/csv", "application/x-www-form-urlencoded"):
            answer = client.post(f"{BASE}/submissions", b"x", content_type=kind)
            assert (answer.status_code, answer.json()["error"]["code"]) == (415, "wrong-type")

    def test_a_form_without_a_file_or_with_two(self, client, desk):
        assert client.post(f"{BASE}/submissions", {"kind": "release"}).status_code == 422
        two = {"file": upload(b"x"), "more": upload(b"y")}
        assert client.post(f"{BASE}/submissions", two).status_code == 422

    @pytest.mark.parametrize(
        "body",
        [
            b"\r\n",
            b"--x",
            b"--x\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\nabc",
            b"--x\r\nnonsense\r\n\r\n--x--",
            b'--x\r\nContent-Disposition: form-data; name="key"\r\n'
            b"Content-Transfer-Encoding: base64\r\n\r\n!!!\r\n--x--",
        ],
    )
    def test_a_broken_form_is_refused(self, client, desk, body):
        answer = client.post(
            f"{BASE}/submissions", body, content_type="multipart/form-data; boundary=x"
        )
        assert answer.status_code == 422
        assert not Submission.objects.exists()

    def test_a_nul_in_a_field_is_refused(self, client, desk, team):
        content = desk.release(team).read_bytes()
        assert post(client, "submissions", content, method="a\x00b").status_code == 422

    def test_visitors_and_others_cannot(self, desk, team, organiser, new_person):
        content = desk.release(team).read_bytes()
        assert post(Client(), "submissions", content).status_code == 401
        for person in (organiser, new_person("stranger")):
            _, secret = tokens.new_token(person, "t", 7, SYSTEM)
            other = Client(headers={"Authorization": f"Bearer {secret}"})
            assert post(other, "submissions", content).status_code == 403

    def test_a_session_needs_its_csrf_token(self, desk, team):
        browser = Client(enforce_csrf_checks=True)
        browser.force_login(team.members.get().person)
        assert post(browser, "submissions", desk.release(team).read_bytes()).status_code == 403

    def test_a_full_disk_is_told(self, client, desk, team, monkeypatch):
        content = desk.release(team).read_bytes()
        monkeypatch.setattr(BlobStore, "free", lambda self: 0)
        answer = post(client, "submissions", content)
        assert (answer.status_code, answer.json()["error"]["code"]) == (507, "storage")


class TestSubmitRaw:
    def put(self, client, name, content, key="k-1", kind="text/csv", query=""):
        headers = {"Idempotency-Key": key}
        return client.put(f"{BASE}/uploads/{name}{query}", content, kind, headers=headers)

    def test_the_body_is_the_file(self, client, desk, team):
        content = desk.release(team).read_bytes()
        answer = self.put(client, ANOTRACES, content, query="?method=none&consent=true")
        assert answer.status_code == 201
        assert answer.json()["consent"] is True
        assert store().path(answer.json()["sha256"]).read_bytes() == content

    def test_an_answer(self, client, desk, attackable):
        answer = self.put(client, "etable_team001-002_data02_TRP.csv", desk.table())
        assert (answer.status_code, answer.json()["target"]) == (201, 2)
        assert answer.json()["utility"] is None

    def test_a_name_of_another_shape_or_team(self, client, desk, attackable):
        for name in ("x.csv", "etable_team002-003_data02_TRP.csv"):
            assert self.put(client, name, desk.table()).status_code == 422

    @pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=x"])
    def test_forms_and_json_are_no_files(self, client, desk, kind):
        assert self.put(client, ANOTRACES, b"{}", kind=kind).status_code == 415

    def test_more_than_the_contest_allows(self, client, desk, monkeypatch):
        monkeypatch.setattr(submissions, "file_bytes", lambda round: 100)
        assert self.put(client, ANOTRACES, b"x" * 101).status_code == 413

    def test_more_than_the_server_allows(self, client, desk, settings):
        size = settings.CONFIG.upload_bytes + 1
        answer = client.put(
            f"{BASE}/uploads/{ANOTRACES}", b"x", "text/csv", CONTENT_LENGTH=str(size)
        )
        assert answer.status_code == 413


class TestArchive:
    def test_each_file_has_its_own_answer(self, client, desk, attackable):
        files = {"etable_team001-002_data02_TRP.csv": desk.table(), "x.txt": b"x"}
        answer = post(client, "archives", desk.zip(files).read(), "answers.zip")
        told = answer.json()
        assert (answer.status_code, told["accepted"]) == (200, 1)
        assert told["items"][0]["submission"]["state"] == "queued"
        assert told["items"][1]["error"]["code"] == "invalid"

    def test_no_archive(self, client, desk, attackable):
        assert post(client, "archives", b"nonsense", "answers.zip").status_code == 422


class TestCheck:
    def test_costs_nothing(self, client, desk, team):
        answer = post(client, "check", desk.release(team, 12).read_bytes(), key="")
        assert (answer.json()["ok"], answer.json()["valid"]) == (True, False)
        assert not Submission.objects.exists()


class TestOwnSubmissions:
    @pytest.fixture
    def ref(self, client, desk, team):
        return post(client, "submissions", desk.release(team).read_bytes()).json()["ref"]

    def test_listed_and_shown(self, client, ref):
        assert [one["ref"] for one in client.get(f"{BASE}/submissions").json()] == [ref]
        assert client.get(f"{BASE}/submissions/{ref}").json()["ref"] == ref
        assert client.get(f"{BASE}/submissions?kind=reid").json() == []

    def test_others_see_nothing_of_it(self, ref, desk, new_team, organiser):
        other = client_of(new_team(desk.contest))
        assert other.get(f"{BASE}/submissions").json() == []
        for verb in ("", "/choose", "/withdraw"):
            ask = other.post if verb else other.get
            assert ask(f"{BASE}/submissions/{ref}{verb}").status_code == 404

    def test_choose_withdraw_describe(self, client, ref):
        assert client.post(f"{BASE}/submissions/{ref}/choose").json()["counts"] is True
        said = {"method": "swap", "consent": True}
        path = f"{BASE}/submissions/{ref}/describe"
        told = client.post(path, said, content_type="application/json").json()
        assert (told["method"], told["consent"]) == ("swap", True)
        assert client.post(f"{BASE}/submissions/{ref}/withdraw").json()["state"] == "withdrawn"

    def test_quotas(self, client, ref, desk, attackable):
        told = {
            (one["kind"], one["challenge"], one["target"]): (one["used"], one["left"])
            for one in client.get(f"{BASE}/quotas").json()
        }
        assert told["release", "trace", None] == (1, 2)
        assert told["reid", "trace", 2] == (0, 2)
        assert told["trace", "reid", 0] == (0, 2)
        assert len(told) == 7

    def test_a_receipt_needs_only_its_secret(self, ref):
        made = Submission.objects.get()
        told = Client().get(f"/api/v1/receipts/{made.receipt}").json()
        assert (told["ref"], told["sha256"]) == (ref, made.sha256)
        assert Client().get("/api/v1/receipts/nonsense").status_code == 404


class TestFiles:
    def test_list_file_range_archive(self, client, desk, team):
        (told,) = client.get(f"{BASE}/files").json()["files"]
        path = f"{BASE}/files/{told['name']}"
        whole = b"".join(client.get(path).streaming_content)
        assert hashlib.sha256(whole).hexdigest() == told["sha256"]
        part = client.get(path, headers={"Range": "bytes=5-9"})
        assert (part.status_code, b"".join(part.streaming_content)) == (206, whole[5:10])
        head = client.head(path)
        assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(whole)))
        archive = client.get(f"{BASE}/archive")
        assert b"".join(archive.streaming_content).startswith(b"PK\x03\x04")
        assert Download.objects.count() == 3

    def test_others_do_not_find_it(self, desk, new_team, organiser):
        name = "orgtraces_team001_data02_TRP.csv"
        others = [Client(), client_of(new_team(desk.contest))]
        for one in others:
            assert one.get(f"{BASE}/files/{name}").status_code == 404

    def test_odd_names_are_not_found(self, client, desk):
        for name in ("..%2Fsecret_key", "%00", "nothing"):
            assert client.get(f"{BASE}/files/{name}").status_code == 404
