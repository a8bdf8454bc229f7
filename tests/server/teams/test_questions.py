"""Questions of teams: asked on their page, answered to one or to all."""

from __future__ import annotations

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Announcement, LogEntry, Question
from tracecup.server.teams import questions

pytestmark = pytest.mark.django_db


@pytest.fixture
def asker(client, member):
    client.force_login(member)
    return client


@pytest.fixture
def boss(organiser):
    browser = Client()
    browser.force_login(organiser)
    return browser


class TestAsk:
    def test_on_the_page_and_to_the_organisers(self, asker, boss, contest):
        answer = asker.post(reverse("team-question", args=["spring"]), {"text": "May we <b>?"})
        assert answer.status_code == 302
        drain()
        assert [one.to for one in mail.outbox] == [["organiser@example.org"]]
        page = boss.get(reverse("run", args=["spring"])).content.decode()
        assert "May we &lt;b&gt;?" in page
        assert "A team waits for an answer." in page
        assert "May we &lt;b&gt;?" in asker.get(reverse("team", args=["spring"])).content.decode()

    def test_neither_nothing_nor_too_much(self, team, member):
        for text in (" ", "x" * 4001):
            with pytest.raises(Refused):
                questions.ask(team, text, Actor(member))
        for _ in range(10):
            questions.ask(team, "again?", Actor(member))
        with pytest.raises(Refused, match="Wait"):
            questions.ask(team, "again?", Actor(member))

    def test_only_teams_ask(self, boss, contest):
        answer = boss.post("/api/v1/contests/spring/questions", {"text": "x"}, "application/json")
        assert answer.status_code == 403


class TestAnswer:
    @pytest.mark.parametrize("shared", [False, True])
    def test_to_one_or_to_all(self, boss, contest, team, new_team, member, shared):
        other = new_team(contest, "second")
        asked = questions.ask(team, "May we\nuse two?", Actor(member))
        given = {"act": "reply", "id": asked.pk, "answer": "*Yes.*"}
        boss.post(
            reverse("run", args=["spring"]), {**given, **({"shared": "on"} if shared else {})}
        )
        told = Announcement.objects.get()
        assert told.team == (None if shared else team)
        assert told.text == "> May we\n> use two?\n\n*Yes.*"
        assert team.name not in told.text
        browser = Client()
        browser.force_login(other.members.get().person)
        page = browser.get(reverse("team", args=["spring"])).content.decode()
        assert ("<em>Yes.</em>" in page) == shared
        assert LogEntry.objects.filter(action="question.answer").exists()

    def test_only_organisers_of_the_contest(self, asker, boss, contest, team, member):
        asked = questions.ask(team, "May we?", Actor(member))
        address = f"/api/v1/contests/spring/questions/{asked.pk}/answer"
        assert asker.post(address, {"answer": "x"}, "application/json").status_code == 403
        answer = boss.post(address, {"answer": "Yes.", "shared": True}, "application/json")
        assert answer.json()["answer"] == "Yes."
        assert Question.objects.get().answered_by is not None
