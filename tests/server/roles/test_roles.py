"""Who gets what answer, when: the table `roles.csv` has every address, role and phase.

After a change of addresses write it anew with `TRACECUP_WRITE_ROLES=1 pytest tests/server/roles`
and read the difference: it is the review of who may do what.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from roles_asking import ROLES
from roles_world import PHASES

# One worker plays the contest for all tests of this folder.
pytestmark = pytest.mark.django_db
TABLE = Path(__file__).with_name("roles.csv")
HEADER = ("method", "address", "role", *PHASES)
Row = tuple[str, ...]


@pytest.fixture(scope="module")
def found(played) -> dict[Row, Row]:
    """(method, address, role) -> what was answered in each phase; "-" where it was not asked."""
    answers: dict[Row, dict[str, str]] = {}
    for heard in played.heard:
        key = (heard.address.method, heard.label, heard.role)
        answers.setdefault(key, {})[heard.phase] = heard.shown
    return {
        key: tuple(phases.get(phase, "-") for phase in PHASES) for key, phases in answers.items()
    }


def checked_in() -> dict[Row, Row]:
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {tuple(row[:3]): tuple(row[3:]) for row in list(csv.reader(file))[1:]}


class TestTable:
    def test_answers_are_those_of_the_table(self, found):
        if os.environ.get("TRACECUP_WRITE_ROLES"):
            with TABLE.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                order = {role: k for k, role in enumerate(ROLES)}
                writer.writerow(HEADER)
                rows = sorted(found, key=lambda key: (key[1], key[0], order[key[2]]))
                writer.writerows((*key, *found[key]) for key in rows)
        expected = checked_in()
        assert {key for key in found if key not in expected} == set(), "not in the table"
        assert {key for key in expected if key not in found} == set(), "no such address any more"
        different = {
            key: (found[key], expected[key]) for key in found if found[key] != expected[key]
        }
        assert different == {}


class TestAnswers:
    def test_nothing_fails(self, played):
        failed = {
            (heard.address.method, heard.filled, heard.role, heard.phase)
            for heard in played.heard
            if heard.status >= 500
        }
        assert failed == set()

    def test_visitors_and_strangers_change_nothing_of_a_team_or_contest(self, found):
        """What needs a role in the contest refuses everybody without one, in every phase."""
        wrong = []
        for (method, address, role), answers in found.items():
            inside = "/run/" in address or "/team/" in address or "/submissions" in address
            if role in ("nobody", "elsewhere", "staff") and inside:
                wrong += [
                    (method, address, role, one)
                    for one in answers
                    if one not in ("-", "401", "403", "404", "405", "login")
                ]
        assert wrong == []

    def test_a_hidden_contest_is_not_there_for_others(self, found):
        at = PHASES.index("hidden")
        wrong = [
            (method, address, role, answers[at])
            for (method, address, role), answers in found.items()
            if role in ("nobody", "elsewhere", "staff")
            if answers[at] not in ("-", "401", "404", "405")
        ]
        assert wrong == []

    def test_members_are_no_organisers(self, found):
        wrong = [
            (method, address, role)
            for (method, address, role), answers in found.items()
            if role in ("own", "other") and "/run/" in address
            if set(answers) - {"-", "403", "404", "405"}
        ]
        assert wrong == []
