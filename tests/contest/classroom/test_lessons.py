"""Lessons: checks hold for right answers and fail for wrong ones, for every step."""

from __future__ import annotations

import pytest

from students import RIGHT, WRONG, hand_in
from tracecup.contest.classroom.lessons import (
    LESSONS,
    Goal,
    check_file,
    check_number,
    lesson,
)
from tracecup.contest.classroom.practice import practice
from tracecup.errors import InvalidFile, InvalidParameter

SEED = 5
MORE_WRONG = {"reid": (), "trace": ("Random-T",), "release": ("PL(0.5,1)",)}
FILES = [(one, step) for one in LESSONS for step in one.steps if step.kind != "person"]


def made(one, step, method, folder, seed=SEED):
    """What a student with a method hands in."""
    packed = practice(one.defence, seed).packed(released=True, originals=True)
    return hand_in(packed, step.kind, method, folder)


class TestCheckFile:
    @pytest.mark.parametrize(("one", "step"), FILES, ids=lambda x: x.name)
    def test_right_answers_hold(self, one, step, tmp_path):
        found = check_file(one, step, SEED, made(one, step, RIGHT[one.name, step.name], tmp_path))
        assert found.passed, found.measures

    @pytest.mark.parametrize(("one", "step"), FILES, ids=lambda x: x.name)
    def test_wrong_answers_fail(self, one, step, tmp_path):
        for method in (WRONG[step.kind], *MORE_WRONG[step.kind]):
            found = check_file(one, step, SEED, made(one, step, method, tmp_path))
            assert not found.passed, (method, found.measures)

    def test_another_teams_answer_is_worth_nothing(self, tmp_path):
        one = lesson("pseudonyms")
        path = made(one, one.step("half"), "Fuzzy-R(0.33,1,match=assignment)", tmp_path, SEED + 1)
        assert not check_file(one, one.step("half"), SEED, path).passed

    def test_other_files_are_refused(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text("user_id\n1\n2\n")
        with pytest.raises(InvalidFile):
            check_file(lesson("pseudonyms"), lesson("pseudonyms").step("half"), SEED, path)


class TestCheckNumber:
    def test_one_candidate_is_right(self):
        one = lesson("pseudonyms")
        puzzle = practice(one.defence, SEED).puzzle(SEED)
        said = [
            check_number(one, one.step("who"), SEED, user.name).passed for user in puzzle.candidates
        ]
        assert sum(said) == 1
        assert puzzle.candidates[said.index(True)].name == puzzle.answer

    def test_the_right_one_has_been_where_the_pseudonym_is(self):
        puzzle = practice("None", SEED).puzzle(SEED)
        seen = dict(puzzle.pseudonym.regions)
        shared = {
            user.name: sum(min(seen.get(region, 0), count) for region, count in user.regions)
            for user in puzzle.candidates
        }
        assert max(shared, key=shared.__getitem__) == puzzle.answer

    def test_a_file_step_takes_no_number(self):
        one = lesson("pseudonyms")
        with pytest.raises(InvalidParameter, match="file"):
            check_number(one, one.step("half"), SEED, 1)


class TestGoal:
    def test_a_limit_is_met_by_itself(self):
        assert Goal("s_R", most=0.3).holds(0.1 + 0.2)
        assert not Goal("s_U", least=0.7).holds(0.6999)


class TestPractice:
    def test_the_same_seed_gives_the_same_files(self):
        first = practice("None", 1).packed(released=True, originals=True)
        practice.cache_clear()
        assert practice("None", 1).packed(released=True, originals=True) == first

    def test_attackers_never_hold_the_originals_of_their_target(self):
        held = practice("None", 1)
        assert not (held.protected.original.regions == held.truth.original.regions).all()
