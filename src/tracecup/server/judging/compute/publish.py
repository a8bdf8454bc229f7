"""The judge between the phases: verdict on a team's releases, shuffle, commitment.

The shuffle and the nonce come from the operating system's entropy; a seed is for tests only.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from tracecup.contest.archive.folder import SCORER, write_text
from tracecup.contest.entries import Entry, team_label
from tracecup.contest.judging.commitment import Opening, content_hash, fresh_nonce
from tracecup.contest.judging.judge import NOTHING
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.rng import child_seed
from tracecup.server.judging.compute.setting import Setting
from tracecup.traces import SetTraces
from tracecup.traces.files import write_obfuscated, write_release_and_table

BENCHMARK_METHOD = "None"


def shuffle(payload: dict[str, Any]) -> dict[str, Any]:
    """Judge, shuffle and seal all data sets of one team (0: the benchmark).

    `entries` lists them: `challenge`, `method`, `hors_concours`, and `handed_in`, whether there
    is a file `anotraces_...` of the team; the benchmark's is made here. Writes the releases and
    ID tables of those that are published and the opening of the commitment; answers the
    verdicts by label, and the commitment.
    """
    setting = Setting(payload)
    team, seed = int(payload["team"]), payload.get("shuffle_seed")
    verdicts, hashes = {}, {}
    for told in payload["entries"]:
        here = Entry(team, told["challenge"])
        given, files = _entry(setting, here, told, seed)
        verdicts[here.label] = {**given.as_dict(), "published": given.published}
        for kind, path in files.items():
            hashes[here.file(kind, ".csv")] = content_hash(path)
    nonce = fresh_nonce() if seed is None else _nonce(child_seed(int(seed), "nonce", team))
    opening = Opening(Entry(team).number, SCORER, hashes, nonce)
    write_text(setting.out / f"opening_{team_label(team)}.txt", opening.text, secret=True)
    return {"verdicts": verdicts, "commitment": opening.commitment, "scorer": SCORER}


def _entry(
    setting: Setting, here: Entry, told: dict[str, Any], seed: str | None
) -> tuple[JudgedRelease, dict[str, Path]]:
    """What the judge says about one data set, and the files that the commitment fixes."""
    judge, original, out = setting.judge, setting.original(here), setting.out
    files = {"orgtraces": setting.file(here.file("orgtraces"))}
    if here.is_benchmark:
        path = out / here.file("anotraces")
        write_obfuscated(path, SetTraces.of_traces(original))
    elif told["handed_in"]:
        path = setting.file(here.file("anotraces"))
    else:
        return JudgedRelease.of(told["method"], NOTHING), files
    # It was readable when it came in; if it is not any more, that is no verdict but our fault.
    obfuscated = judge.read_submission(path)
    verdict = judge.verdict(original, obfuscated)
    given = JudgedRelease.of(told["method"], verdict, told["hors_concours"])
    files["anotraces"] = path
    if given.published:
        rng = None if seed is None else child_seed(int(seed), "shuffle", here.label)
        released, table = judge.publish(obfuscated, verdict, rng, hors_concours=given.hors_concours)
        files["ptable"] = out / here.file("ptable")
        public = out / here.file("pubtraces")
        write_release_and_table(public, released, files["ptable"], table)
    return given, files


def _nonce(seed: int) -> str:
    return hashlib.sha256(str(seed).encode()).hexdigest()
