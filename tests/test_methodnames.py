"""Names of methods as people read them."""

from __future__ import annotations

import pytest

from tracecup.methodnames import short_method


class TestShortMethod:
    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("KMeans(100,floor=0.70000001,hospital=false)", "KMeans(100,floor=0.7,hospital=false)"),
            ("PL(1234567,1)", "PL(1234567,1)"),
            ("None", "None"),
        ],
    )
    def test_only_long_numbers_are_cut(self, name, shown):
        assert short_method(name) == shown
