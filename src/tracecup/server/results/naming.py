"""Who is behind a number on a board: names of teams, methods of the judge's sample attacks.

Numbers are what files and tables of results say; people know names.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.server.models import Contest

BENCHMARK = "000"


def team_names(contest: Contest) -> dict[str, str]:
    """Names of teams by their number as files write it; who was disqualified is called so."""
    found = {}
    for number, name, status in contest.teams.values_list("number", "name", "status"):
        out = f" ({_('disqualified')})" if status == "disqualified" else ""
        found[f"{number:03d}"] = name + out
    return found


def attacker_names(contest: Contest) -> dict[str, str]:
    """Names of teams by their number, and methods of sample attacks by their column: I1, T2."""
    samples = contest.rules.samples
    methods = {
        column: name for kind in ATTACK_KINDS for column, name in samples.columns(kind).items()
    }
    return team_names(contest) | methods
