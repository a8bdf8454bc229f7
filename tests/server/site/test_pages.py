"""Pages for everybody: what they show, what they hide, and how they are made."""

from __future__ import annotations

import gzip
import json
import re
from datetime import timedelta

import pytest
from django.urls import reverse
from wellformed import complaints

from tracecup.server import clock
from tracecup.server.models import Submission
from tracecup.server.submissions import data_receipt
from tracecup.server.web import words
from tracecup.server.web.middleware import POLICY

pytestmark = pytest.mark.django_db


def page(client, path, status=200, **more):
    answer = client.get(path, **more)
    assert answer.status_code == status
    html = answer.content.decode()
    assert complaints(html) == []
    return html


class TestHome:
    def test_without_contests_it_says_what_comes(self, client):
        assert "No contest is open to you yet" in page(client, "/")

    def test_staff_may_create_one(self, client, new_person):
        client.force_login(new_person("boss", is_staff=True))
        assert reverse("run-new") in page(client, "/")

    def test_a_contest_with_phase_and_time_left(self, client, contest):
        html = page(client, "/")
        assert "Spring contest" in html
        assert "Anonymization" in html
        assert 'data-left="43200"' in html

    def test_a_hidden_contest_is_for_its_people(self, client, new_contest, new_team):
        team = new_team(new_contest("hidden", is_public=False))
        assert "/c/hidden/" not in page(client, "/")
        client.force_login(team.members.get().person)
        assert "/c/hidden/team/" in page(client, "/")

    def test_a_deleted_contest_is_gone(self, client, contest):
        contest.deleted_at = clock.now()
        contest.save()
        assert "Spring contest" not in page(client, "/")


class TestContest:
    def test_story_times_city_rules_teams(self, client, team):
        html = page(client, "/c/spring/")
        for part in ("What happens here", "When", "The city", "How it is scored", "team1"):
            assert part in html

    def test_times_in_the_contests_zone_and_in_mine(self, client, contest):
        client.cookies["zone"] = "Europe/Berlin"
        html = page(client, "/c/spring/")
        assert "2030-04-02 09:00 JST" in html
        assert "2030-04-02 02:00 CEST" in html

    def test_a_wrong_zone_is_no_error(self, client, contest):
        client.cookies["zone"] = "../../etc/passwd"
        assert "JST" in page(client, "/c/spring/")

    def test_the_phase_of_now_is_marked_in_words(self, client, contest, at):
        at("attack")
        html = page(client, "/c/spring/")
        marked = re.findall(r'aria-current="step">(.*?)</li>', html, re.S)
        assert len(marked) == 1
        assert "Attack" in marked[0]

    def test_the_chart_has_a_text_a_table_and_safe_data(self, client, contest):
        html = page(client, "/c/spring/")
        data = re.search(r'class="chart-data">(.*?)</script>', html, re.S)
        assert "<" not in data[1]
        assert json.loads(data[1])["views"]["city"]["spec"]["layer"]
        assert 'role="img" aria-label="Map of the city' in html

    @pytest.mark.parametrize("name", ["</script><script>alert(1)</script>", '"><b>x', "{{ 7*7 }}"])
    def test_hostile_names_are_text(self, client, contest, new_team, name):
        new_team(contest, "plain")
        contest.teams.update(name=name)
        contest.name = name
        contest.save()
        html = page(client, "/c/spring/")
        assert "<script>alert" not in html
        assert "<b>x" not in html

    def test_what_may_not_be_seen_is_not_found(self, client, new_contest):
        new_contest("secret-one", is_public=False)
        token = r"[A-Za-z0-9]{64}"
        hidden, missing = (
            re.sub(token, "", page(client, f"/c/{slug}/", 404)).replace(slug, "SLUG")
            for slug in ("secret-one", "nothing-here")
        )
        assert hidden == missing

    def test_an_unknown_round_is_not_found(self, client, contest):
        page(client, "/c/spring/?round=semifinal", 404)

    def test_paused_is_said(self, client, contest):
        contest.paused_at = clock.now()
        contest.save()
        assert "The contest is paused." in page(client, "/c/spring/")


class TestLearn:
    def test_five_lessons(self, client):
        assert page(client, "/learn/").count("data-lesson=") == 5


class TestResultsBefore:
    def test_says_when(self, client, contest):
        html = page(client, "/c/spring/results/")
        assert "No results yet" in html
        assert "2030-04-05 09:00 JST" in html

    @pytest.mark.parametrize("form", ["csv", "json", "parquet", "exe"])
    def test_no_table(self, client, contest, form):
        page(client, f"/c/spring/results/cells.{form}", 404)


