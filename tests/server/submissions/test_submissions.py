"""Releases handed in: receipts, refusals, tries, keys, which one counts."""

from __future__ import annotations

import gzip
import threading
from datetime import timedelta

import pytest

from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs import sandbox
from tracecup.server.models import Extension, LogEntry, Submission
from tracecup.server.people import throttle
from tracecup.server.storage import BlobStore, store
from tracecup.server.submissions import checking, choices, intake, quotas
from tracecup.server.submissions import service as submissions

pytestmark = pytest.mark.django_db


def refused(call, code: str) -> Refused:
    with pytest.raises(Refused) as found:
        call()
    assert found.value.code == code
    return found.value


def _gives_up(*args, **limits):
    raise sandbox.SandboxFailed("KeyError", "error")


class TestReceiveRelease:
    def test_an_accepted_release_has_a_receipt_with_hash_time_and_utility(self, desk, team):
        receipt = desk.hand_in(team, desk.release(team, moved=3))
        made = receipt.submission
        assert not receipt.repeated
        assert (made.state, made.charged, made.valid, made.attempt) == ("scored", True, True, 1)
        assert made.received_at == clock.contest_now(desk.contest)
        assert made.score == pytest.approx(1 - 3 / 24)
        assert store().path(made.sha256).read_bytes() == desk.release(team, moved=3).read_bytes()

    def test_packed_files_are_read_too(self, desk, team):
        made = desk.hand_in(team, gzip.compress(desk.release(team).read_bytes())).submission
        assert made.score == 1.0

    def test_a_rejected_file_names_its_first_bad_line_and_costs_nothing(self, desk, team):
        lines = desk.release(team).read_text().splitlines()
        lines[4], lines[9] = "17", "x"
        made = desk.hand_in(team, "\n".join(lines).encode()).submission
        assert (made.state, made.charged, made.attempt) == ("rejected", False, 0)
        assert made.problems[0]["line"] == 5
        assert made.problems[0]["field"] == "reg_id"
        assert "17" in made.problems[0]["found"]
        assert quotas.quota(desk.round, team, "release", "trace").left == 3

    def test_bytes_of_a_rejected_file_are_not_kept(self, desk, team):
        made = desk.hand_in(team, b"reg_id\nnonsense\n").submission
        assert not store().has(made.sha256)
        assert not list(store().incoming.iterdir())

    def test_no_path_of_the_server_is_in_the_problems(self, desk, team):
        made = desk.hand_in(team, b"reg_id\nnonsense\n").submission
        assert str(desk.folder) not in str(made.problems)

    def test_below_the_floor_is_refused_without_a_trace(self, desk, team):
        error = refused(lambda: desk.hand_in(team, desk.release(team, moved=12)), "rejected")
        assert error.details["utility"] == pytest.approx(0.5)
        assert error.details["confirm"] == "confirm_invalid"
        assert not Submission.objects.exists()

    def test_below_the_floor_confirmed_costs_a_try_and_is_invalid(self, desk, team):
        made = desk.hand_in(team, desk.release(team, moved=12), confirm_invalid=True).submission
        assert (made.valid, made.charged, made.state) == (False, True, "scored")
        assert quotas.quota(desk.round, team, "release", "trace").left == 2

    def test_tries_end(self, desk, team):
        for moved in range(3):
            desk.hand_in(team, desk.release(team, moved))
        error = refused(lambda: desk.hand_in(team, desk.release(team, 4)), "quota")
        assert error.details == {"allowed": 3, "used": 3}

    def test_extra_tries_of_an_extension_count(self, desk, team):
        for moved in range(3):
            desk.hand_in(team, desk.release(team, moved))
        Extension.objects.create(
            team=team,
            round=desk.round,
            phase="anonymize",
            extra_tries=1,
            reason="power cut",
            given_at=clock.now(),
        )
        assert desk.hand_in(team, desk.release(team, 4)).submission.attempt == 4

    def test_a_failed_one_is_given_back(self, desk, team):
        made = desk.hand_in(team, desk.release(team)).submission
        made.state, made.charged = "failed", False
        made.save()
        assert quotas.quota(desk.round, team, "release", "trace") == quotas.Quota(3, 0)
        assert desk.hand_in(team, desk.release(team, 1)).submission.attempt == 2

    @pytest.mark.parametrize("phase", ["before", "announce", "judge", "attack", "results"])
    def test_only_while_the_phase_is_open(self, desk, team, at, phase):
        at(phase)
        refused(lambda: desk.hand_in(team, desk.release(team)), "closed")
        assert not Submission.objects.exists()

    def test_the_instant_of_arrival_counts_not_that_of_the_work(self, desk, team, at):
        arrived = desk.round.rules.phases.judge - timedelta(milliseconds=1)
        at("judge")
        assert desk.hand_in(team, desk.release(team), received_at=arrived).submission.charged

    def test_at_the_deadline_itself_it_is_over(self, desk, team, at):
        arrived = desk.round.rules.phases.judge
        error = refused(
            lambda: desk.hand_in(team, desk.release(team), received_at=arrived), "closed"
        )
        assert error.details["arrived"] == arrived.isoformat()

    def test_nothing_comes_in_after_the_judge_began(self, desk, team):
        desk.round.judging_at = clock.now()
        desk.round.save()
        refused(lambda: desk.hand_in(team, desk.release(team)), "closed")

    def test_the_judge_wins_over_a_check_that_takes_long(self, desk, team, monkeypatch):
        def slow(*args):
            desk.round.judging_at = clock.now()
            desk.round.save()
            return checking.check(*args)

        stale = type(desk.round).objects.get(pk=desk.round.pk)
        desk_round, desk.round = desk.round, stale
        monkeypatch.setattr(intake, "check", slow)
        refused(lambda: desk.hand_in(team, desk.release(team)), "closed")
        assert desk_round.submissions.count() == 0

    def test_nothing_while_the_contest_is_paused(self, desk, team):
        desk.contest.paused_at = clock.now()
        desk.contest.save()
        desk.round.refresh_from_db()
        refused(lambda: desk.hand_in(team, desk.release(team)), "paused")

    @pytest.mark.parametrize("status", ["withdrawn", "disqualified"])
    def test_nothing_of_a_team_that_is_out(self, desk, team, status):
        team.status = status
        team.save()
        refused(lambda: desk.hand_in(team, desk.release(team)), "forbidden")

    def test_a_file_over_the_limit_is_not_even_checked(self, desk, team, monkeypatch):
        monkeypatch.setattr(submissions, "file_bytes", lambda round: 10)
        monkeypatch.setattr(intake, "check", lambda *args: pytest.fail("was checked"))
        refused(lambda: desk.hand_in(team, desk.release(team)), "too-large")
        refused(lambda: desk.hand_in(team, b"x" * 11), "too-large")
        assert not list(store().incoming.iterdir())

    def test_a_full_disk_charges_nothing(self, desk, team, monkeypatch):
        monkeypatch.setattr(BlobStore, "free", lambda self: 0)
        refused(lambda: desk.hand_in(team, desk.release(team)), "storage")
        refused(lambda: desk.hand_in(team, desk.release(team).read_bytes()), "storage")
        assert not Submission.objects.exists()
        assert not list(store().incoming.iterdir())

    def test_without_data_it_says_so(self, desk, team, new_team):
        other = new_team(desk.contest)
        refused(lambda: desk.hand_in(other, desk.release(team)), "closed")

    @pytest.mark.parametrize(
        ("field", "wrong"),
        [
            ({"kind": "ptable"}, "kind"),
            ({"challenge": "reid"}, "challenge"),
            ({"target": 2}, "target"),
            ({"kind": "reid", "target": None}, "target"),
            ({"kind": "trace", "target": -1}, "target"),
        ],
    )
    def test_what_does_not_exist_is_refused_by_field(self, desk, team, field, wrong):
        error = refused(lambda: desk.hand_in(team, b"", **field), "invalid")
        assert [problem["field"] for problem in error.problems] == [wrong]

    @pytest.mark.parametrize(
        "name",
        [
            "anotraces_team002_data02_TRP.csv",
            "anotraces_team001_data01_IDP.csv",
            "orgtraces_team001_data02_TRP.csv",
            "C:\\files\\pubtraces_team001_data02_TRP.csv.zst",
            "etable_team001-002_data02_TRP.csv",
        ],
    )
    def test_a_name_that_says_something_else_is_refused(self, desk, team, name):
        error = refused(lambda: desk.hand_in(team, desk.release(team), file_name=name), "invalid")
        assert error.problems[0]["expected"] == "anotraces_team001_data02_TRP.csv"
        path = desk.release(team)
        refused(
            lambda: submissions.check_only(
                desk.round, team, "release", "trace", None, path, file_name=name
            ),
            "invalid",
        )
        assert not Submission.objects.exists()

    @pytest.mark.parametrize("name", ["anotraces_team001_data02_TRP.csv.gz", "mine.csv", ""])
    def test_its_own_name_and_any_other_pass(self, desk, team, name):
        assert desk.hand_in(team, desk.release(team), file_name=name).submission.charged

    def test_it_stands_in_the_log(self, desk, team):
        made = desk.hand_in(team, desk.release(team)).submission
        entry = LogEntry.objects.get()
        assert (entry.action, entry.subject) == ("submission.accepted", f"submission:{made.ref}")
        assert entry.after["sha256"] == made.sha256

    def test_a_check_over_its_limits_rejects(self, desk, team, monkeypatch):
        def too_much(*args, **limits):
            raise sandbox.SandboxFailed("needs more than 5 MiB", "memory")

        monkeypatch.setattr(sandbox, "run", too_much)
        made = desk.hand_in(team, desk.release(team)).submission
        assert (made.state, made.charged) == ("rejected", False)

    def test_a_check_that_fails_by_our_fault_leaves_nothing(self, desk, team, monkeypatch):
        monkeypatch.setattr(sandbox, "run", _gives_up)
        refused(lambda: desk.hand_in(team, desk.release(team)), "internal")
        assert not Submission.objects.exists()

    def test_every_check_counts_but_for_those_that_cost_a_try(
        self, desk, team, monkeypatch, fixed_clock
    ):
        """Files below the floor, dry runs and checks that came to no end counted nothing."""
        monkeypatch.setattr(throttle, "CHECK", throttle.Limit("check", 4, 4, 60))
        desk.hand_in(team, b"not a table")
        refused(lambda: desk.hand_in(team, desk.release(team, 12)), "rejected")
        submissions.check_only(desk.round, team, "release", "trace", None, desk.release(team))
        with monkeypatch.context() as broken:
            broken.setattr(sandbox, "run", _gives_up)
            refused(lambda: desk.hand_in(team, desk.release(team)), "internal")
        refused(lambda: desk.hand_in(team, desk.release(team)), "throttled")
        fixed_clock.at += timedelta(hours=2)
        for _ in range(2):
            assert desk.hand_in(team, desk.release(team)).submission.charged
        desk.hand_in(team, b"not a table")

    def test_the_kept_name_is_the_last_part_without_tricks(self, desk, team):
        made = desk.hand_in(team, desk.release(team), file_name="../..\\a/b\r\n\x00c.csv")
        assert made.submission.file_name == "b???c.csv"


