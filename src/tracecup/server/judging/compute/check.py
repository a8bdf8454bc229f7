"""Is a file what it should be? Releases, ID tables and inferred traces, checked line by line.

Runs before a try is charged, in a child process: the file is a stranger's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tracecup.contest.judging.answers import read_handed
from tracecup.errors import InvalidFile, InvalidTraces, Problem
from tracecup.server.judging.compute.setting import judge_of

Payload = dict[str, Any]


def release(payload: Payload) -> Payload:
    """Obfuscated traces: the format, then the utility against the team's original traces.

    `payload`: `rules` (text of contest.toml), `round`, and the paths `city`, `original`, `file`.
    Answers `ok`, `problems`, `more` (how many are not listed) and, where the file could be read,
    `valid`, `reason`, `utility`, `low`, `high`. O(cells of the file).
    """
    judge = judge_of(payload)
    try:
        obfuscated = judge.read_submission(Path(payload["file"]))
    except (InvalidFile, InvalidTraces) as error:
        return _refused(error)
    original = judge.read_original(Path(payload["original"]))
    verdict = judge.verdict(original, obfuscated)
    assert verdict.utility is not None
    return {
        **_fine(),
        "valid": verdict.valid,
        "reason": str(verdict.reason),
        "utility": verdict.utility.value,
        "low": verdict.utility.interval.low,
        "high": verdict.utility.interval.high,
    }


def answer(payload: Payload) -> Payload:
    """An answer of `kind` (an attack's): `rules`, `round`, `city`, `file`.

    Answers `ok`, `problems`, `more`.
    """
    try:
        read_handed(judge_of(payload), payload["kind"], Path(payload["file"]))
    except (InvalidFile, InvalidTraces) as error:
        return _refused(error)
    return _fine()


def _fine() -> Payload:
    return {"ok": True, "problems": [], "more": 0}


def _refused(error: InvalidFile | InvalidTraces) -> Payload:
    """The first bad places; paths of this machine are not in them."""
    if isinstance(error, InvalidTraces):
        found = Problem(0, "", str(error), "traces of this contest")
        return {"ok": False, "problems": [found.as_dict()], "more": 0}
    problems = [problem.as_dict() for problem in error.problems]
    return {"ok": False, "problems": problems, "more": error.total - len(problems)}
