"""Scoring one answer: an inferred ID table or inferred traces against the truth.

An answer that cannot be read is an error here, never a score: it was checked when it came in.
"""

from __future__ import annotations

from typing import Any

from tracecup.contest.archive.folder import SCORER
from tracecup.contest.judging.judge import CellScores
from tracecup.score import Score
from tracecup.server.judging.compute.setting import Setting

ANSWER = "answer"
"""Name of the answer among the files of a payload."""


def answer(payload: dict[str, Any]) -> dict[str, Any]:
    """Score the file `answer` of `kind` reid or trace against a data set (`team`, `challenge`)."""
    setting = Setting(payload)
    judge, truth, path = setting.judge, setting.truth(setting.entry), setting.file(ANSWER)
    if payload["kind"] == "reid":
        cell = judge.score(truth, tables=[judge.read_table(path)])
    else:
        cell = judge.score(truth, inferred=[judge.read_inferred(path)])
    return cell_scores(cell, payload["kind"])


def cell_scores(cell: CellScores, kind: str) -> dict[str, Any]:
    """A scored cell as JSON: `score`, `low`, `high`, and the expected error in km for traces."""
    score = cell.reid if kind == "reid" else cell.trace
    assert score is not None
    return {**_numbers(score), "error": _error(cell.error), "scorer": SCORER}


def _numbers(score: Score) -> dict[str, Any]:
    return {"score": score.value, "low": score.interval.low, "high": score.interval.high}


def _error(error: Score | None) -> float | None:
    return None if error is None else error.value
