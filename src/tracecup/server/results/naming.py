"""Who is behind a number on a board: teams, the judge's sample attacks; and awards in words.

Numbers are what files and tables of results say; people know names.
"""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.standing.awards import AWARDS
from tracecup.server.models import Contest
from tracecup.server.resultsets import team_names

BENCHMARK = "000"
# For translators: awards are declared in `contest.standing.awards`, in English.
_AWARDS = (
    gettext_noop("Best anonymization (trace inference)"),
    gettext_noop("Best anonymization (re-identification)"),
    gettext_noop("Best re-identification"),
    gettext_noop("Sum of s_R"),
    gettext_noop("Best trace inference"),
    gettext_noop("Sum of s_T"),
    gettext_noop("Overall"),
    gettext_noop("Sum of both minima"),
)


def attacker_names(contest: Contest) -> dict[str, str]:
    """Names of teams by their number, and methods of sample attacks by their column: I1, T2."""
    samples = contest.rules.samples
    methods = {
        column: name for kind in ATTACK_KINDS for column, name in samples.columns(kind).items()
    }
    return team_names(contest) | methods


def award(key: str) -> tuple[str, str]:
    """The name of an award, and what decides it."""
    kind = AWARDS.get(key)
    return (_(kind.title), _(kind.measure)) if kind else (key, _("score"))
