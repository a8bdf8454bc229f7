"""Deletion of personal data: nothing of a person is left, and the contest still works."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.serializers.json import DjangoJSONEncoder

from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor, role_of
from tracecup.server.auditlog import check_chain
from tracecup.server.errors import Refused
from tracecup.server.models import Member, Organiser, Person, Submission
from tracecup.server.people import erasure, links, throttle, tokens
from tracecup.server.people import membership as members

PASSWORD = "correct horse battery"
CANARY = "zzyzx"
pytestmark = pytest.mark.django_db


@pytest.fixture
def canary(team, new_person, client):
    """Somebody whose name, address and agent can be searched for, with everything one can have."""
    person = new_person(CANARY, first_name=f"{CANARY} name", zone="Asia/Tokyo", language="ja")
    members.add_member(team, person, Actor(person))
    client.login(username=CANARY, password=PASSWORD)
    client.get("/account/", headers={"User-Agent": CANARY})
    tokens.new_token(person, f"{CANARY} laptop", 30, Actor(person))
    links.new_link("reset", SYSTEM, person=person)
    links.new_link("organiser", SYSTEM, name=CANARY, email=person.email)
    throttle.spend(throttle.LOG_IN, CANARY, "192.0.2.1")
    return person


@pytest.fixture
def submission(team, final, canary):
    return Submission.objects.create(
        contest=team.contest,
        round=final,
        team=team,
        kind="release",
        challenge="both",
        state="scored",
        idempotency_key="k",
        file_name="f.csv",
        sha256="0" * 64,
        size=1,
        received_at=clock.now(),
        by=canary,
        via="page",
    )


def everything() -> str:
    """All rows of all tables, as text."""
    encoder = DjangoJSONEncoder()
    rows = [row for model in apps.get_models() for row in model.objects.values()]
    return "\n".join(encoder.encode(row) for row in rows)


def over(contest):
    contest.rounds.update(released_at=clock.now())


class TestErase:
    def test_nothing_of_her_is_left(self, canary):
        assert CANARY in everything()
        erasure.erase(canary, Actor(canary))
        assert CANARY not in everything()

    def test_she_is_a_number(self, canary):
        erasure.erase(canary, Actor(canary))
        assert canary.username == f"erased-{canary.pk}"
        assert canary.erased_at == clock.now()
        assert not canary.is_active
        assert not canary.has_usable_password()

    def test_her_sessions_end_at_once(self, canary, client):
        erasure.erase(canary, SYSTEM)
        assert not Session.objects.exists()
        assert client.get("/account/").status_code == 302

    def test_what_she_handed_in_stays_with_the_team(self, canary, submission):
        erasure.erase(canary, SYSTEM)
        submission.refresh_from_db()
        assert submission.by_id == canary.pk
        assert not Member.objects.filter(person=canary).exists()

    def test_the_log_is_still_whole(self, canary):
        erasure.erase(canary, Actor(canary))
        assert list(check_chain()) == []

    def test_twice_is_once(self, canary):
        erasure.erase(canary, SYSTEM)
        before = canary.erased_at
        erasure.erase(canary, SYSTEM)
        assert canary.erased_at == before

    def test_her_name_is_free_again(self, canary, new_person):
        erasure.erase(canary, SYSTEM)
        assert new_person(CANARY).pk != canary.pk

    def test_the_last_organiser_hands_over_first(self, contest, organiser, new_person):
        ada = new_person("ada", is_staff=True)
        with pytest.raises(Refused, match="no other organiser"):
            erasure.erase(organiser, Actor(organiser))
        Organiser.objects.create(contest=contest, person=ada, since=clock.now())
        erasure.erase(organiser, Actor(organiser))
        assert role_of(contest, ada).organiser

    def test_when_the_contest_is_over_she_may_go(self, contest, organiser, new_person):
        new_person("ada", is_staff=True)
        over(contest)
        erasure.erase(organiser, Actor(organiser))
        assert organiser.erased_at

    def test_somebody_can_always_create_contests(self, contest, organiser):
        over(contest)
        with pytest.raises(Refused, match="Nobody else may create contests"):
            erasure.erase(organiser, Actor(organiser))


class TestErasePeopleOf:
    def test_not_before_the_end(self, contest, canary):
        with pytest.raises(Refused) as refused:
            erasure.erase_people_of(contest, SYSTEM)
        assert refused.value.code == "conflict"
        assert CANARY in everything()

    def test_all_players_are_forgotten(self, contest, canary, organiser, new_team):
        new_team(contest, "other")
        links.new_link("member", SYSTEM, team=contest.teams.first(), email="x@quux.example")
        over(contest)
        assert erasure.erase_people_of(contest, Actor(organiser)) == 3
        left = everything()
        assert CANARY not in left
        assert "quux" not in left
        assert list(Person.objects.filter(is_active=True)) == [organiser]

    def test_who_is_needed_elsewhere_only_leaves(self, contest, canary, new_contest, new_team):
        autumn = new_contest("autumn")
        other = new_team(autumn, "other")
        members.add_member(other, canary, SYSTEM)
        over(contest)
        erasure.erase_people_of(contest, SYSTEM)
        canary.refresh_from_db()
        assert canary.is_active
        assert role_of(contest, canary).team is None
        assert role_of(autumn, canary).team == other

    def test_every_round_has_to_be_over(self, contest, canary, final):
        final.released_at = clock.now()
        final.save()
        contest.rounds.create(name="extra", position=1)
        assert not erasure.is_over(contest)
