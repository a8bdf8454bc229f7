"""A board from tables of results written by hand: ties, exclusions, two data sets of a team."""

from __future__ import annotations

import pytest

from tracecup.contest.correlation import correlate
from tracecup.contest.rules import Rules
from tracecup.facts.tables import board_facts, group_of_method

FILES = ("pubtraces_team001_data01_IDP.csv", "pubtraces_team001_data02_TRP.csv", "b.csv", "c.csv")


def release(file, team, **told):
    row = {
        "pubtraces": file, "team": team, "challenge": "trace", "role": "team", "valid": True,
        "hors_concours": False, "reason": None, "method": "MDAV(4)", "utility": 0.8,
        "utility_low": None, "utility_high": None, "s_R_min": 0.5, "s_R_by": "team002 I1",
        "s_T_min": 0.6, "s_T_by": None, "s_T_ceiling": 0.7, "expected_error_km": None,
    }  # fmt: skip
    return {**row, **told}


def place(rank, team, excluded=None):
    low = None if rank is None else 1
    return {
        "award": "overall", "title": "Overall", "rank": rank, "rank_low": low, "rank_high": low,
        "team": team, "value": None if rank is None else 1.1, "better": "higher",
        "excluded": excluded,
    }  # fmt: skip


def cell(file, attacker, score, attack="", kind="reid"):
    return {"kind": kind, "pubtraces": file, "attacker": attacker, "attack": attack,
            "score": score}  # fmt: skip


TABLES = {
    "releases": [
        release(FILES[0], "001", challenge="reid"),
        release(FILES[1], "001"),
        release(FILES[2], "002", valid=False, method="my own", utility=None),
        release(FILES[3], "003", hors_concours=True),
    ],
    "awards": [place(1, "team001"), place(1, "team002"), place(None, "team003", "hors concours")],
    "cells": [
        cell(FILES[0], "I1", 0.5, "Random-R"),
        cell(FILES[0], "team002", 0.5),
        cell(FILES[3], "team001", 0.9),
        cell(FILES[3], "T1", 0.65, "Prior-T(habits=mixture)", "trace"),
        cell(FILES[3], "T2", 0.3, "VisitProb-T", "trace"),
        cell(FILES[0], "team002", 0.2, "Prior-T", "trace"),
    ],
    "sums": [
        {"kind": "reid", "attacker": f"team{team}", "sum": 0.5, "not_attacked": 1}
        for team in ("002", "001")
    ],
}


@pytest.fixture(scope="module")
def board():
    names = {"001": "Ann", "002": "Bob", "I1": "Random-R"}
    return board_facts(Rules(users=10), TABLES, correlate([0.5], [0.6]), names)


class TestBoardFacts:
    def test_two_data_sets_of_a_team_are_told_apart(self, board):
        labels = [one.label for one in board.releases]
        assert labels == ["001 IDP", "001 TRP", "002", "003"]

    def test_status_and_who_reached_the_minimum(self, board):
        statuses = [one.status for one in board.releases]
        assert statuses == ["team", "team", "invalid", "hors concours"]
        assert board.releases[0].reid_by_names == "002 Bob, I1 Random-R"

    def test_winners_share_a_tie_and_the_excluded_are_told(self, board):
        (award,) = board.awards
        assert (award.winners, award.tie, award.value) == (("Ann", "Bob"), True, 1.1)
        assert [(one.team, one.reason) for one in award.excluded] == [("003", "hors concours")]
        assert board.releases[0].place == 1

    def test_teams_in_order_then_sample_attacks(self, board):
        assert [one.label for one in board.reid.attackers] == ["001", "002", "I1"]
        assert [one.sum for one in board.reid.attackers] == [0.5, 0.5, None]
        assert [row.values for row in board.reid.rows] == [
            (None, 0.5, 0.5), (None, None, None), (None, None, None), (0.9, None, None),
        ]  # fmt: skip

    def test_bounds(self, board):
        one = board.releases[0]
        # MDAV(4) makes a group of four and one of six of ten users: two of them can be named.
        assert (one.guessing, one.group, one.ceiling) == (0.9, 0.8, 0.7)
        assert one.true_link == pytest.approx(0.2)
        assert board.reid.rows[0].bound == 0.8
        # A sample attack that never looks lowers the ceiling; what a team says it did does not.
        assert [release.ceiling for release in board.releases] == [0.7, 0.7, 0.7, 0.65]
        assert (board.releases[2].group, board.releases[2].true_link) == (None, None)


class TestGroupOfMethod:
    def test_groups_are_told_by_the_method(self):
        assert group_of_method("MDAV(4)", 20) == pytest.approx(0.75)
        assert group_of_method("Equalise(25)", 30) == pytest.approx(29 / 30)  # one group of all
        assert group_of_method("MDAV(4,floor=0.7)", 20) is None
        assert group_of_method("PL(4,1)", 20) is None
        assert group_of_method("our secret sauce (v2)", 20) is None
