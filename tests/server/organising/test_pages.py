"""The organisers' pages: they answer, they act, they ask for a reason, others see nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from tracecup.contest.correlation import correlate
from tracecup.server import clock
from tracecup.server.access import SYSTEM
from tracecup.server.models import (
    Announcement,
    Appeal,
    Contest,
    Extension,
    Job,
    LogEntry,
    Release,
    ResultSet,
    Round,
    Submission,
)
from tracecup.server.people.tokens import new_token

pytestmark = pytest.mark.django_db
PAGES = (
    "run", "run-teams", "run-submissions", "run-judge", "run-scores", "run-settings",
    "run-audit", "run-backup",
)  # fmt: skip


@pytest.fixture
def boss(client, organiser):
    """A browser of the organiser."""
    client.force_login(organiser)
    return client


@pytest.fixture
def submission(final, team):
    return Submission.objects.create(
        contest=final.contest, round=final, team=team, kind="release", challenge="trace",
        state="scored", charged=True, chosen=True, valid=True, score=0.81, low=0.8, high=0.82,
        sha256="0" * 64, size=10, received_at=clock.now(), via="page", file_name="<b>.csv",
        idempotency_key="1",
    )  # fmt: skip


@pytest.fixture
def results(final, team):
    """A published result set with one award."""
    Round.objects.update(published_at=clock.now(), closed_at=clock.now(), released_at=clock.now())
    tables = {
        "awards": {
            "award": ["overall", "overall"], "title": ["Overall", "Overall"], "rank": [1, 2],
            "rank_low": [1, 1], "rank_high": [2, 2], "team": ["team001", "team002"],
            "value": [0.9, 0.5], "better": ["higher", "higher"], "excluded": [None, None],
        },
        "cells": {
            "kind": ["reid"], "pubtraces": ["pubtraces_team001_data02_TRP.csv"],
            "attacker": ["002"], "attack": [""], "score": [0.4],
        },
        "releases": {
            "pubtraces": ["pubtraces_team001_data02_TRP.csv"], "team": ["001"],
            "challenge": ["trace"], "role": ["team"], "valid": [True], "hors_concours": [False],
            "reason": [""], "method": [None], "utility": [0.8], "utility_low": [None],
            "utility_high": [None], "s_R_min": [0.4], "s_R_by": ["002"], "s_T_min": [None],
            "s_T_by": [None], "s_T_ceiling": [None], "expected_error_km": [None],
        },
        "sums": {"kind": ["reid"], "attacker": ["002"], "sum": [0.4], "not_attacked": [0]},
    }  # fmt: skip
    Release.objects.create(
        round=final, team=team, challenge="trace", label="team001_data02_TRP", valid=True,
        reason="", utility=0.8, commitment="c" * 64,
    )  # fmt: skip
    Submission.objects.create(
        contest=final.contest, round=final, team=team, kind="reid", challenge="trace", target=2,
        state="scored", sha256="0" * 64, size=10, received_at=clock.now(), via="api",
        file_name="x.csv", idempotency_key="2",
    )  # fmt: skip
    return ResultSet.objects.create(
        round=final, number=1, state="published", scorer="tracecup 0", inputs_sha256="a" * 64,
        seconds=1.0, tables=tables, created_at=clock.now(), published_at=clock.now(),
        summary={"correlation": vars(correlate([0.4], [0.4]))},
    )  # fmt: skip


def act(browser, page, act, /, **values):
    return browser.post(reverse(page, args=["spring"]), {"act": act, **values})


class TestWhoMaySee:
    @pytest.mark.parametrize("page", PAGES)
    def test_the_organiser(self, boss, page, submission, results):
        answer = boss.get(reverse(page, args=["spring"]))
        assert answer.status_code == 200
        assert b"<h1" in answer.content
        way = answer.content.decode().partition('<nav class="where"')[2].partition("</nav>")[0]
        assert ('href="/c/spring/run/"' in way) is (page != "run")
        assert way.count("aria-current") == 1

    @pytest.mark.parametrize("page", [*PAGES, "run-audit-export"])
    def test_nobody_else(self, client, contest, member, new_person, page):
        address = reverse(page, args=["spring"])
        assert client.get(address).status_code == 302
        client.force_login(member)
        assert client.get(address).status_code == 403
        client.force_login(new_person("stranger", is_staff=True))
        assert client.get(address).status_code == 403

    def test_an_organiser_of_another_contest(self, boss, new_contest):
        new_contest("other", is_public=False)
        assert boss.get(reverse("run", args=["other"])).status_code == 404

    def test_acts_need_a_csrf_token(self, organiser, contest):
        from django.test import Client

        browser = Client(enforce_csrf_checks=True)
        browser.force_login(organiser)
        assert act(browser, "run", "pause", why="x").status_code == 403
        contest.refresh_from_db()
        assert contest.paused_at is None

    def test_no_inline_script_or_style(self, boss, submission, results):
        for page in PAGES:
            text = boss.get(reverse(page, args=["spring"])).content.decode()
            assert " style=" not in text
            assert "onclick" not in text
            assert "<b>.csv" not in text

    def test_every_page_of_an_empty_contest(self, boss, contest):
        for page in PAGES:
            assert boss.get(reverse(page, args=["spring"])).status_code == 200


class TestRun:
    def test_a_new_contest_needs_times_and_teams(self, boss, contest):
        text = boss.get(reverse("run", args=["spring"])).content.decode()
        assert "There are fewer than two teams." in text
        assert "Nothing needs your attention." not in text
        assert "All phases have their times." in text

    def test_it_tells_what_happens_next(self, boss, contest, submission, at):
        at("announce")
        text = boss.get(reverse("run", args=["spring"])).content.decode()
        assert "give 1 team its data" in text
        Round.objects.update(announced_at=clock.now())
        at("anonymize")
        text = boss.get(reverse("run", args=["spring"])).content.decode()
        assert "check, shuffle and commit to 1 release" in text
        assert "in 12 h" in text

    def test_pause_and_resume(self, boss, contest):
        assert act(boss, "run", "pause", why="a power cut").status_code == 302
        contest.refresh_from_db()
        assert contest.paused_at is not None
        act(boss, "run", "resume", why="over", shift="on")
        contest.refresh_from_db()
        assert contest.paused_at is None

    def test_a_reason_is_asked_for(self, boss, contest):
        answer = act(boss, "run", "pause", why="")
        assert answer.status_code == 422
        assert "This was not done" in answer.content.decode()
        # Beside its field, and nowhere else.
        assert answer.content.decode().count("This field is required.") == 1
        contest.refresh_from_db()
        assert contest.paused_at is None

    def test_a_deadline_is_typed_in_the_contests_zone(self, boss, contest):
        act(
            boss, "run", "deadline", phase="anonymize", until="2030-04-03T12:00", follow="on",
            why="a storm",
        )  # fmt: skip
        contest.refresh_from_db()
        judge = contest.rules.round("final").phases.judge
        assert judge.isoformat() == "2030-04-03T03:00:00+00:00"

    def test_a_refusal_of_the_service_is_shown(self, boss, contest):
        answer = act(
            boss, "run", "deadline", phase="anonymize", until="2030-04-09T12:00", why="a storm"
        )
        assert answer.status_code == 422
        assert "would no longer follow one another" in answer.content.decode()

    def test_announce_retract_restore(self, boss, contest, team):
        act(boss, "run", "announce", title="Rain <b>", text="Hello", team="")
        made = Announcement.objects.get()
        assert "Rain &lt;b&gt;" in boss.get(reverse("run", args=["spring"])).content.decode()
        act(boss, "run", "retract", id=made.pk, why="wrong")
        made.refresh_from_db()
        assert made.deleted_at is not None
        act(boss, "run", "restore", id=made.pk)
        made.refresh_from_db()
        assert made.deleted_at is None

    def test_dead_jobs_can_be_tried_again(self, boss, contest, monkeypatch):
        job = Job.objects.create(
            key="mail:9", kind="mail", contest=contest, state="dead", attempts=3, payload={},
            run_after=clock.now(), created_at=clock.now(), finished_at=clock.now(), error="oops",
        )  # fmt: skip
        text = boss.get(reverse("run", args=["spring"])).content.decode()
        assert "oops" in text
        assert "Not everything" in text
        act(boss, "run", "retry", id=job.pk, why="the post works again")
        job.refresh_from_db()
        assert (job.state, job.attempts) == ("waiting", 0)
        assert LogEntry.objects.get(action="job.retry").why == "the post works again"

    def test_the_job_of_another_contest_is_not_found(self, boss, contest, new_contest):
        other = new_contest("other")
        job = Job.objects.create(
            key="x", kind="mail", contest=other, state="dead", payload={},
            run_after=clock.now(), created_at=clock.now(),
        )  # fmt: skip
        assert act(boss, "run", "retry", id=job.pk, why="x").status_code == 404

    def test_only_a_demo_can_move_its_clock(self, boss, contest):
        assert act(boss, "run", "next_phase").status_code == 403
        Contest.objects.update(is_demo=True)
        act(boss, "run", "next_phase")
        contest.refresh_from_db()
        assert contest.clock_offset == 12 * 3600 + 1

    def test_appeals(self, boss, contest, team):
        act(boss, "run", "appeals", until="2030-04-09T12:00", why="results")
        contest.refresh_from_db()
        assert contest.appeals_until is not None
        made = Appeal.objects.create(team=team, text="Not fair", at=clock.now())
        assert "Not fair" in boss.get(reverse("run", args=["spring"])).content.decode()
        act(boss, "run", "answer", id=made.pk, answer="We looked.", accepted="on")
        made.refresh_from_db()
        assert made.state == "accepted"

    def test_an_unknown_act_is_not_found(self, boss, contest):
        assert act(boss, "run", "explode").status_code == 404


class TestTeams:
    CSV = "team,division,name,email\nred,,Ann,ann@example.org\nblue,,Bob,\n"

    def test_a_list_is_checked_then_done(self, boss, contest):
        answer = act(boss, "run-teams", "csv_check", text=self.CSV)
        assert "This makes 2 teams and 2 links" in answer.content.decode()
        assert contest.teams.count() == 0
        answer = act(boss, "run-teams", "csv_apply", text=self.CSV)
        assert "/link/" in answer.content.decode()
        assert [team.name for team in contest.teams.all()] == ["red", "blue"]

    def test_no_mail_server_is_said_beside_the_switch(self, boss, contest, settings):
        said = "No mail server is set"
        address = reverse("run-teams", args=["spring"])
        settings.CONFIG = replace(settings.CONFIG, mail_url="")
        assert said in boss.get(address).content.decode()
        settings.CONFIG = replace(settings.CONFIG, mail_url="smtp://mail.example")
        assert said not in boss.get(address).content.decode()

    def test_a_program_of_a_team_is_seen_too(self, boss, contest, team, member):
        address = reverse("run-teams", args=["spring"])
        assert "never" in boss.get(address).content.decode()
        _, secret = new_token(member, "laptop", 30, SYSTEM)
        asked = Client().get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"})
        assert asked.status_code == 200
        assert "never" not in boss.get(address).content.decode()

    def test_mistakes_name_their_lines(self, boss, contest):
        answer = act(boss, "run-teams", "csv_check", text="team,email\nred,nobody\n")
        assert "nothing was done" in answer.content.decode()

    def test_a_link_is_shown_once(self, boss, contest, team):
        answer = act(boss, "run-teams", "link", team="1", name="", email="")
        text = answer.content.decode()
        assert "/link/" in text
        assert "/link/" not in boss.get(reverse("run-teams", args=["spring"])).content.decode()

    def test_status_and_extension(self, boss, contest, team):
        act(boss, "run-teams", "status", team="1", status="withdrawn", why="they asked")
        team.refresh_from_db()
        assert team.status == "withdrawn"
        act(
            boss, "run-teams", "extend", team="1", phase="attack", until="", extra_tries="2",
            why="our fault",
        )  # fmt: skip
        made = Extension.objects.get()
        assert made.extra_tries == 2
        text = boss.get(reverse("run-teams", args=["spring"]) + "?team=1").content.decode()
        assert "our fault" in text
        act(boss, "run-teams", "take_back", id=made.pk, why="a mistake")
        assert not Extension.objects.exists()

    def test_corrections(self, boss, contest, team, member):
        contest.divisions = ["pro"]
        contest.save()
        act(boss, "run-teams", "change", team="1", name="Foxes", division="pro")
        team.refresh_from_db()
        assert (team.name, team.division) == ("Foxes", "pro")
        act(boss, "run-teams", "change", team="1", name="Wolves", division=" ")
        team.refresh_from_db()
        assert (team.name, team.division) == ("Wolves", "pro")
        act(boss, "run-teams", "remove_member", team="1", person=member.pk)
        assert team.members.count() == 0
        act(boss, "run-teams", "delete_team", team="1", why="a mistake")
        team.refresh_from_db()
        assert team.deleted_at is not None
        act(boss, "run-teams", "undelete_team", id="1")
        team.refresh_from_db()
        assert team.deleted_at is None


class TestSubmissions:
    def test_filters_and_details(self, boss, submission):
        address = reverse("run-submissions", args=["spring"])
        assert submission.ref in boss.get(address).content.decode()
        assert submission.ref not in boss.get(address + "?state=failed").content.decode()
        text = boss.get(f"{address}?show={submission.ref}").content.decode()
        assert "&lt;b&gt;.csv" in text
        assert "0.810000" in text
        assert boss.get(f"{address}?show=nothing").status_code == 404

    def test_teams_are_told_by_number_and_name(self, boss, contest, results, new_team):
        other = new_team(contest)
        text = boss.get(reverse("run-submissions", args=["spring"])).content.decode()
        assert f'<option value="2">2 {other.name}</option>' in text
        assert f">2 {other.name}</td>" in text

    def test_withdraw_and_undo(self, boss, submission):
        act(boss, "run-submissions", "withdraw", ref=submission.ref, why="they asked")
        submission.refresh_from_db()
        assert submission.state == "withdrawn"
        act(boss, "run-submissions", "unwithdraw", ref=submission.ref, why="they did not")
        submission.refresh_from_db()
        assert submission.state == "scored"


class TestJudge:
    def test_a_dry_run_decides_nothing(self, boss, contest, submission, new_team):
        new_team(contest)
        text = boss.get(reverse("run-judge", args=["spring"])).content.decode()
        assert "1 valid, 0 invalid, 1 missing" in text
        assert not Release.objects.exists()

    def test_publication_can_be_held(self, boss, contest, final):
        act(boss, "run-judge", "auto_publish", why="we look first")
        final.refresh_from_db()
        assert not final.auto_publish
        act(boss, "run-judge", "auto_publish", on="1", why="looks good")
        final.refresh_from_db()
        assert final.auto_publish


class TestScores:
    def test_matrix_and_awards(self, boss, results):
        text = boss.get(reverse("run-scores", args=["spring"])).content.decode()
        assert "0.4000" in text
        assert "Overall" in text

    def test_teams_are_told_by_number_and_name(self, boss, contest, team, results, new_team):
        other = new_team(contest)
        text = boss.get(reverse("run-scores", args=["spring"])).content.decode()
        assert f">001 {team.name}</td>" in text
        assert f">001 {team.name}</th>" in text
        assert f">002 {other.name}</th>" in text

    def test_freeze_and_release(self, boss, contest, final):
        act(boss, "run-scores", "freeze", on="1", why="suspense")
        final.refresh_from_db()
        assert final.frozen
        act(boss, "run-scores", "freeze", why="the end")
        final.refresh_from_db()
        assert not final.frozen


class TestSettings:
    def test_check_shows_effects_and_changes_nothing(self, boss, contest):
        text = contest.rules_text.replace("attack_tries = 2", "attack_tries = 7")
        answer = act(boss, "run-settings", "rules_check", text=text, version=1)
        assert "Tries per target and kind of attack" in answer.content.decode()
        contest.refresh_from_db()
        assert contest.rules.limits.attack_tries == 2

    def test_save_and_undo(self, boss, contest):
        old = contest.rules_text
        text = old.replace("attack_tries = 2", "attack_tries = 7")
        act(boss, "run-settings", "rules_save", text=text, version=1, why="more fun")
        contest.refresh_from_db()
        assert contest.rules.limits.attack_tries == 7
        number = LogEntry.objects.get(subject="rules:2").number
        page = boss.get(reverse("run-settings", args=["spring"]) + f"?entry={number}")
        assert "attack_tries = 2" in page.content.decode()

    def test_browsers_line_ends_change_nothing(self, boss, contest):
        text = contest.rules_text.replace("\n", "\r\n")
        act(boss, "run-settings", "rules_save", text=text, version=1, why="nothing")
        contest.refresh_from_db()
        assert "\r" not in contest.rules_text

    def test_mistakes_are_marked(self, boss, contest):
        answer = act(boss, "run-settings", "rules_check", text="users = x", version=1)
        assert "These rules cannot be accepted" in answer.content.decode()
        answer = act(boss, "run-settings", "rules_save", text="users = x", version=1, why="x")
        assert answer.status_code == 422

    def test_times_are_typed_in_the_contests_zone(self, boss, contest):
        page = boss.get(reverse("run-settings", args=["spring"])).content.decode()
        assert 'value="2030-04-01 09:00:00"' in page
        times = {
            phase: f"2030-05-0{k}T09:00"
            for k, phase in enumerate(("announce", "anonymize", "judge", "attack", "results"), 1)
        }
        act(boss, "run-settings", "phases", **times, why="fixed")
        contest.refresh_from_db()
        begins = contest.rules.round("final").phases.announce
        assert begins.isoformat() == "2030-05-01T00:00:00+00:00"

    def test_clone(self, boss, contest):
        answer = act(
            boss, "run-settings", "clone", name="Autumn", slug="autumn", starts="2030-09-01T09:00"
        )
        assert answer.status_code == 302
        made = Contest.objects.get(slug="autumn")
        assert made.rules.round("final").phases.announce.isoformat() == "2030-09-01T00:00:00+00:00"

    def test_delete_and_bring_back(self, boss, contest):
        act(boss, "run-settings", "delete", why="a test")
        assert boss.get(reverse("run", args=["spring"])).status_code == 404
        assert "spring" in boss.get(reverse("run-new")).content.decode()
        boss.post(reverse("run-new"), {"act": "undelete", "slug": "spring"})
        assert boss.get(reverse("run", args=["spring"])).status_code == 200


class TestAudit:
    def test_filter_and_chain(self, boss, contest):
        act(boss, "run", "pause", why="a power cut")
        act(boss, "run", "resume", why="over", shift="on")
        address = reverse("run-audit", args=["spring"])
        text = boss.get(address + "?action=contest.pause&check=1").content.decode()
        assert "a power cut" in text
        assert "follow one another" in text
        assert ">over<" not in text

    def test_people_and_subjects_by_their_names_of_today(self, boss, contest, organiser, team):
        act(boss, "run-teams", "status", team="1", status="withdrawn", why="they left")
        address = reverse("run-audit", args=["spring"])
        text = boss.get(f"{address}?actor=person:{organiser.pk}").content.decode()
        assert f">{organiser.username}</td>" in text
        assert f'{reverse("run-teams", args=["spring"])}?team=1">team:1</a>' in text
        assert f">{team.name}</span>" in text

    def test_a_broken_chain_is_told(self, boss, contest):
        act(boss, "run", "pause", why="a power cut")
        LogEntry.objects.filter(action="contest.pause").update(why="nothing")
        text = boss.get(reverse("run-audit", args=["spring"]) + "?check=1").content.decode()
        assert "The chain is broken" in text

    def test_download(self, boss, contest):
        act(boss, "run", "pause", why="a power cut")
        answer = boss.get(reverse("run-audit-export", args=["spring"]))
        rows = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
        assert rows[-1]["why"] == "a power cut"
        assert not {"who", "about", "link"} & set(rows[-1])


class TestNew:
    def test_staff_creates(self, boss, contest):
        answer = boss.post(
            reverse("run-new"), {"act": "create_file", "name": "Autumn", "slug": "autumn"}
        )
        assert answer.status_code == 302
        assert Contest.objects.get(slug="autumn").organisers.count() == 1

    def test_bad_rules_are_marked(self, boss, contest):
        given = {"name": "Autumn", "slug": "autumn", "text": "users = 1"}
        answer = boss.post(reverse("run-new"), {"act": "create_file", **given})
        assert answer.status_code == 422
        assert "users = 1" in answer.content.decode()
        assert "Accepted: a whole number" not in answer.content.decode()

    def test_a_bad_address_is_said_in_words(self, boss, contest):
        answer = boss.post(reverse("run-new"), {"name": "Autumn", "slug": "Autumn 1", "text": ""})
        assert answer.status_code == 422
        assert "[a-z0-9-]" not in answer.content.decode()
        assert '<td class="number">0</td>' not in answer.content.decode()

    def test_others_do_not(self, client, member):
        client.force_login(member)
        assert client.get(reverse("run-new")).status_code == 403

    def test_an_organiser_who_is_no_staff_can_undo_a_deletion(self, client, contest, new_person):
        person = new_person("helper")
        contest.organisers.create(person=person, since=clock.now())
        Contest.objects.update(deleted_at=clock.now())
        client.force_login(person)
        assert "Bring it back" in client.get(reverse("run-new")).content.decode()
        answer = client.post(reverse("run-new"), {"name": "Autumn", "slug": "autumn"})
        assert answer.status_code == 403
        client.post(reverse("run-new"), {"act": "undelete", "slug": "spring"})
        contest.refresh_from_db()
        assert contest.deleted_at is None


class TestHealth:
    def test_strangers_get_a_word(self, client, db):
        answer = client.get(reverse("health"))
        assert answer.json() == {"status": "ok"}

    def test_staff_gets_a_page(self, boss):
        text = boss.get(reverse("health"), headers={"accept": "text/html"}).content.decode()
        assert "Is the server well?" in text
        assert boss.get(reverse("health") + "?json").json()["database"] == connection.vendor

    def test_a_dead_job_needs_attention(self, boss, contest):
        Job.objects.create(
            key="x", kind="mail", state="dead", payload={}, run_after=clock.now(),
            created_at=clock.now(),
        )  # fmt: skip
        assert boss.get(reverse("health") + "?json").json()["status"] == "attention"


class TestMetrics:
    def test_local_and_staff_only(self, client, organiser, submission):
        assert client.get(reverse("metrics")).status_code == 200
        far = {"REMOTE_ADDR": "203.0.113.5"}
        assert client.get(reverse("metrics"), **far).status_code == 404
        proxied = {"headers": {"X-Forwarded-For": "203.0.113.5"}}
        assert client.get(reverse("metrics"), **proxied).status_code == 404
        client.force_login(organiser)
        assert client.get(reverse("metrics"), **far).status_code == 200

    def test_a_token_of_staff(self, client, organiser):
        from tracecup.server.access import Actor
        from tracecup.server.people.tokens import new_token

        _, secret = new_token(organiser, "prometheus", 30, Actor(organiser))
        far = {"REMOTE_ADDR": "203.0.113.5", "headers": {"Authorization": f"Bearer {secret}"}}
        assert client.get(reverse("metrics"), **far).status_code == 200
        far["headers"] = {"Authorization": "Bearer tct_wrong"}
        assert client.get(reverse("metrics"), **far).status_code == 404

    def test_numbers_without_names(self, client, submission):
        text = client.get(reverse("metrics")).content.decode()
        assert 'tracecup_submissions{state="scored"} 1' in text
        assert "# TYPE tracecup_disk_free_bytes gauge" in text
        assert "spring" not in text
        assert "team1" not in text


class TestCertificates:
    def test_an_award_and_a_participation(self, client, member, results):
        client.force_login(member)
        text = client.get(reverse("certificates", args=["spring"])).content.decode()
        assert "Overall" in text
        assert "participation" in text
        page = client.get(reverse("certificate", args=["spring", 1, 1])).content.decode()
        assert "First place in round final with 0.9000" in page
        picture = client.get(reverse("certificate-svg", args=["spring", 1, 1]))
        assert picture["Content-Type"] == "image/svg+xml"
        assert picture["Content-Security-Policy"] == "default-src 'none'"

    def test_not_before_results_are_public(self, client, member, results):
        Round.objects.update(released_at=None)
        client.force_login(member)
        assert client.get(reverse("certificate", args=["spring", 1, 1])).status_code == 404

    def test_not_another_teams(self, client, member, contest, new_team, results):
        new_team(contest)
        client.force_login(member)
        assert client.get(reverse("certificate", args=["spring", 2, 1])).status_code == 404

    def test_names_are_escaped_and_fit(self, contest, team, results):
        from xml.etree import ElementTree

        from tracecup.server.results.certificates import certificates_of, svg

        team.name = "<script>&" + "長" * 100
        team.save()
        made = svg(certificates_of(team)[0])
        assert "<script>" not in made
        root = ElementTree.fromstring(made)
        sizes = {node.text: float(node.get("font-size")) for node in root.iter() if node.text}
        assert sizes[team.name] < 8

    def test_none_for_the_disqualified(self, team, results):
        from tracecup.server.results.certificates import certificates_of

        team.status = "disqualified"
        assert certificates_of(team) == []
