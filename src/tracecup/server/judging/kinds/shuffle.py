"""The job `shuffle`: verdict, shuffle and commitment for all data sets of one team.

Asked for when intake of releases has closed.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from tracecup.contest.archive.folder import CITY_FILE
from tracecup.contest.entries import opening_name
from tracecup.contest.judging.flow import BENCHMARK_METHOD
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import SYSTEM
from tracecup.server.entries import JUDGED_FIELDS, DataSet, digests, keep_file, sets_of
from tracecup.server.jobs.plausible import Implausible, require_files, require_verdict
from tracecup.server.jobs.queue import NotNow
from tracecup.server.jobs.subjects import round_of
from tracecup.server.jobs.task import Outputs, Task
from tracecup.server.judging.service import awaited, enqueue_samples, held_round
from tracecup.server.models import Job, Release, Round, Submission, Team
from tracecup.server.windows import was_late

SEED_VARIABLE = "TRACECUP_SHUFFLE_SEED"
"""For tests only: a shuffle that can be repeated. Without it entropy is the system's."""
logger = logging.getLogger(__name__)


def prepare(job: Job) -> Task | None:
    """What the judge gets of the team."""
    round, team = round_of(job), _team(job)
    chosen = _chosen(job)
    own = sets_of(round, team)
    names = [CITY_FILE, *(one.entry.file("orgtraces") for one in own)]
    inputs = digests(round, names)
    if len(inputs) < len(names):
        raise NotNow("the data of the team are not there yet", 2)
    told = []
    for one in own:
        given = chosen.get(one.entry.challenge)
        if given is not None:
            inputs[one.entry.file("anotraces")] = given.sha256
        told.append({"challenge": one.entry.challenge, **_told(one, team, given)})
    seed = os.environ.get(SEED_VARIABLE)
    if seed is not None:
        logger.warning("%s is set: whoever knows or guesses it knows all ID tables", SEED_VARIABLE)
    payload = {
        "rules": round.contest.rules_text,
        "round": round.name,
        "team": job.payload["team"],
        "entries": told,
        "shuffle_seed": seed,
    }
    return Task("publish.shuffle", payload, inputs)


def apply(job: Job, result: dict[str, Any], outputs: Outputs) -> None:
    """Keep the verdicts and, as the judge's, the release, the table and the opening."""
    round = held_round(round_of(job))
    team, chosen = _team(job), _chosen(job)
    _require_plausible(round, team, chosen, result, outputs)
    for one in sets_of(round, team):
        entry, said = one.entry, result["verdicts"][one.entry.label]
        given = chosen.get(entry.challenge)
        Release.objects.update_or_create(
            round=round,
            label=entry.label,
            defaults={
                "team": team,
                "challenge": entry.challenge,
                "submission": given,
                **{name: said[name] for name in JUDGED_FIELDS},
                "commitment": result["commitment"],
            },
        )
        for kind in ("anotraces", "pubtraces", "ptable"):
            name = entry.file(kind)
            if name in outputs:
                keep_file(round, name, outputs[name], kind=kind, data_set=one)
    whose = sets_of(round, team)[0]
    name = opening_name(whose.entry.team)
    keep_file(round, name, outputs[name], kind="opening", data_set=whose)
    _end_if_last(round)


def _require_plausible(
    round: Round,
    team: Team | None,
    chosen: dict[str, Submission],
    result: dict[str, Any],
    outputs: Outputs,
) -> None:
    """Verdicts on the team's own data sets, the files of what is published, and an opening that is
    the commitment's.
    """
    own = sets_of(round, team)
    opening = opening_name(own[0].entry.team)
    wanted = [opening]
    require_files(result["verdicts"], [one.entry.label for one in own])
    for one in own:
        said, told = result["verdicts"][one.entry.label], chosen.get(one.entry.challenge)
        floor = round.contest.rules.scores.utility_floor
        require_verdict(said, _told(one, team, told), floor)
        wanted += [one.entry.file("anotraces")] if one.entry.is_benchmark else []
        if said["published"]:
            wanted += [one.entry.file(kind) for kind in ("pubtraces", "ptable")]
    require_files(outputs, wanted)
    if result["commitment"] != outputs[opening].sha256:
        raise Implausible("the commitment is not that of the opening")


def _end_if_last(round: Round) -> None:
    """The judge is ready when every data set has its verdict; the sample attacks begin."""
    if round.judged_at is None and not awaited(round):
        round.judged_at = clock.contest_now(round.contest)
        round.save(update_fields=["judged_at"])
        rows = list(round.releases.order_by("label"))
        after = {
            row.label: {"valid": row.valid, "commitment": row.commitment, "reason": row.reason}
            for row in rows
        }
        subject = f"round:{round.name}"
        log.record(SYSTEM, "round.judged", contest=round.contest, subject=subject, after=after)
    if round.judged_at is not None:
        enqueue_samples(round)


def _told(one: DataSet, team: Team | None, given: Submission | None) -> dict[str, Any]:
    """What the judge is told of a release, and has to say about it."""
    return {
        "method": _method(one, given),
        "hors_concours": bool(team and (team.hors_concours or _is_late(team, given))),
    }


def _is_late(team: Team, given: Submission | None) -> bool:
    """Whether a release came after the deadline; the rules took it out of competition."""
    return given is not None and was_late(given.round, team, given.received_at)


def _method(one: DataSet, given: Submission | None) -> str:
    """What results may say about the method: only what the team agreed to."""
    if one.entry.is_benchmark:
        return BENCHMARK_METHOD
    return given.method if given is not None and given.consent else ""


def _chosen(job: Job) -> dict[str, Submission]:
    """The releases that count, by challenge, as they were when intake closed."""
    found = Submission.objects.in_bulk(job.payload["submissions"].values())
    return {kind: found[pk] for kind, pk in job.payload["submissions"].items()}


def _team(job: Job) -> Team | None:
    number, round = job.payload["team"], round_of(job)
    return round.contest.teams.get(number=number) if number else None