class TestIdempotency:
    def test_the_same_file_again_gives_the_same_receipt(self, desk, team):
        first = desk.hand_in(team, desk.release(team), key="k")
        second = desk.hand_in(team, desk.release(team), key="k")
        assert second.repeated
        assert second.submission.pk == first.submission.pk
        assert quotas.quota(desk.round, team, "release", "trace").used == 1

    def test_also_after_the_deadline(self, desk, team, at):
        first = desk.hand_in(team, desk.release(team), key="k")
        at("results")
        again = desk.hand_in(team, desk.release(team), key="k")
        assert again.submission.pk == first.submission.pk

    def test_also_for_a_rejected_file(self, desk, team):
        first = desk.hand_in(team, b"x", key="k").submission
        assert desk.hand_in(team, b"x", key="k").submission.pk == first.pk

    def test_another_file_under_the_same_key_is_a_conflict(self, desk, team):
        desk.hand_in(team, desk.release(team), key="k")
        refused(lambda: desk.hand_in(team, desk.release(team, 1), key="k"), "conflict")

    def test_the_same_file_under_another_key_costs_another_try(self, desk, team):
        desk.hand_in(team, desk.release(team), key="k")
        assert desk.hand_in(team, desk.release(team), key="l").submission.attempt == 2

    def test_keys_of_teams_do_not_meet(self, desk, team, new_team):
        other = new_team(desk.contest)
        desk.add_team(other)
        desk.hand_in(team, desk.release(team), key="k")
        assert not desk.hand_in(other, desk.release(other), key="k").repeated

    @pytest.mark.parametrize("key", ["", "a b", "é", "x" * 81, "a\n"])
    def test_a_key_is_short_and_visible(self, desk, team, key):
        refused(lambda: desk.hand_in(team, desk.release(team), key=key), "invalid")


