"""Scoring one answer: an inferred ID table or inferred traces against the truth.

An answer that cannot be read is an error here, never a score: it was checked when it came in.
"""

from __future__ import annotations

from typing import Any

from tracecup.contest.challenges import AttackKind
from tracecup.contest.judging import flow
from tracecup.contest.judging.answers import ANSWERS, CellScores
from tracecup.contest.judging.commitment import SCORER
from tracecup.server.judging.compute.setting import Setting

ANSWER = "answer"
"""Name of the answer among the files of a payload."""


def answer(payload: dict[str, Any]) -> dict[str, Any]:
    """Score the file `answer` of a `kind` of attack against a data set (`team`, `challenge`)."""
    setting, kind = Setting(payload), payload["kind"]
    truth = flow.truth_of(setting, setting.entry)
    given = ANSWERS[kind].read(setting.judge, setting.file(ANSWER))
    return cell_scores(setting.judge.score(truth, {kind: [given]}), kind)


def cell_scores(cell: CellScores, kind: AttackKind) -> dict[str, Any]:
    """A scored cell as JSON: `score`, `low`, `high`, and the expected error in km for traces."""
    score = cell.of(kind)
    assert score is not None
    return {
        "score": score.value,
        "low": score.interval.low,
        "high": score.interval.high,
        "error": None if cell.error is None else cell.error.value,
        "scorer": SCORER,
    }
