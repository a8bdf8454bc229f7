"""Pages ask the database a fixed number of questions, however many teams and files there are."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tracecup.contest.entries import Entry
from tracecup.server import clock
from tracecup.server.jobs.queue import enqueue
from tracecup.server.models import Announcement, Member, Release, Submission

pytestmark = pytest.mark.django_db
PAGES = {
    "home": "/",
    "contest": "/c/spring/",
    "team": "/c/spring/team/",
    "team-data": "/c/spring/team/data/",
    "team-release": "/c/spring/team/release/",
    "team-attack": "/c/spring/team/attack/",
    "team-members": "/c/spring/team/members/",
    "run": "/c/spring/run/",
    "run-teams": "/c/spring/run/teams/",
    "run-submissions": "/c/spring/run/submissions/",
    "run-judge": "/c/spring/run/judge/",
    "run-scores": "/c/spring/run/scores/",
    "run-audit": "/c/spring/run/audit/",
    "api-team": "/api/v1/contests/spring/submissions",
    "api-files": "/api/v1/contests/spring/files",
}


@pytest.fixture
def grow(contest, final, new_team):
    """Add teams that handed in, attacked each other and have jobs."""
    contest.is_public = True
    contest.save()

    def add(count: int) -> None:
        before = list(contest.teams.all())
        for k in range(count):
            team = new_team(contest, f"Grown {len(before) + k}")
            made = _submission(contest, final, team, "release", valid=True, chosen=True, score=0.9)
            Release.objects.create(
                round=final,
                team=team,
                challenge="trace",
                submission=made,
                label=Entry(team.number).label,
                valid=True,
                reason="",
                utility=0.9,
            )
            for target in before:
                for kind in ("reid", "trace"):
                    _submission(contest, final, team, kind, target=target.number, score=0.5)
            enqueue("score", f"score:{final.pk}:{team.pk}", {}, contest=contest)
            Announcement.objects.create(contest=contest, title="News", text="-", at=clock.now())

    return add


def _submission(contest, final, team, kind, **more) -> Submission:
    return Submission.objects.create(
        contest=contest,
        round=final,
        team=team,
        kind=kind,
        challenge="trace",
        attempt=1,
        state="scored",
        charged=True,
        idempotency_key=f"{kind}{more.get('target')}",
        file_name="file.csv",
        sha256="0" * 64,
        size=1,
        received_at=clock.now(),
        via="page",
        **more,
    )


def asked(client, address: str) -> int:
    client.get(address)  # the first answer fills caches and notes the visit
    with CaptureQueriesContext(connection) as found:
        assert client.get(address).status_code == 200
    return len(found)


@pytest.mark.parametrize("page", PAGES)
def test_the_number_does_not_grow(page, client, contest, final, team, organiser, grow, at):
    at("attack")
    now = clock.now()
    for step in ("announced", "judging", "judged", "published"):
        setattr(final, f"{step}_at", now)
    final.save()
    runs = page.startswith("run")
    person = organiser if runs else Member.objects.filter(team=team).first().person
    client.force_login(person)
    grow(2)
    few = asked(client, PAGES[page])
    grow(6)
    many = asked(client, PAGES[page])
    assert 0 < many <= few
