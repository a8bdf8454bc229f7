"""The audit log: a chain that shows every change, gap and swap."""

from __future__ import annotations

import pytest

from tracecup.server.access import SYSTEM, Actor
from tracecup.server.auditlog import check_chain, record
from tracecup.server.models import LogEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(contest, organiser):
    actor = Actor(organiser, "page")
    record(actor, "pause", contest=contest, why="a power cut")
    record(actor, "resume", contest=contest, before={"paused": True}, after={"paused": False})
    record(SYSTEM, "judge", contest=contest, subject="final")


class TestChain:
    def test_a_whole_chain_has_no_fault(self, three):
        assert list(check_chain()) == []

    def test_people_are_numbers_in_it(self, three, organiser):
        assert LogEntry.objects.get(number=1).actor == f"person:{organiser.pk}"

    @pytest.mark.parametrize(
        ("column", "value"),
        [("why", "nothing"), ("actor", "system"), ("action", "x"), ("after", {"paused": True})],
    )
    def test_a_changed_column_is_found(self, three, column, value):
        LogEntry.objects.filter(number=2).update(**{column: value})
        assert list(check_chain()) == ["entry 2 was changed"]

    def test_a_removed_entry_is_found(self, three):
        LogEntry.objects.filter(number=2).delete()
        found = list(check_chain())
        assert found[0] == "entry 2 is missing"

    def test_a_rewritten_entry_breaks_the_next(self, three):
        from tracecup.server.auditlog import entry_hash

        entry = LogEntry.objects.get(number=1)
        entry.why = "no reason"
        LogEntry.objects.filter(number=1).update(why=entry.why, hash=entry_hash(entry))
        assert list(check_chain()) == ["entry 2 does not follow the one before"]
