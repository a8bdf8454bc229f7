"""Awards within divisions: the same values, ranked among the teams of one division.

Nothing is computed anew: a place in a division follows from the places over all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ninja import Schema

from tracecup.contest.sheets import team_of
from tracecup.contest.standing.awards import ranks_among
from tracecup.facts.board import AwardFacts
from tracecup.server.models import Contest, Team


class DivisionAwards(Schema):
    """The awards of a division; `season` over all rounds, once several have results."""

    name: str
    teams: int
    awards: list[AwardFacts]
    season: list[AwardFacts]


def division_awards(
    contest: Contest, awards: Iterable[AwardFacts], season: Iterable[AwardFacts]
) -> list[DivisionAwards]:
    """Every division that has teams, with its own winners; nothing where there are no divisions."""
    held = _teams_by_division(contest)
    return [
        DivisionAwards(
            name=name,
            teams=len(held[name]),
            awards=[within(one, held[name]) for one in awards],
            season=[within(one, held[name]) for one in season],
        )
        for name in contest.divisions
        if held.get(name)
    ]


def division_of(contest: Contest, award: AwardFacts, team: Team) -> AwardFacts | None:
    """An award among the teams of a team's own division; None where it has none."""
    mates = _teams_by_division(contest).get(team.division)
    return within(award, mates) if mates and team.division in contest.divisions else None


def within(award: AwardFacts, teams: Collection[str]) -> AwardFacts:
    """An award among some teams ("007"): places move up, equal ones stay equal.

    Intervals of ranks are those over all teams and are left out.

    >>> from tracecup.facts.board import PlaceFacts
    >>> ranks = [(1, "001"), (2, "002"), (2, "003"), (4, "004")]
    >>> award = AwardFacts(
    ...     "overall",
    ...     "Overall",
    ...     "higher",
    ...     places=tuple(PlaceFacts(rank, 1, 4, team, team, 0.5) for rank, team in ranks),
    ... )
    >>> [(one.rank, one.team) for one in within(award, ["002", "003", "004"]).places]
    [(1, '002'), (1, '003'), (3, '004')]
    """
    kept = [one for one in award.places if team_of(one.team) in teams]
    now = ranks_among(one.rank for one in kept)
    places = tuple(replace(one, rank=now[one.rank], rank_low=None, rank_high=None) for one in kept)
    first = [one for one in places if one.rank == 1]
    return replace(
        award,
        winners=tuple(one.name for one in first),
        tie=len(first) > 1,
        value=first[0].value if first else None,
        places=places,
        excluded=tuple(one for one in award.excluded if team_of(one.team) in teams),
    )


def _teams_by_division(contest: Contest) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    rows = contest.teams.filter(deleted_at=None).exclude(division="")
    for number, division in rows.values_list("number", "division"):
        found.setdefault(division, set()).add(f"{number:03d}")
    return found
