"""`tracecup client` against the real server: a team's way through a whole contest."""

from __future__ import annotations

import json
import zipfile

import pytest

from dropping import dropping_way
from tracecup.cli.main import run
from tracecup.contest.entries import Entry
from tracecup.server.access import SYSTEM
from tracecup.server.jobs.worker import drain
from tracecup.server.judging.service import ensure_data
from tracecup.server.models import Download, Submission
from tracecup.server.people.tokens import new_token
from tracecup.traces import SetTraces
from tracecup.traces.files import read_traces, write_obfuscated

RELEASE = "anotraces_team001_data02_TRP.csv"
DATA = "spring/final"
API = "/api/v1/contests/spring"


@pytest.fixture
def team(contest, final, new_team, at):
    """Team 1; team 2 plays along."""
    at("before")
    first = new_team(contest)
    new_team(contest)
    ensure_data(contest)
    return first


@pytest.fixture
def way(live_server):
    """The way to the server, which breaks where a test wants it to."""
    with dropping_way(int(live_server.url.rpartition(":")[2])) as made:
        yield made


@pytest.fixture
def client(transactional_db, way, team, at, tmp_path, monkeypatch, capsys):
    """Runs a verb as the member of team 1: exit code and JSON."""
    at("announce")
    drain()
    _, secret = new_token(team.members.get().person, "laptop", 30, SYSTEM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRACECUP_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "token").write_text(secret)

    def call(*words: str):
        code = run(["client", *words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    assert call("login", way.url, "--token-file", "token")[0] == 0
    return call


def release(name: str, deleted: int = 0, number: int = 1):
    """A release of a team: its own traces, the first users deleted."""
    original = read_traces(f"{DATA}/{Entry(number).file('orgtraces')}")
    cells = [[[int(region)] for region in row] for row in original.regions]
    cells[:deleted] = [[[] for _ in row] for row in cells[:deleted]]
    write_obfuscated(name, SetTraces.of_cells(cells, original.clock))


class TestAWholeContest:
    def test_from_log_in_to_results(self, client, way, at, tmp_path, team, contest, capsys):  # noqa: PLR0915 - one story
        code, said = client("status")
        assert (code, said["team"]["step"]["code"]) == (0, "download")

        way.drop(f"GET {API}/files/info_region.csv", down=6_000)
        way.drop(f"GET {API}/rules", down=300)
        code, said = client("download")
        names = {one["name"] for one in said["files"]}
        assert code == 0
        assert Entry(1).file("orgtraces") in names
        assert not any(name.startswith(("orgtraces_team002", "ptable_team0")) for name in names)
        assert (tmp_path / DATA / "contest.toml").read_text() == contest.rules_text
        assert not any(one["fetched"] for one in client("download")[1]["files"])
        assert Download.objects.filter(team=team).count() == len(names) + 1  # one went on

        at("anonymize")
        release(RELEASE, deleted=2)
        code, checked = client("check", RELEASE)
        assert (code, checked["ok"]) == (0, True)
        way.drop(f"POST {API}/submissions", up=700)  # in the middle of the file
        way.drop(f"POST {API}/submissions", down=400)  # it is taken, and nobody hears of it
        code, receipt = client("submit", RELEASE, "--method", "two deleted", "--consent")
        assert (code, receipt["repeated"], receipt["state"]) == (0, True, "scored")
        assert len(way.dropped) == 4
        assert receipt["utility"] == checked["files"][0]["utility"]
        assert Submission.objects.get(ref=receipt["ref"]).via == "client"

        code, again = client("submit", RELEASE, "--method", "other words")
        assert (code, again["repeated"], again["ref"]) == (0, True, receipt["ref"])
        assert Submission.objects.count() == 1

        assert client("describe", receipt["ref"], "--method", "2 deleted")[1]["consent"] is True

        release("other.csv", deleted=12)
        words = ("submit", "other.csv", "--kind", "release")
        code, said = client(*words)
        assert (code, said["code"]) == (1, "checked-here")
        code, said = client(*words, "--no-check")
        assert (code, said["code"], said["details"]["confirm"]) == (
            1,
            "rejected",
            "confirm_invalid",
        )
        code, low = client(*words, "--confirm-invalid")
        assert (code, low["valid"]) == (0, False)

        code, said = client("list")
        assert [one["ref"] for one in said["submissions"]] == [low["ref"], receipt["ref"]]
        assert client("list", receipt["ref"])[1]["counts"] is True
        assert client("choose", low["ref"])[0] == 1
        code, said = client("withdraw", low["ref"])
        assert (code, said["state"], said["charged"]) == (0, "withdrawn", True)
        assert client("choose", receipt["ref"])[0] == 0

        (tmp_path / "bad.csv").write_text("reg_id\nnothing\n" + "1\n" * 191)
        code, said = client("submit", "bad.csv", "--kind", "release", "--no-check")
        assert (code, said["code"], said["problems"][0]["line"]) == (1, "rejected", 2)

        at("attack")
        drain()
        code, said = client("submit", RELEASE, "--once-more", "--no-check")
        assert (code, said["code"]) == (1, "closed")
        assert client("download")[0] == 0
        table = "user_id\n" + "".join(f"{k}\n" for k in range(1, 25))
        with zipfile.ZipFile("answers.zip", "w") as archive:
            archive.writestr("etable_team001-000_data01_IDP.csv", table)
            archive.writestr("etraces_team001-000_data01_IDP.csv", "reg_id\n" + "9\n" * 192)
        assert client("check", "answers.zip")[0] == 0
        code, said = client("submit", "answers.zip")
        assert (code, said["accepted"]) == (0, 2)
        code, said = client("attack", "--with", "VisitProb-R", "--missing")
        assert (code, "nothing to answer" in said["error"]) == (2, True)
        way.drop(f"POST {API}/archives", up=900)
        code, said = client("attack", "--with", "VisitProb-R", "--with", "Prior-T")
        assert (code, said["accepted"], way.drops) == (0, 2, [])
        code, said = client("targets")
        assert (code, [one["team"] for one in said["targets"]], said["missing"]) == (0, [0], 0)
        tries = [one["tries"]["left"] for one in said["targets"][0]["answers"]]
        assert tries == [0, 0]  # two answers of each kind, and none counted twice
        code, said = client("results")
        assert (code, said["board"]) == (1, None)

        at("results")
        drain()
        code, said = client("results", "--download")
        assert code == 0
        assert said["board"]["awards"]
        places = {row["team"]: row["place"] for row in said["board"]["releases"]}
        assert places["001"] == 1
        assert said["fetched"]
        assert all((tmp_path / DATA / one["name"]).is_file() for one in said["fetched"])
        code, said = client("defence")
        assert (code, said["out"]) == (0, True)
        capsys.readouterr()
        assert run(["client", "results"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "│ 1 │ 001 team1 │" in shown
        assert "Attackers (lower is better)" in shown
        assert run(["client", "defence"]) == 0
        assert "s_R,min" in capsys.readouterr().out


class TestForPeople:
    def test_tables_instead_of_json(self, client, capsys, at, tmp_path):
        def shown(*words: str) -> str:
            capsys.readouterr()
            run(["client", *words])
            return " ".join(capsys.readouterr().out.split())

        assert "fetch your data: tracecup client download" in shown("status")
        assert "orgtraces_team001_data02_TRP.csv.zst" in shown("download")
        at("anonymize")
        release(RELEASE)
        assert "utility 1.000000 reaches the floor" in shown("check", RELEASE)
        assert "cost a try" in shown("submit", RELEASE)
        assert "Was here before" in shown("submit", RELEASE)
        assert "counts" in shown("list")
        (tmp_path / "bad.csv").write_text("reg_id\nnothing\n" + "1\n" * 191)
        run(["client", "submit", "bad.csv", "--kind", "release", "--no-check"])
        bad = Submission.objects.get(state="rejected")
        assert "reg_id: found 'nothing'" in shown("list", bad.ref)
        assert "Logged out" in shown("logout")


class TestRefusals:
    def test_a_token_that_was_revoked(self, client, team):
        team.members.get().person.tokens.all().delete()
        code, said = client("status")
        assert (code, said["code"]) == (1, "not-signed-in")

    def test_another_contest(self, client):
        code, said = client("status", "--contest", "nothing")
        assert (code, said["code"]) == (1, "not-found")

    def test_log_in_with_name_and_password(self, client, live_server, team, tmp_path):
        (tmp_path / "password").write_text("correct horse battery")
        name = team.members.get().person.username
        code, said = client("login", live_server.url, "--user", name, "--token-file", "password")
        assert (code, said["username"]) == (0, name)
        (tmp_path / "password").write_text("wrong")
        words = ("login", live_server.url, "--user", name, "--token-file", "password")
        assert client(*words)[0] == 1

    def test_a_file_named_as_another_teams(self, client, at):
        at("anonymize")
        client("download")
        release("anotraces_team002_data02_TRP.csv")
        code, _ = client("submit", "anotraces_team002_data02_TRP.csv", "--no-check")
        assert (code, Submission.objects.count()) == (2, 0)
        code, said = client("check", "missing.csv")
        assert (code, "no such file" in said["error"]) == (3, True)

    def test_log_in_with_the_address_of_a_page(self, client, live_server, contest):
        address = f"{live_server.url}/c/{contest.slug}/team/?round=final"
        assert client("login", address, "--token-file", "token")[0] == 0
        assert client("status")[1]["contest"]["slug"] == contest.slug

    def test_plain_http_to_another_machine_is_refused(self, client):
        assert client("login", "http://contest.example", "--token-file", "token")[0] == 2
