"""Tries: what costs one, how many a team has; and whom it may attack.

Nobody else decides what costs a try. Numbers and targets come from the rules and from what the
judge published.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet, Sum
from django.utils.translation import gettext as _

from tracecup.contest.challenges import ATTACK_KINDS, AttackKind, HandedKind
from tracecup.contest.entries import Entry
from tracecup.contest.judging.flow import may_attack
from tracecup.server.entries import entry_of
from tracecup.server.errors import Refused
from tracecup.server.models import Extension, Person, Release, Round, Submission, Team
from tracecup.server.windows import Action

Kind = HandedKind


@dataclass(frozen=True)
class Quota:
    """Tries of a team: allowed by rules and extensions, used, left."""

    allowed: int
    used: int

    @property
    def left(self) -> int:
        """How many more are accepted."""
        return max(0, self.allowed - self.used)


FREE = ("rejected", "failed")
"""States that cost no try: a file that cannot be read, and one that failed by our fault."""


def costs(state: str) -> bool:
    """Whether a file that comes into a state costs a try; a withdrawn one costs what it did.

    >>> costs("queued"), costs("failed")
    (True, False)
    """
    return state not in FREE


def enter(submission: Submission, state: str) -> None:
    """Bring a submission into a state, with what it costs there: a try is charged or given back."""
    submission.state, submission.charged = state, costs(state)
    submission.save(update_fields=["state", "charged"])


def charged(**where: Any) -> QuerySet[Submission]:
    """The submissions that cost a try."""
    return Submission.objects.filter(charged=True, **where)


def action_of(kind: str) -> Action:
    """The window that a kind of submission falls into."""
    return "release" if kind == "release" else "attack"


def quota(round: Round, team: Team, kind: str, challenge: str, target: int | None = None) -> Quota:
    """The tries of a team for one data set (releases) or one target and kind (answers).

    Used are those that cost a try, see `costs`.
    """
    spent = charged(round=round, team=team, kind=kind, challenge=challenge, target=target).count()
    return Quota(allowed(round, team, action_of(kind)), spent)


def quota_of_person(
    round: Round, team: Team, person: Person | None, kind: str, challenge: str, target: int | None
) -> Quota:
    """The tries of a person for one target and kind, in whatever teams she was.

    Every answer tells something about the target, and she remembers it.
    """
    spent = 0
    if person is not None and kind in ATTACK_KINDS:
        spent = charged(
            round=round, by=person, kind=kind, challenge=challenge, target=target
        ).count()
    return Quota(allowed(round, team, action_of(kind)), spent)


def allowed(round: Round, team: Team, action: Action) -> int:
    """Tries by the rules, and those that the organisers gave to this team."""
    limits = round.contest.rules.limits
    phase = "anonymize" if action == "release" else "attack"
    given = Extension.objects.filter(round=round, team=team, phase=phase)
    more: int = given.aggregate(sum=Sum("extra_tries"))["sum"] or 0
    return more + (limits.release_tries if action == "release" else limits.attack_tries)


def all_quotas(
    round: Round, team: Team, person: Person | None = None
) -> list[tuple[Kind, str, int | None, Quota]]:
    """Every kind, data set and target that a team may hand something in for, with its tries.

    With a `person` those that are left to her: what she used in another team counts, too.
    """
    spent = Counter(charged(round=round, team=team).values_list("kind", "challenge", "target"))
    own: Counter[tuple[str, str, int | None]] = Counter()
    if person is not None:
        mine = charged(round=round, by=person, kind__in=ATTACK_KINDS)
        own.update(mine.values_list("kind", "challenge", "target"))
    releases = allowed(round, team, "release")
    found: list[tuple[Kind, str, int | None, Quota]] = [
        ("release", one, None, Quota(releases, spent["release", one, None]))
        for one in round.contest.rules.challenges_played
    ]
    answers = allowed(round, team, "attack")
    for entry in targets(round, team) if round.published_at else []:
        for kind in ATTACK_KINDS:
            place = (kind, entry.challenge, entry.team)
            found.append((*place, Quota(answers, max(spent[place], own[place]))))
    return found


def targets(round: Round, team: Team) -> list[Entry]:
    """The releases that a team may attack: published ones of others, and the benchmark."""
    found = Release.objects.filter(round=round).select_related("team")
    entries = [entry_of(one) for one in found if one.is_published]
    return sorted(entry for entry in entries if may_attack(Entry(team.number).number, entry))


def require_target(round: Round, team: Team, challenge: AttackKind, target: int) -> Entry:
    """The release that an answer is about; `Refused` for the own and for those not published."""
    if target == team.number:
        raise Refused("invalid", _("A team does not attack its own release."), target=target)
    entry = Entry(target, challenge)
    if entry not in targets(round, team):
        raise Refused(
            "invalid",
            _("No release {label} was published in this round.").format(label=entry.label),
            target=target,
            challenge=challenge,
        )
    return entry
