"""The contest's file names, there and back."""

from __future__ import annotations

import pytest

from tracecup.contest.filenames import (
    ATTACK_FILES,
    TEAM_FILES,
    ContestFile,
    attack_file,
    parse_file_name,
    team_file,
)
from tracecup.errors import InvalidParameter


class TestNames:
    @pytest.mark.parametrize("kind", TEAM_FILES)
    @pytest.mark.parametrize("challenge", ["reid", "trace"])
    def test_team_files_come_back(self, kind, challenge):
        name = team_file(kind, "021", challenge, ".csv.zst")
        assert parse_file_name(name) == ContestFile(kind, "021", challenge)

    @pytest.mark.parametrize("kind", ATTACK_FILES)
    @pytest.mark.parametrize("challenge", ["reid", "trace"])
    def test_attack_files_come_back(self, kind, challenge):
        name = attack_file(kind, "004", "017", challenge)
        assert parse_file_name(name) == ContestFile(kind, "017", challenge, "004")

    @pytest.mark.parametrize(
        "name",
        [
            "pubtraces_team1_data01_IDP.csv",
            "pubtraces_team001_data01_TRP.csv",
            "pubtraces_team001-002_data01_IDP.csv",
            "etable_team001_data01_IDP.csv",
            "other_team001_data01_IDP.csv",
            "pubtraces_team001_data01_IDP.csv\n",
            "pubtraces_team٠٠١_data01_IDP.csv",
        ],
    )
    def test_other_names_say_nothing(self, name):
        assert parse_file_name(name) is None

    @pytest.mark.parametrize("team", ["1", "../1", "0001x", ""])
    def test_a_team_has_a_number(self, team):
        with pytest.raises(InvalidParameter, match="three digits"):
            team_file("ptable", team, "reid")

    def test_kinds_are_known(self):
        with pytest.raises(InvalidParameter, match="ptable"):
            team_file("etable", "001", "reid")
        with pytest.raises(InvalidParameter, match="etraces"):
            attack_file("ptable", "001", "002", "reid")
