"""A contest server of its own to be put under load: started, filled with teams, looked at.

Made through the services of the server and then only over HTTP, as teams would.
"""

from __future__ import annotations

import contextlib
import datetime
import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serverwatch import Watch

SLUG = "load"
CITY_FILE = "info_region.csv"
BLOCK = 1 << 16
DAY = datetime.timedelta(days=1)
# Different for every team, cheap to make, above the floor at full size.
METHODS = ("None", "MRLH(1,1,0.1)", "MRLH(0,1,0.1)", "RR(9)", "RR(8)", "PL(8,1)", "PL(4,1)")


@dataclass(frozen=True)
class Player:
    """A team: its number and its member's token and session."""

    number: int
    token: str
    cookies: str


class Stand:
    """The server under test, seen from outside; the database is only read."""

    def __init__(self, home: Path, database_url: str) -> None:
        self.home, self.folder, self.clock = home, home / "dir", home / "clock"
        self.clock.write_text("0")
        self.port = free_port()
        os.environ |= {
            "TRACECUP_SERVER_DIR": str(self.folder),
            "DATABASE_URL": database_url,
            "TRACECUP_CLOCK": f"file:{self.clock}",
            "DJANGO_SETTINGS_MODULE": "tracecup.server.settings",
        }
        from tracecup.server.start import set_up

        set_up(self.folder)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Watch:
        command = [sys.executable, "-m", "tracecup", "serve", str(self.folder)]
        with (self.home / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port)], stdout=log, stderr=log, start_new_session=True
            )
        self.wait(self.answers, 120)
        return Watch(self.process.pid)

    def answers(self) -> bool:
        with contextlib.suppress(OSError):
            self.get("/health/")
            return True
        return False

    def stop(self) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def wait(self, done: Callable[[], bool], most: float) -> float:
        """Seconds until `done()`."""
        begun = time.perf_counter()
        while not done():
            if self.process is not None and self.process.poll() is not None:
                sys.exit(f"the server ended:\n{(self.home / 'log').read_text()[-3000:]}")
            if time.perf_counter() - begun > most:
                sys.exit(f"not done after {most:g} s:\n{(self.home / 'log').read_text()[-3000:]}")
            time.sleep(0.25)
        return time.perf_counter() - begun

    def move_clock(self, days: float) -> None:
        self._set_clock(days * DAY)

    def let_come(self, instant: datetime.datetime, seconds: float) -> None:
        """Set the server's clock so that an instant comes in so many seconds."""
        now = datetime.datetime.now(datetime.UTC)
        self._set_clock(instant - now - datetime.timedelta(seconds=seconds))

    def _set_clock(self, ahead: datetime.timedelta) -> None:
        part = self.clock.with_suffix(".part")
        part.write_text(str(ahead.total_seconds()))
        part.replace(self.clock)

    def get(self, path: str, token: str = "") -> bytes:
        return self._asked(path, token).read()

    def status(self, path: str) -> int:
        return self._asked(path).status

    def _asked(self, path: str, token: str = "") -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", path, headers=headers)
        return connection.getresponse()

    def put(self, path: str, token: str, file: Path) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=600, blocksize=65536
        )
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/octet-stream",
            "Content-Length": str(file.stat().st_size),
            "Idempotency-Key": secrets.token_hex(16),
        }
        with file.open("rb") as body:
            connection.request("PUT", path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def prepare(users: int, days: int, teams: int, grace_seconds: int = 0) -> tuple[list[Player], str]:
    """A contest that is open for releases for a week; the players, and the organiser's session."""
    from dataclasses import replace

    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    from tracecup.contest.rules import ClockRules, LimitRules, Phases, RoundRules, Rules
    from tracecup.contest.rules.file import rules_text
    from tracecup.server.access import SYSTEM, Actor
    from tracecup.server.models import Person
    from tracecup.server.organising.contests import create_contest
    from tracecup.server.people import tokens
    from tracecup.server.people.membership import (
        add_member,
    )
    from tracecup.server.teams.registration import create_team

    def person(name: str, staff: bool = False) -> Person:
        made: Person = Person.objects.create(username=name, is_staff=staff)
        made.set_unusable_password()
        made.save()
        return made

    def session(of: Person) -> str:
        held = SessionStore()
        held[SESSION_KEY] = str(of.pk)
        held[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        held[HASH_SESSION_KEY] = of.get_session_auth_hash()
        held.save()
        return f"{settings.SESSION_COOKIE_NAME}={held.session_key}"

    begin = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    day = {"announce": -1, "anonymize": 0, "judge": 7, "attack": 8, "results": 15}
    phases = Phases(**{name: begin + n * DAY for name, n in day.items()})
    rules = replace(
        Rules(name="Load", users=users, clock=ClockRules(days=days)),
        rounds=(RoundRules(phases=phases),),
        limits=LimitRules(grace_seconds=grace_seconds),
    )
    organiser = person("organiser", staff=True)
    contest = create_contest(
        Actor(organiser), name="Load", slug=SLUG, rules_text=rules_text(rules), is_public=True
    )
    players = []
    for k in range(1, teams + 1):
        team, member = create_team(contest, f"Team {k}", SYSTEM), person(f"member{k}")
        add_member(team, member, SYSTEM)
        _, token = tokens.new_token(member, "load", 60, Actor(member))
        players.append(Player(team.number, token, session(member)))
    return players, session(organiser)


def releases(stand: Stand, players: list[Player], out: Path) -> tuple[list[Path], list[Path]]:
    """Every team fetches its data over HTTP and obfuscates them; originals and releases."""
    from tracecup.contest.entries import Entry
    from tracecup.obfuscate import parse_obfuscator
    from tracecup.server.models import Contest
    from tracecup.traces.files import read_traces, write_obfuscated

    rules = Contest.objects.get(slug=SLUG).rules
    clock = rules.clock_of(rules.rounds[0].name)
    files = f"/api/v1/contests/{SLUG}/files"
    (out / CITY_FILE).write_bytes(stand.get(f"{files}/{CITY_FILE}", players[0].token))
    city = city_of(out)
    originals, made = [], []
    for player in players:
        entry = Entry(player.number)
        original = out / entry.file("orgtraces")
        original.write_bytes(stand.get(f"{files}/{original.name}", player.token))
        traces = read_traces(
            original, n_regions=city.n_regions, clock=clock.original, users=rules.users
        )
        method = parse_obfuscator(METHODS[player.number % len(METHODS)])
        packed = ".csv.gz" if player.number % 3 == 0 else ".csv"
        path = out / entry.file("anotraces", packed)
        write_obfuscated(path, method.obfuscate(city, traces, player.number))
        originals.append(original)
        made.append(path)
    return originals, made


def city_of(folder: Path) -> Any:
    from tracecup.city import read_city

    return read_city(folder / CITY_FILE)
