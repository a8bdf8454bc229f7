"""The page as a browser gets it: well-formed, self-contained, accessible, safe from names."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tracecup.charts import theme
from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.report import report_html, write_report
from tracecup.report.markup import VOID

HOSTILE = (
    "</script><script>window.pwned=1</script>",
    "\"'><img src=x onerror=window.pwned=2>",
    "\u202eevil\u2066 فريق",
    "<!--<script>",
    "]]>&amp;\x00\ufffe\ud800",
)
# Names in the libraries of XML languages and of chart formats: never loaded.
NAMESPACES = ("http://www.w3.org/", "https://vega.github.io/", "https://github.com/vega/")
CSP = re.compile(r"'(sha256-[^']+)'")


class Page(HTMLParser):
    """Walks a page and refuses what is not well-formed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict]] = []
        self.elements: list[tuple[str, dict, tuple[str, ...]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        self.elements.append((tag, dict(attrs), tuple(name for name, _ in self.open)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        assert tag not in VOID
        name, _ = self.open.pop()
        assert name == tag, f"</{tag}> closes <{name}>"

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1][0]][-1] += data
        else:
            assert not data.strip()

    def all(self, tag):
        return [attrs for name, attrs, _ in self.elements if name == tag]


@pytest.fixture(scope="module")
def facts(make_facts):
    return make_facts()()


@pytest.fixture(scope="module")
def page(facts):
    return Page(report_html(facts))


@pytest.fixture(scope="module")
def hostile(make_facts):
    """Everything that people can name is named badly."""
    made = make_facts(names=HOSTILE)()
    bad = HOSTILE[0]
    return replace(
        made,
        name=bad,
        summary=HOSTILE[1],
        rules=tuple((name, name) for name in HOSTILE),
        board=replace(
            made.board,
            awards=tuple(replace(a, title=bad, winners=HOSTILE) for a in made.board.awards),
            releases=tuple(replace(r, method=f"Cheat({bad})") for r in made.board.releases),
            matrices=tuple(
                replace(m, attackers=tuple(replace(a, name=bad, attack=bad) for a in m.attackers))
                for m in made.board.matrices
            ),
        ),
        example=replace(made.example, user=bad, defender=HOSTILE[1], attacker=HOSTILE[2]),
        population=replace(made.population, hours=HOSTILE[:3]),
        made_with=bad,
    )


@pytest.fixture(scope="module")
def hostile_page(hostile):
    return Page(report_html(hostile))


class TestReportHtml:
    def test_same_facts_same_text(self, facts):
        assert report_html(facts) == report_html(facts)

    def test_facts_are_checked(self, facts):
        with pytest.raises(InvalidParameter, match="at least one release"):
            report_html(replace(facts, board=replace(facts.board, releases=())))

    def test_identifiers_are_unique(self, page):
        counts = Counter(a["id"] for _, a, _ in page.elements if "id" in a)
        assert max(counts.values()) == 1

    def test_references_within_the_page_have_a_target(self, page):
        there = {a["id"] for _, a, _ in page.elements if "id" in a}
        for tag, attrs, _ in page.elements:
            for key in ("aria-labelledby", "for"):
                assert attrs.get(key) is None or attrs[key] in there, (tag, attrs)
            if tag == "a":
                assert attrs["href"].startswith("#")
                assert attrs["href"][1:] in there

    def test_landmarks_and_headings(self, page):
        names = Counter(tag for tag, _, _ in page.elements)
        assert [names[tag] for tag in ("header", "nav", "main", "footer", "h1")] == [1] * 5
        levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
        assert all(b <= a + 1 for a, b in pairwise(levels))
        assert page.all("html")[0]["lang"] == "en"

    def test_every_chart_has_words_a_still_picture_and_a_table(self, page):
        figures = page.all("figure")
        assert len(figures) == 8
        inside = [(tag, attrs) for tag, attrs, above in page.elements if "figure" in above]
        tables = [1 for tag, _, above in page.elements if tag == "table" and "details" in above]
        assert len(tables) == len(figures)
        pictures = [attrs for tag, attrs in inside if tag == "img"]
        assert len(pictures) == len(figures)
        assert all(len(attrs["alt"]) > 20 for attrs in pictures)
        views = [attrs for tag, attrs in inside if attrs.get("class") == "view"]
        assert len(views) == 10
        assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in views)

    def test_tables_have_captions_and_heads(self, page):
        names = Counter(tag for tag, _, _ in page.elements)
        assert names["table"] == names["caption"] == names["thead"] == names["tbody"]
        assert all(attrs.get("scope") in {"row", "col"} for attrs in page.all("th"))

    def test_data_and_charts_agree(self, page):
        given = json.loads(next(t for t in page.texts["script"] if t.startswith("{")))
        shown = {a["data-view"] for _, a, _ in page.elements if "data-view" in a}
        assert shown == set(given["views"])

    def test_what_is_not_known_is_left_out(self, facts):
        bare = replace(
            facts,
            city=None,
            population=None,
            example=None,
            risks={},
            board=replace(
                facts.board,
                awards=(),
                releases=tuple(replace(r, expected_error_km=None) for r in facts.board.releases),
            ),
        )
        page = Page(report_html(bare))
        assert len(page.all("figure")) == 4
        assert "maps" not in {a.get("id") for a in page.all("section")}
        text = " ".join(page.texts["th"])
        assert "Expected error" not in text
        assert "Rank" not in text


class TestSelfContained:
    def test_nothing_is_loaded_from_anywhere(self, page):
        for tag, attrs, _ in page.elements:
            for key, value in attrs.items():
                if key in {"src", "href", "data", "action", "poster", "srcset", "xlink:href"}:
                    assert value.startswith(("data:image/svg+xml;base64,", "#")), (tag, key)
                assert not key.startswith("on"), (tag, key)
                assert key != "style", (tag, key)
        assert not page.all("link")

    def test_addresses_are_names_of_languages_only(self, facts):
        for found in re.findall(r"https?://[^\s\"'`)<]*", report_html(facts)):
            assert found.startswith(NAMESPACES), found

    def test_the_policy_allows_this_script_and_style_and_nothing_else(self, page):
        policy = next(a["content"] for a in page.all("meta") if "http-equiv" in a)
        rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert rules["default-src"] == rules["connect-src"] == "'none'"
        assert rules["base-uri"] == rules["form-action"] == "'none'"
        assert rules["img-src"] == "data:"
        program = next(t for t in page.texts["script"] if not t.startswith("{"))
        for name, text in (("script-src", program), ("style-src", page.texts["style"][0])):
            made = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert rules[name] == f"'sha256-{made}'"
        assert "unsafe" not in policy

    def test_the_policy_stands_before_anything_it_governs(self, page):
        tags = [tag for tag, _, _ in page.elements]
        policy = next(k for k, (_, a, _) in enumerate(page.elements) if "http-equiv" in a)
        assert policy < tags.index("style") < tags.index("script")

    def test_style_loads_nothing(self, page):
        style = page.texts["style"][0]
        assert "url(" not in style
        assert "@import" not in style

    def test_paper_size_stays_below_six_megabytes(self, make_facts):
        facts = make_facts(teams=21, users=2000, nx=32, ny=32, days=20, hours=10)()
        assert len(report_html(facts).encode()) < 6_000_000


class TestHostileNames:
    def test_make_no_elements(self, page, hostile_page):
        kinds = {tag for tag, _, _ in hostile_page.elements}
        assert kinds == {tag for tag, _, _ in page.elements}
        assert len(hostile_page.all("script")) == 2

    def test_are_shown_as_text(self, hostile_page):
        assert HOSTILE[0] in " ".join(hostile_page.texts["bdi"])

    def test_carry_no_character_that_turns_text_around(self, hostile_page):
        text = "".join(t for tag, ts in hostile_page.texts.items() for t in ts if tag != "script")
        text += "".join(str(v) for _, attrs, _ in hostile_page.elements for v in attrs.values())
        assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\x00") & set(text)

    def test_still_pictures_stay_xml_without_scripts(self, hostile_page):
        for attrs in hostile_page.all("img"):
            svg = base64.b64decode(attrs["src"].partition("base64,")[2])
            names = {one.tag.rpartition("}")[2] for one in ElementTree.fromstring(svg).iter()}
            assert not names & {"script", "foreignObject", "image", "use", "a"}

    def test_can_be_written_as_utf8(self, hostile):
        report_html(hostile).encode("utf-8")


class TestWriteReport:
    def test_writes_the_page(self, facts, tmp_path):
        write_report(facts, tmp_path / "report.html")
        assert (tmp_path / "report.html").read_text("utf-8") == report_html(facts)
        assert [p.name for p in tmp_path.iterdir()] == ["report.html"]

    @pytest.mark.skipif(sys.platform == "win32", reason="skipped: modes are POSIX")
    def test_others_may_read_it(self, facts, tmp_path):
        write_report(facts, tmp_path / "report.html")
        assert stat.S_IMODE((tmp_path / "report.html").stat().st_mode) & 0o444

    def test_a_folder_that_is_not_there(self, facts, tmp_path):
        with pytest.raises(UnreadableFile, match="cannot be written"):
            write_report(facts, tmp_path / "no" / "report.html")


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(scope="module")
def schemes(page):
    """The colours of the style sheet: light, dark, print."""
    found = re.findall(r":root \{(.*?)\}", page.texts["style"][0], re.DOTALL)
    return [dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", block)) for block in found]


class TestContrast:
    """WCAG 2: 4.5 to 1 for text, 3 to 1 for parts of pictures."""

    def test_three_schemes(self, schemes):
        assert len(schemes) == 3

    def test_text(self, schemes):
        for scheme in schemes:
            for text in ("--text", "--muted", "--accent"):
                for ground in ("--page", "--card", "--stripe"):
                    assert contrast(scheme[text], scheme[ground]) >= 4.5, (text, ground)

    @pytest.mark.parametrize(("k", "config"), [(0, theme.light()), (1, theme.dark())])
    def test_charts(self, schemes, k, config):
        card = schemes[k]["--card"]
        assert contrast(config["axis"]["labelColor"], card) >= 4.5
        assert contrast(config["style"]["note"]["color"], card) >= 4.5
        for colour in config["range"]["category"]:
            assert contrast(colour, card) >= 3, colour
