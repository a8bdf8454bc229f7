"""The table of utilities beside the sheets: the published one, slips and errors."""

from __future__ import annotations

import pytest

from tracecup.contest.sheets import read_utilities
from tracecup.errors import InvalidFile


class TestUtilities:
    def test_published(self, data_dir):
        found = read_utilities(data_dir / "results" / "preliminary_utility.csv")
        assert len(found) == 27
        assert found["pubtraces_team003_data01_IDP.csv"] == 0.7

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("", 0),
            ("file,utility\n", 1),
            ("pubtraces,utility\n", 0),
            ("pubtraces,utility\na,0.5\na,0.5\n", 3),
            ("pubtraces,utility\na,0.5,1\n", 2),
            ("pubtraces,utility\na,1.5\n", 2),
            ("pubtraces,utility\n,0.5\n", 2),
        ],
    )
    def test_errors(self, sheet_file, text, line):
        with pytest.raises(InvalidFile) as caught:
            read_utilities(sheet_file(text))
        assert caught.value.problems[0].line == line

    def test_slips(self, sheet_file):
        text = "pubtraces,utility\n\npubtraces_team3_data02_TRP.csv,0.75\nb,Invalid\n"
        notes = []
        found = read_utilities(sheet_file(text), told=notes.append)
        assert found == {"pubtraces_team003_data02_TRP.csv": 0.75, "b": 0.0}
        assert [str(note).split(":")[0] for note in notes] == ["line 2", "cell A3", "cell B4"]
