"""A publication by mistake is taken back while nobody has fetched any of it, and logged."""

from __future__ import annotations

import pytest

from tracecup.contest.entries import Entry
from tracecup.server import clock
from tracecup.server.access import Actor, role_of
from tracecup.server.errors import Refused
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Download, LogEntry, StoredFile
from tracecup.server.organising import repairs
from tracecup.server.organising.takeback import take_back
from tracecup.server.results.downloads import files_for

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("city_is_read_once")]


@pytest.fixture
def actor(organiser):
    return Actor(organiser, "page")


def fetched(court, name, team):
    """The download log after a member of a team (or an organiser) fetched a file."""
    person = team.members.get().person if team else court.contest.organisers.get().person
    Download.objects.create(
        contest=court.contest,
        file=StoredFile.objects.filter(round=court.round, name=name).first(),
        name=name,
        person=person,
        team=team,
        at=clock.now(),
        length=1,
    )


def seen_by(court, number):
    member = court.teams[number].members.get().person
    return {one.name for one in files_for(role_of(court.contest, member), court.round)}


class TestTakeBack:
    def test_everything_is_as_before_and_can_be_published_again(self, court, actor):
        court.begin().hand_in_all()
        court.at("judge")
        drain()
        before = seen_by(court.fresh(), 1)
        court.at("attack")
        drain()
        court.fresh()
        release = Entry(2).file("pubtraces")
        assert release in seen_by(court, 1)
        fetched(court, release, None)  # an organiser looked at it: that tells nobody
        fetched(court, Entry(1).file("reftraces"), court.teams[1])  # her own, long known
        take_back(court.round, actor, "the clock was wrong")
        assert seen_by(court.fresh(), 1) == before
        assert court.round.published_at is None
        drain()
        assert court.fresh().round.published_at is None  # nothing goes out by itself again
        entry = LogEntry.objects.get(action="round.publication-taken-back")
        assert (entry.why, entry.after["fetched_by_others"]) == ("the clock was wrong", 0)
        repairs.publish_now(court.round, actor, "now it is right")
        assert release in seen_by(court.fresh(), 1)

    def test_what_was_fetched_stands(self, court, actor):
        court.to_attack()
        zipped = f"{court.contest.slug}-final.zip"
        for name in (Entry(2).file("pubtraces"), "commitments.json", zipped):
            fetched(court, name, court.teams[1])
            with pytest.raises(Refused, match="was fetched already"):
                take_back(court.round, actor, "too late")
            Download.objects.all().delete()

    def test_not_with_answers_in(self, court, actor):
        court.to_attack().attack(1, 2)
        with pytest.raises(Refused, match="answers already"):
            take_back(court.round, actor, "too late")

    def test_results_too(self, court, actor):
        court.to_attack()
        court.at("results")
        drain()
        assert court.fresh().round.released_at is not None
        take_back(court.round, actor, "the clock was wrong")
        assert court.fresh().round.released_at is None
        assert (
            not StoredFile.objects.filter(
                round=court.round, audience="all", kind__in=("results", "opening", "pubtraces")
            )
            .exclude(entry_team__in=(901, 902))
            .exists()
        )


class TestPage:
    def test_it_is_offered_while_it_can_be_done(self, court, organiser, client):
        court.to_attack()
        client.force_login(organiser)
        address = f"/c/{court.contest.slug}/run/judge/"
        assert "Nobody has fetched any of it yet" in client.get(address).content.decode()
        client.post(address, {"act": "unpublish", "why": "a mistake"})
        text = client.get(address).content.decode()
        assert "They wait until you publish them." in text
        assert "Nobody has fetched any of it yet" not in text
