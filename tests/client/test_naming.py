from __future__ import annotations

import pytest

from tracecup.client.naming import Meant, foreign, meant, meant_by
from tracecup.errors import InvalidParameter


class TestMeantBy:
    def test_release(self):
        assert meant_by("anotraces_team007_data01_IDP.csv") == Meant("release", "reid", None, 7)

    def test_answers(self):
        assert meant_by("etable_team001-000_data01_IDP.csv") == Meant("reid", "reid", 0, 1)
        assert meant_by("a/b/etraces_team001-012_data02_TRP.csv.zst").target == 12

    def test_archive(self):
        assert meant_by("All.ZIP") == Meant("archive")

    @pytest.mark.parametrize("name", ["my.csv", "ptable_team001_data02_TRP.csv", "", "orgtraces"])
    def test_a_name_that_says_nothing_to_hand_in(self, name):
        with pytest.raises(InvalidParameter, match="does not say what it is"):
            meant_by(name)


class TestMeant:
    def test_words_go_before_the_name(self):
        said = meant("etable_team001-003_data02_TRP.csv", None, "reid", 5)
        assert (said.kind, said.challenge, said.target) == ("reid", "reid", 5)

    def test_words_are_enough(self):
        assert meant("my.csv", "trace", None, 4) == Meant("trace", "trace", 4)
        assert meant("my.csv", "release", "reid", None) == Meant("release", "reid")

    def test_an_answer_needs_a_target(self):
        with pytest.raises(InvalidParameter, match="--target"):
            meant("my.csv", "reid", None, None)

    def test_a_release_has_none(self):
        with pytest.raises(InvalidParameter, match="answers"):
            meant("my.csv", "release", None, 3)

    def test_the_benchmark_has_one_data_set(self):
        assert meant("my.csv", "trace", None, 0) == Meant("trace", "reid", 0)

    def test_a_file_of_another_team(self):
        name = "etable_team002-003_data02_TRP.csv"
        assert "team 2, but you are team 1" in foreign(meant(name, None, None, None), 1)
        assert foreign(meant(name, None, None, None), 2) == ""
        assert foreign(meant(name, "reid", None, None), 1) == ""
        assert foreign(meant_by("all.zip"), 1) == ""

    def test_a_zip_may_be_said_to_be_one_file(self):
        assert meant("x.zip", "reid", None, 2).kind == "reid"
