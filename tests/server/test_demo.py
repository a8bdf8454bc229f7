"""The demo: its accounts belong to whom started it."""

from __future__ import annotations

import pytest

from tracecup.contest.bots import bots_for
from tracecup.contest.rules import Rules
from tracecup.server import demo
from tracecup.server.access import Actor
from tracecup.server.models import OneTimeLink, Person, Visit
from tracecup.server.people import links, tokens
from tracecup.server.teams import registration

pytestmark = pytest.mark.django_db


def test_who_had_the_name_before_is_no_organiser(new_person, monkeypatch):
    monkeypatch.setattr(registration, "ensure_data", lambda contest: None)
    eve = new_person(demo.ORGANISER)
    _token, secret = tokens.new_token(eve, "mine", 30, Actor(eve))
    links.new_link("reset", Actor(eve), person=eve)
    said: list[str] = []
    demo.ensure_demo("http://localhost", said.append)
    held = Person.objects.get(username=demo.ORGANISER)
    assert held.is_staff
    assert tokens.person_of_token(secret) is None
    assert held.email == ""
    assert not held.check_password("correct horse battery")
    assert not OneTimeLink.objects.filter(person=held).exists()
    assert not Visit.objects.filter(person=held).exists()
    assert any(demo.ORGANISER in line for line in said)


def test_strong_attacks_judge_it_and_play_in_it(monkeypatch):
    monkeypatch.setattr(registration, "ensure_data", lambda contest: None)
    made = demo.ensure_demo("http://localhost", lambda line: None)
    assert made.rules.samples == Rules.preset("strong").samples
    bots = [bots_for(number, demo.USERS)[-1] for number in demo.BOTS]
    assert made.teams.count() == len(bots) + 1
    assert any("Learned-R" in bot.reid and "Learned-T" in bot.trace for bot in bots)
    assert any(bot.obfuscation == "Equalise" for bot in bots)
