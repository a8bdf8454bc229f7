"""Two rounds with divisions, a rule change and a disqualification after results, in a browser.

The organiser never opens the rules' file; no page she sees shows a line of it. `make play`.
"""

from __future__ import annotations

import io
import json
import re
import uuid
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.server.live.test_whole_contest import (
    BOUNDARY,
    PASSWORD,
    USERS,
    Api,
    Contest,
    _form_body,
    person,
    served,
    shots,
    until,
)

from tracecup.contest.bots import bots_for
from tracecup.contest.challenges import CHALLENGES
from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import ANSWERS
from tracecup.contest.judging.flow import attack
from tracecup.contest.rules.file import parse_rules
from tracecup.traces.files import read_released, read_traces

__all__ = ["person", "served", "shots"]
pytestmark = pytest.mark.slow
TEAMS = {"Alpha": "school", "Bravo": "school", "Charlie": "open"}
NUMBERS = (1, 2, 3)
RUN = "/c/autumn/run/"


@pytest.mark.usefixtures("shots")
def test_two_rounds_without_a_file(served, person, tmp_path):
    played = Played(served, person, tmp_path)
    played.create()
    played.write_texts()
    played.invite()
    for k, name in enumerate(("preliminary", "final")):
        played.play(name, 5 * k)
    played.disqualify_the_winner()
    assert person.browser.complaints == []


