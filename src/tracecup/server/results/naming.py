"""Who is behind a number on a board: names of teams, methods of the judge's sample attacks.

Numbers are what files and tables of results say; people know names.
"""

from __future__ import annotations

from collections.abc import Mapping

from tracecup.contest.rules import ATTACK_KINDS
from tracecup.contest.sheets import team_of
from tracecup.server.models import Contest

BENCHMARK = "000"


def team_names(contest: Contest) -> dict[str, str]:
    """Names of teams by their number as files write it."""
    return {f"{number:03d}": name for number, name in contest.teams.values_list("number", "name")}


def attacker_names(contest: Contest) -> dict[str, str]:
    """Names of teams by their number, and methods of sample attacks by their column: I1, T2."""
    samples = contest.rules.samples
    methods = {
        column: name for kind in ATTACK_KINDS for column, name in samples.columns(kind).items()
    }
    return team_names(contest) | methods


def named(team: str, names: Mapping[str, str]) -> str:
    """A column of a board for people: its number, and its name where it has one.

    >>> named("team003", {"003": "Blue"}), named("I1", {"I1": "Random-R"}), named("004", {})
    ('003 Blue', 'I1 Random-R', '004')
    """
    label = team_of(team)
    return f"{label} {names[label]}" if names.get(label) else label


def all_named(columns: str, names: Mapping[str, str]) -> str:
    """Several columns, as `s_R_by` tells them: all attackers who reached a minimum.

    >>> all_named("team003 I1", {"003": "Blue"})
    '003 Blue, I1'
    """
    return ", ".join(named(column, names) for column in columns.split())
