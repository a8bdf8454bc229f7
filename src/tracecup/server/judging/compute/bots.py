"""What a bot team computes: its release, and its answers against one target.

Bots play demo contests and rehearsals through the same doors as people.
"""

from __future__ import annotations

from typing import Any

from tracecup.contest.bots import bots_for
from tracecup.contest.judging import flow
from tracecup.rng import child_seed
from tracecup.server.judging.compute.setting import Setting
from tracecup.traces.files import write_obfuscated


def release(payload: dict[str, Any]) -> dict[str, Any]:
    """Obfuscate a bot's own traces as bot number `bot` does; the file and the method's name."""
    setting = Setting(payload)
    judge, entry = setting.judge, setting.entry
    original = setting.original(entry)
    seed = child_seed(int(payload["seed"]), "bot", entry.label)
    bot = bots_for(payload["bot"], judge.rules.users)[-1]
    method = bot.obfuscator(judge.city, original, judge.rules.scores.utility_floor, seed)
    file = entry.file("anotraces")
    write_obfuscated(setting.out / file, method.obfuscate(judge.city, original, seed))
    return {"file": file, "method": str(method)}


def attack(payload: dict[str, Any]) -> dict[str, Any]:
    """Attack one release as bot number `bot` does; `attacker` is its team's number as `003`.

    Answers are listed as `{"kind", "file", "method"}`.
    """
    setting = Setting(payload)
    entry, name, bot = setting.entry, payload["attacker"], bots_for(payload["bot"])[-1]
    answers = flow.attack(bot, name, entry, flow.case_of(setting, entry), int(payload["seed"]))
    methods = [method for kind in answers for method in bot.tries(kind)]
    written = setting.write_answers(entry, name, answers)
    return {
        "answers": [
            {"kind": kind, "file": file, "method": method}
            for (file, kind), method in zip(written.items(), methods, strict=True)
        ]
    }
