"""The sample attacks on one release: every one that the rules name, answers and scores.

Their seed is the round's, so that anybody who gets the seed afterwards can run them again.
"""

from __future__ import annotations

import time
from typing import Any

from tracecup.contest.judging import flow
from tracecup.contest.judging.answers import cell_scores
from tracecup.server.judging.compute.setting import Setting


def samples(payload: dict[str, Any]) -> dict[str, Any]:
    """Attack a data set (`team`, `challenge`) with all sample attacks; `seed` is the round's.

    Writes the answers and tells each attack's scores, seconds and what it knew, by column (`I1`,
    `T3`).
    """
    setting = Setting(payload)
    entry, seed = setting.entry, flow.attack_seed(int(payload["seed"]))
    case, truth = flow.case_of(setting, entry), flow.truth_of(setting, entry)
    scores: dict[str, Any] = {}
    for column, player in flow.sample_players(setting.rules.samples).items():
        begun = time.perf_counter()
        answers, knew = flow.attack_and_tell(player, column, entry, case, seed)
        cell = setting.judge.score(truth, answers)
        setting.write_answers(entry, column, answers)
        seconds = round(time.perf_counter() - begun, 3)
        told = {"attack": player.name, "seconds": seconds, "knew": knew}
        scores[column] = cell_scores(cell, player.kind) | told
    return {"scores": scores}
