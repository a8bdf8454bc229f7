"""Parameters by size: crowds stay as large as in the contest of 2019."""

from __future__ import annotations

import pytest

from tracecup.city import ContestClock
from tracecup.contest.bots import BOTS, bots_for
from tracecup.contest.entries import Entry
from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import parse_rules, rules_text
from tracecup.contest.sizes import clusters_for, sample_defences, sized
from tracecup.contest.worlds import BuiltinWorld
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import parse_obfuscator
from tracecup.score import utility_score


class TestClustersFor:
    @pytest.mark.parametrize(
        ("users", "clusters"), [(2000, 100), (200, 10), (100, 5), (20, 2), (1, 2)]
    )
    def test_twenty_in_each(self, users, clusters):
        assert clusters_for(users) == clusters

    def test_nobody(self):
        with pytest.raises(InvalidParameter, match="users"):
            clusters_for(0)


class TestSized:
    @pytest.mark.parametrize(
        ("name", "users", "small"),
        [
            ("KMeans(100)", 100, "KMeans(5)"),
            ("KMeans(400)", 200, "KMeans(40)"),
            ("KMeans(20)", 200, "KMeans(2)"),
            ("KMeans(20)", 10_000, "KMeans(100)"),
            ("KMeans(100,floor=0.8)", 200, "KMeans(10,floor=0.8)"),
            ("Equalise", 200, "Equalise"),  # its groups are of a size already
            ("MRLH(1,1)", 200, "MRLH(1,1)"),
        ],
    )
    def test_only_what_counts_users_changes(self, name, users, small):
        assert sized(name, users) == small

    def test_spends_its_budget_on_a_hundred_users(self):
        world, clock = BuiltinWorld(), ContestClock.regular(days=4)
        _, original = world.data(Entry(1), clock, users=100, seed=1)

        def utility(name: str) -> float:
            released = parse_obfuscator(name).obfuscate(world.city, original, 1)
            return utility_score(world.city, original, released).value

        assert utility("KMeans(100)") > 0.8  # everybody alone: only hospitals are exchanged
        assert utility(sized("KMeans(100)", 100)) < 0.705


class TestSampleDefences:
    def test_every_name_is_known(self):
        assert [str(parse_obfuscator(name)) for name in sample_defences(200)]


class TestBots:
    def test_of_full_size_are_as_written(self):
        assert bots_for(len(BOTS), users=2000) == bots_for(len(BOTS)) == list(BOTS)

    def test_of_a_class_have_crowds(self):
        changed = {
            full.obfuscation: small.obfuscation
            for full, small in zip(BOTS, bots_for(len(BOTS), users=200), strict=True)
            if full != small
        }
        assert changed == {
            "KMeans(100)": "KMeans(10)",
            "KMeans(400)": "KMeans(40)",
            "KMeans(20)": "KMeans(2)",
            "KMeans(100,hospital=false)": "KMeans(10,hospital=false)",
        }


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
