"""The judge's acts: data, verdicts, shuffle, commitments, publication, scores of answers."""

from __future__ import annotations

import hashlib
import json
import os
import time
from datetime import timedelta

import numpy as np
import pytest
from tests.server.conftest import BEGINS

from tracecup.contest.judging.commitment import read_opening
from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs import queue, sandbox
from tracecup.server.jobs.kinds import kind_of
from tracecup.server.jobs.queue import NotNow
from tracecup.server.jobs.sandbox import SandboxFailed
from tracecup.server.jobs.worker import Worker, drain
from tracecup.server.judging import service as judging
from tracecup.server.judging.kinds import score as scoring
from tracecup.server.models import Job, LogEntry, Release, StoredFile, Submission
from tracecup.server.organising import repairs
from tracecup.server.organising.running import extend
from tracecup.server.storage import store
from tracecup.server.submissions import choices
from tracecup.server.submissions.quotas import quota
from tracecup.server.web import arrivals
from tracecup.traces.files import read_id_table

pytestmark = pytest.mark.django_db


class TestEnsureData:
    def test_every_team_the_benchmark_and_the_samples(self, court):
        court.begin()
        names = set(StoredFile.objects.filter(round=court.round).values_list("name", flat=True))
        for number in (1, 2, 3, 4):
            assert f"orgtraces_team{number:03d}_data02_TRP.csv.zst" in names
            assert f"reftraces_team{number:03d}_data02_TRP.csv.zst" in names
        assert {"orgtraces_team000_data01_IDP.csv.zst", "info_region.csv", "info_time.csv"} <= names
        assert "ptable_team901_data02_TRP.csv.zst" in names
        assert court.contest.city_sha256

    def test_own_files_are_the_teams_and_samples_are_everybodys(self, court):
        court.begin()
        audience = dict(StoredFile.objects.values_list("name", "audience"))
        assert audience["orgtraces_team001_data02_TRP.csv.zst"] == "team"
        assert audience["orgtraces_team000_data01_IDP.csv.zst"] == "judge"
        assert audience["orgtraces_team902_data02_TRP.csv.zst"] == "all"
        announce = court.round.rules.phases.announce
        assert {one.visible_from for one in StoredFile.objects.all()} == {announce}

    def test_asking_again_makes_nothing_new(self, court):
        court.begin()
        before = list(StoredFile.objects.values_list("pk", "sha256"))
        judging.ensure_data(court.contest)
        assert drain() == 0
        assert list(StoredFile.objects.values_list("pk", "sha256")) == before

    def test_teams_have_different_data(self, court):
        court.begin()
        assert not np.array_equal(court.original(1).regions, court.original(2).regions)

    def test_teams_that_come_late_do_not_hold_up_the_announcement(self, court, new_team):
        judging.ensure_data(court.contest)
        court.at("announce")
        late = new_team(court.contest)
        judging.ensure_data(court.contest)
        waiting = Job.objects.filter(key__contains=f"team{late.number:03d}")
        waiting.update(run_after=clock.now() + timedelta(days=1), created_at=clock.now())
        assert waiting.count() == 1
        drain()
        assert court.fresh().round.announced_at is not None

    def test_late_team_gets_data_and_a_verdict(self, court, new_team):
        court.to_attack()
        late = new_team(court.contest)
        judging.ensure_data(court.contest)
        drain()
        row = Release.objects.get(team=late)
        assert (row.valid, row.reason) == (False, "nothing was handed in")


