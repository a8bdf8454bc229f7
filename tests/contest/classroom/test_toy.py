"""The toy: every position of every slider, with the contest's own scores."""

from __future__ import annotations

import pytest

from tracecup.contest.classroom.practice import RULES, practice, practice_city
from tracecup.contest.classroom.toy import SETTINGS, STEPS, play
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import parse_obfuscator
from tracecup.rng import child_seed
from tracecup.score import utility_score


class TestPlay:
    def test_every_slider_begins_with_no_protection(self):
        for name in SETTINGS:
            assert len(SETTINGS[name]) == STEPS
            assert (play(name, 0).utility, play(name, 0).method) == (1.0, "None")

    def test_names_are_those_of_the_methods(self):
        for names in SETTINGS.values():
            assert [str(parse_obfuscator(name)) for name in names]

    def test_utility_is_the_contests(self):
        found, own = play("noise", 2), practice("None", 2019).protected
        made = parse_obfuscator(found.method).obfuscate
        released = made(practice_city(), own.original, child_seed(2019, "play"))
        assert found.utility == utility_score(practice_city(), own.original, released).value

    def test_noise_costs_and_protects(self):
        weak, strong = play("noise", 1), play("noise", STEPS - 1)
        assert weak.utility > strong.utility
        assert weak.named > strong.named
        assert weak.followed > strong.followed

    def test_cheating_hides_names_and_no_places(self):
        none, all_of_them = play("exchange", 0), play("exchange", STEPS - 1)
        assert all_of_them.named < 0.1
        assert all_of_them.followed == pytest.approx(none.followed)

    @pytest.mark.parametrize(("defence", "step"), [("x", 0), ("noise", -1), ("noise", STEPS)])
    def test_nothing_else_is_computed(self, defence, step):
        with pytest.raises(InvalidParameter):
            play(defence, step)

    def test_a_day_of_one_person(self):
        found = play("delete", STEPS - 1)
        assert len(found.original) == len(found.released) == RULES.clock.slots
        assert not any(found.released)
