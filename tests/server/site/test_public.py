"""What everybody sees: help, valid releases where the rules tell them, density, winners."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import translation
from tests.server.conftest import RULES

from tracecup.server import clock
from tracecup.server.access import SYSTEM, role_of
from tracecup.server.models import Contest, Round, Submission
from tracecup.server.organising.contests import set_status
from tracecup.server.results.certificates import certificates_of, svg
from tracecup.server.site.data import contest_page, home
from tracecup.server.web.formats import FORMATS
from tracecup.traces.files import PREFIXES

pytestmark = pytest.mark.django_db


def text_of(client, path, language="en"):
    answer = client.get(path, headers={"Accept-Language": language})
    assert answer.status_code == 200
    return answer.content.decode()


class TestHelp:
    def test_formats_client_and_packed_files(self, client):
        html = text_of(client, reverse("help"))
        for part in ("pip install tracecup", "zstd -d", "tracecup client login", "user_id,time_id"):
            assert part in html
        assert [one.prefix for one in FORMATS[: len(PREFIXES)]] == list(PREFIXES)

    def test_in_japanese(self, client):
        assert "クライアントのインストール" in text_of(client, reverse("help"), "ja")

    def test_every_page_leads_there(self, client):
        assert f'href="{reverse("help")}"' in text_of(client, "/")


@pytest.fixture
def told(contest, final, team):
    """Set what the rules tell of releases; team 1 has a valid one of utility 0.8."""
    Submission.objects.create(
        contest=contest, round=final, team=team, kind="release", challenge="trace", attempt=1,
        state="scored", charged=True, chosen=True, valid=True, score=0.8, idempotency_key="k",
        file_name="a.csv", sha256="0" * 64, size=1, received_at=clock.now(), via="page",
    )  # fmt: skip

    def tell(what: str, **more):
        Contest.objects.update(rules_text=f'{RULES}[feedback]\nboard = "{what}"\n')
        Round.objects.update(**more)
        found = Contest.objects.get(pk=contest.pk)
        return contest_page(role_of(found, None), found.rounds.get())

    return tell


class TestBoardOfReleases:
    def releases(self, page):
        return [(one.challenge, one.utility) for team in page.teams for one in team.releases]

    def test_nothing_by_default(self, contest, final, told):
        page = contest_page(role_of(contest, None), final)
        assert (page.board, self.releases(page)) == ("none", [])

    def test_valid_ones_where_the_rules_allow(self, told, client):
        assert self.releases(told("valid")) == [("trace", None)]
        html = text_of(client, "/c/spring/")
        assert "The rules make public which teams have a valid release" in html
        assert "0.8000" not in html

    def test_utility_where_they_allow_that(self, told, client):
        assert self.releases(told("utility")) == [("trace", 0.8)]
        assert "0.8000" in text_of(client, "/c/spring/")

    def test_invalid_ones_never(self, told):
        Submission.objects.update(valid=False)
        assert self.releases(told("utility")) == []

    @pytest.mark.parametrize("more", [{"frozen": True}, {"released_at": "2030-04-05T00:00Z"}])
    def test_frozen_boards_and_results_end_it(self, told, more):
        page = told("utility", **more)
        assert (page.board, self.releases(page)) == ("none", [])


class TestDensity:
    def test_a_generated_city_knows_its_homes(self, contest, final):
        page = contest_page(role_of(contest, None), final)
        assert len(page.density) == page.city.nx * page.city.ny
        assert max(page.density) > 0

    def test_counted_from_the_samples_once_they_are_out(self, court):
        court.at("announce")
        court.begin()
        page = contest_page(role_of(court.contest, None), court.round)
        # 24 users are somewhere at every time.
        assert sum(page.density) == pytest.approx(24, abs=0.5)


class TestWinners:
    """Contests that are over; one play for several properties, since each takes seconds."""

    def test_finished_contests_name_their_winners(self, court, client):
        assert not home(None).contests[0].over
        court.to_results()
        (card,) = home(None).contests
        assert card.over
        assert {one.award for one in card.winners} >= {"overall"}
        html = text_of(client, "/")
        assert "Finished contests" in html
        assert all(name in html for one in card.winners for name in one.teams)
        (name,) = next(one.teams for one in card.winners if one.award == "overall")
        team = next(one for one in court.teams.values() if one.name == name)
        self.results_begin_with_them(client)
        self.they_are_congratulated(client, team)
        self.certificates_in_japanese(team)
        set_status(team, "disqualified", "two accounts", SYSTEM)
        assert name not in [one for each in home(None).contests[0].winners for one in each.teams]
        Round.objects.update(frozen=True)
        assert home(None).contests[0].winners == []

    def results_begin_with_them(self, client):
        html = text_of(client, "/c/spring/results/")
        places = [html.index(f'id="{one}"') for one in ("awards", "lessons", "board", "pictures")]
        assert places == sorted(places)

    def they_are_congratulated(self, client, team):
        client.force_login(team.members.get().person)
        for path in ("/c/spring/results/", "/c/spring/team/"):
            html = text_of(client, path)
            assert "Congratulations! Your team won:" in html
            assert reverse("certificates", args=["spring"]) in html

    def certificates_in_japanese(self, team):
        with translation.override("ja"):
            overall = next(one for one in certificates_of(team) if one.award == "overall")
            assert overall.title == "総合優勝"
            assert "賞状" in svg(overall)
            assert f"{team.name} 殿" in svg(overall)