class TestJudgeRound:
    def test_verdicts(self, court):
        court.to_attack()
        said = {row.label: row for row in Release.objects.filter(round=court.round)}
        assert said["team000_data01_IDP"].valid
        assert said["team001_data02_TRP"].utility == 1
        assert said["team002_data02_TRP"].valid
        assert said["team002_data02_TRP"].utility == pytest.approx(0.75)
        below = said["team003_data02_TRP"]
        assert (below.valid, below.reason) == (False, "utility 0.500000 is below the floor 0.7")
        missing = said["team004_data02_TRP"]
        assert (missing.valid, missing.reason) == (False, "nothing was handed in")
        assert missing.submission is None

    def test_method_only_with_consent(self, court):
        court.to_attack()
        methods = dict(Release.objects.values_list("label", "method"))
        assert methods["team001_data02_TRP"] == "None"
        assert methods["team002_data02_TRP"] == ""

    def test_commitment_fixes_table_and_traces(self, court):
        court.to_attack()
        row = Release.objects.get(label="team001_data02_TRP")
        path = court.path("opening_team001.txt")
        assert hashlib.sha256(path.read_bytes()).hexdigest() == row.commitment
        assert set(read_opening(path).files) == {
            "orgtraces_team001_data02_TRP.csv",
            "anotraces_team001_data02_TRP.csv",
            "ptable_team001_data02_TRP.csv",
        }

    def test_two_judges_shuffle_differently(self, court, new_contest, new_team):
        court.to_attack()
        tables = [
            read_id_table(court.path(f"ptable_team00{k}_data0{d}.csv.zst"), users=24).users
            for k, d in ((0, "1_IDP"), (1, "2_TRP"), (2, "2_TRP"))
        ]
        # Equal with probability 3/24!, below 1e-23.
        assert len({tuple(table) for table in tables}) == 3

    def test_shuffle_can_be_fixed_for_tests(self, court, monkeypatch, caplog):
        monkeypatch.setenv("TRACECUP_SHUFFLE_SEED", "7")
        court.to_attack()
        assert "TRACECUP_SHUFFLE_SEED is set" in caplog.text
        first = court.path("ptable_team001_data02_TRP.csv.zst").read_bytes()
        opening = court.path("opening_team001.txt").read_text()
        Job.objects.filter(key__startswith="shuffle:").update(state="waiting", attempts=0)
        drain()
        assert court.path("ptable_team001_data02_TRP.csv.zst").read_bytes() == first
        assert court.path("opening_team001.txt").read_text() == opening

    def test_files_that_arrived_in_time_are_waited_for(self, court, server_folder):
        court.begin()
        found = arrivals.note(server_folder / arrivals.FOLDER)
        os.utime(found, (time.time() - 600, time.time() - 600))
        court.at(court.round.rules.phases.judge + timedelta(seconds=400))
        with pytest.raises(NotNow, match="arrived in time"):
            judging.judge_round(court.round)
        os.utime(found, (time.time() - 20, time.time() - 20))  # this one came too late
        judging.judge_round(court.round)
        court.round.refresh_from_db()
        assert court.round.judging_at is not None

    def test_intake_is_closed_for_good(self, court):
        court.to_attack()
        court.at("anonymize")  # even if a clock goes back
        with pytest.raises(Refused, match="over"):
            court.hand_in(4, court.release(4))

    def test_not_before_the_last_extension(self, court):
        court.begin()
        court.teams[4].extensions.create(
            round=court.round,
            phase="anonymize",
            until=BEGINS["judge"] + timedelta(days=1),
            reason="ill",
            given_at=clock.now(),
        )
        court.at("judge")
        drain()
        assert court.fresh().round.judging_at is None
        with pytest.raises(NotNow):
            judging.judge_round(court.round)
        court.hand_in(4, court.release(4))
        court.at(BEGINS["judge"] + timedelta(days=1, seconds=61))
        drain()
        assert Release.objects.get(team=court.teams[4]).valid

    def test_files_that_arrived_in_time_may_settle(self, court):
        """At the instant itself nothing is closed: what arrived before is still being checked."""
        court.begin()
        release = court.release(1)
        deadline = court.round.rules.phases.judge
        court.at(deadline + timedelta(seconds=30))
        drain()
        given = court.hand_in(1, release, received_at=deadline - timedelta(seconds=1))
        assert given.state == "scored"

    def test_withdrawn_team_is_not_published(self, court):
        court.begin().hand_in_all()
        court.teams[1].status = "withdrawn"
        court.teams[1].save()
        court.at("attack")
        drain()
        assert not Release.objects.get(team=court.teams[1]).valid

    def test_demonstration_below_the_floor_is_published(self, court):
        court.teams[3].hors_concours = True
        court.teams[3].save()
        court.to_attack()
        row = Release.objects.get(team=court.teams[3])
        assert (row.valid, row.hors_concours) == (False, True)
        assert set(row.scores) == {"I1", "I2", "I3", "T1", "T2", "T3"}

    def test_nothing_happens_while_paused(self, court):
        court.begin().hand_in_all()
        court.contest.paused_at = clock.now()
        court.contest.save()
        court.at("attack")
        before = court.contest.jobs.count()
        drain()
        assert court.contest.jobs.count() == before
        assert court.fresh().round.judging_at is None
        court.contest.paused_at = None
        court.contest.save()
        drain()
        assert court.fresh().round.published_at is not None

    def test_unreadable_file_is_our_fault_not_a_verdict(self, court):
        court.begin()
        given = court.hand_in(1, court.release(1))
        store().path(given.sha256).write_bytes(b"damaged")
        court.at("judge")
        _run_out()
        assert not Release.objects.filter(team=court.teams[1]).exists()
        assert [job.kind for job in queue.dead_jobs(court.contest)] == ["shuffle"]
        assert court.fresh().round.judged_at is None


