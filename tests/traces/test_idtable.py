from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup import IdTable, InvalidTraces


class TestIdTable:
    @given(st.integers(1, 30).flatmap(lambda m: st.permutations(range(m))))
    def test_inverse_inverts(self, users):
        table = IdTable.of(users)
        assert table.is_permutation
        assert [users[k] for k in table.inverse()] == list(range(len(users)))

    def test_repetitions_are_allowed_but_have_no_inverse(self):
        table = IdTable.of([0, 0])
        assert not table.is_permutation
        with pytest.raises(InvalidTraces, match="one-to-one"):
            table.inverse()

    def test_user_outside(self):
        with pytest.raises(InvalidTraces, match="names user 2"):
            IdTable.of([0, 2])

    def test_never_prints_its_pairs(self):
        assert repr(IdTable.of([1, 0])) == "IdTable(<2 pairs>)"
        assert "1" not in str(IdTable.of([1, 0])).replace("<2", "")