class TestReceipt:
    @pytest.fixture
    def submission(self, contest, final, team):
        return Submission.objects.create(
            contest=contest,
            round=final,
            team=team,
            kind="reid",
            challenge="trace",
            target=2,
            attempt=1,
            state="queued",
            charged=True,
            idempotency_key="k",
            file_name="etable.csv",
            sha256="ab" * 32,
            size=1234,
            received_at=clock.now() - timedelta(minutes=2),
            via="page",
            score=0.123456,
        )

    def test_works_without_an_account(self, client, submission):
        html = page(client, f"/receipt/{submission.receipt}/")
        for part in ("ab" * 32, "1.2 KiB", "etable.csv", "2 min ago", "queued"):
            assert part in html

    def test_says_nothing_of_the_score(self, client, submission):
        submission.state = "scored"
        submission.save()
        assert "0.123" not in page(client, f"/receipt/{submission.receipt}/")
        assert "0.123" not in data_receipt.receipt(submission).model_dump_json()

    def test_a_waiting_one_asks_again_by_itself(self, client, submission):
        address = f"/receipt/{submission.receipt}/"
        assert 'hx-trigger="every 5s"' in page(client, address)
        asked = {"path": f"{address}?state=queued", "headers": {"HX-Request": "true"}}
        assert client.get(**asked).status_code == 204
        submission.state = "scored"
        submission.save()
        part = client.get(**asked).content.decode()
        assert "hx-trigger" not in part
        assert "<html" not in part

    def test_is_not_stored_or_leaked(self, client, submission):
        answer = client.get(f"/receipt/{submission.receipt}/")
        assert answer["Referrer-Policy"] == "no-referrer"
        assert "no-store" in answer["Cache-Control"]

    def test_a_wrong_secret_is_not_found(self, client, submission):
        page(client, "/receipt/abc/", 404)


class TestEveryPage:
    @pytest.mark.parametrize("path", ["/", "/learn/", "/c/spring/", "/c/spring/results/", "/no/"])
    def test_strict_policy(self, client, contest, path):
        answer = client.get(path)
        assert answer["Content-Security-Policy"] == POLICY
        assert "unsafe" not in POLICY

    def test_unknown_address_is_our_own_page(self, client):
        assert "Not found" in page(client, "/nothing/here/", 404)

    def test_a_failure_of_ours_is_a_whole_page(self, client):
        from django.test import RequestFactory
        from django.views.defaults import server_error

        html = server_error(RequestFactory().get("/")).content.decode()
        assert complaints(html) == []
        assert "never costs a try" in html

    def test_a_stale_form_is_explained(self, contest):
        from django.test import Client

        html = Client(enforce_csrf_checks=True).post("/language/", {"language": "ja"}).content
        assert "Please try again" in html.decode()

    def test_only_looking(self, client, contest):
        assert client.post("/c/spring/").status_code == 405


class TestLanguage:
    def test_japanese(self, client, contest):
        client.post("/language/", {"language": "ja", "next": "/learn/"})
        html = page(client, "/c/spring/")
        assert '<html lang="ja">' in html
        assert "匿名化" in html

    def test_goes_back_only_to_this_site(self, client):
        answer = client.post("/language/", {"language": "ja", "next": "https://example.org/"})
        assert answer["Location"] == "/"


class TestChartScript:
    def test_by_its_hash_for_ever(self, client, monkeypatch, server_folder):
        from tracecup.server.web import charts

        (server_folder / "made").mkdir()
        kept = server_folder / "made" / f"charts-{charts._name()}.packed"
        kept.write_bytes(gzip.compress(b"vegaEmbed"))
        charts._packed.cache_clear()
        plain = client.get(charts.script_url())
        packed = client.get(charts.script_url(), headers={"Accept-Encoding": "gzip"})
        charts._packed.cache_clear()
        assert plain.content == gzip.decompress(packed.content) == b"vegaEmbed"
        assert "immutable" in plain["Cache-Control"]

    def test_an_old_hash_is_not_found(self, client):
        assert client.get("/made/charts-0123456789abcdef.js").status_code == 404


class TestWords:
    @pytest.mark.parametrize(
        ("seconds", "said"),
        [
            (0, "now"),
            (59, "in 59 s"),
            (-60, "1 min ago"),
            (3599, "in 59 min"),
            (3600, "in 1 h"),
            (86400 * 2 + 3700, "in 2 d 1 h"),
        ],
    )
    def test_relative(self, seconds, said):
        assert words.relative(seconds) == said

    @pytest.mark.parametrize(
        ("count", "said"), [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 << 30, "5.0 GiB")]
    )
    def test_size(self, count, said):
        assert words.size(count) == said
