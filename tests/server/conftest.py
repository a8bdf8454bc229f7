"""A small contest on the server's tables, a clock that stands still, a folder of its own.

The rounds begin on 2030-04-01; `at(...)` sets the clock to a phase.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from whitenoise.middleware import WhiteNoiseMiddleware

from court import city_is_read_once, court, no_fsync
from desk import asked, attackable, desk
from fixedclock import FixedClock
from tracecup.contest.rules.file import parse_rules
from tracecup.server import clock
from tracecup.server.config import ServerConfig
from tracecup.server.models import Contest, Member, Organiser, Person, Round, Team

__all__ = ["asked", "attackable", "city_is_read_once", "court", "desk", "no_fsync"]

RULES = """
name = "Spring contest"
users = 24
zone = "Asia/Tokyo"
[clock]
days = 2
slots = 4
[challenges]
trace_inference = true
[limits]
attack_tries = 2
release_tries = 3
[[rounds]]
name = "final"
[rounds.phases]
announce = 2030-04-01T00:00:00Z
anonymize = 2030-04-02T00:00:00Z
judge = 2030-04-03T00:00:00Z
attack = 2030-04-04T00:00:00Z
results = 2030-04-05T00:00:00Z
"""
PASSWORD = "correct horse battery"
DAY = timedelta(days=1)
BEGINS = {
    "before": datetime(2030, 3, 31, 12, tzinfo=UTC),
    "announce": datetime(2030, 4, 1, 12, tzinfo=UTC),
    "anonymize": datetime(2030, 4, 2, 12, tzinfo=UTC),
    "judge": datetime(2030, 4, 3, 12, tzinfo=UTC),
    "attack": datetime(2030, 4, 4, 12, tzinfo=UTC),
    "results": datetime(2030, 4, 5, 12, tzinfo=UTC),
}


@pytest.fixture(scope="session", autouse=True)
def static_files_are_found_once():
    """Every new `Client` builds the middleware, which looks through all static files otherwise."""
    look, found = WhiteNoiseMiddleware.add_files_from_finders, {}

    def look_once(self):
        if not found:
            look(self)
            found.update(self.files)
        self.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", look_once)
        yield


@pytest.fixture(autouse=True)
def server_folder(tmp_path, monkeypatch, no_fsync):
    """The server's files of one test; jobs run in this process."""
    config = ServerConfig(tmp_path / "server")
    config.prepare()
    monkeypatch.setattr(settings, "CONFIG", config)
    monkeypatch.setattr(settings, "TRACECUP_INLINE", True, raising=False)
    # Argon2 is slow on purpose; tests that are not about it use the quickest hasher.
    monkeypatch.setattr(
        settings, "PASSWORD_HASHERS", ["django.contrib.auth.hashers.MD5PasswordHasher"]
    )
    return config.folder


@pytest.fixture(autouse=True)
def fixed_clock():
    """The clock of one test; it stands in the anonymization phase until it is set."""
    made = FixedClock(BEGINS["anonymize"])
    before = clock.use(made)
    yield made
    clock.use(before)


@pytest.fixture
def at(fixed_clock):
    """Set the clock: `at("attack")` is noon of that phase's first day."""

    def move(phase: str | datetime) -> datetime:
        fixed_clock.at = BEGINS[phase] if isinstance(phase, str) else phase
        return fixed_clock.at

    return move


@pytest.fixture
def new_person(db):
    """Make an account."""

    def make(name: str, **more) -> Person:
        return Person.objects.create_user(name, f"{name}@example.org", PASSWORD, **more)

    return make


@pytest.fixture
def new_contest(db, fixed_clock):
    """Make a contest of the small rules with its rounds."""

    def make(slug: str = "spring", rules: str = RULES, **more) -> Contest:
        made = Contest.objects.create(
            slug=slug,
            name="Spring contest",
            rules_text=rules,
            created_at=clock.now(),
            **{"is_public": True, **more},
        )
        for k, one in enumerate(parse_rules(rules).rounds):
            Round.objects.create(contest=made, name=one.name, position=k)
        return made

    return make


@pytest.fixture
def contest(new_contest):
    """The small contest: 24 users, 2 days of 4 slots, one round."""
    return new_contest()


@pytest.fixture
def final(contest):
    """Its only round."""
    return contest.rounds.get()


@pytest.fixture
def new_team(new_person):
    """Make a team with one member, who is called like it."""

    def make(contest: Contest, name: str = "", **more) -> Team:
        number = contest.teams.count() + 1
        name = name or f"team{number}"
        team = Team.objects.create(
            contest=contest, number=number, name=name, created_at=clock.now(), **more
        )
        person = new_person(f"{contest.slug}-{name}")
        Member.objects.create(
            team=team, contest=contest, person=person, captain=True, since=clock.now()
        )
        return team

    return make


@pytest.fixture
def team(contest, new_team):
    """Team 1 of the small contest."""
    return new_team(contest)


@pytest.fixture
def organiser(contest, new_person):
    """The organiser of the small contest, who may also create others."""
    person = new_person("organiser", is_staff=True)
    Organiser.objects.create(contest=contest, person=person, since=clock.now())
    return person


@pytest.fixture
def member(team):
    """The member of team 1."""
    return team.members.get().person


def with_rules(contest: Contest, **changes) -> Contest:
    """The contest with other rules (fields of `Rules`)."""
    from tracecup.contest.rules.file import rules_text

    contest.rules_text = rules_text(replace(contest.rules, **changes))
    contest.save()
    return contest