class TestCounting:
    def counting(self, desk, team):
        return choices.counting(desk.round, team, "trace")

    def test_nothing_handed_in_nothing_counts(self, desk, team):
        assert self.counting(desk, team) is None

    def test_the_last_valid_one_counts(self, desk, team):
        desk.hand_in(team, desk.release(team, 0))
        last = desk.hand_in(team, desk.release(team, 1)).submission
        assert self.counting(desk, team) == last

    def test_an_invalid_one_does_not_push_a_valid_one_out(self, desk, team):
        valid = desk.hand_in(team, desk.release(team)).submission
        desk.hand_in(team, desk.release(team, 12), confirm_invalid=True)
        assert self.counting(desk, team) == valid

    def test_where_none_is_valid_the_last_one_stands(self, desk, team):
        desk.hand_in(team, desk.release(team, 12), confirm_invalid=True)
        last = desk.hand_in(team, desk.release(team, 13), confirm_invalid=True).submission
        assert self.counting(desk, team) == last

    def test_a_chosen_one_counts_until_a_new_valid_one_comes(self, desk, team, member):
        first = desk.hand_in(team, desk.release(team, 0)).submission
        desk.hand_in(team, desk.release(team, 1))
        choices.choose(first, Actor(member))
        assert self.counting(desk, team) == first
        third = desk.hand_in(team, desk.release(team, 2)).submission
        assert self.counting(desk, team) == third

    def test_exactly_one_is_marked(self, desk, team, member):
        first = desk.hand_in(team, desk.release(team, 0)).submission
        desk.hand_in(team, desk.release(team, 1))
        choices.choose(first, Actor(member))
        assert Submission.objects.filter(chosen=True).count() == 1

    def test_an_invalid_or_rejected_one_cannot_be_chosen(self, desk, team):
        invalid = desk.hand_in(team, desk.release(team, 12), confirm_invalid=True).submission
        rejected = desk.hand_in(team, b"x").submission
        refused(lambda: choices.choose(invalid, SYSTEM), "invalid")
        refused(lambda: choices.choose(rejected, SYSTEM), "invalid")

    def test_choosing_ends_with_the_phase(self, desk, team, at):
        first = desk.hand_in(team, desk.release(team)).submission
        at("judge")
        refused(lambda: choices.choose(first, SYSTEM), "closed")


