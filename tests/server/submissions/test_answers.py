"""Answers handed in: targets, tries per target and kind, archives that address many."""

from __future__ import annotations

import io

import pytest

from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.errors import Refused
from tracecup.server.models import Release, Submission
from tracecup.server.storage import BlobStore, store
from tracecup.server.submissions import choices, quotas
from tracecup.server.submissions import service as submissions

pytestmark = pytest.mark.django_db


def refused(call, code: str) -> Refused:
    with pytest.raises(Refused) as found:
        call()
    assert found.value.code == code
    return found.value


def send(desk, team, files, **more):
    given = {
        "file_name": "answers.zip",
        "key": "zip-1",
        "received_at": clock.contest_now(desk.contest),
        "actor": Actor(team.members.get().person, "client"),
    }
    source = desk.zip(files) if isinstance(files, dict) else files
    return submissions.receive_archive(desk.round, team, source=source, **{**given, **more})


class TestReceiveAnswer:
    def test_an_accepted_answer_is_queued_for_scoring(self, desk, team, attackable, asked):
        made = desk.answer(team, 2).submission
        assert (made.state, made.charged, made.valid, made.score) == ("queued", True, None, None)
        assert asked == [made.ref]

    def test_inferred_traces_are_another_kind_with_its_own_tries(self, desk, team, attackable):
        for first in (1, 2):
            desk.answer(team, 2, desk.table(first))
        made = desk.answer(team, 2, desk.inferred(), kind="trace").submission
        assert made.attempt == 1
        refused(lambda: desk.answer(team, 2, desk.table(3)), "quota")

    def test_tries_are_counted_per_target(self, desk, team, attackable):
        for first in (1, 2):
            desk.answer(team, 2, desk.table(first))
        assert desk.answer(team, 3).submission.charged

    def test_the_benchmark_can_be_attacked(self, desk, team, attackable):
        assert desk.answer(team, 0, challenge="reid").submission.charged

    def test_not_the_own_release(self, desk, team, attackable):
        Release.objects.create(
            round=desk.round,
            team=team,
            challenge="trace",
            label="team001_data02_TRP",
            valid=True,
            reason="",
        )
        refused(lambda: desk.answer(team, 1), "invalid")

    @pytest.mark.parametrize(("target", "challenge"), [(4, "trace"), (0, "trace"), (2, "reid")])
    def test_not_what_was_never_published(self, desk, team, attackable, target, challenge):
        error = refused(lambda: desk.answer(team, target, challenge=challenge), "invalid")
        assert error.details == {"target": target, "challenge": challenge}

    def test_not_an_invalid_release(self, desk, team, attackable):
        Release.objects.filter(team=attackable[0]).update(valid=False)
        refused(lambda: desk.answer(team, 2), "invalid")
        Release.objects.filter(team=attackable[0]).update(hors_concours=True)
        assert desk.answer(team, 2).submission.charged

    @pytest.mark.parametrize(
        "name", ["etable_team001-003_data02_TRP.csv", "etraces_team001-002_data02_TRP.csv"]
    )
    def test_not_what_its_name_says_is_for_something_else(self, desk, team, attackable, name):
        error = refused(lambda: desk.answer(team, 2, file_name=name), "invalid")
        assert error.problems[0]["expected"] == "etable_team001-002_data02_TRP.csv"
        assert desk.answer(team, 2, file_name=error.problems[0]["expected"]).submission.charged

    def test_a_table_of_a_wrong_size_is_rejected(self, desk, team, attackable, asked):
        made = desk.answer(team, 2, b"user_id\n1\n2\n").submission
        assert (made.state, made.charged) == ("rejected", False)
        assert not asked

    def test_not_before_the_releases_are_out(self, desk, team, at, new_team):
        new_team(desk.contest)
        at("attack")
        refused(lambda: desk.answer(team, 2), "closed")

    def test_not_after_the_phase(self, desk, team, attackable, at):
        at("results")
        refused(lambda: desk.answer(team, 2), "closed")

    def test_withdrawn_it_stays_used(self, desk, team, attackable):
        made = desk.answer(team, 2).submission
        choices.withdraw(made, SYSTEM)
        assert quotas.quota(desk.round, team, "reid", "trace", 2).used == 1

    def test_restored_it_is_scored_again(self, desk, team, attackable, asked):
        made = desk.answer(team, 2).submission
        choices.withdraw(made, SYSTEM)
        assert choices.restore(made, SYSTEM).state == "queued"
        assert asked == [made.ref, made.ref]


class TestSameAnswer:
    def test_under_another_key_it_is_the_old_receipt_and_costs_nothing(
        self, desk, team, attackable, at, asked
    ):
        first = desk.answer(team, 2)
        again = desk.answer(team, 2)
        assert (again.already, again.submission) == (True, first.submission)
        at("results")
        assert desk.answer(team, 2).submission == first.submission
        assert quotas.quota(desk.round, team, "reid", "trace", 2).used == 1
        assert asked == [first.submission.ref]

    def test_a_failed_or_withdrawn_one_can_be_handed_in_again(self, desk, team, attackable):
        made = desk.answer(team, 2).submission
        made.state, made.charged = "failed", False
        made.save()
        second = desk.answer(team, 2).submission
        assert second.attempt == 2
        choices.withdraw(second, SYSTEM)
        assert desk.answer(team, 2).submission.attempt == 3

    def test_another_target_kind_or_team_is_another_answer(self, desk, team, attackable):
        desk.answer(team, 2)
        assert not desk.answer(team, 3).already
        assert not desk.answer(attackable[1], 2).already
        assert not desk.answer(team, 0, challenge="reid").already


