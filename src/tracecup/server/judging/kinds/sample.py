"""The job `sample`: all sample attacks on one release.

Asked for when the judge is ready.
"""

from __future__ import annotations

from typing import Any

from tracecup.contest.archive.folder import CITY_FILE
from tracecup.contest.challenges import ANSWER_FILES, ATTACK_KINDS
from tracecup.server.entries import DataSet, digests, entry_of, keep_file, round_seed
from tracecup.server.jobs.plausible import require_files, require_remark, require_score
from tracecup.server.jobs.task import Outputs, Task
from tracecup.server.models import Job, Release
from tracecup.server.models.filekinds import TRUTH


def prepare(job: Job) -> Task | None:
    """The release, and the truth to score with."""
    release = _release(job)
    round, entry = release.round, entry_of(release)
    names = [CITY_FILE, *(entry.file(kind) for kind in TRUTH)]
    payload = {
        "rules": round.contest.rules_text,
        "round": round.name,
        "team": entry.team,
        "challenge": entry.challenge,
        "seed": str(round_seed(round)),
    }
    inputs = digests(round, names)
    missing = [name for name in names if name not in inputs]
    if missing:
        raise LookupError(f"no file {missing[0]}")
    return Task("attack.samples", payload, inputs)


def apply(job: Job, result: dict[str, Any], outputs: Outputs) -> None:
    """Keep the answers and, with the release, the scores."""
    release = _release(job)
    entry = entry_of(release)
    own = DataSet(entry, release.team)
    samples = release.round.contest.rules.samples
    columns = {
        column: ANSWER_FILES[kind] for kind in ATTACK_KINDS for column in samples.columns(kind)
    }
    # Another name would take the place of another file of the round.
    require_files(outputs, [entry.answer(kind, column) for column, kind in columns.items()])
    require_files(result["scores"], columns)
    for score in result["scores"].values():
        require_score(score)
        require_remark(score)
    for name, blob in outputs.items():
        kind = name.partition("_")[0]
        keep_file(release.round, name, blob, kind=kind, data_set=own)
    inputs = result["inputs_sha256"]
    release.scores = {
        column: {**score, "inputs_sha256": inputs} for column, score in result["scores"].items()
    }
    release.save(update_fields=["scores"])


def _release(job: Job) -> Release:
    found: Release = Release.objects.select_related("round__contest", "team").get(
        pk=job.payload["release"]
    )
    return found
