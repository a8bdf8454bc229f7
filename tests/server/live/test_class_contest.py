"""A class in a real browser: twenty students play the contest of the preset `class` to its end.

Each joins by a link, fetches data, defends, hands in, attacks all others and reads the results, all
on the site's own pages; the teacher sees them do it. `make classroom` runs it.
"""

from __future__ import annotations

import os
import re
import shutil
import time
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.server.live.test_whole_contest import PASSWORD, person, served, shots, until

from tracecup.attack import parse_inference, parse_reid
from tracecup.city import read_city, read_clock
from tracecup.contest.bots import Bot, bots_for
from tracecup.contest.entries import Entry
from tracecup.contest.rules import Rules
from tracecup.contest.targets import attack_all
from tracecup.obfuscate import parse_obfuscator
from tracecup.traces.files import read_traces, write_obfuscated

__all__ = ["person", "served", "shots"]
pytestmark = pytest.mark.slow
STUDENTS = int(os.environ.get("TRACECUP_STUDENTS", "20"))
RULES = Rules.preset("class")
FLOOR = RULES.scores.utility_floor
MINUTE = 60.0
RUN, TEAM = "/c/class/run/", "/c/class/team/"
SECOND_THOUGHT = "PL(8,1)"
"""What somebody releases whose first release is below the floor."""


@dataclass
class Student:
    """One of the class: a team of her own, played like the bot of her number."""

    number: int
    folder: Path
    bot: Bot

    @property
    def name(self) -> str:
        """The account, and the name of the team."""
        return f"student{self.number}"

    def unpack(self, archive: Path, part: str) -> Path:
        """What she downloaded, in a folder of its own."""
        folder = self.folder / part
        zipfile.ZipFile(archive).extractall(folder)
        return folder

    def release(self, given: Path, *, again: bool = False) -> Path:
        """Her defence of her own traces; where it was below the floor, a weaker one."""
        city, clock = (
            read(next(given.rglob(f"{name}.csv")))
            for read, name in ((read_city, "info_region"), (read_clock, "info_time"))
        )
        original = read_traces(
            next(given.rglob(Entry(self.number).file("orgtraces", ".csv") + "*")),
            n_regions=city.n_regions,
            clock=clock.original,
            users=RULES.users,
        )
        shield = (
            parse_obfuscator(SECOND_THOUGHT)
            if again
            else self.bot.obfuscator(city, original, FLOOR, self.number)
        )
        path = self.folder / Entry(self.number).file("anotraces", ".csv")
        write_obfuscated(path, shield.obfuscate(city, original, self.number))
        return path

    def answers(self, given: Path) -> tuple[Path, int]:
        """Her answers to all targets as one zip, and how many they are."""
        swords = [parse_reid(self.bot.reid[0]), parse_inference(self.bot.trace[0])]
        path = self.folder / "answers.zip"
        made = attack_all(given, swords, Entry(self.number).number, path, self.number)
        return path, len(made.answers)


