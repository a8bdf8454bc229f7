"""The job `data`: the city and clock of a round, or the traces of one data set.

Asked for when teams are created; the round's seed decides everything random in it.
"""

from __future__ import annotations

from typing import Any

from tracecup.contest.archive.folder import CITY_FILE
from tracecup.contest.entries import Entry
from tracecup.server.entries import SAMPLES, DataSet, begins, digests, keep_file, round_seed
from tracecup.server.jobs.plausible import require_files
from tracecup.server.jobs.queue import NotNow
from tracecup.server.jobs.subjects import round_of
from tracecup.server.jobs.task import Outputs, Task
from tracecup.server.judging.compute.data import OWN_CITY, OWN_MODEL
from tracecup.server.locks import (
    locked,
)
from tracecup.server.models import Contest, Job, StoredFile
from tracecup.server.models.filekinds import KIND_OF_FILE, SHARED_FILES, TEAM_FILES, TRUTH

SHARED = {KIND_OF_FILE[name].file: name for name in SHARED_FILES}


def prepare(job: Job) -> Task | None:
    """What to make; nothing where the round is over."""
    round = round_of(job)
    contest = round.contest
    payload: dict[str, Any] = {"rules": contest.rules_text, "round": round.name}
    inputs = _own(contest)
    if job.payload["entry"] is None:
        return Task("data.shared", payload, inputs)
    city = digests(round, [CITY_FILE])
    if not city:
        raise NotNow("the city is not there yet", 1)
    entry = Entry(*job.payload["entry"])
    payload |= {
        "team": entry.team,
        "challenge": entry.challenge,
        "seed": str(round_seed(round)),
        "sample": entry in SAMPLES,
    }
    return Task("data.entry", payload, inputs | city)


def apply(job: Job, _: dict[str, Any], outputs: Outputs) -> None:
    """Give the files their names and owners.

    With the contest locked: organisers who move the announcement meanwhile move these files, too,
    or are seen here.
    """
    contest = locked(round_of(job).contest)
    round = contest.rounds.get(pk=job.payload["round"])
    at = begins(round, "announce")
    if job.payload["entry"] is None:
        require_files(outputs, SHARED)
        for name, blob in outputs.items():
            keep_file(round, name, blob, kind=SHARED[name], visible_from=at)
        Contest.objects.filter(pk=contest.pk).update(city_sha256=outputs[CITY_FILE].sha256)
        return
    entry = Entry(*job.payload["entry"])
    team = contest.teams.filter(number=entry.team).first()
    own = DataSet(entry, team)
    kinds = TRUTH if own.is_sample else TEAM_FILES
    require_files(outputs, [entry.file(kind) for kind in kinds])
    for name, blob in outputs.items():
        kind = name.partition("_")[0]
        keep_file(round, name, blob, kind=kind, data_set=own, visible_from=at)


def _own(contest: Contest) -> dict[str, str]:
    """The organisers' own city and model."""
    if contest.rules.city.file is None:
        return {}
    if not contest.city_sha256:
        raise NotNow("the organisers have not given the city's file yet", 60)
    model = StoredFile.objects.filter(contest=contest, kind="model").order_by("-pk").first()
    own = {OWN_CITY: contest.city_sha256}
    return own | {OWN_MODEL: model.sha256} if model else own
