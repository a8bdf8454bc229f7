"""What no computation can result in is refused, whoever brings it."""

from __future__ import annotations

import pytest

from tracecup.contest.challenges import CHALLENGES
from tracecup.contest.judging.commitment import SCORER
from tracecup.server.jobs.plausible import (
    Implausible,
    require_files,
    require_score,
    require_tables,
    require_verdict,
)

SCORE = {"score": 0.5, "low": 0.4, "high": 0.6, "error": 1.25, "scorer": SCORER}
VERDICT = {
    "method": "None", "valid": True, "reason": "utility 0.8 reaches the floor 0.7", "utility": 0.8,
    "utility_low": 0.7, "utility_high": 0.9, "hors_concours": False, "published": True,
}  # fmt: skip
TOLD = {"method": "None", "hors_concours": False}


class TestRequireScore:
    @pytest.mark.parametrize("changes", [{}, {"error": None}, {"score": 1 + 1e-12}, {"score": 0}])
    def test_a_score_is_one(self, changes):
        require_score(SCORE | changes)

    @pytest.mark.parametrize(
        "changes",
        [
            {"score": 1.1}, {"score": -0.1}, {"score": float("nan")}, {"score": None},
            {"score": True}, {"score": "0.5"}, {"low": 0.7}, {"high": 2}, {"error": -1},
            {"error": float("inf")}, {"scorer": "tracecup 0"},
        ],
    )  # fmt: skip
    def test_others_are_none(self, changes):
        with pytest.raises(Implausible):
            require_score(SCORE | changes)


class TestRequireVerdict:
    def test_a_verdict_is_one(self):
        require_verdict(VERDICT, TOLD, 0.7)
        nothing = dict.fromkeys(("utility", "utility_low", "utility_high"))
        gone = VERDICT | nothing | {"valid": False, "published": False}
        require_verdict(gone, TOLD | {"hors_concours": True}, 0.7)

    @pytest.mark.parametrize(
        "changes",
        [
            {"utility": 0.6}, {"utility": 7.0}, {"valid": False, "published": False},
            {"published": False}, {"hors_concours": True}, {"method": "Cheat(1)"},
            {"utility": None}, {"reason": 3}, {"valid": 1}, {"more": 1},
        ],
    )  # fmt: skip
    def test_others_are_none(self, changes):
        with pytest.raises(Implausible):
            require_verdict(VERDICT | changes, TOLD, 0.7)


class TestRequireTables:
    def test_tables_are_such(self):
        require_tables({"cells": {"score": [0.5, None], "attacker": ["003", "I1"], "n": [1, 2]}})

    @pytest.mark.parametrize(
        "columns",
        [
            {"score": [0.5], "attacker": []},
            {"score": [1.5]},
            {"score": ["high"]},
            *({one.minimum: [1.5]} for one in CHALLENGES.values()),
            {"value": [float("inf")]},
            {"value": [[1]]},
        ],
    )
    def test_others_are_none(self, columns):
        with pytest.raises(Implausible):
            require_tables({"cells": columns})


class TestRequireFiles:
    def test_all_of_them_and_no_others(self):
        require_files({"a": 1, "b": 2}, ["b", "a"])
        for found in (["a"], ["a", "b", "c"], []):
            with pytest.raises(Implausible, match="the file"):
                require_files(found, ["a", "b"])