class TestPublishRound:
    def test_attackers_get_releases_references_and_commitments(self, court):
        court.to_attack()
        public = set(
            StoredFile.objects.filter(
                audience="all", visible_from=court.round.published_at
            ).values_list("name", flat=True)
        )
        assert public == {
            "commitments.json",
            *(
                f"{kind}_{label}.csv.zst"
                for kind in ("reftraces", "pubtraces")
                for label in ("team000_data01_IDP", "team001_data02_TRP", "team002_data02_TRP")
            ),
        }

    def test_tables_and_openings_stay_with_the_judge(self, court):
        court.to_attack()
        held = StoredFile.objects.filter(round=court.round, kind__in=("ptable", "opening"))
        assert {one.audience for one in held.exclude(entry_team__gte=901)} == {"judge"}

    def test_commitments_file(self, court):
        court.to_attack()
        held = json.loads(court.path("commitments.json").read_text())
        rows = Release.objects.filter(round=court.round)
        assert len(held["commitments"]) == 5
        assert set(held["commitments"].values()) == {row.commitment for row in rows}
        assert held["releases"]["pubtraces_team003_data02_TRP.csv"]["published"] is False

    def test_by_hand_where_organisers_want_that(self, court):
        court.round.auto_publish = False
        court.round.save()
        court.to_attack()
        assert court.round.judged_at is not None
        assert court.round.published_at is None
        judging.publish_round(court.round, SYSTEM, "looked at it")
        assert court.fresh().round.published_at is not None

    def test_not_before_the_judge_is_ready(self, court):
        court.begin()
        with pytest.raises(Refused, match="not finished"):
            judging.publish_round(court.round)

    def test_twice_is_once(self, court):
        court.to_attack()
        before = court.round.published_at
        judging.publish_round(court.round)
        assert court.fresh().round.published_at == before
        assert LogEntry.objects.filter(action="round.published").count() == 1


class TestSamples:
    def test_on_every_valid_release(self, court):
        court.to_attack()
        for row in Release.objects.filter(round=court.round):
            columns = {"I1", "I2", "I3", "T1", "T2", "T3"} if row.valid else set()
            assert set(row.scores) == columns
            for score in row.scores.values():
                assert 0 <= score["score"] <= 1
                assert score["scorer"].startswith("tracecup ")
                assert len(score["inputs_sha256"]) == 64
                assert score["seconds"] >= 0


