"""The demo: a contest with bot teams whose clock its organiser can move through every phase.

For a look at all pages within minutes; accounts get new passwords at every start.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from django.db import transaction

from tracecup.contest.bots import bots_for
from tracecup.contest.rules import FeedbackRules, Phases, RoundRules, Rules
from tracecup.contest.rules.file import rules_text
from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.judging.bots import bot_label
from tracecup.server.models import ApiToken, Contest, Member, OneTimeLink, Person
from tracecup.server.organising.contests import create_contest
from tracecup.server.people.visits import end_other_sessions
from tracecup.server.teams.registration import create_team

SLUG = "demo"
ORGANISER, PLAYER = "demo-organiser", "demo-player"
TEAM = "Your team"
BOTS = (1, 2, 3, 8, 9)
"""Among them one who attacks with a learned attack and one who defends with Equalise."""
USERS = 200
DAY = timedelta(days=1)

Say = Callable[[str], None]


def ensure_demo(site: str, say: Say) -> Contest:
    """Make the demo contest unless it is there; say how to get in."""
    passwords = {name: secrets.token_urlsafe(9) for name in (ORGANISER, PLAYER)}
    with transaction.atomic():
        people = {name: _person(name, password) for name, password in passwords.items()}
        contest = Contest.objects.filter(slug=SLUG).first()
        if contest is None:
            contest = _contest(people[ORGANISER], people[PLAYER])
    say("The demo contest: five teams of bots, and one for you.")
    say(f"  organiser  {site}/c/{SLUG}/run/   as {ORGANISER}, password {passwords[ORGANISER]}")
    say(f"  your team  {site}/c/{SLUG}/team/  as {PLAYER}, password {passwords[PLAYER]}")
    say("The organiser's page moves the contest's clock from phase to phase.")
    return contest


def demo_rules() -> Rules:
    """Small enough to play in a minute, long enough to be interesting; begins now."""
    begin = clock.now().replace(microsecond=0)
    days = {"announce": 0, "anonymize": 0, "judge": 7, "attack": 8, "results": 15}
    instants = {name: begin + n * DAY for name, n in days.items()}
    instants["announce"] -= timedelta(hours=1)
    return replace(
        Rules.preset("strong"),
        name="Demo contest",
        users=USERS,
        feedback=FeedbackRules(policy="bands"),
        rounds=(RoundRules(phases=Phases(**instants)),),
    )


def _person(name: str, password: str) -> Person:
    person, _ = Person.objects.get_or_create(username=name, defaults={"first_name": name})
    # Whoever had an account of this name before must not find an organiser's in her hands.
    ApiToken.objects.filter(person=person).delete()
    OneTimeLink.objects.filter(person=person).delete()
    end_other_sessions(person, None, SYSTEM)
    person.email, person.is_active = "", True
    person.set_password(password)
    person.is_staff = name == ORGANISER
    person.save()
    return person


def _contest(organiser: Person, player: Person) -> Contest:
    made = create_contest(
        Actor(organiser, "system"),
        name="Demo contest",
        slug=SLUG,
        rules_text=rules_text(demo_rules()),
        is_public=True,
        is_demo=True,
    )
    for number in BOTS:
        bot = bots_for(number, USERS)[-1]
        name = f"Bot {bot.obfuscation}"
        label = bot_label(number, USERS)
        create_team(made, name, SYSTEM, bot=label, hors_concours=bot.hors_concours)
    own = create_team(made, TEAM, SYSTEM)
    Member.objects.create(team=own, contest=made, person=player, captain=True, since=clock.now())
    return made