class Class:
    """The steps of the afternoon, in their order."""

    def __init__(self, served, person, folder: Path) -> None:
        self.served, self.person, self.folder = served, person, folder
        folder.mkdir()
        self.downloads = folder / "downloads"
        self.students = []
        for k, bot in enumerate(bots_for(STUDENTS, RULES.users), start=1):
            (folder / f"student{k}").mkdir()
            self.students.append(Student(k, folder / f"student{k}", bot))
        self.handed_in = self.answered = 0
        self.began = time.monotonic()

    def say(self, what: str) -> None:
        print(f"{time.monotonic() - self.began:5.0f} s  {what}", flush=True)

    def to_minute(self, minute: float) -> None:
        """Minutes after the announcement, as the preset's phases count them."""
        self.served.move_clock((minute + 1) * MINUTE)

    def create(self) -> None:
        """The teacher makes the contest: the size "A class", a name and a start."""
        self.person.go(re.search(r"http\S+/link/\S+/", self.served.log.read_text())[0])
        self.person.fill(username="teacher", password=PASSWORD, name="Teacher")
        self.person.press("Make the account")
        self.person.go("/new/")
        self.person.fill(name="Our class", slug="class")
        self.person.press("A class")
        starts = datetime.now(UTC) + timedelta(minutes=1)
        self.person.fill(is_public="on", zone="UTC", starts=f"{starts:%Y-%m-%d %H:%M}")
        self.person.press("Create the contest")
        self.person.wait_for("The contest exists")

    def join(self) -> None:
        """She pastes the list of her students; each opens the link that she hands out."""
        rows = "".join(f"{one.name},,{one.name},\n" for one in self.students)
        self.person.go(RUN + "teams/")
        self.person.fill(text=f"team,division,name,email\n{rows}")
        self.person.press("Check")
        self.person.press("Do it")
        links = self.person.browser.evaluate(
            "[...document.querySelectorAll('td code')].map((c) => c.textContent)"
        )
        links = [link for link in links if "/link/" in link]
        assert len(links) == STUDENTS
        for one, link in zip(self.students, links, strict=True):
            self.person.browser.call("Network.clearBrowserCookies")
            self.person.go(link)
            self.person.fill(username=one.name, password=PASSWORD)
            self.person.press("Make the account")
            self.person.go(TEAM)
            assert one.name in self.person.text()
        self.say(f"{STUDENTS} students joined by their links")

    def defend(self) -> None:
        """Everybody fetches the data and hands in a release; a bad one is noticed before."""
        below = 0
        self.to_minute(11)
        for one in self.students:
            self.person.log_in(one.name)
            given = one.unpack(self.download(Entry(one.number).file("orgtraces")), "data")
            self.person.go(TEAM + "release/")
            self.check(one.release(given))
            if "It is below the floor" in self.person.text():
                below += 1
                self.check(one.release(given, again=True))
            assert "It reaches the floor" in self.person.text(), (one.number, self.person.text())
            self.person.press("Hand in")
            self.person.wait_for("Receipt")
            self.handed_in += 1
        self.say(f"{self.handed_in} releases handed in; {below} below the floor seen by the check")

    def check(self, path: Path) -> None:
        """Choose a file, which is checked at once; also one of the same name as before."""
        self.person.browser.evaluate("document.querySelector('#outcome-card')?.remove()")
        self.person.choose_file(path)
        until(
            lambda: "This was a check" in self.person.text(),
            lambda: f"checked {path.name}: {self.person.text()} {self.person.browser.complaints}",
        )

    def look(self) -> None:
        """The last one looks at one of her people on the map, before and after."""
        self.person.go(TEAM + "map/")
        self.person.fill(user="5", show="both")
        self.person.press("Show")
        self.person.wait_for("User 5.")
        assert self.person.browser.evaluate(
            "document.querySelectorAll('[data-view^=trace-] svg').length"
        )
        self.person.shot("class-map")
        self.say("a student has looked at user 5 before and after her release")

    def listed(self, name: str) -> bool:
        self.person.go(TEAM + "data/")
        return name in self.person.text()

    def download(self, name: str) -> Path:
        """Click on "all files as one archive" once a file is in it; take what the browser saved."""
        until(lambda: self.listed(name), f"{name} is there")
        shutil.rmtree(self.downloads, ignore_errors=True)
        self.downloads.mkdir()
        self.person.browser.call(
            "Page.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads)
        )
        self.person.browser.evaluate("document.querySelector('a.button[download]').click()")
        until(lambda: list(self.downloads.glob("*.zip")), "the browser has saved the archive")
        return next(self.downloads.glob("*.zip"))

    def attack(self) -> None:
        """After the judge's work everybody attacks everybody, and is told scores at once."""
        self.to_minute(56)
        self.person.log_in(self.students[0].name)
        until(self.published, "the releases are out")
        self.say("the judge has shuffled and published all releases")
        for one in self.students:
            self.person.log_in(one.name)
            path, made = one.answers(one.unpack(self.download("pubtraces_team000"), "targets"))
            self.person.go(TEAM + "attack/")
            self.person.choose_file(path)
            self.person.press("Hand in")
            self.person.wait_for(f"{made} of {made} files accepted")
            self.answered += made
        self.say(f"{self.answered} answers handed in to the releases of others and the benchmark")
        until(self.all_scored, "all answers have scores")
        self.say("every answer has its score, and its student has seen it")

    def published(self) -> bool:
        self.to_minute(61)
        self.person.go(TEAM + "attack/")
        return self.person.browser.evaluate("Boolean(document.querySelector('main [name=file]'))")

    def all_scored(self) -> bool:
        """Nobody's page speaks of answers that wait."""
        for one in self.students:
            self.person.log_in(one.name)
            self.person.go(TEAM + "attack/")
            if "for its score" in self.person.text() or "for their scores" in self.person.text():
                return False
        return True

    def watch(self) -> None:
        """The teacher's page has a line for every student with what was handed in."""
        self.person.log_in("teacher")
        self.person.go(RUN + "teams/")
        rows = self.person.browser.evaluate(
            "[...document.querySelectorAll('table tbody tr')].map((r) => ['Members', 'Releases',"
            "'Answers', 'Rejected'].map((name) =>"
            '+r.querySelector(`[data-label="${name}"]`)?.innerText))'
        )
        expected = self.answered // STUDENTS
        assert rows[:STUDENTS] == [[1, 1, expected, 0]] * STUDENTS
        self.person.shot("class-teams")
        self.say(f"the teacher sees {STUDENTS} teams with 1 release and {expected} answers each")

    def finish(self) -> None:
        """Results come by themselves; every student finds them, and herself among them."""
        self.to_minute(101)
        until(self.results, "the results are out")
        for one in self.students:
            self.person.log_in(one.name)
            self.person.go("/c/class/results/")
            text = self.person.text()
            assert "Best anonymization" in text
            assert one.name in text
        self.person.shot("class-results")
        winner = self.person.browser.evaluate(
            "document.querySelector('main').innerText"
            ".match(/Best anonymization[^]*?(student\\d+)/)[1]"
        )
        own = self.students[int(winner.removeprefix("student")) - 1].bot
        self.say(
            f"results are published; best anonymization: {winner}, who played {own.obfuscation}"
        )

    def results(self) -> bool:
        self.person.go("/c/class/results/")
        return "Best anonymization" in self.person.text()


@pytest.mark.usefixtures("shots")
def test_a_class_plays_the_contest(served, person, tmp_path):
    played = Class(served, person, tmp_path / "class")
    played.create()
    played.join()
    played.defend()
    played.look()
    played.attack()
    played.watch()
    played.finish()
    assert person.browser.complaints == []