class TestScoring:
    def test_score_of_an_answer(self, court):
        court.to_attack()
        table = read_id_table(court.path("ptable_team001_data02_TRP.csv.zst"), users=24)
        right = ("user_id\n" + "".join(f"{user + 1}\n" for user in table.users)).encode()
        given = court.hand_in(2, right, kind="reid", target=1)
        assert given.state == "queued"
        drain()
        given.refresh_from_db()
        assert (given.state, given.score) == ("scored", 0.0)
        assert given.scorer.startswith("tracecup ")
        assert len(given.inputs_sha256) == 64
        assert given.seconds is not None

    def test_scored_once(self, court):
        court.to_attack()
        given = court.attack(1, 2)
        job = queue.lease("slow")
        worker_saw = job.fence
        court.at(clock.now() + timedelta(seconds=40))
        assert Worker("quick").run_one()
        given.refresh_from_db()
        first = given.scored_at
        court.at(clock.now() + timedelta(seconds=1))
        with pytest.raises(queue.LostLease):
            queue.finish(job, {}, lambda _: pytest.fail("late"))
        given.refresh_from_db()
        assert given.scored_at == first
        assert Job.objects.get(pk=job.pk).fence == worker_saw + 1

    def test_our_failure_gives_the_try_back(self, court, monkeypatch):
        court.to_attack()
        given = court.attack(1, 2)

        def broken(function, payload, **more):
            raise SandboxFailed("ended without an answer (code -9)", "killed")

        with monkeypatch.context() as patch:
            patch.setattr(sandbox, "run", broken)
            _run_out()
        given.refresh_from_db()
        assert (given.state, given.charged, given.score) == ("failed", False, None)
        assert quota(court.round, court.teams[1], "reid", "trace", 2).used == 0
        queue.again(queue.dead_jobs().get())
        given.refresh_from_db()
        assert (given.state, given.charged) == ("queued", True)
        drain()
        given.refresh_from_db()
        assert given.state == "scored"

    def test_a_try_that_was_given_back_and_used_is_not_charged_again(self, court, organiser):
        court.to_attack()
        given = court.attack(1, 2)
        job = queue.lease("w")
        queue.fail(job, "ended without an answer", final=True)
        for what in (5, 6):
            court.attack(1, 2, what=what)
        by = Actor(organiser)
        for run_again in (
            lambda: repairs.rerun(given, by, "our fault"),
            lambda: repairs.retry_job(job, by, "our fault"),
        ):
            with pytest.raises(Refused) as found:
                run_again()
            assert (found.value.code, found.value.details) == ("quota", {"allowed": 2, "used": 2})
            given.refresh_from_db()
            assert (given.state, given.charged) == ("failed", False)
            assert Job.objects.get(pk=job.pk).state == "dead"
        extend(given.team, court.round, "attack", by, extra_tries=1, reason="our fault")
        repairs.rerun(given, by, "our fault")
        assert quota(court.round, court.teams[1], "reid", "trace", 2).used == 3
        drain()
        given.refresh_from_db()
        assert given.state == "scored"

    def test_an_answer_restored_while_its_job_ends_is_scored(self, court, monkeypatch):
        court.to_attack()
        given = court.attack(1, 2)
        choices.withdraw(given, SYSTEM)
        really = scoring.prepare

        def restored_meanwhile(job):
            task = really(job)
            if Submission.objects.get(pk=given.pk).state == "withdrawn":
                choices.restore(given, SYSTEM, why="by mistake")
            return task

        monkeypatch.setattr(kind_of("score"), "prepare", restored_meanwhile)
        drain()
        assert Submission.objects.get(pk=given.pk).state == "scored"

    def test_an_answer_that_runs_again_is_not_taken_for_scored(self, court, organiser):
        court.to_attack()
        given = court.attack(1, 2)
        drain()
        repairs.rerun(given, Actor(organiser), "a new scorer")
        choices.withdraw(given, SYSTEM)
        drain()
        assert choices.restore(given, SYSTEM).state == "queued"
        drain()
        assert Submission.objects.get(pk=given.pk).state == "scored"

    def test_withdrawn_answer_is_not_scored_until_restored(self, court):
        court.to_attack()
        given = court.attack(1, 2)
        choices.withdraw(given, SYSTEM)
        drain()
        given.refresh_from_db()
        assert (given.state, given.score) == ("withdrawn", None)
        choices.restore(given, SYSTEM, why="by mistake")
        drain()
        assert Submission.objects.get(pk=given.pk).state == "scored"


def _run_out() -> None:
    """Work until every job is done or dead, whatever it has to wait for."""
    for _ in range(50):
        drain()
        waiting = Job.objects.filter(state="waiting").order_by("run_after").first()
        if waiting is None:
            return
        clock._clock.at = max(waiting.run_after, clock.now())
    raise AssertionError("jobs wait for ever")
