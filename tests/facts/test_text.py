from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.facts.text import clean, spelled


class TestClean:
    @settings(max_examples=80)
    @given(st.text(max_size=120))
    def test_nothing_invisible_is_left_and_it_is_short(self, text):
        shown = clean(text)
        assert len(shown) <= 60
        for character in shown:
            assert unicodedata.category(character) not in {"Cc", "Cs", "Co"}
            assert unicodedata.category(character) != "Cf" or character in "\u200c\u200d"

    @settings(max_examples=40)
    @given(st.text(max_size=120))
    def test_a_clean_name_stays(self, text):
        assert clean(clean(text)) == clean(text)

    @pytest.mark.parametrize(
        ("given", "shown"),
        [
            ("فريق", "فريق"),
            ("チーム 7", "チーム 7"),
            ("👩\u200d💻", "👩\u200d💻"),
            ("evil\u202etxt.exe", "eviltxt.exe"),
            ("a\u2066b\u2069c", "abc"),
            ("tab\tand\r\nline", "tab and line"),
            ("\ud800lone", "lone"),
            ("\ufffe\uffff\ufdd0x", "x"),
            ("", ""),
        ],
    )
    def test_examples(self, given, shown):
        assert clean(given) == shown


class TestSpelled:
    def test_digits_and_none(self):
        assert (spelled(0.12345), spelled(2.0, 1), spelled(None)) == ("0.123", "2.0", "–")
