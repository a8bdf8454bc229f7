"""The organisers' API: the twins of their pages, every act, and nothing for others."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection

from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.models import Announcement, Contest, Extension, Job, Round, Submission
from tracecup.server.people.tokens import new_token

pytestmark = pytest.mark.django_db
ROOT = "/api/v1"
HERE = f"{ROOT}/contests/spring"
TWINS = ("run", "run/teams", "run/submissions", "run/judge", "run/scores", "run/settings",
         "run/audit", "run/backup")  # fmt: skip


@pytest.fixture
def call(client):
    """Send JSON as somebody."""

    secrets = {}

    def send(person, method, path, **body):
        if person.pk not in secrets:
            secrets[person.pk] = new_token(person, "test", 30, Actor(person))[1]
        secret = secrets[person.pk]
        return getattr(client, method)(
            f"{ROOT}{path}",
            json.dumps(body) if method != "get" else None,
            headers={"Authorization": f"Bearer {secret}"},
            **({"content_type": "application/json"} if method != "get" else {}),
        )

    return send


@pytest.fixture
def boss(call, organiser):
    def send(method, path, **body):
        return call(organiser, method, f"/contests/spring{path}", **body)

    return send


class TestTwins:
    @pytest.mark.parametrize("page", TWINS)
    def test_for_organisers_only(self, boss, call, client, contest, member, page):
        assert boss("get", f"/{page}").status_code == 200
        assert call(member, "get", f"/contests/spring/{page}").status_code == 403
        assert client.get(f"{HERE}/{page}").status_code == 401

    def test_an_unknown_round_is_not_found(self, boss, contest):
        assert boss("get", "/run/judge?round=none").status_code == 404

    def test_the_log_is_checked(self, boss, contest):
        boss("post", "/pause", why="x")
        said = boss("get", "/run/audit?check=true").json()
        assert said["chain_checked"]
        assert said["chain_faults"] == []
        assert said["rows"][0]["action"] == "contest.pause"


class TestContest:
    def test_create_clone_delete_undelete(self, call, boss, organiser, contest, member):
        body = {"name": "Autumn", "slug": "autumn"}
        assert call(member, "post", "/site/contests", **body).status_code == 403
        assert call(organiser, "post", "/site/contests", **body).status_code == 201
        assert call(organiser, "post", "/site/contests", **body).status_code == 409
        made = boss("post", "/clone", name="W", slug="winter", starts="2030-12-01T00:00:00Z")
        assert made.status_code == 201
        assert boss("post", "/delete", why="x").status_code == 204
        assert boss("get", "/run").status_code == 404
        assert call(member, "post", "/contests/spring/undelete").status_code == 404
        assert boss("post", "/undelete").status_code == 200
        assert boss("get", "/run").status_code == 200

    def test_rules(self, boss, contest):
        text = contest.rules_text.replace("attack_tries = 2", "attack_tries = 4")
        plan = boss("post", "/run/rules/plan", text=text).json()
        assert [effect["key"] for effect in plan["effects"]] == ["limits.attack_tries"]
        assert boss("put", "/run/rules", text=text, why="").status_code == 422
        assert boss("put", "/run/rules", text=text, why="more", version=1).status_code == 200
        assert boss("put", "/run/rules", text=text + "#", why="more", version=1).status_code == 409
        contest.refresh_from_db()
        assert contest.rules.limits.attack_tries == 4

    def test_details(self, boss, contest):
        assert boss("patch", "/run/settings", is_public=False, divisions=["a"]).status_code == 200
        contest.refresh_from_db()
        assert (contest.is_public, contest.join_open, contest.divisions) == (False, False, ["a"])


class TestClock:
    def test_pause_and_resume(self, boss, contest, at):
        assert boss("post", "/pause", why="x").status_code == 204
        at(clock.now() + timedelta(hours=1))
        assert boss("post", "/resume", why="y").json() == {"seconds": 3600.0}

    def test_a_deadline_without_an_offset_is_local(self, boss, contest):
        said = boss("post", "/deadline", phase="anonymize", until="2030-04-03T12:00:00", why="x")
        assert said.status_code == 200
        contest.refresh_from_db()
        judge = contest.rules.round("final").phases.judge
        assert judge.isoformat() == "2030-04-03T03:00:00+00:00"

    def test_phases(self, boss, contest):
        times = {
            phase: f"2030-05-0{k}T09:00:00"
            for k, phase in enumerate(("announce", "anonymize", "judge", "attack", "results"), 1)
        }
        said = boss("put", "/rounds/final/phases", **times, why="fixed").json()
        assert len(said["effects"]) == 5

    @pytest.mark.parametrize("until", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z"])
    def test_absurd_times_are_refused(self, boss, contest, team, until):
        body = {"phase": "anonymize", "until": until, "why": "x"}
        assert boss("post", "/deadline", **body).status_code == 422
        assert boss("post", "/teams/1/extensions", **body).status_code == 422
        assert boss("put", "/appeals-window", until=until, why="x").status_code == 422
        assert boss("post", "/clone", name="a", slug="a", starts=until).status_code == 422

    def test_only_a_demo_moves(self, boss, contest):
        assert boss("post", "/clock", seconds=60).status_code == 403
        Contest.objects.update(is_rehearsal=True)
        assert boss("post", "/clock", seconds=60).status_code == 200


class TestPeople:
    def test_announcements(self, boss, contest, team):
        made = boss("post", "/announcements", title="Rain", text="Hello", team=1).json()
        assert made["team"] == 1
        path = f"/announcements/{made['id']}"
        assert boss("post", f"{path}/retract", why="wrong").json()["retracted"]
        assert not boss("post", f"{path}/restore").json()["retracted"]
        assert Announcement.objects.count() == 1
        assert boss("post", "/announcements", title="a", text="b", team=9).status_code == 404

    def test_appeals(self, boss, call, contest, member):
        path = "/contests/spring/appeals"
        assert call(member, "post", path, text="Not fair").status_code == 409
        boss("put", "/appeals-window", until="2030-04-09T00:00:00Z", why="results")
        made = call(member, "post", path, text="Not fair")
        assert made.status_code == 201
        answered = boss(
            "post", f"/appeals/{made.json()['id']}/answer", answer="We looked", accepted=False
        )
        assert answered.json()["state"] == "declined"

    def test_status_and_extensions(self, boss, contest, team):
        assert boss("put", "/teams/1/status", status="withdrawn", why="x").status_code == 204
        assert boss("post", "/teams/1/delete", why="x").status_code == 204
        assert boss("put", "/teams/1/status", status="active", why="x").status_code == 404
        assert boss("post", "/teams/1/undelete").status_code == 204
        made = boss("post", "/teams/1/extensions", phase="attack", extra_tries=1, why="x")
        assert made.status_code == 201
        assert (
            boss("post", f"/extensions/{made.json()['id']}/take-back", why="x").status_code == 204
        )
        assert not Extension.objects.exists()


class TestRounds:
    def test_switches(self, boss, contest, final):
        for what, column in (
            ("auto-publish", "auto_publish"),
            ("auto-results", "auto_results"),
            ("frozen", "frozen"),
        ):
            before = getattr(final, column)
            said = boss("put", f"/rounds/final/{what}", on=not before, why="x")
            assert said.status_code == 204
            final.refresh_from_db()
            assert getattr(final, column) is not before

    def test_nothing_is_published_before_it_is_judged(self, boss, contest):
        assert boss("post", "/rounds/final/publish", why="x").status_code == 409
        assert boss("post", "/rounds/final/result-sets", why="x").status_code == 409
        assert boss("post", "/rounds/final/result-sets/1/publish", why="x").status_code == 404

    def test_a_failed_answer_is_run_again(self, boss, contest, final, team):
        found = Submission.objects.create(
            contest=contest, round=final, team=team, kind="reid", challenge="trace", target=2,
            state="failed", sha256="0" * 64, size=1, received_at=clock.now(), via="api",
            file_name="x", idempotency_key="1",
        )  # fmt: skip
        said = boss("post", f"/run/submissions/{found.ref}/rerun", why="our fault").json()
        assert (said["state"], said["charged"]) == ("queued", True)
        assert Job.objects.filter(kind="score", state="waiting").count() == 1
        said = boss("post", f"/run/submissions/{found.ref}/withdraw", why="x").json()
        assert said["state"] == "withdrawn"
        said = boss("post", f"/run/submissions/{found.ref}/restore", why="x").json()
        assert said["state"] == "queued"

    def test_dead_jobs(self, boss, contest):
        job = Job.objects.create(
            key="x", kind="mail", contest=contest, state="dead", payload={},
            run_after=clock.now(), created_at=clock.now(),
        )  # fmt: skip
        assert boss("post", f"/jobs/{job.pk}/retry", why="x").json()["state"] == "waiting"
        assert boss("post", f"/jobs/{job.pk}/retry", why="x").status_code == 409


class TestSite:
    def test_health(self, call, client, organiser):
        assert client.get(f"{ROOT}/site/health").json() == {"status": "ok"}
        assert call(organiser, "get", "/site/health").json()["database"] == connection.vendor

    def test_backups_are_for_staff(self, call, contest, organiser, member):
        assert call(member, "post", "/site/backups").status_code == 403
        assert call(organiser, "post", "/site/backups").status_code == 201
        assert call(organiser, "post", "/site/backups").status_code == 409

    def test_certificates(self, call, contest, member):
        assert call(member, "get", "/contests/spring/certificates").json() == []
        Round.objects.update(released_at=clock.now())
        assert call(member, "get", "/contests/spring/certificates/1/1").status_code == 404
