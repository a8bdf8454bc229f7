"""The report in a real browser, without a network: it draws, follows, and never complains."""

from __future__ import annotations

import pytest

from tracecup.report import write_report

HOSTILE = ('"\'><img src=x onerror="window.pwned=1">', "</script><script>window.pwned=2</script>")
ALL_LIVE = "[...document.querySelectorAll('figure.chart')].every((f) => f.matches('.live'))"


@pytest.fixture(scope="module")
def report(make_facts, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(make_facts(names=HOSTILE)(), path)
    return path


def shown(browser, selector):
    return browser.evaluate(f"document.querySelector('{selector}').outerHTML")


class TestDrawing:
    @pytest.mark.parametrize(
        ("width", "dark"), [(1200, False), (1200, True), (375, False), (375, True)]
    )
    def test_every_chart_is_drawn_and_nothing_complains(self, browser, report, width, dark):
        browser.open(report, width=width, dark=dark)
        assert browser.evaluate(ALL_LIVE)
        assert browser.evaluate("document.querySelectorAll('.view svg').length") == 10
        assert browser.complaints == []

    def test_nothing_but_the_file_is_asked_for(self, browser, report):
        browser.open(report, width=1200)
        outside = [url for url in browser.requests if not url.startswith("data:")]
        assert outside == [report.as_uri()]

    def test_a_request_would_be_refused(self, browser, report):
        browser.open(report, width=1200)
        answer = browser.evaluate(
            "fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')"
        )
        assert answer == "refused"
        assert any("Content Security Policy" in said for said in browser.complaints)

    @pytest.mark.parametrize("width", [320, 375, 768])
    def test_the_page_itself_never_scrolls_sideways(self, browser, report, width):
        browser.open(report, width=width)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width

    def test_screenshots(self, browser, report, tmp_path):
        for name, width, dark in (("light", 1200, 0), ("dark", 1200, 1), ("phone", 375, 0)):
            browser.open(report, width=width, dark=bool(dark))
            assert browser.shot(tmp_path / f"{name}.png").stat().st_size > 50_000


class TestControls:
    def test_the_slider_moves_the_map(self, browser, report):
        browser.open(report, width=1200)
        before = shown(browser, "#population svg")
        browser.evaluate(
            "(() => { const s = document.querySelector('#population input'); s.value = 2;"
            "s.dispatchEvent(new Event('input')); })()"
        )
        browser.wait("document.querySelector('#population output').textContent === '10:00'")
        browser.wait_for_change("#population svg", before)
        assert browser.evaluate(
            "document.querySelector('#population input').getAttribute('aria-valuetext') === '10:00'"
        )
        assert browser.complaints == []

    def test_one_slider_moves_all_three_traces(self, browser, report):
        browser.open(report, width=1200)
        views = [f'[data-view="trace-{k}"] svg' for k in ("original", "obfuscated", "inferred")]
        before = [shown(browser, view) for view in views]
        browser.evaluate(
            "(() => { const s = document.querySelector('#trace input'); s.value = 1;"
            "s.dispatchEvent(new Event('input')); })()"
        )
        browser.wait("document.querySelector('#trace output').textContent === 'day 2'")
        for view, old in zip(views, before, strict=True):
            browser.wait_for_change(view, old)

    def test_a_release_can_be_chosen(self, browser, report):
        browser.open(report, width=1200)
        before = shown(browser, "#risk-histogram svg")
        browser.evaluate(
            "(() => { const s = document.querySelector('#risk-histogram select');"
            "s.value = 3; s.dispatchEvent(new Event('input')); })()"
        )
        browser.wait_for_change("#risk-histogram svg", before)

    def test_every_table_opens(self, browser, report):
        browser.open(report, width=1200)
        browser.evaluate("document.querySelectorAll('summary').forEach((s) => s.click())")
        heights = browser.evaluate(
            "[...document.querySelectorAll('details table')].map((t) => t.offsetHeight)"
        )
        assert len(heights) == 8
        assert min(heights) > 40

    def test_a_tooltip_shows_a_hostile_name_as_text(self, browser, report):
        browser.open(report, width=1200)
        browser.evaluate("document.querySelector('#minima').scrollIntoView({behavior: 'instant'})")
        spots = browser.evaluate(
            "[...document.querySelectorAll('#minima .mark-symbol.role-mark path')].map((p) => {"
            "const b = p.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2];})"
        )
        said = []
        for x, y in spots:
            browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)
            browser.wait("!document.querySelector('#vg-tooltip-element.visible')")
            browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
            browser.wait("document.querySelector('#vg-tooltip-element.visible')")
            said.append(browser.evaluate("document.querySelector('#vg-tooltip-element').innerText"))
        assert any(HOSTILE[0] in text for text in said)
        assert browser.evaluate("document.querySelectorAll('#vg-tooltip-element img').length") == 0
        assert browser.evaluate("window.pwned === undefined")


class TestMedia:
    def test_a_change_of_the_theme_draws_anew(self, browser, report):
        browser.open(report, width=1200)
        light = shown(browser, "#minima svg")
        browser.theme(dark=True)
        browser.wait("document.querySelector('#minima svg').outerHTML.includes('#e6e9ee')")
        browser.wait_for_change("#minima svg", light)
        browser.wait(ALL_LIVE)
        assert browser.complaints == []

    def test_print_shows_the_still_pictures(self, browser, report):
        browser.open(report, width=1200)
        visible = "getComputedStyle(document.querySelector('%s')).display !== 'none'"
        assert browser.evaluate(visible % ".views")
        assert not browser.evaluate(visible % ".still-frame")
        browser.theme(dark=False, media="print")
        assert not browser.evaluate(visible % ".views")
        assert browser.evaluate(visible % ".still-frame")
        assert browser.evaluate(
            "[...document.querySelectorAll('img.still')].every((i) => i.complete && i.naturalWidth)"
        )
        browser.theme(dark=False)

    def test_without_javascript_the_still_pictures_stay(self, browser, report):
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            browser.call("Page.navigate", url=report.as_uri())
            browser.wait("document.querySelectorAll('figure.chart').length === 8")
            visible = "getComputedStyle(document.querySelector('%s')).display !== 'none'"
            assert browser.evaluate(visible % ".still-frame")
            assert not browser.evaluate(visible % ".views")
            assert not browser.evaluate(visible % ".control")
        finally:
            browser.call("Emulation.setScriptExecutionDisabled", value=False)
