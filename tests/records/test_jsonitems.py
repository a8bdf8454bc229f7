"""JSON item by item, against the json module."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.errors import InvalidFile
from tracecup.records import jsonitems
from tracecup.records.jsonitems import read_items
from tracecup.safeio import read_blocks

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
ITEMS = st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), max_size=5)


class TestReadItems:
    @given(ITEMS, VALUES, st.sampled_from([None, 1]), st.sampled_from([1, 3, 1 << 20]))
    def test_items_of_a_list(self, tmp_path_factory, items, other, indent, block):
        folder = tmp_path_factory.mktemp("json")
        rest = other if not isinstance(other, list) else None
        for content in (items, {"first": items, "rest": rest}):
            path = folder / "a.json"
            path.write_text(json.dumps(content, indent=indent), encoding="utf-8")
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    jsonitems, "read_blocks", lambda p, lim, **_: read_blocks(p, lim, block)
                )
                assert list(read_items(path)) == items

    @pytest.mark.parametrize(
        "text",
        [
            "", "{", '{"a": [{"b": 1}', '[{"a": 1}]]', '[{"a": 1]}', "[" * 100, '[{"a": }]',
            '[{"a": 1} {"a": 2}]', "nonsense", '{"a": "',
        ],
    )  # fmt: skip
    def test_what_is_not_json(self, tmp_path, text):
        path = tmp_path / "a.json"
        path.write_text(text)
        with pytest.raises(InvalidFile, match="JSON"):
            list(read_items(path))

    def test_a_huge_item(self, tmp_path, monkeypatch):
        monkeypatch.setattr(jsonitems, "MAX_ITEM", 1000)
        path = tmp_path / "a.json"
        path.write_text(json.dumps([{"a": "x" * 3_000_000}]))
        with pytest.raises(InvalidFile, match="one huge item"):
            list(read_items(path))
