"""Words of the site for what the program calls by a code."""

from __future__ import annotations

import pytest
from django.utils import translation

from tracecup.contest.judging.reasons import WORDING, Reason
from tracecup.server.web import words


class TestVerdict:
    def test_every_reason_has_its_words(self):
        assert set(words._REASONS) == set(WORDING)

    @pytest.mark.parametrize("code", WORDING)
    def test_in_both_languages(self, code):
        values = {"value": "0.5", "floor": "0.7", "error": "line 2", "files": "a.csv"}
        used = {name: one for name, one in values.items() if f"{{{name}}}" in WORDING[code]}
        reason = str(Reason.of(code, **used))
        assert words.verdict(reason) == reason
        with translation.override("ja"):
            said = words.verdict(reason)
        assert said != reason
        assert all(one in said for one in used.values())

    def test_own_words_stay(self):
        with translation.override("ja"):
            assert words.verdict("it rained") == "it rained"
