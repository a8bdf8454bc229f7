"""The sample attacks on one release: every one that the rules name, answers and scores.

Their seed is the round's, so that anybody who gets the seed afterwards can run them again.
"""

from __future__ import annotations

import time
from typing import Any

from tracecup.contest.attackphase import answers, attack_seed
from tracecup.contest.bots import Bot
from tracecup.contest.rules import ATTACK_KINDS
from tracecup.server.judging.compute.score import cell_scores
from tracecup.server.judging.compute.setting import Setting
from tracecup.traces.files import write_inferred_table, write_inferred_traces


def samples(payload: dict[str, Any]) -> dict[str, Any]:
    """Attack a data set (`team`, `challenge`) with all sample attacks; `seed` is the round's.

    Writes the answers and tells each attack's scores and seconds, by column (`I1`, `T3`).
    """
    setting = Setting(payload)
    entry, seed = setting.entry, attack_seed(int(payload["seed"]))
    case, truth = setting.case(entry), setting.truth(entry)
    scores: dict[str, Any] = {}
    for kind in ATTACK_KINDS:
        for column, name in setting.rules.samples.columns(kind).items():
            begun = time.perf_counter()
            reid, trace = ((name,), ()) if kind == "reid" else ((), (name,))
            tables, inferred = answers(Bot("None", reid, trace), column, entry, case, seed)
            cell = setting.judge.score(truth, tables, inferred)
            for table in tables:
                write_inferred_table(setting.out / entry.answer("etable", column), table)
            for traces in inferred:
                write_inferred_traces(setting.out / entry.answer("etraces", column), traces)
            seconds = round(time.perf_counter() - begun, 3)
            scores[column] = {**cell_scores(cell, kind), "attack": name, "seconds": seconds}
    return {"scores": scores}
