"""The archive of a round as a folder, without the jobs that pack it on a server."""

from __future__ import annotations

from pathlib import Path

from tracecup.contest.archive.manifest import write_manifest
from tracecup.server.judging.compute.results import lay_out
from tracecup.server.models import Round
from tracecup.server.results.archiving import archive_plan
from tracecup.server.resultsets import newest, published
from tracecup.server.storage import store


def archive_folder(round: Round, out: Path) -> Path:
    """Write the archive of a round with results, openings and manifest into a new folder.

    Its results are the published ones, else the newest.
    """
    chosen = published(round) or newest(round)
    plan, blobs = archive_plan(round, chosen), store()
    files = {name: str(blobs.checked(sha256)) for name, sha256 in plan.files.items()}
    lay_out(out, files, plan.texts, received=plan.received)
    write_manifest(out)
    return out
