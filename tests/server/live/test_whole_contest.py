"""A whole contest with five teams: one team and the organiser in a browser, four over the API.

Its results equal what the judge of a simulated contest says about the same files.
"""

from __future__ import annotations

import io
import json
import os
import re
import time
import urllib.error
import urllib.request
import uuid
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from chromium import Browser, chromium
from tracecup.city import read_city
from tracecup.contest.archive.folder import Archive
from tracecup.contest.archive.scored import results_of, score_all
from tracecup.contest.archive.verify import verify
from tracecup.contest.bots import bots_for
from tracecup.contest.challenges import CHALLENGES
from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import ANSWERS
from tracecup.contest.judging.flow import attack
from tracecup.contest.judging.judge import Judge
from tracecup.contest.rules import (
    ChallengeRules,
    ClockRules,
    FeedbackRules,
    Phases,
    RoundRules,
    Rules,
)
from tracecup.contest.rules.file import rules_text
from tracecup.contest.standing.scoreboard import State
from tracecup.obfuscate import parse_obfuscator
from tracecup.traces.files import (
    read_released,
    read_traces,
    write_obfuscated,
)

PASSWORD = "correct horse battery"
HOUR = 3600.0
USERS = 30
TEAMS = ("Alpha", "Bravo", "Charlie", "Delta", "Echo")
METHODS = ("MRLH(1,0,0.1)", "None", "PL(4,1)", "MRLH(0,1,0.2)", "None")
PATIENCE = 600.0
SUPPORT = str(Path(__file__).parents[2] / "support")


class Api:
    """Somebody who uses the API with a token."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url, self.token = f"{url}/api/v1", token

    def __call__(self, method: str, path: str, body: bytes | dict | None = None, **headers: str):
        """The JSON answer; an error of the API raises with its text."""
        status, data = self.ask(method, path, body, **headers)
        assert status < 400, (status, data)
        return json.loads(data) if data else None

    def ask(self, method: str, path: str, body: bytes | dict | None = None, **headers: str):
        given = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if isinstance(body, dict):
            body, given["Content-Type"] = json.dumps(body).encode(), "application/json"
        elif body is not None:
            given["Content-Type"] = "application/octet-stream"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url + path, body, given, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()


class Person:
    """Somebody at the browser."""

    def __init__(self, browser: Browser, url: str, shots: Path) -> None:
        self.browser, self.url, self.shots = browser, url, shots

    def go(self, path: str, width: int = 1280, dark: bool = False) -> None:
        self.browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.browser.theme(dark)
        self.browser.call("Page.navigate", url=path if "://" in path else self.url + path)
        self.settle()

    def settle(self) -> None:
        self.browser.wait(
            "document.readyState === 'complete' && !window.pressed"
            " && !document.querySelector('.htmx-request')"
        )

    def fill(self, **values: str) -> None:
        for name, value in values.items():
            field = f"document.querySelector('main [name={name}]')"
            self.browser.evaluate(
                f"(() => {{ const f = {field}; if (f.type === 'checkbox') f.checked = true;"
                f"else f.value = {json.dumps(value)}; }})()"
            )

    def press(self, label: str) -> None:
        """Press the button with this text, as a mouse would, and wait for what comes of it."""
        # The mark goes with the page, or when the part of it that was asked for is there.
        pressed = self.browser.evaluate(
            "((label) => { const all = document.querySelectorAll('main button, main a.button');"
            "const found = [...all].find((b) => b.textContent.trim() === label);"
            "window.pressed = Boolean(found); const done = () => { window.pressed = false; };"
            "document.body.addEventListener('htmx:afterRequest', done, { once: true });"
            f"found?.click(); return Boolean(found); }})({json.dumps(label)})"
        )
        assert pressed, f"no button {label!r} on {self.text()[:800]}"
        self.settle()

    def choose_file(self, path: Path, selector: str = "main input[type=file]") -> None:
        """Open the browser's dialogue and take this file in it."""
        self.browser.call("Page.setInterceptFileChooserDialog", enabled=True)
        click = f"document.querySelector({json.dumps(selector)}).click()"
        self.browser.call("Runtime.evaluate", expression=click, userGesture=True)
        root = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        node = self.browser.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.browser.call("DOM.setFileInputFiles", files=[str(path)], nodeId=node)
        self.settle()

    def text(self) -> str:
        return self.browser.evaluate("document.body.innerText")

    def wait_for(self, words: str) -> None:
        self.browser.wait(f"document.body.innerText.includes({json.dumps(words)})")

    def log_in(self, name: str) -> None:
        self.browser.call("Network.clearBrowserCookies")
        self.go("/login/")
        self.fill(username=name, password=PASSWORD)
        self.press("Log in")

    def shot(self, name: str) -> None:
        self.settle()
        if "TRACECUP_SHOTS" in os.environ:
            time.sleep(0.5)  # charts fade in
        self.browser.shot(self.shots / f"{name}.png")


