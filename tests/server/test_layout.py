"""How the server is laid out: kinds of jobs are declared once."""

from __future__ import annotations

import pytest

from tracecup.server.jobs import kinds


class TestKinds:
    def test_every_kind_has_a_priority_of_its_own_making(self):
        assert all(kind.priority > 0 for kind in kinds.declared().values())

    def test_one_way_of_being_done(self):
        with pytest.raises(TypeError):
            kinds.JobKind("idle", 1)
        with pytest.raises(TypeError):
            kinds.JobKind("half", 1, prepare=lambda job: None)

    def test_a_kind_that_nobody_declared(self):
        with pytest.raises(kinds.UnknownKind):
            kinds.kind_of("nothing")