class TestTargets:
    def test_others_and_the_benchmark(self, desk, team, attackable):
        labels = [entry.label for entry in quotas.targets(desk.round, team)]
        assert labels == ["team000_data01_IDP", "team002_data02_TRP", "team003_data02_TRP"]

    def test_nothing_before_publication(self, desk, team):
        assert quotas.targets(desk.round, team) == []


class TestReceiveArchive:
    def test_names_say_target_and_kind(self, desk, team, attackable):
        receipt = send(
            desk,
            team,
            {
                "etable_team001-002_data02_TRP.csv": desk.table(),
                "answers/etraces_team001-003_data02_TRP.csv": desk.inferred(),
                "etable_team001-000_data01_IDP.csv": desk.table(),
            },
        )
        assert receipt.accepted == 3
        found = Submission.objects.values_list("kind", "challenge", "target", "state")
        assert set(found) == {
            ("reid", "trace", 2, "queued"),
            ("trace", "trace", 3, "queued"),
            ("reid", "reid", 0, "queued"),
        }
        assert len(set(Submission.objects.values_list("batch", flat=True))) == 1

    def test_a_release_may_come_in_an_archive(self, desk, team):
        content = desk.release(team).read_bytes()
        receipt = send(desk, team, {"anotraces_team001_data02_TRP.csv": content})
        assert receipt.items[0].receipt.submission.kind == "release"

    def test_every_file_is_judged_by_itself(self, desk, team, attackable):
        receipt = send(
            desk,
            team,
            {
                "etable_team001-002_data02_TRP.csv": b"user_id\n1\n",
                "etable_team001-003_data02_TRP.csv": desk.table(),
                "etable_team002-003_data02_TRP.csv": desk.table(),
                "etable_team001-001_data02_TRP.csv": desk.table(),
                "etable_team001-009_data02_TRP.csv": desk.table(),
                "ptable_team001_data02_TRP.csv": desk.table(),
                "readme.txt": b"hello",
            },
        )
        said = {
            item.name: item.receipt.submission.state if item.receipt else item.refused.code
            for item in receipt.items
        }
        assert said == {
            "etable_team001-002_data02_TRP.csv": "rejected",
            "etable_team001-003_data02_TRP.csv": "queued",
            "etable_team002-003_data02_TRP.csv": "invalid",
            "etable_team001-001_data02_TRP.csv": "invalid",
            "etable_team001-009_data02_TRP.csv": "invalid",
            "ptable_team001_data02_TRP.csv": "invalid",
            "readme.txt": "invalid",
        }
        assert receipt.accepted == 1

    def test_tries_end_within_an_archive(self, desk, team, attackable):
        for first in (1, 2):
            desk.answer(team, 2, desk.table(first))
        receipt = send(
            desk,
            team,
            {
                "etable_team001-002_data02_TRP.csv": desk.table(3),
                "etable_team001-003_data02_TRP.csv": desk.table(3),
            },
        )
        assert [item.refused.code if item.refused else "" for item in receipt.items] == [
            "quota",
            "",
        ]

    def test_the_same_archive_again_gives_the_same_receipts(self, desk, team, attackable):
        files = {
            f"etable_team001-00{target}_data02_TRP.csv": desk.table(target) for target in (2, 3)
        }
        first = send(desk, team, files)
        again = send(desk, team, files)
        assert all(item.receipt.repeated for item in again.items)
        assert [i.receipt.submission.pk for i in first.items] == [
            i.receipt.submission.pk for i in again.items
        ]
        assert Submission.objects.count() == 2

    def test_a_second_archive_costs_only_what_is_new_in_it(self, desk, team, attackable):
        name = "etable_team001-00{}_data02_TRP.csv"
        first = send(desk, team, {name.format(2): desk.table()})
        files = {name.format(2): desk.table(), name.format(3): desk.table()}
        for _ in range(2):  # the second time under the same key: the same answer
            second = send(desk, team, files, key="zip-2")
            assert (second.accepted, second.already) == (1, 1)
            old, _new = second.items
            assert old.receipt.already
            assert old.receipt.submission == first.items[0].receipt.submission
        assert Submission.objects.count() == 2

    def test_another_archive_under_the_same_key_is_a_conflict(self, desk, team, attackable):
        send(desk, team, {"etable_team001-002_data02_TRP.csv": desk.table()})
        refused(
            lambda: send(desk, team, {"etable_team001-003_data02_TRP.csv": desk.table()}),
            "conflict",
        )

    def test_all_of_it_has_the_arrival_of_the_archive(self, desk, team, attackable):
        arrived = clock.contest_now(desk.contest)
        send(desk, team, {"etable_team001-002_data02_TRP.csv": desk.table()}, received_at=arrived)
        assert Submission.objects.get().received_at == arrived

    def test_no_archive_is_refused(self, desk, team, attackable):
        refused(lambda: send(desk, team, io.BytesIO(b"user_id\n1\n")), "invalid")

    def test_a_full_disk_stops_it(self, desk, team, attackable, monkeypatch):
        source = desk.zip({"etable_team001-002_data02_TRP.csv": desk.table()})
        monkeypatch.setattr(BlobStore, "free", lambda self: 0)
        refused(lambda: send(desk, team, source), "storage")
        assert not Submission.objects.exists()
        assert not list(store().incoming.iterdir())
