"""Scoring one answer: an inferred ID table or inferred traces against the truth.

An answer that cannot be read is an error here, never a score: it was checked when it came in.
"""

from __future__ import annotations

from typing import Any

from tracecup.contest.judging import flow
from tracecup.contest.judging.answers import ANSWERS, cell_scores
from tracecup.server.judging.compute.setting import Setting

ANSWER = "answer"
"""Name of the answer among the files of a payload."""


def answer(payload: dict[str, Any]) -> dict[str, Any]:
    """Score the file `answer` of a `kind` of attack against a data set (`team`, `challenge`)."""
    setting, kind = Setting(payload), payload["kind"]
    truth = flow.truth_of(setting, setting.entry)
    given = ANSWERS[kind].read(setting.judge, setting.file(ANSWER))
    return cell_scores(setting.judge.score(truth, {kind: [given]}), kind)
