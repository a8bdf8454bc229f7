"""Awards when teams leave after the results: one way to move up, ties stay ties."""

from __future__ import annotations

import pytest

from tracecup.contest.standing.awards import Award, Place
from tracecup.server.models import Team
from tracecup.server.results.certificates import certificates_of
from tracecup.server.resultsets import award_rows, gone_teams

pytestmark = pytest.mark.django_db

RANKS = (1, 1, 3, 4)


@pytest.fixture
def results(contest, published, new_team):
    """Four teams; the first two share the first place."""
    for k in range(1, 5):
        new_team(contest, f"team{k}")
    return published(
        awards={
            "award": ["overall"] * 4, "title": ["Overall"] * 4, "rank": list(RANKS),
            "rank_low": [1] * 4, "rank_high": [4] * 4,
            "team": [f"team00{k}" for k in range(1, 5)],
            "value": [0.9, 0.9, 0.5, 0.4], "better": ["higher"] * 4, "excluded": [None] * 4,
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("left", "ranks"),
    [
        ([], {1: 1, 2: 1, 3: 3, 4: 4}),
        ([1], {2: 1, 3: 2, 4: 3}),
        ([1, 2], {3: 1, 4: 2}),
        ([1, 2, 3], {4: 1}),
        ([4], {1: 1, 2: 1, 3: 3}),
    ],
)
def test_the_round_and_the_season_tell_the_same_ranks(results, left, ranks):
    contest = results.round.contest
    Team.objects.filter(contest=contest, number__in=left).update(status="disqualified")
    rows = award_rows(results)
    told = {int(row["team"][-3:]): row["rank"] for row in rows if row["rank"]}
    assert told == ranks
    places = tuple(Place(rank, f"00{k}", 0.5) for k, rank in enumerate(RANKS, start=1))
    award = Award("overall", "higher", places).without(gone_teams(contest))
    assert {int(one.team): one.rank for one in award.places} == ranks
    # Intervals are those over all teams: they hold only where nobody left.
    intervals = {(row["rank_low"], row["rank_high"]) for row in rows if row["rank"]}
    assert intervals == {(None, None) if left else (1, 4)}


def test_whoever_is_behind_a_tie_that_left_has_the_certificate(results):
    contest = results.round.contest
    Team.objects.filter(contest=contest, number__in=[1, 2]).update(status="disqualified")
    third = contest.teams.get(number=3)
    assert [one.award for one in certificates_of(third)] == ["overall"]
