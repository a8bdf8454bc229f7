"""What organisers do for teams that cannot help themselves: merge two, a new password for somebody.

Both are logged; both are refused where they would give away what belongs to others.
"""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server.access import Actor
from tracecup.server.errors import Refused, not_found
from tracecup.server.locks import locked
from tracecup.server.models import Member, OneTimeLink, Organiser, Person, Team
from tracecup.server.organising.contests import delete_team
from tracecup.server.people.links import RESET, new_link
from tracecup.server.people.membership import data_are_out, move_member
from tracecup.server.reasons import require_reason

PASSWORD_DAYS = 2.0


def merge_teams(gone: Team, into: Team, actor: Actor, why: str) -> int:
    """Put everybody of one team into another, open links too; how many people moved.

    Only before data are out: afterwards each team knows data that the other attacks. The team that
    is empty then is deleted; `undelete_team` brings it back without its people.
    """
    why = require_reason(why)
    if gone.pk == into.pk or gone.contest_id != into.contest_id:
        raise Refused("invalid", _("Choose two different teams of this contest."))
    with transaction.atomic():
        contest = locked(gone.contest)
        if data_are_out(contest):
            raise Refused(
                "closed",
                _("Data are out: teams can no longer be merged; people can be moved one by one."),
            )
        if gone.bot or into.bot:
            raise Refused("conflict", _("This team is played by a program."))
        members = list(gone.members.select_related("person").order_by("since", "pk"))
        for one in members:
            move_member(gone, one.person, into, actor, why)
        OneTimeLink.objects.filter(team=gone, used_at=None).update(team=into)
        delete_team(gone, actor, why)
        log.record(
            actor,
            "team.merge",
            contest=contest,
            subject=f"team:{into.number}",
            before={"team": gone.number, "people": [one.person_id for one in members]},
            after={"team": into.number},
            why=why,
        )
    return len(members)


def password_link(team: Team, person: Person, actor: Actor) -> str:
    """The secret of a link with which a member without an e-mail address sets a new password.

    Whoever holds it becomes her: so not for people who have rights or teams that the organiser who
    asks does not have, and not for those who can get a letter.
    """
    if not team.members.filter(person=person).exists():
        raise not_found("member")
    if person.email:
        raise Refused(
            "conflict", _("This person has an e-mail address and can ask for a link herself.")
        )
    mine = Organiser.objects.filter(person=actor.person).values("contest")
    elsewhere = Member.objects.filter(person=person).exclude(contest__in=mine)
    runs = Organiser.objects.filter(person=person)
    if person.is_staff or not person.is_active or runs.exists() or elsewhere.exists():
        raise Refused(
            "forbidden",
            _("This account is used outside your contests too: ask the staff of this server."),
        )
    with transaction.atomic():
        OneTimeLink.objects.filter(purpose=RESET, person=person, used_at=None).delete()
        return new_link(RESET, actor, contest=team.contest, person=person, days=PASSWORD_DAYS)