class TestWithdraw:
    def test_the_one_before_counts_and_the_try_stays_used(self, desk, team):
        first = desk.hand_in(team, desk.release(team, 0)).submission
        second = desk.hand_in(team, desk.release(team, 1)).submission
        choices.withdraw(second, SYSTEM)
        assert choices.counting(desk.round, team, "trace") == first
        assert quotas.quota(desk.round, team, "release", "trace").used == 2

    def test_twice_is_once(self, desk, team):
        made = desk.hand_in(team, desk.release(team)).submission
        choices.withdraw(made, SYSTEM)
        choices.withdraw(made, SYSTEM)
        assert LogEntry.objects.filter(action="submission.withdrawn").count() == 1

    def test_a_rejected_one_cannot_be(self, desk, team):
        made = desk.hand_in(team, b"x").submission
        refused(lambda: choices.withdraw(made, SYSTEM), "invalid")

    def test_not_after_the_phase_unless_by_organisers(self, desk, team, at):
        made = desk.hand_in(team, desk.release(team)).submission
        at("judge")
        refused(lambda: choices.withdraw(made, SYSTEM), "closed")
        choices.withdraw(made, SYSTEM, why="asked by mail", at_any_time=True)
        made.refresh_from_db()
        assert made.state == "withdrawn"
        assert LogEntry.objects.last().why == "asked by mail"

    def test_restoring_makes_it_count_again(self, desk, team):
        made = desk.hand_in(team, desk.release(team)).submission
        choices.withdraw(made, SYSTEM)
        assert choices.counting(desk.round, team, "trace") is None
        choices.restore(made, SYSTEM)
        assert choices.counting(desk.round, team, "trace") == made
        refused(lambda: choices.restore(made, SYSTEM), "invalid")


