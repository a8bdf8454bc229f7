"""Pages in a real browser: they fit a phone, draw, follow the sliders, and nothing complains."""

from __future__ import annotations

import os

import pytest
from django.conf import settings

from chromium import chromium

pytestmark = pytest.mark.django_db(transaction=True)
CHARTS = "document.documentElement.dataset.charts === 'drawn'"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def visit(browser, live_server):
    """Open a page of the site; afterwards nothing may have complained or gone outside."""

    def go(path: str, width: int = 1280, dark: bool = False, until: str = "true"):
        browser.complaints.clear()
        browser.requests.clear()
        browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        browser.theme(dark)
        browser.call("Page.navigate", url=f"{live_server.url}{path}")
        browser.wait("document.documentElement?.classList.contains('js')")
        browser.wait(until)
        return browser

    yield go
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(live_server.url)] == []


def move(browser, field, value):
    browser.evaluate(
        f"(() => {{ const s = document.querySelector('{field}'); s.value = {value};"
        "s.dispatchEvent(new Event('input')); })()"
    )


class TestFitting:
    @pytest.mark.parametrize(("width", "dark"), [(320, False), (375, True), (1280, False)])
    def test_nothing_scrolls_sideways(self, visit, team, width, dark):
        for path, until in (("/", "true"), ("/learn/", "true"), ("/c/spring/", CHARTS)):
            page = visit(path, width, dark, until)
            assert page.evaluate("document.documentElement.scrollWidth") <= width


class TestContest:
    def test_the_map_is_drawn_and_follows_the_theme(self, visit, contest):
        page = visit("/c/spring/", until=CHARTS)
        assert page.evaluate("document.querySelectorAll('#city svg path').length") > 5
        before = page.evaluate("document.querySelector('#city svg').outerHTML")
        page.theme(dark=True)
        page.wait("document.documentElement.classList.contains('dark-charts')")
        page.wait_for_change("#city.live svg", before)

    def test_sliders_show_the_formulas(self, visit, contest):
        page = visit("/c/spring/", until=CHARTS)
        said = "document.querySelector('[data-play=%s] output').textContent"
        move(page, "#play-utility", 1)
        assert page.evaluate(said % "utility") == "1.00 km away: counts 0.500"
        move(page, "#play-reid", 6)
        assert page.evaluate(said % "reid") == "6 found: s_R = 0.750"
        move(page, "#play-trace-1", 2)
        move(page, "#play-trace-2", 0)
        assert page.evaluate(said % "trace") == "2.00 km and 0.00 km off: s_T = 0.909"

    def test_the_viewers_zone_is_told_to_the_server(self, visit, contest):
        page = visit("/c/spring/", until=CHARTS)
        zone = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
        assert f"zone={zone}" in page.evaluate("document.cookie")

    def test_the_time_left_is_counted_down_from_the_servers_clock(self, visit, contest):
        page = visit("/c/spring/", until=CHARTS)
        lead = page.evaluate("document.querySelector('.lead').innerText")
        assert "in 12 h" in lead or "in 11 h 59 min" in lead


class TestLessons:
    def test_more_known_points_leave_fewer_people(self, visit):
        page = visit("/learn/")
        left = []
        for known in (0, 1, 3, 6):
            move(page, "#known", known)
            words = page.evaluate("document.querySelector('[data-lesson=few] output').textContent")
            left.append(int(words.split(",")[1].split()[0]))
        assert left[0] == 60
        assert left == sorted(left, reverse=True)
        assert left[-1] == 1

    def test_swapping_hides_who_but_not_where(self, visit):
        page = visit("/learn/")
        said = (
            "document.querySelector('[data-lesson=cheat] output').textContent.match(/[0-9.]+\\d/g)"
        )
        before = [float(one) for one in page.evaluate(said)]
        page.evaluate("document.querySelector('#swap').click()")
        after = [float(one) for one in page.evaluate(said)]
        assert before[0] < 0.5
        assert after[0] > 0.95
        assert after[1] == pytest.approx(before[1], abs=0.02)


class TestChoosingAFile:
    """A chosen file is checked at once, in whatever way and at whatever time it was chosen."""

    FIELD = "document.querySelector('main input[type=file]')"
    EARLY = (
        "document.addEventListener('readystatechange', () => {"
        f"const field = {FIELD}; if (document.readyState !== 'interactive' || !field) return;"
        "const given = new DataTransfer(); given.items.add(new File(['x'], 'early.csv'));"
        "field.files = given.files; field.dispatchEvent(new Event('change', {bubbles: true})); })"
    )

    @pytest.fixture
    def release(self, visit, browser, live_server, client, team, tmp_path):
        """The page of a member of the team, whose data are not made yet: so the check says."""
        client.force_login(team.members.get().person)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        browser.call("Network.setCookie", name=cookie.key, value=cookie.value, url=live_server.url)
        browser.call("DOM.enable")
        browser.call("Page.setInterceptFileChooserDialog", enabled=True)
        self.file = tmp_path / "anotraces.csv"
        self.file.write_text("first")
        yield lambda: visit("/c/spring/team/release/", until="document.readyState === 'complete'")
        browser.call("Page.setInterceptFileChooserDialog", enabled=False)
        browser.call("Network.clearBrowserCookies")

    def open_dialogue(self, page):
        page.call("Runtime.evaluate", expression=f"{self.FIELD}.click()", userGesture=True)

    def choose(self, page):
        """Open the browser's dialogue and take the file, as people do."""
        self.open_dialogue(page)
        root = page.call("DOM.getDocument")["root"]["nodeId"]
        query = {"nodeId": root, "selector": "main input[type=file]"}
        node = page.call("DOM.querySelector", **query)["nodeId"]
        page.call("DOM.setFileInputFiles", files=[str(self.file)], nodeId=node)

    def told(self, page, words="not ready yet"):
        page.wait(f"document.querySelector('[id^=outcome-]').innerText.includes('{words}')")

    def test_the_same_file_again_is_checked_again(self, release):
        page = release()
        for content in ("first", "made anew, longer"):
            self.file.write_text(content)
            page.evaluate("document.querySelector('[id^=outcome-]').replaceChildren()")
            self.choose(page)
            self.told(page)

    def test_a_dialogue_without_a_choice_keeps_the_file(self, release):
        page = release()
        self.choose(page)
        self.told(page)
        self.open_dialogue(page)
        page.evaluate(f"{self.FIELD}.dispatchEvent(new Event('cancel'))")
        assert page.evaluate(f"{self.FIELD}.files[0].name") == self.file.name

    def test_a_file_chosen_before_the_scripts_were_there(self, release, browser):
        script = browser.call("Page.addScriptToEvaluateOnNewDocument", source=self.EARLY)
        page = release()
        browser.call("Page.removeScriptToEvaluateOnNewDocument", **script)
        self.told(page)
        assert page.evaluate("document.querySelector('.chosen').innerText") == "Chosen: early.csv"

    def test_a_file_that_changed_after_the_choice(self, release):
        page = release()
        self.choose(page)
        self.told(page)
        written = self.file.stat().st_mtime + 10  # browsers compare whole seconds
        os.utime(self.file, (written, written))
        page.evaluate("document.querySelector('main [name=action][value=check]').click()")
        self.told(page, "changed since you chose it")
        assert any("ERR_UPLOAD_FILE_CHANGED" in one for one in page.complaints), page.complaints
        page.complaints.clear()
