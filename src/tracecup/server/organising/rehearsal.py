"""A rehearsal: bots play the organiser's own rules at a small size, through the same jobs.

It is a contest of its own, hidden from teams, whose clock runs ahead as soon as a phase is played.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from django.db import transaction

from tracecup.contest.bots import bots_for
from tracecup.contest.rules import Phases, RoundRules, Rules
from tracecup.contest.rules.file import rules_text
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.jobs.queue import enqueue
from tracecup.server.judging.bots import bot_label
from tracecup.server.models import Contest, Job
from tracecup.server.organising.contests import create_contest
from tracecup.server.organising.owncity import copy_city
from tracecup.server.teams.registration import create_team

KIND = "rehearse"
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
ROUND_HOURS = 24
MAX_DAYS = 2


@dataclass(frozen=True)
class Rehearsal:
    """A rehearsal and where it stands: waiting, running, done, dead."""

    contest: Contest
    state: str
    step: str


def rehearse(contest: Contest, actor: Actor, *, teams: int = 4, users: int = 30) -> Contest:
    """Begin a rehearsal of a contest's rules with bots; the contest that it is played in.

    Users and days are cut down, everything else is as in the rules. A worker plays it.
    """
    number = Contest.objects.filter(slug__startswith=_stem(contest)).count() + 1
    rules = small_rules(contest.rules, users)
    with transaction.atomic():
        made = create_contest(
            actor,
            name=f"{contest.name[:180]} (rehearsal {number})",
            slug=f"{_stem(contest)}{number}",
            rules_text=rules_text(rules),
            is_rehearsal=True,
        )
        copy_city(contest, made)
        for k, bot in enumerate(bots_for(teams), start=1):
            label = bot_label(k, rules.users)
            create_team(made, f"bot {k}", actor, bot=label, hors_concours=bot.hors_concours)
        enqueue(KIND, f"{KIND}:{made.pk}", {"contest": made.pk, "of": contest.pk}, contest=made)
        log.record(actor, "rehearse", contest=contest, subject=f"contest:{made.slug}")
    return made


def small_rules(rules: Rules, users: int) -> Rules:
    """The same rules for few users and days, with phases of an hour that begin now.

    The clock jumps from act to act of the judge: releases may be handed in once data are out.
    """
    begin = clock.now().replace(microsecond=0)
    days = min(rules.clock.days, MAX_DAYS)
    rounds = []
    for k, one in enumerate(rules.rounds):
        start = begin + k * ROUND_HOURS * HOUR
        after = (timedelta(0), SECOND, HOUR, 2 * HOUR, 3 * HOUR)
        rounds.append(_small_round(one, Phases(*(start + later for later in after))))
    return replace(
        rules,
        users=min(rules.users, users),
        clock=replace(rules.clock, days=days, reference_days=None),
        limits=replace(rules.limits, grace_seconds=0, late_minutes=0),
        rounds=tuple(rounds),
    )


def rehearsals_of(contest: Contest) -> list[Rehearsal]:
    """The rehearsals of a contest, newest first."""
    jobs = Job.objects.filter(kind=KIND, payload__of=contest.pk).order_by("-pk")[:10]
    made = Contest.objects.in_bulk([job.payload["contest"] for job in jobs])
    lost = set(Job.objects.filter(contest__in=made, state="dead").values_list("contest", flat=True))
    return [
        Rehearsal(
            made[job.payload["contest"]],
            "dead" if job.payload["contest"] in lost else job.state,
            job.result.get("step", "") if job.state == "done" else job.error,
        )
        for job in jobs
        if job.payload["contest"] in made
    ]


def _small_round(one: RoundRules, phases: Phases) -> RoundRules:
    days = min(one.days, MAX_DAYS) if one.days else None
    return replace(one, phases=phases, days=days, reference_days=None)


def _stem(contest: Contest) -> str:
    return f"{contest.slug[:40].rstrip('-')}-rehearsal-"
