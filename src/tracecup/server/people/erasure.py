"""Deletion of personal data: of one account, or of all players of a finished contest.

What stays is a number: submissions, downloads and the log point to `erased-<number>`.
"""

from __future__ import annotations

from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.models import (
    Contest,
    Member,
    OneTimeLink,
    Organiser,
    Person,
    Team,
    Visit,
)
from tracecup.server.people import throttle
from tracecup.server.people.accounts import label
from tracecup.server.people.membership import (
    remove_member,
)


def erase(person: Person, actor: Actor) -> None:
    """Forget somebody: name, address, password, sessions, tokens, links, memberships.

    The last organiser of a contest that is not over has to hand it over first; so has the last
    one who may create contests.
    """
    with transaction.atomic():
        _lock_teams(Team.objects.filter(members__person=person))
        held: Person = Person.objects.select_for_update(no_key=True).get(pk=person.pk)
        if held.erased_at is not None:
            return
        _may_go(held)
        for member in Member.objects.filter(person=held).select_related("team"):
            remove_member(member.team, held, actor)
        _forget(held)
        log.record(actor, "person-erase", subject=label(held))
    person.refresh_from_db()


def erase_people_of(contest: Contest, actor: Actor, why: str = "") -> int:
    """Forget all players of a contest that is over; how many accounts were erased.

    Who plays or organises elsewhere, or may create contests, keeps the account and only leaves
    this contest; the contest's organisers stay. Addresses in its open invitations go as well.
    """
    if not is_over(contest):
        raise Refused(
            "conflict", _("People can be forgotten when the results of all rounds are public.")
        )
    erased = 0
    with transaction.atomic():
        Contest.objects.select_for_update(no_key=True).get(pk=contest.pk)
        players = sorted(Member.objects.filter(contest=contest).values_list("person", flat=True))
        _lock_teams(Team.objects.filter(members__person__in=players))
        people = Person.objects.select_for_update(no_key=True).filter(pk__in=players)
        list(people.order_by("pk"))
        OneTimeLink.objects.filter(contest=contest).delete()
        for member in Member.objects.filter(contest=contest).select_related("team", "person"):
            person: Person = member.person
            remove_member(member.team, person, actor)
            if not _is_needed(person, contest):
                erase(person, actor)
                erased += 1
        log.record(actor, "people-erase", contest=contest, after={"erased": erased}, why=why)
    return erased


def is_over(contest: Contest) -> bool:
    """Whether the results of all rounds are public (or the contest is deleted)."""
    rounds = list(contest.rounds.all())
    return contest.deleted_at is not None or (
        bool(rounds) and all(one.released_at is not None for one in rounds)
    )


def _lock_teams(teams: QuerySet[Team]) -> None:
    """Hold teams until the transaction ends.

    All of them before the first entry of the log: who hands something in holds a team and waits
    for the log.
    """
    keys = sorted(set(teams.values_list("pk", flat=True)))
    list(Team.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))


def _forget(person: Person) -> None:
    keys = list(Visit.objects.filter(person=person).values_list("session_key", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    Visit.objects.filter(person=person).delete()
    person.tokens.all().delete()
    person.former_teams.all().delete()
    hers = Q(person=person)
    if person.email:
        hers |= Q(email__iexact=person.email)
    OneTimeLink.objects.filter(hers).delete()
    Organiser.objects.filter(person=person).delete()
    throttle.forgive(throttle.LOG_IN, person.username)
    person.username = f"erased-{person.pk}"
    person.first_name = person.last_name = person.email = person.language = person.zone = ""
    person.password = make_password(None)
    person.is_active = person.is_staff = person.is_superuser = False
    person.last_login = None
    person.erased_at = clock.now()
    person.save()


def _may_go(person: Person) -> None:
    for role in Organiser.objects.filter(person=person).select_related("contest"):
        contest = role.contest
        alone = not Organiser.objects.filter(contest=contest).exclude(person=person).exists()
        if alone and not is_over(contest):
            raise Refused(
                "conflict",
                _("{contest} has no other organiser; invite one before you go.").format(
                    contest=contest.name
                ),
            )
    others = Person.objects.filter(is_staff=True, is_active=True).exclude(pk=person.pk)
    if person.is_staff and not others.exists() and Contest.objects.exists():
        raise Refused(
            "conflict", _("Nobody else may create contests; invite an organiser of the site first.")
        )


def _is_needed(person: Person, contest: Contest) -> bool:
    """Whether somebody has another reason to be on this site."""
    return bool(
        person.is_staff
        or Organiser.objects.filter(person=person).exists()
        or Member.objects.filter(person=person).exclude(contest=contest).exists()
    )
