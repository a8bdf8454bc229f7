"""Totals, places and remarks as the organisers print them: "1st, Best IDP".

From awards, whether they were given for one round or for several.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracecup.contest.challenges import CHALLENGES
from tracecup.contest.sheets.sheet import column_of
from tracecup.contest.standing.awards import Award

PRINTED = 3
_ATTACKS = {kind: challenge.attack_award for kind, challenge in CHALLENGES.items()}
_DEFENCES = {"Best IDP": "best_anonymization_reid", "Best TRP": "best_anonymization_trace"}


def ordinal(place: int) -> str:
    """A place as people write it.

    >>> [ordinal(k) for k in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10)
    return f"{place}{ending or 'th'}"


def places_of(award: Award) -> dict[str, int]:
    """Team -> its place in an award; who is not eligible has none."""
    return {place.team: place.rank for place in award.places}


def remark(team: str, awards: Mapping[str, Award]) -> str:
    """What the organisers write beside a total: the first three places, and best defences."""
    place = places_of(awards["overall"]).get(team, PRINTED + 1)
    words = [ordinal(place)] if place <= PRINTED else []
    words += [
        text for text, key in _DEFENCES.items() if key in awards and team in awards[key].winners
    ]
    return ", ".join(words)


def totals_table(
    total: Mapping[str, tuple[float, float]], awards: Mapping[str, Award]
) -> dict[str, dict[str, Any]]:
    """Column of a team -> both minima, total, place (None: not eligible) and remark."""
    places = places_of(awards["overall"])
    return {
        column_of(team): {
            "reid": reid,
            "trace": trace,
            "total": reid + trace,
            "place": places.get(team),
            "remark": remark(team, awards),
        }
        for team, (reid, trace) in total.items()
    }


def attackers_table(awards: Mapping[str, Award]) -> dict[str, dict[str, dict[str, Any]]]:
    """Attack -> column of a team -> its sum, place and remark; eligible teams, best first."""
    return {
        kind: {
            column_of(place.team): {
                "sum": place.value,
                "place": place.rank,
                "remark": ordinal(place.rank) if place.rank == 1 else "",
            }
            for place in awards[key].places
        }
        for kind, key in _ATTACKS.items()
    }


def award_table(award: Award) -> dict[str, Any]:
    """An award as plain data; teams are named as in the sheets."""
    return {
        "title": award.title,
        "winners": [column_of(team) for team in award.winners],
        "value": award.places[0].value if award.places else None,
        "tie": award.tied,
        "better": award.better,
        "ranking": [
            {"rank": place.rank, "team": column_of(place.team), "value": place.value}
            for place in award.places
        ],
        "excluded": {column_of(team): reason for team, reason in award.excluded.items()},
    }
