"""The queue: leases, fences, attempts, order, pauses."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from tracecup.server import clock
from tracecup.server.jobs import queue
from tracecup.server.jobs.queue import LostLease
from tracecup.server.models import Job
from tracecup.server.teams.mailing import (
    handle_mail,
)

pytestmark = pytest.mark.django_db


def add(key: str = "a", kind: str = "mail", **more) -> Job:
    return queue.enqueue(kind, key, {}, **more)


def after(fixed_clock, seconds: float) -> None:
    fixed_clock.at += timedelta(seconds=seconds)


class TestEnqueue:
    def test_same_key_is_one_job(self):
        assert add("a").pk == add("a").pk
        assert Job.objects.count() == 1

    def test_urgent_kinds_go_first(self):
        for kind in ("results", "sample", "score", "shuffle"):
            add(kind, kind)
        order = [queue.lease("w").kind for _ in range(4)]
        assert order == ["shuffle", "score", "sample", "results"]

    def test_not_before_its_time(self, fixed_clock):
        add("a", run_after=clock.now() + timedelta(seconds=10))
        assert queue.lease("w") is None
        after(fixed_clock, 10)
        assert queue.lease("w") is not None

    def test_clock_that_is_set_back_delays_nothing_new(self, fixed_clock):
        add()
        after(fixed_clock, -3600)
        assert queue.lease("w") is not None


class TestLease:
    def test_a_job_has_one_worker(self):
        add()
        assert queue.lease("one").worker == "one"
        assert queue.lease("two") is None

    def test_taken_again_when_the_lease_runs_out(self, fixed_clock):
        add()
        first = queue.lease("one")
        after(fixed_clock, 31)
        second = queue.lease("two")
        assert second.pk == first.pk
        assert second.fence == first.fence + 1

    def test_renewed_lease_stays(self, fixed_clock):
        add()
        job = queue.lease("one")
        for _ in range(5):
            after(fixed_clock, 20)
            assert queue.renew(job)
            assert queue.lease("two") is None

    def test_dead_after_its_workers_died_each_time(self, fixed_clock):
        add(max_attempts=2)
        for _ in range(2):
            assert queue.lease("w") is not None
            after(fixed_clock, 31)
        assert queue.lease("w") is None
        assert Job.objects.get().state == "dead"

    def test_only_the_kinds_asked_for(self):
        add("a", "mail")
        assert queue.lease("w", ["score"]) is None

    def test_paused_contest_waits_but_its_mail_goes(self, contest):
        add("a", "score", contest=contest)
        add("b", "mail", contest=contest)
        contest.paused_at = clock.now()
        contest.save()
        assert queue.lease("w").kind == "mail"
        assert queue.lease("w") is None
        contest.paused_at = None
        contest.save()
        assert queue.lease("w").kind == "score"

    def test_looking_at_an_empty_queue_takes_no_write_lock(self, django_assert_num_queries):
        with django_assert_num_queries(1):
            assert queue.lease("w") is None


class TestFinish:
    def test_writes_with_the_job(self, contest):
        add()
        job = queue.lease("w")

        def rename(_: Job) -> None:
            contest.name = "renamed"
            contest.save()

        queue.finish(job, {"x": 1}, rename, 2.5)
        row = Job.objects.get()
        assert (row.state, row.result, row.seconds) == ("done", {"x": 1}, 2.5)

    def test_late_worker_writes_nothing(self, contest, fixed_clock):
        add()
        late = queue.lease("one")
        after(fixed_clock, 31)
        queue.lease("two")
        with pytest.raises(LostLease):
            queue.finish(late, {}, lambda _: pytest.fail("must not be applied"))
        assert not queue.renew(late)

    def test_same_job_twice_counts_once(self):
        add()
        job = queue.lease("w")
        queue.finish(job, {})
        with pytest.raises(LostLease):
            queue.finish(job, {}, lambda _: pytest.fail("must not be applied"))

    @pytest.mark.django_db(transaction=True)
    def test_error_while_writing_undoes_everything(self, contest):
        add()
        job = queue.lease("w")

        def half(_: Job) -> None:
            contest.name = "half"
            contest.save()
            raise RuntimeError

        with pytest.raises(RuntimeError):
            queue.finish(job, {}, half)
        contest.refresh_from_db()
        assert contest.name == "Spring contest"
        assert Job.objects.get().state == "running"
        assert not connection.in_atomic_block


class TestFail:
    def test_again_later_and_later(self, fixed_clock):
        add()
        waits = []
        for _ in range(3):
            queue.fail(queue.lease("w"), "broken")
            row = Job.objects.get()
            assert row.state == "waiting"
            waits.append((row.run_after - clock.now()).total_seconds())
            fixed_clock.at = row.run_after
        assert waits == [2, 4, 8]

    def test_dead_after_the_last_attempt(self, fixed_clock):
        add(max_attempts=2)
        queue.fail(queue.lease("w"), "broken")
        after(fixed_clock, 5)
        queue.fail(queue.lease("w"), "broken again")
        assert [job.error for job in queue.dead_jobs()] == ["broken again"]

    def test_final_is_dead_at_once(self):
        add()
        queue.fail(queue.lease("w"), "hopeless", final=True)
        assert queue.dead_jobs().count() == 1

    def test_organisers_get_a_letter_about_a_dead_job(self, contest, organiser, mailoutbox):
        job = queue.enqueue("results", "r", {"result_set": 0}, contest=contest)
        queue.fail(queue.lease("w"), "hopeless", final=True)
        letter = Job.objects.get(kind="mail")
        handle_mail(letter.payload)
        handle_mail({**letter.payload})
        assert [one.to for one in mailoutbox] == [[organiser.email]] * 2
        assert "results" in mailoutbox[0].body
        assert "hopeless" not in mailoutbox[0].body
        queue.fail(queue.lease("w"), "no mail server", final=True)
        assert Job.objects.filter(kind="mail").count() == 1
        assert Job.objects.get(pk=job.pk).state == "dead"

    def test_put_back_costs_no_attempt(self, fixed_clock):
        add()
        queue.put_back(queue.lease("w"), "not yet", 5)
        assert Job.objects.get().attempts == 0
        assert queue.lease("w") is None
        after(fixed_clock, 5)
        assert queue.lease("w") is not None

    def test_new_attempts_for_a_dead_job(self):
        add()
        queue.fail(queue.lease("w"), "hopeless", final=True)
        queue.again(Job.objects.get())
        assert queue.lease("w").attempts == 1