class TestDescribe:
    def test_words_and_consent_can_be_changed_after_the_phase(self, desk, team, at):
        made = desk.hand_in(team, desk.release(team)).submission
        at("attack")
        choices.describe(made, "=we moved\0 everybody", True, SYSTEM)
        made.refresh_from_db()
        assert (made.method, made.consent) == ("we moved everybody", True)

    def test_the_words_are_not_in_the_log(self, desk, team):
        made = desk.hand_in(team, desk.release(team)).submission
        choices.describe(made, "by Alice", True, SYSTEM)
        assert "Alice" not in str(LogEntry.objects.last().after)

    def test_not_after_the_results(self, desk, team):
        made = desk.hand_in(team, desk.release(team)).submission
        desk.round.released_at = clock.now()
        desk.round.save()
        refused(lambda: choices.describe(made, "", False, SYSTEM), "closed")


class TestReceiptOf:
    def test_the_secret_finds_it(self, desk, team):
        made = desk.hand_in(team, desk.release(team)).submission
        assert choices.receipt_of(made.receipt) == made

    @pytest.mark.parametrize("secret", ["", "nonsense"])
    def test_nothing_else_does(self, desk, team, secret):
        desk.hand_in(team, desk.release(team))
        refused(lambda: choices.receipt_of(secret), "not-found")


class TestCheckOnly:
    def test_tells_utility_and_costs_nothing(self, desk, team):
        found = submissions.check_only(
            desk.round, team, "release", "trace", None, desk.release(team, 12)
        )
        assert (found.ok, found.valid) == (True, False)
        assert found.utility == pytest.approx(0.5)
        assert not Submission.objects.exists()

    def test_one_of_a_team_at_a_time_and_nobody_is_refused_for_it(self, team, contest, new_team):
        other, inside, go = new_team(contest, "other"), threading.Semaphore(0), threading.Event()
        seen = []

        def hold(whose):
            with checking._turn(whose):
                seen.append(whose.pk)
                inside.release()
                go.wait(60)

        crew = [threading.Thread(target=hold, args=(one,)) for one in (team, team, other)]
        for one in crew:
            one.start()
        assert inside.acquire(timeout=60)
        assert inside.acquire(timeout=60)
        assert sorted(seen) == [team.pk, other.pk]
        go.set()
        for one in crew:
            one.join(60)
        assert (len(seen), checking._teams) == (3, {})

    def test_not_before_the_data_are_out(self, desk, team, at):
        path = desk.release(team)
        at("before")
        refused(
            lambda: submissions.check_only(desk.round, team, "release", "trace", None, path),
            "closed",
        )

    def test_tells_the_bad_lines(self, desk, team):
        path = desk.folder / "bad.csv"
        path.write_text(desk.release(team).read_text().replace("reg_id\n", "reg_id\n0", 1))
        found = submissions.check_only(desk.round, team, "release", "trace", None, path)
        assert not found.ok
        assert found.problems[0]["line"] == 2
