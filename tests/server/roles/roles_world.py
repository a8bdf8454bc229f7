"""The contest of the role tests: three teams, people of every role, played phase by phase.

Real data, the real judge, real submissions, at the smallest size.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
from typing import Any

from django.conf import settings
from django.test import Client
from tests.server.conftest import BEGINS
from tests.server.conftest import RULES as SMALL_RULES

from tracecup.contest.archive.folder import CITY_FILE
from tracecup.contest.entries import Entry
from tracecup.safeio import read_blocks
from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs.worker import drain
from tracecup.server.judging.service import ensure_data
from tracecup.server.models import (
    Announcement,
    Contest,
    Member,
    OneTimeLink,
    Organiser,
    Person,
    Round,
    StoredFile,
    Submission,
    Team,
    Visit,
)
from tracecup.server.people.links import new_link
from tracecup.server.people.tokens import new_token
from tracecup.server.storage import store
from tracecup.server.submissions.service import receive

PHASES = ("before", "announce", "anonymize", "judge", "attack", "hidden", "results", "frozen")
"""Two are no phases: `hidden` is the attack phase of a contest that is not public, `frozen` the
results with boards that organisers have frozen; in both only reading is asked for."""
# Everybody asks for everything: there are tries enough.
RULES = (
    SMALL_RULES.replace("tries = 2", "tries = 20")
    .replace("tries = 3", "tries = 30")
    .replace("[limits]", "[lessons]\nopen = true\n[limits]")
)
NOON = {**BEGINS, "hidden": BEGINS["attack"], "frozen": BEGINS["results"]}


class World:
    """The contest "spring" with three teams, people of every role, and a second contest."""

    def __init__(self) -> None:
        self.contest = _contest("spring", "Spring contest")
        self.autumn = _contest("autumn", "Autumn contest")
        self.round: Round = self.contest.rounds.get()
        self.people: dict[str, Person | None] = {"nobody": None}
        self.teams: dict[str, Team] = {}
        for number, role in enumerate(("own", "other", "third"), start=1):
            self.teams[role] = self._team(role, number)
        for role, contest in (("organiser", self.contest), ("elsewhere", self.autumn)):
            self.people[role] = _person(role)
            Organiser.objects.create(contest=contest, person=self.people[role], since=clock.now())
        self.people["staff"] = _person("staff", is_staff=True)
        people = {role: person for role, person in self.people.items() if person is not None}
        self.sessions = {role: _session(person) for role, person in people.items()}
        self.tokens = {
            role: new_token(person, "laptop", 30, SYSTEM) for role, person in people.items()
        }
        self.link = new_link(
            "member", SYSTEM, contest=self.contest, team=self.teams["own"], email="new@mail.example"
        )
        for team in (None, *self.teams.values()):
            title = f"News for {team.name}" if team else "News for all"
            Announcement.objects.create(
                contest=self.contest, team=team, title=title, text=title, at=clock.now()
            )
        self.answers: list[Submission] = []
        self.releases: dict[str, bytes] = {}

    def _team(self, role: str, number: int) -> Team:
        made = Team.objects.create(
            contest=self.contest, number=number, name=f"Team {role}", created_at=clock.now()
        )
        self.people[role] = _person(role)
        Member.objects.create(
            team=made,
            contest=self.contest,
            person=self.people[role],
            captain=True,
            since=clock.now(),
        )
        return made

    def file(self, name: str) -> bytes:
        """The content of a file of the judge, unpacked."""
        found = StoredFile.objects.get(round=self.round, name=name)
        return b"".join(read_blocks(store().path(found.sha256)))

    def enter(self, phase: str) -> None:
        """What happens in a phase before everybody asks."""
        Visit.objects.update(seen_at=clock.now())
        if phase == "before":
            ensure_data(self.contest)
        if phase == "attack":
            drain()
            for role, target in (("own", 2), ("own", 0), ("other", 1), ("third", 1)):
                for kind in ("reid", "trace"):
                    self.answers.append(self.hand_in(role, kind, target))
        drain()
        self.round = Round.objects.select_related("contest").get(pk=self.round.pk)
        if phase == "anonymize":
            for role in self.teams:
                self.hand_in(role, "release", None)
            with contextlib.suppress(Refused):
                self.hand_in("own", "release", None, b"reg_id\nnothing\n")

    def pretend(self, phase: str) -> None:
        """What is so only while everybody asks in `hidden` and `frozen`."""
        if phase == "hidden":
            Contest.objects.filter(pk=self.contest.pk).update(is_public=False)
        if phase == "frozen":
            Round.objects.filter(pk=self.round.pk).update(frozen=True)

    def hand_in(
        self, role: str, kind: str, target: int | None, content: bytes | None = None
    ) -> Submission:
        """Hand in a fine file of a kind."""
        challenge = "reid" if target == 0 else "trace"
        return receive(
            Round.objects.select_related("contest").get(pk=self.round.pk),
            self.teams[role],
            kind=kind,
            challenge=challenge,
            target=target,
            source=io.BytesIO(content or self.content(role, kind)),
            file_name="file.csv",
            key=f"{role}-{kind}-{target}-{len(content or b'')}",
            received_at=clock.contest_now(self.contest),
            actor=Actor(self.people[role], "api"),
            method=f"Method of {role}",
        ).submission

    def content(self, role: str, kind: str) -> bytes:
        """A release of a team that changes nothing, a poor answer, or one that is new."""
        if kind == "new reid":
            return b"user_id\n" + b"".join(b"%d\n" % k for k in range(24, 0, -1))
        if kind == "reid":
            return b"user_id\n" + b"".join(b"%d\n" % k for k in range(1, 25))
        if kind == "trace":
            return b"reg_id\n" + b"7\n" * (24 * 8)
        if role not in self.releases:
            name = Entry(self.teams[role].number).file("orgtraces")
            rows = self.file(name).decode().splitlines()[1:]
            made = "reg_id\n" + "".join(f"{row.split(',')[2]}\n" for row in rows)
            self.releases[role] = made.encode()
        return self.releases[role]

    def values(self, path: str, name: str) -> list[str]:  # noqa: PLR0911 - one for each name
        """What stands in the place of a parameter: things of team 1."""
        own = self.teams["own"]
        if name == "name" and "/uploads/" in path:
            return ["anotraces_team001_data02_TRP.csv", "etable_team001-002_data02_TRP.csv"]
        if name == "name" and "/rounds/" in path:
            return [self.round.name]
        if name == "name" and "/files/" in path:
            kinds = ("orgtraces", "ptable", "pubtraces", "reftraces")
            return [Entry(1).file(kind) for kind in kinds] + [CITY_FILE]
        if name == "number" and "tokens" in path:
            return [str(self.tokens["own"][0].pk)]
        if name == "number" and "sessions" in path:
            return [str(Visit.objects.filter(person=self.people["own"]).first().pk)]
        if (name == "number" and "invite" in path) or name == "link":
            return [str(OneTimeLink.objects.get().pk)]
        if name == "secret" and "receipt" in path:
            first = own.submissions.order_by("id").first()
            return [first.receipt if first else "none"]
        fixed = {
            "slug": self.contest.slug,
            "number": str(own.number),
            "team": str(own.number),
            "person": str(self.people["own"].pk),
            "secret": self.link,
            "token": self.link,
            "code": own.join_code,
            "round": self.round.name,
            "sha256": "0" * 64,
        }
        if name == "ref":
            return [one.ref for one in own.submissions.exclude(state="rejected")[:2]] or ["none"]
        if name in fixed:
            return [fixed[name]]
        return MORE_VALUES[name]


MORE_VALUES: dict[str, list[str]] = {
    "verb": ["choose", "withdraw"],
    "form": ["csv"],
    "name": ["releases"],
    "which": ["1"],
    "job": ["1"],
    "lesson": ["pseudonyms"],
    "step": ["who"],
}
"""Parameters that name nothing of a team."""


def _contest(slug: str, name: str) -> Contest:
    made = Contest.objects.create(
        slug=slug,
        name=name,
        rules_text=RULES,
        created_at=clock.now(),
        is_public=True,
        seed=hashlib.md5(slug.encode()).hexdigest(),  # the same scores in every run
    )
    Round.objects.create(contest=made, name="final", position=0)
    return made


def _person(role: str, **more: Any) -> Person:
    return Person.objects.create_user(role, f"{role}@mail.example", f"password of {role}", **more)


def _session(person: Person) -> str:
    client = Client()
    client.force_login(person)
    client.get("/account/")
    return client.cookies[settings.SESSION_COOKIE_NAME].value
