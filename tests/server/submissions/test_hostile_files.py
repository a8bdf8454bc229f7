"""Files that end their reader: the team is told what is wrong with its file, and loses no try."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.django_db
ABORTS = Path(__file__).parents[2] / "hostile" / "aborts_pyarrow.parquet"


class TestAbortingParquet:
    def test_it_is_the_files_fault(self, court):
        court.begin()
        given = court.hand_in(1, ABORTS)
        assert (given.state, given.charged) == ("rejected", False)
        assert given.problems[0]["expected"] == "a Parquet file"
