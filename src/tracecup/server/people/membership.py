"""Who is in a team: join codes, captains, removal.

A person is in at most one team of a contest; a team with members has a captain.
"""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server import clock, windows
from tracecup.server.access import Actor, Role
from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Contest, FormerMember, Member, Organiser, Person, Team
from tracecup.server.models.contests import new_code as fresh_code
from tracecup.server.people import throttle
from tracecup.server.people.accounts import is_line, label
from tracecup.server.reasons import require_reason

MAX_MEMBERS = 100


def join(code: str, person: Person, actor: Actor) -> Team:
    """Join the team with this code; joining the own team again changes nothing."""
    team = team_of_code(code)
    add_member(team, person, actor)
    return team


def team_of_code(code: str) -> Team:
    """The team with a join code, typed with or without dashes and in whatever case."""
    if not is_line(code):
        raise _no_such_code()
    letters = "".join(code.lower().replace("-", "").split())[:40]
    spelled = "-".join(letters[k : k + 4] for k in range(0, len(letters), 4))
    team = (
        Team.objects.select_related("contest")
        .filter(join_code=spelled, deleted_at=None, contest__deleted_at=None)
        .first()
    )
    if team is None:
        raise _no_such_code()
    found: Team = team
    return found


def data_are_out(contest: Contest) -> bool:
    """Whether teams have data of some round: from then on what one team knows stays in it."""
    now = clock.contest_now(contest)
    return any(
        one.announced_at is not None or windows.window(one, "data", now).is_open
        for one in contest.rounds.all()
    )


def add_member(team: Team, person: Person, actor: Actor, *, moved: bool = False) -> Member:
    """Put somebody into a team; the first one is its captain.

    Who was in another team joins no more once data are out, unless organisers have `moved` her.
    """
    with transaction.atomic():
        team = lock(team)
        mine = Member.objects.select_related("team").filter(contest=team.contest, person=person)
        held: Member | None = mine.first()
        if held is not None and held.team_id == team.pk:
            return held
        _may_join(team, person, held, moved)
        try:
            with transaction.atomic():
                made: Member = Member.objects.create(
                    team=team,
                    contest=team.contest,
                    person=person,
                    captain=not team.members.filter(captain=True).exists(),
                    since=clock.now(),
                )
        except IntegrityError:  # she joined another team in the same moment
            raise Refused("conflict", _("You are in another team of this contest.")) from None
        log.record(
            actor,
            "member-add",
            contest=team.contest,
            subject=f"team:{team.number}",
            after={"person": person.pk, "captain": made.captain},
        )
    return made


def person_in(team: Team, number: int) -> Person:
    """The member of a team with a number."""
    found = Member.objects.select_related("person").filter(team=team, person_id=number).first()
    if found is None:
        raise not_found("member")
    member: Person = found.person
    return member


def remove_member(team: Team, person: Person, actor: Actor) -> None:
    """Take somebody out of a team; her tokens stay, but show her this contest no longer.

    The join code changes, so that she cannot come back with the one she knows. When the last
    captain goes, who has been longest in the team follows.
    """
    with transaction.atomic():
        team = lock(team)
        member = team.members.filter(person=person).first()
        if member is None:
            raise not_found("member")
        member.delete()
        FormerMember.objects.create(
            team=team, contest=team.contest, person=person, left_at=clock.now()
        )
        heir = None
        if member.captain and not team.members.filter(captain=True).exists():
            heir = team.members.order_by("since", "pk").first()
            if heir is not None:
                heir.captain = True
                heir.save(update_fields=["captain"])
        Team.objects.filter(pk=team.pk).update(join_code=fresh_code())
        log.record(
            actor,
            "member-remove",
            contest=team.contest,
            subject=f"team:{team.number}",
            before={"person": person.pk, "captain": member.captain},
            after={"captain": heir.person_id} if heir else None,
        )