def rules_now() -> Rules:
    """A small contest whose phases are an hour each and begin in an hour."""
    begin = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    names = ("announce", "anonymize", "judge", "attack", "results")
    phases = Phases(**{name: begin + k * timedelta(hours=1) for k, name in enumerate(names)})
    return Rules(
        name="Autumn contest",
        users=USERS,
        zone="Asia/Tokyo",
        clock=ClockRules(days=4),
        challenges=ChallengeRules(),
        feedback=FeedbackRules(policy="exact"),
        rounds=(RoundRules(phases=phases),),
    )


def until(what, why):
    """Wait for it; `why` is what we wait for, or a function that says it at the end."""
    end = time.monotonic() + PATIENCE
    while True:
        found = what()
        if found:
            return found
        assert time.monotonic() < end, f"never: {why() if callable(why) else why}"
        time.sleep(0.3)  # between two looks


@pytest.fixture
def shots(tmp_path) -> Path:
    """Where the pictures go; TRACECUP_SHOTS keeps them (for the documentation)."""
    folder = Path(os.environ.get("TRACECUP_SHOTS") or tmp_path / "shots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def person(tmp_path, served, shots):
    with chromium(tmp_path / "profile") as browser:
        browser.call("DOM.enable")
        yield Person(browser, served.url, shots)


@pytest.fixture
def served(new_server):
    return new_server().start(afresh=True)


def test_a_whole_contest(served, person, tmp_path, shots):
    contest = Contest(served, person, tmp_path)
    contest.create()
    contest.invite()
    contest.download()
    contest.hand_in_releases()
    contest.publish()
    contest.attack()
    contest.finish()
    contest.compare()
    assert person.browser.complaints == []


class Contest:
    """The steps of the story, in their order."""

    def __init__(self, served, person: Person, folder: Path) -> None:
        self.served, self.person, self.folder = served, person, folder
        self.rules = rules_now()
        self.apis: dict[int, Api] = {}
        self.hour = 0.0
        self.data: dict[int, Path] = {}

    def to_hour(self, hour: float) -> None:
        self.hour = hour
        self.served.move_clock(hour * HOUR)

    def create(self) -> None:
        """The printed link makes the organiser; she creates the contest."""
        link = re.search(r"http\S+/link/\S+/", self.served.log.read_text())[0]
        self.person.go(link)
        self.person.fill(username="olga", password=PASSWORD, name="Olga")
        self.person.shot("first-organiser")
        self.person.press("Make the account")
        self.person.go("/new/")
        self.person.fill(name="Autumn contest", slug="autumn", text=rules_text(self.rules))
        self.person.fill(is_public="on", divisions="open\nstudents")
        self.person.press("Create the contest from the file")
        self.person.wait_for("Autumn contest")

    def invite(self) -> None:
        """Five teams from a pasted list; the first joins in the browser, the others by API."""
        rows = "\n".join(f"{t},open,{t} Lead,{t.lower()}@example.org" for t in TEAMS)
        self.person.go("/c/autumn/run/teams/")
        self.person.fill(text=f"team,division,name,email\n{rows}\nFoxtrot,none,F,f@example.org")
        self.person.press("Check")
        self.person.wait_for("mistakes")
        self.person.fill(text=f"team,division,name,email\n{rows}\n")
        self.person.press("Check")
        self.person.shot("teams-plan")
        self.person.press("Do it")
        links = self.person.browser.evaluate(
            "[...document.querySelectorAll('td code')].map((c) => c.textContent)"
        )
        links = [link for link in links if "/link/" in link]
        assert len(links) == len(TEAMS)
        self.person.shot("teams")
        anybody = Api(self.served.url)
        for k, link in enumerate(links[1:], start=2):
            secret = link.rstrip("/").rsplit("/", 1)[1]
            name = TEAMS[k - 1].lower()
            anybody("POST", f"/links/{secret}", {"username": name, "password": PASSWORD})
            again = anybody.ask("POST", f"/links/{secret}", {"username": "x", "password": PASSWORD})
            assert again[0] in (404, 409, 410)
            made = anybody(
                "POST", "/log-in", {"username": name, "password": PASSWORD, "token_name": "laptop"}
            )
            self.apis[k] = Api(self.served.url, made["secret"])
        self.person.browser.call("Network.clearBrowserCookies")
        self.person.go(links[0])
        self.person.fill(username="alpha", password=PASSWORD)
        self.person.press("Make the account")
        made = anybody(
            "POST", "/log-in", {"username": "alpha", "password": PASSWORD, "token_name": "laptop"}
        )
        self.apis[1] = Api(self.served.url, made["secret"])
        self.person.go("/c/autumn/team/")
        self.person.shot("team-before")

    def download(self) -> None:
        """From the announcement on each team has its own files, and nobody else's."""
        self.to_hour(1.1)
        until(lambda: len(self.files(2)) >= 10, "the data are made")
        for number, api in self.apis.items():
            folder = self.folder / f"team{number}"
            folder.mkdir()
            names = self.files(number)
            own = Entry(number).file("orgtraces")
            assert own in names
            for other in set(range(1, 6)) - {number}:
                assert Entry(other).file("orgtraces") not in names
                assert (
                    api.ask("GET", f"/contests/autumn/files/{Entry(other).file('orgtraces')}")[0]
                    == 404
                )
            status, data = api.ask("GET", "/contests/autumn/archive")
            assert status == 200
            zipfile.ZipFile(io.BytesIO(data)).extractall(folder)
            self.data[number] = folder
        self.person.go("/c/autumn/team/data/")
        self.person.shot("team-data")
        self.person.go("/c/autumn/")
        self.person.shot("contest")
        self.person.go("/c/autumn/", width=375)
        self.person.shot("contest-phone")

    def judge_of(self, number: int) -> Judge:
        city = read_city(next(self.data[number].rglob("info_region.csv")))
        return Judge(self.rules, city, self.rules.clock_of("final"))

    def release_of(self, number: int) -> Path:
        judge = self.judge_of(number)
        original = read_traces(
            next(self.data[number].rglob(Entry(number).file("orgtraces"))),
            n_regions=judge.city.n_regions,
            clock=judge.clock.original,
            users=USERS,
        )
        path = self.folder / Entry(number).file("anotraces", ".csv")
        method = parse_obfuscator(METHODS[number - 1])
        write_obfuscated(path, method.obfuscate(judge.city, original, number))
        assert judge.verdict(original, judge.read_submission(path)).valid
        return path

    def hand_in_releases(self) -> None:
        """A bad file costs nothing; a good one gets a receipt; a late one is refused."""
        early = self.apis[3].ask(
            "PUT",
            f"/contests/autumn/uploads/{Entry(3).file('anotraces', '.csv')}",
            self.release_of(3).read_bytes(),
            Idempotency_Key=str(uuid.uuid4()),
        )
        assert early[0] == 409
        self.to_hour(2.1)
        good = self.release_of(1)
        bad = self.folder / "bad.csv"
        bad.write_text(good.read_text().replace("\n", "\nnonsense,", 2))
        self.person.go("/c/autumn/team/release/")
        self.person.choose_file(bad)
        self.person.wait_for("bad.csv would be refused")
        self.person.shot("release-refused")
        self.person.press("Hand in")
        self.person.wait_for("No try was charged")
        self.person.go("/c/autumn/team/release/")
        self.person.choose_file(good)
        self.person.wait_for("It reaches the floor")
        self.person.shot("release-checked")
        self.person.press("Hand in")
        self.person.wait_for("Receipt")
        self.person.go("/c/autumn/team/release/")
        self.person.shot("release")
        self.person.go("/c/autumn/team/release/", width=375, dark=True)
        self.person.shot("release-phone-dark")
        for number in (2, 3, 4, 5):
            path, key = self.release_of(number), str(uuid.uuid4())
            for _ in range(2):
                said = self.apis[number](
                    "PUT",
                    f"/contests/autumn/uploads/{path.name}",
                    path.read_bytes(),
                    Idempotency_Key=key,
                )
            listed = self.apis[number]("GET", "/contests/autumn/submissions")
            assert [one["ref"] for one in listed] == [said["ref"]]

    def publish(self) -> None:
        """At the set times the judge shuffles, commits and publishes by itself."""
        self.to_hour(3.1)
        late = self.apis[2].ask(
            "PUT",
            f"/contests/autumn/uploads/{Entry(2).file('anotraces', '.csv')}",
            self.release_of(2).read_bytes(),
            Idempotency_Key=str(uuid.uuid4()),
        )
        assert late[0] == 409
        self.person.log_in("olga")
        until(self.judged, "the judge has worked")
        self.person.shot("judge")
        self.person.go("/c/autumn/run/")
        self.person.shot("run")
        self.to_hour(4.1)
        until(
            lambda: len([n for n in self.files(2) if n.startswith("pubtraces")]) == 8,
            "six releases and two samples are out",
        )

    def judged(self) -> bool:
        self.person.go("/c/autumn/run/judge/")
        return self.person.browser.evaluate(
            "document.body.innerText.match(/[0-9a-f]{64}/g)?.length >= 6"
        )

    def files(self, number: int) -> list[str]:
        listed = self.apis[number]("GET", "/contests/autumn/files")
        return [one["name"] for one in listed["files"]]

    def answers_of(self, number: int) -> Path:
        """One archive with a team's answers to all targets."""
        judge, bot = self.judge_of(number), bots_for(number)[-1]
        path = self.folder / f"answers{number}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for entry in [Entry(0, "reid"), *(Entry(k) for k in range(1, 6))]:
                if entry.team == number:
                    continue
                files = {}
                for kind in ("reftraces", "pubtraces"):
                    status, data = self.apis[number].ask(
                        "GET", f"/contests/autumn/files/{entry.file(kind)}"
                    )
                    assert status == 200
                    files[kind] = self.folder / entry.file(kind)
                    files[kind].write_bytes(data)
                more = {"n_regions": judge.city.n_regions, "users": USERS}
                case = judge.case(
                    read_traces(
                        files["reftraces"], "reference", clock=judge.clock.reference, **more
                    ),
                    read_released(files["pubtraces"], clock=judge.clock.original, **more),
                )
                name = Entry(number).number
                for kind, tries in attack(bot, name, entry, case, seed=number).items():
                    file = self.folder / entry.answer(CHALLENGES[kind].answer, name)
                    ANSWERS[kind].write(file, tries[0])
                    archive.write(file, file.name)
        return path

    def attack(self) -> None:
        """Everybody attacks everybody; team 1 in the browser, team 5 stays silent."""
        for number in (2, 3, 4):
            path = self.answers_of(number)
            said = self.apis[number].ask(
                "POST",
                "/contests/autumn/archives",
                _form_body(path),
                Content_Type=f"multipart/form-data; boundary={BOUNDARY}",
                Idempotency_Key=str(uuid.uuid4()),
            )
            assert said[0] in (200, 201), said
            assert json.loads(said[1])["accepted"] == 10
        self.person.log_in("alpha")
        self.person.go("/c/autumn/team/attack/")
        self.person.choose_file(self.answers_of(1))
        self.person.press("Hand in")
        self.person.wait_for("10 of 10 files accepted")
        until(self.all_scored, "all answers are scored")
        self.person.go("/c/autumn/team/attack/")
        self.person.shot("attack")
        self.person.go("/c/autumn/team/")
        self.person.shot("team")

    def all_scored(self) -> bool:
        states = [
            one["state"]
            for api in self.apis.values()
            for one in api("GET", "/contests/autumn/submissions")
        ]
        return set(states) <= {"scored", "rejected"}

    def finish(self) -> None:
        """At the end the results are computed and shown, with awards."""
        assert self.apis[2].ask("GET", "/contests/autumn/results")[0] in (200, 404)
        self.to_hour(5.1)
        until(lambda: self.results().get("board"), "the results are out")
        self.person.go("/c/autumn/results/")
        self.person.wait_for("Best anonymization")
        self.person.shot("results")
        self.person.go("/c/autumn/results/", dark=True)
        self.person.shot("results-dark")
        self.person.go("/c/autumn/team/defence/")
        self.person.shot("defence")
        self.person.log_in("olga")
        self.person.go("/c/autumn/run/scores/")
        self.person.shot("scores")
        self.person.go("/c/autumn/run/audit/")
        self.person.shot("audit")

    def results(self) -> dict:
        status, data = Api(self.served.url).ask("GET", "/contests/autumn/results")
        return json.loads(data) if status == 200 else {}

    def compare(self) -> None:
        """The archive verifies, and the judge of a simulated contest gives the same scores."""
        made = self.served.folder.parent / "archive"
        self.served.python(
            "import sys\n"
            "from pathlib import Path\n"
            f"sys.path.insert(0, {SUPPORT!r})\n"
            "from archived import archive_folder\n"
            "from tracecup.server.models import Round\n"
            f"archive_folder(Round.objects.get(), Path({str(made)!r}))\n"
        )
        assert verify(made, rerun_samples=True) == []
        archive = Archive(made)
        again = results_of(archive, score_all(archive))
        shown = self.results()["board"]
        for kind in ("reid", "trace"):
            board = again.board.board(kind)
            matrix = next(m for m in shown["matrices"] if m["kind"] == kind)
            assert [r["label"] for r in matrix["rows"]] == [r.team for r in board.releases]
            assert [a["label"] for a in matrix["attackers"]] == list(board.columns)
            ours = np.where(board.states == State.SCORED, board.values, np.nan)
            theirs = np.array(
                [[np.nan if v is None else v for v in r["values"]] for r in matrix["rows"]]
            )
            np.testing.assert_array_equal(ours, theirs)
        for one in shown["awards"]:
            places = [(p["rank"], p["team"], p["value"]) for p in one["places"]]
            expected = again.awards[one["key"]].places
            assert places == [(p.rank, p.team, p.value) for p in expected]
            assert places


BOUNDARY = "tracecup-boundary"


def _form_body(path: Path) -> bytes:
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; '
        f'filename="{path.name}"\r\nContent-Type: application/zip\r\n\r\n'
    )
    return head.encode() + path.read_bytes() + f"\r\n--{BOUNDARY}--\r\n".encode()
