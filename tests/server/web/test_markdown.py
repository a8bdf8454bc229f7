"""Markdown of organisers: what is understood, and that nothing else gets through."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.server.web.markdown import render

ALLOWED = {
    "p", "br", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "strong",
    "em", "a", "hr",
}  # fmt: skip
PIECES = [
    "<script>", "</p>", "[x](", "](", "javascript:", "https://e.org/", ")", "*", "**", "`", "```",
    "\n", "\n\n", "> ", "- ", "1. ", "# ", '"', "'", "onerror=", "&lt;", "<img src=x>", "//e.org",
    "/team/", "mailto:a@b", "text", " ", "\t", "[", "]", "(", "\r\n", "---",
]  # fmt: skip


class Read(HTMLParser):
    """Collects tags and links; complains where tags are not nested."""

    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED
        assert {name for name, _value in attrs} <= ({"href", "rel"} if tag == "a" else set())
        self.links += [value for name, value in attrs if name == "href"]
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(text):
    parser = Read()
    parser.feed(render(text))
    parser.close()
    assert parser.open == []
    return parser


class TestRender:
    @pytest.mark.parametrize(
        ("text", "html"),
        [
            ("a\nb", "<p>a<br>\nb</p>"),
            ("a\n\nb", "<p>a</p>\n<p>b</p>"),
            ("# Prizes #", "<h3>Prizes</h3>"),
            ("- a\n- *b*\n  c", "<ul><li>a</li><li><em>b</em><br>\nc</li></ul>"),
            ("1. a\n2) b", "<ol><li>a</li><li>b</li></ol>"),
            ("> a\n> b", "<blockquote><p>a<br>\nb</p></blockquote>"),
            ("```\n<b>\n```\nx", "<pre><code>&lt;b&gt;</code></pre>\n<p>x</p>"),
            ("`a*b*`", "<p><code>a*b*</code></p>"),
            ("---", "<hr>"),
            ("2 * 3 * 4", "<p>2 * 3 * 4</p>"),
            ("a & b", "<p>a &amp; b</p>"),
            ("", ""),
        ],
    )
    def test_what_is_understood(self, text, html):
        assert render(text) == html

    def test_links(self):
        text = "[a](https://e.org) [b](/c/x/) [c](mailto:a@b.c) see https://e.org/x."
        assert read(text).links == [
            "https://e.org", "/c/x/", "mailto:a@b.c", "https://e.org/x",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "to", ["javascript:alert(1)", "data:text/html,x", "//e.org", "/\\e.org", "x.html", "JaVa:x"]
    )
    def test_other_links_stay_text(self, to):
        assert read(f"[a]({to})").links == []

    @given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
    def test_nothing_else_gets_through(self, text):
        for link in read(text).links:
            assert re.match(r"https?://|mailto:|/(?!/)", link)

    def test_long_hostile_texts_end(self):
        for piece in ("*", "[", "**a", "`", "[a](", "> - ", "https://"):
            render(piece * (20_000 // len(piece)))
