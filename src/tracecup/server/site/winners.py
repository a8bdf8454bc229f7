"""Who won a contest that is over, for the list of contests.

Only what is public: results that are out and not frozen, without teams that are out.
"""

from __future__ import annotations

from ninja import Schema

from tracecup.contest.sheets import team_of
from tracecup.server.models import Contest
from tracecup.server.resultsets import award_rows, overall, published, team_names


class Winner(Schema):
    """An award and the teams that won it."""

    award: str
    teams: list[str]


def winners_of(contest: Contest) -> list[Winner]:
    """The winners of every award, of the whole contest once all its rounds have results."""
    rounds = list(contest.rounds.all())
    told = [one for one in rounds if one.released_at is not None and not one.frozen]
    if not rounds or len(told) < len(rounds):
        return []
    first: dict[str, list[str]] = {}
    if len(rounds) > 1:
        for key, award in overall(contest).items():
            first[key] = [team_of(place.team) for place in award.places if place.rank == 1]
    else:
        found = published(rounds[0])
        for row in award_rows(found) if found else []:
            if row["rank"] == 1:
                first.setdefault(row["award"], []).append(team_of(row["team"]))
    names = team_names(contest)
    return [
        Winner(award=key, teams=[names.get(number, number) for number in numbers])
        for key, numbers in first.items()
        if numbers
    ]
