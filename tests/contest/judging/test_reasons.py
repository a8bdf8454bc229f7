"""Reasons: the wording of archives, and the code and values behind it."""

import pickle

import pytest

from tracecup.contest.judging.reasons import OTHER, WORDING, Reason


class TestReason:
    @pytest.mark.parametrize("code", WORDING)
    def test_what_is_worded_is_read_back(self, code):
        values = {"value": "0.5", "floor": "0.7", "error": "line 2:\nx", "files": "a, b"}
        used = {name: text for name, text in values.items() if f"{{{name}}}" in WORDING[code]}
        reason = Reason.of(code, **used)
        again = Reason.read(str(reason))
        assert (again, again.code, again.values) == (reason, code, used)

    def test_other_words_stay_as_they_are(self):
        reason = Reason.read("it rained")
        assert (reason, reason.code, reason.values) == ("it rained", OTHER, {})

    def test_travels_between_processes(self):
        reason = pickle.loads(pickle.dumps(Reason.of("nothing")))
        assert (reason, reason.code) == ("nothing was handed in", "nothing")