def move_member(team: Team, person: Person, to: Team, actor: Actor, why: str) -> None:
    """Put somebody from one team into another, at any time: the organisers' exception, logged.

    Her tries go with her: what she handed in for one team counts against her in the next.
    """
    why = require_reason(why)
    if team.contest_id != to.contest_id:
        raise not_found("team")
    with transaction.atomic():
        remove_member(team, person, actor)
        add_member(to, person, actor, moved=True)
        log.record(
            actor,
            "member-move",
            contest=team.contest,
            subject=f"team:{to.number}",
            before={"person": person.pk, "team": team.number},
            after={"person": person.pk, "team": to.number},
            why=why,
        )


def set_captain(team: Team, person: Person, actor: Actor, on: bool = True) -> None:
    """Make somebody a captain, or no longer one; the last captain stays."""
    with transaction.atomic():
        team = lock(team)
        member = team.members.filter(person=person).first()
        if member is None:
            raise not_found("member")
        if member.captain == on:
            return
        if not on and not team.members.filter(captain=True).exclude(pk=member.pk).exists():
            raise Refused("conflict", _("A team needs a captain; make somebody else one first."))
        member.captain = on
        member.save(update_fields=["captain"])
        log.record(
            actor,
            "captain-set",
            contest=team.contest,
            subject=f"team:{team.number}",
            after={"person": person.pk, "captain": on},
        )


def new_code(team: Team, actor: Actor) -> str:
    """A new join code; the one before stops working."""
    code = fresh_code()
    with transaction.atomic():
        Team.objects.filter(pk=team.pk).update(join_code=code)
        log.record(actor, "team-code", contest=team.contest, subject=f"team:{team.number}")
    team.join_code = code
    return code


def remove_organiser(contest: Contest, person: Person, actor: Actor) -> None:
    """Take the contest from somebody; the last organiser stays."""
    with transaction.atomic():
        Contest.objects.select_for_update(no_key=True).get(pk=contest.pk)
        held = Organiser.objects.filter(contest=contest, person=person).first()
        if held is None:
            raise not_found("organiser")
        if Organiser.objects.filter(contest=contest).count() == 1:
            raise Refused("conflict", _("A contest needs an organiser; invite another one first."))
        held.delete()
        log.record(actor, "organiser-remove", contest=contest, subject=label(person))


def may_manage(role: Role, team: Team) -> bool:
    """Whether somebody may change who is in a team: its captains and the organisers."""
    if role.organiser and team.contest_id == role.contest.pk:
        return True
    return bool(
        role.person is not None
        and role.team is not None
        and role.team.pk == team.pk
        and team.members.filter(person=role.person, captain=True).exists()
    )


def require_manager(role: Role, team: Team) -> None:
    """Only captains of the team and organisers go on."""
    if not may_manage(role, team):
        raise Refused("forbidden", _("Only captains of the team and organisers may do this."))


def count_invitation(role: Role) -> None:
    """Captains invite so many an hour: letters to strangers carry names that they choose."""
    if role.person is not None and not role.organiser:
        throttle.spend(throttle.INVITE, label(role.person), label(role.person))


def lock(team: Team) -> Team:
    """The team as it is now, held until the transaction ends."""
    held: Team = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    return held


def _no_such_code() -> Refused:
    return Refused("not-found", _("No team has this join code; codes can be changed."))


def _may_join(team: Team, person: Person, held: Member | None, moved: bool) -> None:
    if held is not None:
        raise Refused("conflict", _("You are in another team of this contest."))
    before = FormerMember.objects.filter(contest=team.contest, person=person).exclude(team=team)
    if not moved and before.exists() and data_are_out(team.contest):
        raise Refused(
            "conflict",
            _("You were in another team, and data are out: only organisers can move you."),
        )
    if team.bot:
        raise Refused("conflict", _("This team is played by a program."))
    if team.status != "active" or team.deleted_at is not None:
        raise Refused("conflict", _("This team no longer takes part in the contest."))
    if team.members.count() >= MAX_MEMBERS:
        raise Refused("conflict", _("A team has at most {most} members.").format(most=MAX_MEMBERS))
    contest = team.contest
    # Organisers know every secret of their contest; in a demo there is nothing to win.
    if not contest.is_demo and Organiser.objects.filter(contest=contest, person=person).exists():
        raise Refused("conflict", _("Organisers cannot play in their own contest."))
