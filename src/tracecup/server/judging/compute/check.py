"""Is a file what it should be? Releases, ID tables and inferred traces, checked line by line.

Runs before a try is charged, in a child process: the file is a stranger's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tracecup.city import read_city
from tracecup.contest.judging.judge import Judge
from tracecup.contest.rules.file import parse_rules
from tracecup.errors import InvalidFile, InvalidTraces

Payload = dict[str, Any]


def release(payload: Payload) -> Payload:
    """Obfuscated traces: the format, then the utility against the team's original traces.

    `payload`: `rules` (text of contest.toml), `round`, and the paths `city`, `original`, `file`.
    Answers `ok`, `problems`, `more` (how many are not listed) and, where the file could be read,
    `valid`, `reason`, `utility`, `low`, `high`. O(cells of the file).
    """
    judge = _judge(payload)
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
        "reason": verdict.reason,
        "utility": verdict.utility.value,
        "low": verdict.utility.interval.low,
        "high": verdict.utility.interval.high,
    }


def table(payload: Payload) -> Payload:
    """An inferred ID table: `rules`, `round`, `city`, `file`; answers `ok`, `problems`, `more`."""
    try:
        _judge(payload).read_table(Path(payload["file"]))
    except (InvalidFile, InvalidTraces) as error:
        return _refused(error)
    return _fine()


def traces(payload: Payload) -> Payload:
    """Inferred traces: `rules`, `round`, `city`, `file`; answers `ok`, `problems`, `more`."""
    try:
        _judge(payload).read_inferred(Path(payload["file"]))
    except (InvalidFile, InvalidTraces) as error:
        return _refused(error)
    return _fine()


def _judge(payload: Payload) -> Judge:
    rules = parse_rules(payload["rules"])
    return Judge(rules, read_city(payload["city"]), rules.clock_of(payload["round"]))


def _fine() -> Payload:
    return {"ok": True, "problems": [], "more": 0}


def _refused(error: InvalidFile | InvalidTraces) -> Payload:
    """The first bad places; paths of this machine are not in them."""
    if isinstance(error, InvalidTraces):
        found = {"line": 0, "field": "", "found": str(error), "expected": "traces of this contest"}
        return {"ok": False, "problems": [found], "more": 0}
    problems = [
        {"line": one.line, "field": one.column, "found": one.found, "expected": one.expected}
        for one in error.problems
    ]
    return {"ok": False, "problems": problems, "more": error.total - len(problems)}
