"""The judge between the phases: verdict on a team's releases, shuffle, commitment.

The shuffle and the nonce come from the operating system's entropy; a seed is for tests only.
"""

from __future__ import annotations

from typing import Any

from tracecup.contest.entries import Entry, opening_name
from tracecup.contest.judging import flow
from tracecup.contest.judging.commitment import SCORER, derived_nonce, fresh_nonce
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.contest.smallfiles import write_text
from tracecup.server.judging.compute.setting import Setting
from tracecup.traces import SetTraces
from tracecup.traces.files import write_obfuscated, write_release_and_table


def shuffle(payload: dict[str, Any]) -> dict[str, Any]:
    """Judge, shuffle and seal all data sets of one team (0: the benchmark).

    `entries` lists them: `challenge`, `method`, `hors_concours`; what the team handed in is among
    the files as `anotraces_...`, the benchmark's is made here. Writes the releases and ID tables
    of those that are published and the opening of the commitment; answers the verdicts by label,
    and the commitment.
    """
    setting, team = Setting(payload), int(payload["team"])
    seed = None if payload.get("shuffle_seed") is None else int(payload["shuffle_seed"])
    entries, verdicts = [], {}
    for told in payload["entries"]:
        here = Entry(team, told["challenge"])
        given = _judged(setting, here, told, seed)
        verdicts[here.label] = {**given.as_dict(), "published": given.published}
        entries.append(here)
    nonce = fresh_nonce() if seed is None else derived_nonce(seed, team)
    opening = flow.seal(setting, entries, nonce)
    write_text(setting.out / opening_name(team), opening.text, secret=True)
    return {"verdicts": verdicts, "commitment": opening.commitment, "scorer": SCORER}


def _judged(setting: Setting, here: Entry, told: dict[str, Any], seed: int | None) -> JudgedRelease:
    """What the judge says about one data set; its release and ID table are written."""
    if here.is_benchmark:
        cells = SetTraces.of_traces(setting.original(here))
        write_obfuscated(setting.out / here.file("anotraces"), cells)
    # It was readable when it came in; if it is not any more, that is no verdict but our fault.
    given = flow.judge_release(setting, here, told["method"], told["hors_concours"], checked=True)
    if given.published:
        rng = None if seed is None else flow.shuffle_seed(seed, here)
        released, table = flow.shuffle_release(setting, here, given, rng)
        public, secret = (setting.out / here.file(kind) for kind in ("pubtraces", "ptable"))
        write_release_and_table(public, released, secret, table)
    return given
