"""Parameters by size: crowds stay as large as in the contest of 2019."""

from __future__ import annotations

import pytest

from tracecup.contest.classroom.sizes import clusters_for, sample_defences
from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import parse_rules, rules_text
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import parse_obfuscator


class TestClustersFor:
    @pytest.mark.parametrize(
        ("users", "clusters"), [(2000, 100), (200, 10), (100, 5), (20, 2), (1, 2)]
    )
    def test_twenty_in_each(self, users, clusters):
        assert clusters_for(users) == clusters

    def test_nobody(self):
        with pytest.raises(InvalidParameter, match="users"):
            clusters_for(0)


class TestSampleDefences:
    def test_every_name_is_known(self):
        assert [str(parse_obfuscator(name)) for name in sample_defences(200)]


class TestClassPreset:
    def test_small_with_feedback_and_lessons(self):
        rules = Rules.preset("class")
        assert (rules.users, rules.clock.days, rules.feedback.policy) == (200, 10, "exact")
        assert rules.lessons.open
        assert not Rules().lessons.open
        assert rules.samples == Rules.preset("strong").samples

    def test_survives_its_file(self):
        rules = Rules.preset("class")
        rules.check()
        assert parse_rules(rules_text(rules)) == rules
