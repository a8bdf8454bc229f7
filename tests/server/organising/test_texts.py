"""What organisers say: texts on the contest's page, announcements for everybody and for later."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings
from django.core import mail
from django.urls import reverse

from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Announcement, Contest, Job, LogEntry
from tracecup.server.organising import rulechange
from tracecup.server.organising.texts import set_texts
from tracecup.server.teams.messages import announce, announcements

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(client, organiser):
    client.force_login(organiser)
    return client


@pytest.fixture
def actor(organiser):
    return Actor(organiser)


class TestTexts:
    def test_stand_on_the_public_page_as_html(self, boss, client, contest):
        answer = boss.post(
            reverse("run-texts", args=["spring"]),
            {"act": "texts", "description": "**Welcome** <b>", "faq": "# Why?\nBecause."},
        )
        assert answer.status_code == 302
        client.logout()
        page = client.get(reverse("contest", args=["spring"])).content.decode()
        assert "<strong>Welcome</strong> &lt;b&gt;" in page
        assert "<h3>Why?</h3>" in page
        assert 'id="prizes"' not in page

    def test_the_editor_begins_with_what_is_there(self, boss, contest, actor):
        set_texts(contest, actor, {"terms": "Be fair."})
        page = boss.get(reverse("run-texts", args=["spring"])).content.decode()
        assert "Be fair.</textarea>" in page

    def test_what_is_left_out_stays_and_an_empty_one_goes(self, contest, actor):
        set_texts(contest, actor, {"terms": "Be fair.", "prizes": "A cup."})
        set_texts(contest, actor, {"terms": None, "prizes": " "})
        assert Contest.objects.get().texts == {"terms": "Be fair."}
        entry = LogEntry.objects.filter(action="contest.texts").last()
        assert entry.before == {"prizes": "A cup."}

    def test_too_long_names_the_field(self, contest, actor):
        with pytest.raises(Refused) as caught:
            set_texts(contest, actor, {"faq": "x" * 20_001})
        assert caught.value.problems[0]["field"] == "faq"

    def test_the_api_has_them_too(self, boss, contest):
        address = "/api/v1/contests/spring/run/texts"
        assert (
            boss.patch(address, {"contact": "mailto:a@b.c"}, "application/json").status_code == 200
        )
        assert boss.get(address).json()["contact"] == "mailto:a@b.c"
        shown = boss.get("/api/v1/contests/spring").json()
        assert shown["texts"] == {"contact": "mailto:a@b.c"}


class TestAnnouncements:
    def test_only_public_ones_are_for_everybody(self, client, contest, team, actor):
        announce(contest, "Inside", "x", actor, mail=False)
        announce(contest, "Outside", "*x*", actor, mail=False, public=True)
        page = client.get(reverse("contest", args=["spring"])).content.decode()
        assert "Outside" in page
        assert "<em>x</em>" in page
        assert "Inside" not in page
        assert len(announcements(team)) == 2

    def test_one_for_later_is_nowhere_before(self, contest, team, actor, fixed_clock, boss):
        later = clock.now() + timedelta(hours=2)
        announce(contest, "Later", "x", actor, mail=True, public=True, at=later)
        assert announcements(team) == []
        assert "Later" not in boss.get(reverse("contest", args=["spring"])).content.decode()
        drain()
        assert mail.outbox == []
        assert "scheduled" in boss.get(reverse("run", args=["spring"])).content.decode()
        fixed_clock.at = later
        drain()
        assert [one.title for one in announcements(team)] == ["Later"]
        assert "Later" in boss.get(reverse("contest", args=["spring"])).content.decode()
        assert len(mail.outbox) == 1

    def test_a_retracted_one_for_later_is_never_sent(self, contest, team, actor, fixed_clock):
        later = clock.now() + timedelta(hours=2)
        made = announce(contest, "Later", "x", actor, at=later)
        Announcement.objects.filter(pk=made.pk).update(deleted_at=clock.now())
        fixed_clock.at = later
        drain()
        assert mail.outbox == []

    def test_what_cannot_be(self, contest, team, actor):
        with pytest.raises(Refused):
            announce(contest, "x", "x", actor, team, public=True)
        with pytest.raises(Refused):
            announce(contest, "x", "x", actor, at=clock.now())

    @pytest.mark.parametrize("url", ["", "smtp://mail.example"])
    def test_changed_rules_are_told_by_letter_where_there_is_a_mail_server(
        self, contest, team, actor, at, monkeypatch, url
    ):
        at("before")
        monkeypatch.setattr(settings, "CONFIG", replace(settings.CONFIG, mail_url=url))
        text = contest.rules_text.replace("attack_tries = 2", "attack_tries = 3")
        rulechange.change_rules(contest, text, actor, "more fun")
        told = Announcement.objects.get()
        assert told.public
        assert "Tries per target and kind of attack: 2 → 3" in told.text
        assert Job.objects.filter(kind="mail").exists() == bool(url)
