"""A class in a real browser: twenty students play the lessons of the preset `class`.

Every check holds for a right answer and fails for a wrong one; `make classroom` runs it.
"""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path

import pytest

from chromium import chromium
from students import RIGHT, WRONG, hand_in
from tracecup.contest.classroom.lessons import LESSONS

pytestmark = pytest.mark.slow
STUDENTS = int(os.environ.get("TRACECUP_STUDENTS", "20"))
PASSWORD = "correct horse battery"
STEPS = [(one, step) for one in LESSONS for step in one.steps]
CLASS = f"""
from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import rules_text
from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.models import Member, Person
from tracecup.server.organising.contests import create_contest
from tracecup.server.teams.registration import create_team
teacher = Person.objects.create_user("teacher", "t@example.org", {PASSWORD!r}, is_staff=True)
text = rules_text(Rules.preset("class"))
made = create_contest(Actor(teacher, "system"), name="Class", slug="class", rules_text=text)
for k in range(1, {STUDENTS} + 1):
    name = f"student{{k}}"
    person = Person.objects.create_user(name, f"{{name}}@example.org", {PASSWORD!r})
    team = create_team(made, name, SYSTEM)
    Member.objects.create(
        team=team, contest=made, person=person, captain=True, since=clock.now()
    )
"""
# The answer to a student's puzzle, as the judge knows it.
ANSWER = """
from tracecup.server.lessons import service
from tracecup.server.models import Team
team = Team.objects.get(contest__slug="class", name={name!r})
one = service.lesson_named("pseudonyms")
print(service.practice_of(team, one).puzzle(service.seed_of(team, one)).answer)
"""


@pytest.fixture
def school(new_server):
    """A server with a class on it."""
    served = new_server().start()
    served.python(CLASS)
    return served


class Student:
    """Somebody in front of a browser."""

    def __init__(self, browser, served, name: str) -> None:
        self.browser, self.served, self.name = browser, served, name

    def go(self, path: str) -> None:
        self.browser.evaluate("document.documentElement.dataset.old = 'yes'")
        self.browser.call("Page.navigate", url=f"{self.served.url}{path}")
        self.arrived()

    def arrived(self) -> None:
        self.browser.wait(
            "document.readyState === 'complete' && !document.documentElement.dataset.old"
            " && document.documentElement.classList.contains('js')"
        )

    def submit(self, form: str) -> None:
        self.browser.evaluate(
            "document.documentElement.dataset.old = 'yes';"
            f"document.querySelector('{form} button').click()"
        )
        self.arrived()

    def log_in(self) -> None:
        self.browser.call("Network.clearBrowserCookies")
        self.go("/login/")
        self.browser.evaluate(
            f"document.querySelector('[name=username]').value = '{self.name}';"
            f"document.querySelector('[name=password]').value = '{PASSWORD}'"
        )
        self.submit("main form")

    def files(self, lesson: str) -> bytes:
        """The archive behind the button, as the browser gets it."""
        text = self.browser.evaluate(
            f"fetch('/c/class/lessons/{lesson}/files.zip').then((r) => r.blob()).then((b) => "
            "new Promise((done) => { const f = new FileReader();"
            "f.onload = () => done(f.result.split(',')[1]); f.readAsDataURL(b); }))"
        )
        return base64.b64decode(text)

    def choose(self, user: int) -> str:
        self.browser.evaluate(f"document.querySelector('#who [value=\"{user}\"]').click()")
        self.submit("#who form")
        return self.said()

    def upload(self, step: str, path: Path) -> str:
        root = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        found = self.browser.call(
            "DOM.querySelector", nodeId=root, selector=f"#{step} input[type=file]"
        )
        self.browser.call("DOM.setFileInputFiles", files=[str(path)], nodeId=found["nodeId"])
        self.submit(f"#{step} form")
        return self.said()

    def said(self) -> str:
        return self.browser.evaluate("document.querySelector('.notices')?.innerText ?? ''")


def played(student: Student, wrong: set[tuple[str, str]]) -> tuple[int, int]:
    """Play all lessons; (right answers that held, wrong ones that failed)."""
    held = failed = 0
    for one in LESSONS:
        student.go(f"/c/class/lessons/{one.name}/")
        packed = student.files(one.name)
        for step in one.steps:
            with tempfile.TemporaryDirectory() as folder:
                if step.kind == "person":
                    answer = int(student.served.python(ANSWER.format(name=student.name)))
                    shown = student.browser.evaluate(
                        "[...document.querySelectorAll('#who [name=answer]')].map((i) => +i.value)"
                    )
                    assert answer in shown
                    other = next(user for user in shown if user != answer)
                    if (one.name, step.name) in wrong:
                        assert student.choose(other).startswith("Not yet"), (one.name, step.name)
                        failed += 1
                    said = student.choose(answer)
                else:
                    place = Path(folder)
                    if (one.name, step.name) in wrong:
                        path = hand_in(packed, step.kind, WRONG[step.kind], place)
                        said = student.upload(step.name, path)
                        assert said.startswith("Not yet"), (one.name, step.name, said)
                        failed += 1
                    path = hand_in(packed, step.kind, RIGHT[one.name, step.name], place)
                    said = student.upload(step.name, path)
                assert said.startswith("Right"), (student.name, one.name, step.name, said)
                held += 1
    return held, failed


class TestClass:
    def test_twenty_students_and_a_teacher(self, school, tmp_path):
        held = failed = 0
        with chromium(tmp_path / "profile") as browser:
            for k in range(STUDENTS):
                student = Student(browser, school, f"student{k + 1}")
                student.log_in()
                # The first one tries everything wrongly before, the others one step each.
                one, step = STEPS[k % len(STEPS)]
                wrong = {(one.name, step.name)} if k else {(a.name, b.name) for a, b in STEPS}
                right, refused = played(student, wrong)
                held, failed = held + right, failed + refused
                student.go("/c/class/lessons/")
                done = browser.evaluate("document.querySelector('.next .say').innerText")
                assert done.startswith(f"{len(STEPS)} of {len(STEPS)} steps")
            teacher = Student(browser, school, "teacher")
            teacher.log_in()
            teacher.go("/c/class/run/lessons/")
            rows = browser.evaluate(
                "[...document.querySelectorAll('tbody tr')].map((r) => r.cells[1].innerText)"
            )
            assert rows == [str(len(STEPS))] * STUDENTS
            assert browser.complaints == []
        print(f"{STUDENTS} students: {held} right answers held, {failed} wrong ones failed")
        assert (held, failed) == (len(STEPS) * STUDENTS, STUDENTS - 1 + len(STEPS))
