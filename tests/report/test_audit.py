from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from tracecup import City, Clock, Grid, SetTraces, Traces
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.report.audit import LABEL, PLOT, Bar, audit_html, bars, write_audit
from tracecup.study.audit import Audit, Subject, audit

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=1>', "a\u202eb", "ok")
VOID = {"meta", "img", "br"}


def made(labels: tuple[str, ...] = HOSTILE, table: bool = True, notes: tuple[str, ...] = ()):
    city = City(Grid.from_metres(3, 3, width_m=1000, height_m=1000))
    clock = Clock.regular(2, slots=2)
    homes = Traces.of([[k] * 4 for k in range(len(labels))], clock)
    released, truth = pseudonymize(SetTraces.of_traces(homes), 1)
    return audit(Subject(city, homes, homes, released, truth if table else None, labels, notes))


@pytest.fixture(scope="module")
def found() -> Audit:
    return made()


class Balance(HTMLParser):
    """Notes tags that are not closed in order, and everything that could load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.wrong += [name for name, _ in attrs if name.startswith("on") or name == "style"]
        self.wrong += [str(v) for name, v in attrs if name in ("src", "href") and v[0] != "#"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class TestAuditHtml:
    def test_tags_are_closed_and_nothing_loads_or_runs(self, found):
        parser = Balance()
        parser.feed(audit_html(found))
        assert parser.wrong == parser.open == []
        assert "script" not in parser.tags
        assert "img" not in parser.tags

    def test_hostile_names_are_text(self, found):
        page = audit_html(found)
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "\u202e" not in page

    def test_no_address_of_anything_else(self, found):
        assert not re.search(r"https?://|url\(|@import", audit_html(found))

    def test_policy_allows_its_own_style_only(self, found):
        page = audit_html(found)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
        assert policy is not None
        assert policy[1].startswith("default-src &#x27;none&#x27;; style-src &#x27;sha256-")

    def test_every_number_of_the_terminal_is_there(self, found):
        page = audit_html(found)
        for one in (*found.reid, *found.trace):
            assert one.attack in page
        assert "4 of 4 pseudonyms" in page
        assert "no proof" in page

    def test_top_limits_the_list(self, found):
        assert "The 2 users at most risk" in audit_html(found, top=2)

    def test_notes_are_escaped(self):
        assert "1 &lt; 2" in audit_html(made(notes=("1 < 2",)))

    def test_without_table_there_is_no_identification(self):
        page = audit_html(made(table=False))
        assert 'id="identification"' not in page
        assert "not scored" in page

    def test_same_audit_same_bytes(self, found, tmp_path):
        write_audit(found, tmp_path / "a.html")
        assert (tmp_path / "a.html").read_text() == audit_html(found)

    def test_users_without_observation(self):
        city = City(Grid.from_metres(3, 3, width_m=1000, height_m=1000))
        clock = Clock.regular(2, slots=2)
        homes = Traces.of([[0] * 4, [8] * 4], clock)
        truth = Traces.of(np.array([[-1] * 4, [8] * 4]), clock)
        released, table = pseudonymize(SetTraces.of_traces(truth), 1)
        page = audit_html(audit(Subject(city, homes, truth, released, table, ("a", "b"))))
        assert "nan" not in page.lower().replace("nanum", "")
        assert "–" in page


class TestBars:
    def test_lengths_follow_the_values(self):
        rows = [Bar("a", 0.5, 0.4, 0.6, "50%"), Bar("b", 1.0, 1.0, 1.0, "100%")]
        widths = [
            float(w)
            for w in re.findall(
                r'class="bar"[^>]* width="([0-9.]+)"', bars("t", rows, 1.0, "1", None)
            )
        ]
        assert widths[0] == pytest.approx(widths[1] / 2)

    def test_says_in_words_what_it_shows(self):
        picture = bars("Rates", [Bar("a<b", 0.5, 0.4, 0.6, "50%")], 1.0, "1", (0.1, "guessing"))
        assert 'role="img"' in picture
        assert 'aria-label="Rates: a&lt;b 50%. Dashed line: guessing"' in picture

    def test_nothing_reaches_beyond_the_axis(self):
        picture = bars("t", [Bar("a", 2.0, -1.0, 3.0, "x")], 1.0, "1", None)
        places = [float(x) for x in re.findall(r'x[12]="([0-9.-]+)"', picture)]
        assert min(places) >= LABEL
        assert max(places) <= LABEL + PLOT


class TestInABrowser:
    @pytest.mark.parametrize("dark", [False, True])
    @pytest.mark.parametrize("width", [375, 1200])
    def test_fits_and_never_complains(self, browser, found, tmp_path, width, dark):
        write_audit(found, tmp_path / "audit.html")
        browser.complaints.clear()
        browser.requests.clear()
        browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        browser.theme(dark)
        address = (tmp_path / "audit.html").as_uri()
        browser.call("Page.navigate", url=address)
        browser.wait(f"location.href === '{address}' && document.readyState === 'complete'")
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert browser.evaluate("document.querySelectorAll('svg.bars').length") == 3
        assert browser.shot(tmp_path / "page.png").stat().st_size > 20_000
        assert browser.complaints == []
        assert [url for url in browser.requests if not url.startswith("data:")] == [address]
