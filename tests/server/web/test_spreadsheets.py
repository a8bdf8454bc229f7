"""Names of people are never formulas, whatever a spreadsheet takes for a separator."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.server.web.spreadsheets import harmless

FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
TEXT = st.text(alphabet="a=+-@;,\t\r\n '\"\uff1d", max_size=12)


class TestHarmless:
    @pytest.mark.parametrize("separator", [",", ";", "\t"])
    @given(texts=st.lists(TEXT, min_size=1, max_size=3))
    def test_no_cell_begins_like_a_formula(self, separator, texts):
        out = io.StringIO()
        csv.writer(out).writerow(["team", *map(harmless, texts)])
        # As a program reads it that believes in another separator than the writer.
        read = csv.reader(io.StringIO(out.getvalue(), newline=""), delimiter=separator)
        cells = [cell.strip() for row in read for cell in row]
        assert not any(cell.startswith(FORMULAS) for cell in cells)

    @pytest.mark.parametrize("text", ["Team; fine", "a-b", "x = y; z", "PL(4,-1)", ""])
    def test_others_stay(self, text):
        assert harmless(text) == text
