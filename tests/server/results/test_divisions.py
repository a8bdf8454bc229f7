"""Awards within divisions: ranked among their teams, on the page, in the API, on certificates."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tracecup.facts.board import AwardFacts, ExcludedFacts, PlaceFacts
from tracecup.server.models import Team
from tracecup.server.results.certificates import certificates_of
from tracecup.server.results.divisions import within

pytestmark = pytest.mark.django_db


def award(*ranks):
    places = tuple(
        PlaceFacts(rank, 1, 9, f"{k:03d}", f"team{k}", 1.0 - rank / 10)
        for k, rank in enumerate(ranks, start=1)
    )
    return AwardFacts("overall", "Overall", "higher", places=places)


class TestWithin:
    def test_all_teams_change_no_rank(self):
        held = award(1, 2, 2, 4)
        assert [one.rank for one in within(held, ["001", "002", "003", "004"]).places] == [
            1,
            2,
            2,
            4,
        ]

    def test_others_leave_no_gap_and_ties_stay(self):
        found = within(award(1, 2, 2, 4, 5), ["002", "003", "005"])
        assert [(one.team, one.rank) for one in found.places] == [
            ("002", 1), ("003", 1), ("005", 3),
        ]  # fmt: skip
        assert found.winners == ("team2", "team3")
        assert found.tie

    def test_nobody_eligible_and_who_is_out_stays_named(self):
        held = AwardFacts("a", "A", "lower", excluded=(ExcludedFacts("001", "x", "withdrawn"),))
        found = within(held, ["001"])
        assert (found.winners, found.value) == ((), None)
        assert [one.team for one in found.excluded] == ["001"]


@pytest.fixture
def results(contest, published, new_team):
    """Three teams; two of the division School, behind one that is open."""
    contest.divisions = ["School", "Empty"]
    contest.save()
    for name, division in (("open", ""), ("pupils", "School"), ("juniors", "School")):
        new_team(contest, name, division=division)
    return published(
        awards={
            "award": ["overall"] * 3, "title": ["Overall"] * 3, "rank": [1, 2, 3],
            "rank_low": [1] * 3, "rank_high": [3] * 3, "team": ["team001", "team002", "team003"],
            "value": [0.9, 0.5, 0.4], "better": ["higher"] * 3, "excluded": [None] * 3,
        },
        cells={"kind": [], "pubtraces": [], "attacker": [], "attack": [], "score": []},
        releases={},
        sums={"kind": [], "attacker": [], "sum": [], "not_attacked": []},
    )  # fmt: skip


class TestShown:
    def test_in_the_api_and_on_the_page(self, client, results):
        told = client.get("/api/v1/contests/spring/results").json()["divisions"]
        assert [(one["name"], one["teams"]) for one in told] == [("School", 2)]
        assert told[0]["awards"][0]["winners"] == ["pupils"]
        page = client.get(reverse("results", args=["spring"])).content.decode()
        assert "Division School" in page

    def test_a_team_that_is_out_leaves_its_division_at_once(self, client, results):
        Team.objects.filter(name="pupils").update(status="disqualified")
        told = client.get("/api/v1/contests/spring/results").json()["divisions"]
        assert told[0]["awards"][0]["winners"] == ["juniors"]

    def test_certificates_of_the_first_of_a_division(self, results):
        lines = {
            team.name: [one.line for one in certificates_of(team)] for team in Team.objects.all()
        }
        assert any("First place of division School" in one for one in lines["pupils"])
        assert not any("School" in one for one in lines["open"] + lines["juniors"])