class Played(Contest):
    """The steps of the story, in their order."""

    def create(self) -> None:
        """The contest by fields: a size to begin with, two rounds, times by lengths."""
        link = re.search(r"http\S+/link/\S+/", self.served.log.read_text())[0]
        self.person.go(link)
        self.person.fill(username="olga", password=PASSWORD, name="Olga")
        self.person.press("Make the account")
        self.person.go("/new/")
        self.person.fill(name="Autumn contest", slug="autumn")
        self.person.press("A class")
        begins = datetime.now(UTC) + timedelta(hours=1)
        self.person.fill(
            is_public="on", divisions="school\nopen", zone="Asia/Tokyo",
            starts=f"{begins.astimezone(ZoneInfo('Asia/Tokyo')):%Y-%m-%d %H:%M}",
            preparing="1 h", anonymizing="60 min", judging="1 h", attacking="soon", between="1 h",
            rounds="preliminary\nfinal", users=str(USERS), days="4", release_tries="5",
        )  # fmt: skip
        self.press("Create the contest")
        self.person.wait_for("A length of time, like")
        self.person.browser.complaints.clear()  # a browser complains of every refusal
        self.person.fill(attacking="1時間")
        self.person.shot("new")
        self.press("Create the contest")
        self.person.wait_for("The contest exists")

    def write_texts(self) -> None:
        """What everybody reads, and a rule that changes before the contest opens."""
        self.person.go(RUN + "texts/")
        self.person.fill(
            description="**Welcome** to the autumn contest.", prizes="- a cup\n- a book"
        )
        self.press("Save")
        self.person.go("/c/autumn/")
        self.person.wait_for("Welcome to the autumn contest.")
        self.person.shot("contest-texts")

    def invite(self) -> None:
        """Three teams of two divisions; the first plays in the browser."""
        rows = "".join(f"{name},{where},{name} Lead,\n" for name, where in TEAMS.items())
        self.person.go(RUN + "teams/")
        self.person.fill(text=f"team,division,name,email\n{rows}")
        self.press("Check")
        self.press("Do it")
        found = self.person.browser.evaluate(
            "[...document.querySelectorAll('td code')].map((c) => c.textContent)"
        )
        anybody = Api(self.served.url)
        for number, link in enumerate([one for one in found if "/link/" in one], start=1):
            who = {"username": f"player{number}", "password": PASSWORD}
            anybody("POST", f"/links/{link.rstrip('/').rsplit('/', 1)[1]}", who)
            made = anybody("POST", "/log-in", {**who, "token_name": "laptop"})
            self.apis[number] = Api(self.served.url, made["secret"])
        told = anybody("GET", "/contests/autumn")
        self.rules = parse_rules(told["rules"]["text"])
        self.person.go(RUN + "teams/?team=1")
        self.person.shot("teams-one")

    def play(self, round: str, hour: float) -> None:
        """One round: data, releases, judge, attacks, results."""
        self.folder = self.folder.parent / f"files-{round}"
        self.folder.mkdir()
        self.to_hour(hour + 1.1)
        until(self.has_data, f"the data of {round} are made")
        for number in NUMBERS:
            self.data[number] = self.folder / f"team{number}"
            status, data = self.apis[number].ask("GET", "/contests/autumn/archive")
            assert status == 200
            zipfile.ZipFile(io.BytesIO(data)).extractall(self.data[number])
        self.to_hour(hour + 2.1)
        self.hand_in_releases()
        if round == "preliminary":
            self.ask_and_change_a_rule()
        self.to_hour(hour + 4.1)
        until(self.published, f"the releases of {round} are out")
        self.attack()
        self.to_hour(hour + 5.1)
        until(lambda: self.board(round), f"the results of {round} are out")

    def has_data(self) -> bool:
        return all(Entry(k).file("orgtraces") in self.files(k) for k in NUMBERS)

    def published(self) -> bool:
        names = self.files(1)
        return all(Entry(k).file("pubtraces") in names for k in (2, 3))

    def hand_in_releases(self) -> None:
        """Team 1 in the browser, the others over the API."""
        self.person.log_in("player1")
        self.person.go("/c/autumn/team/release/")
        self.person.choose_file(self.release_of(1))
        self.person.wait_for("It reaches the floor")
        self.press("Hand in")
        self.person.wait_for("Receipt")
        for number in (2, 3):
            path = self.release_of(number)
            address = f"/contests/autumn/uploads/{path.name}"
            key = str(uuid.uuid4())
            self.apis[number]("PUT", address, path.read_bytes(), Idempotency_Key=key)

    def ask_and_change_a_rule(self) -> None:
        """A question and its answer for all; the floor falls, teams are told in words."""
        self.person.go("/c/autumn/team/")
        self.person.browser.evaluate("document.querySelector('#questions + details').open = true")
        self.person.fill(text="Is the floor not too high?")
        self.press("Send the question")
        self.person.wait_for("The organisers have your question")
        self.person.log_in("olga")
        self.person.go(RUN)
        self.fill_in("[aria-labelledby=questions]", answer="It falls.", shared="on")
        self.press("Answer", "[aria-labelledby=questions]")
        self.person.wait_for("All teams have your answer")
        self.person.go(RUN + "settings/")
        self.person.fill(floor="0.6")
        self.press("Check")
        self.person.wait_for("Floor of utility")
        self.person.shot("settings-plan")
        self.person.fill(why="it was too high")
        self.press("Save")
        self.person.wait_for("The rules were changed")
        self.person.log_in("player1")
        self.person.go("/c/autumn/team/")
        self.person.wait_for("Floor of utility: 0.7 → 0.6")
        self.person.wait_for("It falls.")
        self.person.shot("team-told")

    def attack(self) -> None:
        """Everybody attacks the others; team 1 in the browser."""
        for number in (2, 3):
            said = self.apis[number].ask(
                "POST",
                "/contests/autumn/archives",
                _form_body(self.answers_of(number)),
                Content_Type=f"multipart/form-data; boundary={BOUNDARY}",
                Idempotency_Key=str(uuid.uuid4()),
            )
            assert json.loads(said[1])["accepted"] == 4, said
        self.person.log_in("player1")
        self.person.go("/c/autumn/team/attack/")
        self.person.choose_file(self.answers_of(1))
        self.press("Hand in")
        self.person.wait_for("4 of 4 files accepted")
        until(self.all_scored, "all answers are scored")

    def answers_of(self, number: int) -> Path:
        """One archive with a team's answers to the releases of the others."""
        judge, bot = self.judge_of(number), bots_for(number)[-1]
        path = self.folder / f"answers{number}.zip"
        more = {"n_regions": judge.city.n_regions, "users": USERS}
        with zipfile.ZipFile(path, "w") as archive:
            for entry in (Entry(k) for k in NUMBERS if k != number):
                files = {}
                for kind in ("reftraces", "pubtraces"):
                    address = f"/contests/autumn/files/{entry.file(kind)}"
                    status, data = self.apis[number].ask("GET", address)
                    assert status == 200
                    files[kind] = self.folder / f"{number}-{entry.file(kind)}"
                    files[kind].write_bytes(data)
                known = read_traces(
                    files["reftraces"], "reference", clock=judge.clock.reference, **more
                )
                released = read_released(files["pubtraces"], clock=judge.clock.original, **more)
                name = Entry(number).number
                made = attack(bot, name, entry, judge.case(known, released), seed=number)
                for kind, tries in made.items():
                    file = self.folder / entry.answer(CHALLENGES[kind].answer, name)
                    ANSWERS[kind].write(file, tries[0])
                    archive.write(file, file.name)
        return path

    def board(self, round: str) -> dict:
        status, data = Api(self.served.url).ask("GET", f"/contests/autumn/results?round={round}")
        return json.loads(data) if status == 200 and json.loads(data)["board"] else {}

    def disqualify_the_winner(self) -> None:
        """Whoever won school and whole contest is out: boards, divisions and Run follow at once."""
        told = self.board("final")
        assert [one["name"] for one in told["divisions"]] == ["school", "open"]
        assert told["season"]
        assert told["divisions"][0]["season"]
        school = told["divisions"][0]["season"][0]
        winner, second = (place["name"] for place in school["places"][:2])
        number = list(TEAMS).index(winner) + 1
        self.person.log_in("olga")
        self.person.go("/c/autumn/results/?round=final")
        self.person.wait_for("Division school")
        self.person.shot("results-divisions")
        self.person.go(f"{RUN}teams/?team={number}")
        self.fill_in("#status", status="disqualified", why="two accounts of one person")
        self.press("Change the status", "#status")
        self.person.wait_for("disqualified")
        after = self.board("final")["divisions"][0]["season"][0]
        assert after["winners"] == [second]
        assert [one["team"] for one in after["excluded"]]
        self.person.go(RUN)
        self.person.wait_for("Not everything")
        self.person.go("/c/autumn/results/?round=final")
        self.person.wait_for("Division school")
        self.person.shot("results-disqualified")

    def fill_in(self, scope: str, **values: str) -> None:
        """Fill fields of one part of the page."""
        for name, value in values.items():
            field = f"document.querySelector('{scope} [name={name}]')"
            self.person.browser.evaluate(
                f"(() => {{ const f = {field}; if (f.type === 'checkbox') f.checked = true;"
                f"else f.value = {json.dumps(value)}; }})()"
            )

    def press(self, label: str, scope: str = "main") -> None:
        """Press a button; what comes of it shows no line of the rules' file."""
        found = (
            f"[...document.querySelectorAll('{scope} button')]"
            f".find((b) => b.textContent.trim() === {json.dumps(label)})"
        )
        if scope == "main":
            self.person.press(label)
        else:
            self.person.browser.evaluate(f"(() => {{ window.pressed = true; {found}.click(); }})()")
            self.person.settle()
        assert "[[rounds]]" not in self.person.text()
        assert "utility_floor" not in self.person.text()
