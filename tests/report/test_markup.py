from __future__ import annotations

import html
import json
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.report.markup import Html, data_block, element, join, name_of, table

TEXTS = st.text(max_size=60)


class Reader(HTMLParser):
    """What a page says: tags in order, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.text, self.attributes = [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


class TestElement:
    @settings(max_examples=60)
    @given(TEXTS, TEXTS)
    def test_text_and_attributes_come_back_and_make_no_tags(self, text, attribute):
        read = Reader(element("p", text, {"title": attribute}))
        assert read.tags == ["p"]
        assert read.text == text
        assert read.attributes == [("title", attribute)]

    def test_html_inside_stays_html(self):
        assert element("p", ["a<", element("b", "c")]) == "<p>a&lt;<b>c</b></p>"

    def test_void_elements_have_no_end(self):
        assert element("br") == "<br>"

    def test_flags(self):
        assert element("option", (), {"selected": True, "hidden": False}) == (
            "<option selected></option>"
        )


class TestJoin:
    def test_a_plain_string_is_one_part(self):
        assert join("<a>") == "&lt;a&gt;"

    def test_html_is_not_escaped_twice(self):
        assert join([Html("<i>"), "&"]) == "<i>&amp;"


class TestNameOf:
    def test_is_isolated_and_escaped(self):
        assert name_of('<"x">') == '<bdi>&lt;"x"&gt;</bdi>'


class TestTable:
    def test_heads_numbers_and_gaps(self):
        made = table("Cap", ("Team", "Score"), [("a<b", 0.5), ("c", None)])
        assert '<th scope="col">Team</th><th scope="col" class="number">Score</th>' in made
        assert '<th scope="row"><bdi>a&lt;b</bdi></th><td class="number">0.500</td>' in made
        assert '<td class="number">–</td>' in made
        assert "<caption>Cap</caption>" in made


class TestDataBlock:
    @settings(max_examples=60)
    @given(st.recursive(TEXTS | st.integers() | st.booleans() | st.none(), st.lists, max_leaves=8))
    def test_gives_the_value_back_and_cannot_be_ended(self, value):
        block = data_block("views", value)
        body = block.removeprefix('<script type="application/json" id="views">')
        body = body.removesuffix("</script>")
        assert not set("<>&") & set(body)
        assert body.isascii()
        assert json.loads(body) == value

    def test_no_number_that_json_does_not_know(self):
        with pytest.raises(ValueError, match="JSON compliant"):
            data_block("views", float("nan"))

    def test_identifier_is_escaped(self):
        assert html.escape('"') in data_block('"', 1)
