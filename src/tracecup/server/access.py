"""Who somebody is in a contest, and what she may therefore see: the one place for that.

Pages and API ask here before they ask a service; what one may not see does not exist for her.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _

from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Contest, Member, Organiser, Person, Team

Via = Literal["page", "api", "client", "system"]


@dataclass(frozen=True)
class Actor:
    """Who acts, and how: the log calls her `person:12` (names can be erased)."""

    person: Person | None
    via: Via = "system"

    @property
    def label(self) -> str:
        """How the log calls her."""
        return f"person:{self.person.pk}" if self.person else "system"


SYSTEM = Actor(None)


@dataclass(frozen=True)
class Role:
    """What a person (or nobody) is in a contest."""

    contest: Contest
    person: Person | None
    organiser: bool = False
    team: Team | None = None

    def require_organiser(self) -> None:
        """Only organisers of the contest go on."""
        if not self.organiser:
            raise _refusal(self.person, _("Only organisers of this contest may do this."))

    def require_team(self) -> Team:
        """The person's team; organisers have none."""
        if self.team is None:
            raise _refusal(self.person, _("Only members of a team of this contest may do this."))
        return self.team


def role_in(slug: str, person: Person | None) -> Role:
    """The role in a contest by its slug; a contest that one may not see is not found."""
    contest = Contest.objects.filter(slug=slug, deleted_at=None).first()
    if contest is None:
        raise not_found("contest")
    role = role_of(contest, person)
    if not (contest.is_public or role.organiser or role.team):
        raise not_found("contest")
    return role


def role_of(contest: Contest, person: Person | None) -> Role:
    """The role of a person in a contest."""
    if person is None or not person.is_authenticated or not person.is_active:
        return Role(contest, None)
    organiser = Organiser.objects.filter(contest=contest, person=person).exists()
    member = (
        Member.objects.select_related("team")
        .filter(contest=contest, person=person, team__deleted_at=None)
        .first()
    )
    return Role(contest, person, organiser, member.team if member else None)


def _refusal(person: Person | None, sentence: str) -> Refused:
    if person is None:
        return Refused("not-signed-in", _("Please log in first."))
    return Refused("forbidden", sentence)
