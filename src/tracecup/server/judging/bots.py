"""Bot teams: they play demo contests and rehearsals, through the same doors as people.

A bot hands in one release per data set and attacks every release of the others, each as a job.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from tracecup.contest.archive.folder import CITY_FILE
from tracecup.contest.bots import bots_for
from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.entries import Entry
from tracecup.rng import child_seed
from tracecup.server import clock
from tracecup.server.access import SYSTEM
from tracecup.server.entries import digests, round_seed, sets_of
from tracecup.server.errors import Refused
from tracecup.server.jobs.queue import NotNow, enqueue
from tracecup.server.jobs.task import Task
from tracecup.server.jobs.worker import compute
from tracecup.server.judging.schedule import plan
from tracecup.server.models import Contest, Job, Round, Team
from tracecup.server.storage import Blob, store
from tracecup.server.submissions.quotas import targets
from tracecup.server.submissions.service import receive
from tracecup.server.windows import window


def bot_label(number: int, users: int) -> str:
    """How a team's column `bot` names bot `number` (from 1) of a contest of so many users.

    >>> bot_label(1, users=200)
    '1 KMeans(10)'
    """
    return f"{number} {bots_for(number, users)[-1].obfuscation}"


def due(now: datetime) -> list[Job]:
    """Put what bots have to do now into the queue; the new jobs."""
    made = []
    for contest in Contest.objects.filter(
        pk__in=Team.objects.exclude(bot="").values("contest"), deleted_at=None, paused_at=None
    ):
        at = now + timedelta(seconds=contest.clock_offset)
        for round in contest.rounds.filter(closed_at=None):
            round.contest = contest
            known = set(
                Job.objects.filter(key__startswith=f"bot:{round.pk}:").values_list("key", flat=True)
            )
            for payload in _to_do(round, at):
                key = ":".join(["bot", *(str(part) for part in payload.values())])
                if key not in known:
                    with transaction.atomic():
                        made.append(enqueue("bot", key, payload, contest=contest))
    return made


def play(payload: dict[str, Any]) -> dict[str, Any]:
    """Compute one act of a bot and hand it in; done twice, it counts once."""
    round = Round.objects.select_related("contest").get(pk=payload["round"])
    team = Team.objects.get(contest=round.contest, number=payload["team"])
    if payload["act"] == "release":
        return _release(round, team, Entry(team.number, payload["challenge"]))
    return _attack(round, team, Entry(payload["target"], payload["challenge"]))


def play_on(payload: dict[str, Any]) -> dict[str, Any]:
    """Let a rehearsal run ahead: whenever nothing is left to do, its clock goes to the next act."""
    contest = Contest.objects.get(pk=payload["contest"])
    if Job.objects.filter(contest=contest, state="dead").exists():
        return {"step": "a job of the rehearsal died"}
    left = Job.objects.filter(contest=contest, state__in=("waiting", "running"))
    if left.exclude(kind="rehearse").exists():
        raise NotNow("the bots play", 1)
    if due(clock.now()):
        raise NotNow("the bots play", 1)
    at = clock.contest_now(contest)
    rounds = list(contest.rounds.all())
    coming = [when for round in rounds for _, when in plan(round) if when]
    opening = [round.rules.phases.anonymize for round in rounds if round.judging_at is None]
    coming += [when for when in opening if when is not None and when > at]
    if not coming:
        return {"step": "played to the end"}
    wait = (min(coming) - at).total_seconds() + 1
    if wait > 0:
        Contest.objects.filter(pk=contest.pk).update(clock_offset=F("clock_offset") + wait)
    raise NotNow("the clock goes on", 1)


def _to_do(round: Round, at: datetime) -> Iterator[dict[str, Any]]:
    """What the bots of a round may do at an instant."""
    bots = list(round.contest.teams.exclude(bot="").filter(status="active", deleted_at=None))
    if window(round, "release", at).is_open:
        for team in bots:
            for own in sets_of(round, team):
                yield {
                    "round": round.pk,
                    "act": "release",
                    "team": team.number,
                    "challenge": own.entry.challenge,
                }
    if window(round, "attack", at).is_open:
        for team in bots:
            for entry in targets(round, team):
                yield {
                    "round": round.pk,
                    "act": "attack",
                    "team": team.number,
                    "challenge": entry.challenge,
                    "target": entry.team,
                }


def _release(round: Round, team: Team, entry: Entry) -> dict[str, Any]:
    names = [CITY_FILE, entry.file("orgtraces")]
    answer, outputs = _compute("bots.release", round, team, entry, names)
    blob = outputs[answer["file"]]
    _hand_in(round, team, entry, "release", blob, answer["file"], answer["method"])
    return {"handed_in": 1}


def _attack(round: Round, team: Team, entry: Entry) -> dict[str, Any]:
    names = [CITY_FILE, entry.file("reftraces"), entry.file("pubtraces")]
    answer, outputs = _compute("bots.attack", round, team, entry, names)
    tries = round.contest.rules.limits.attack_tries
    for kind in ATTACK_KINDS:
        for one in [one for one in answer["answers"] if one["kind"] == kind][:tries]:
            _hand_in(round, team, entry, kind, outputs[one["file"]], one["file"], one["method"])
    return {"handed_in": len(answer["answers"])}


def _compute(
    function: str, round: Round, team: Team, entry: Entry, names: list[str]
) -> tuple[dict[str, Any], dict[str, Blob]]:
    inputs = digests(round, names)
    if len(inputs) < len(names):
        raise NotNow("the files that a bot needs are not there yet", 2)
    payload = {
        "rules": round.contest.rules_text,
        "round": round.name,
        "team": entry.team,
        "challenge": entry.challenge,
        "bot": int(team.bot.split()[0]),
        "attacker": Entry(team.number).number,
        "seed": str(child_seed(round_seed(round), "bots", team.number)),
    }
    return compute(Task(function, payload, inputs))


def _hand_in(
    round: Round, team: Team, entry: Entry, kind: str, blob: Blob, name: str, method: str
) -> None:
    """Like a person; a window that has closed meanwhile is no error of the bot."""
    try:
        receive(
            round,
            team,
            kind=kind,
            challenge=entry.challenge,
            target=None if kind == "release" else entry.team,
            source=store().checked(blob.sha256),
            file_name=name,
            key=f"bot-{round.pk}-{kind}-{entry.label}-{name}"[:80],
            received_at=clock.contest_now(round.contest),
            actor=SYSTEM,
            method=method,
            consent=True,
            confirm_invalid=True,
        )
    except Refused as refused:
        if refused.code not in ("closed", "quota"):
            raise
