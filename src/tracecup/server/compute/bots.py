"""What a bot team computes: its release, and its answers against one target.

Bots play demo contests and rehearsals through the same doors as people.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tracecup.city import read_city
from tracecup.contest.attackphase import answers
from tracecup.contest.bots import Bot, bots_for
from tracecup.contest.entries import Entry
from tracecup.contest.judge import Judge
from tracecup.contest.rulefile import parse_rules
from tracecup.rng import child_seed
from tracecup.traces.files import (
    read_released,
    read_traces,
    write_inferred_table,
    write_inferred_traces,
    write_obfuscated,
)


def release(payload: dict[str, Any]) -> dict[str, Any]:
    """Obfuscate a bot's own traces.

    Takes `rules` (text), `round`, `city`, `original` (paths), `entry` ([team, challenge]), `bot`
    (number), `seed`, `out` (path); writes `out` and returns the method's name.
    """
    judge, entry = _judge(payload), _entry(payload)
    original = read_traces(
        Path(payload["original"]),
        n_regions=judge.city.n_regions,
        clock=judge.clock.original,
        users=judge.rules.users,
    )
    seed = child_seed(payload["seed"], "bot", entry.label)
    floor = judge.rules.scores.utility_floor
    method = _bot(payload).obfuscator(judge.city, original, floor, seed)
    write_obfuscated(Path(payload["out"]), method.obfuscate(original, judge.city, seed))
    return {"method": str(method)}


def attack(payload: dict[str, Any]) -> dict[str, Any]:
    """Attack one release in all the ways of a bot.

    Takes `rules`, `round`, `city`, `reference`, `released` (paths), `entry` of the target, `bot`,
    `name` (the attacker's number as files write it), `seed`, `out` (folder); returns the answers
    as `{"kind", "file", "method"}`.
    """
    judge, entry, bot = _judge(payload), _entry(payload), _bot(payload)
    reference = read_traces(
        Path(payload["reference"]),
        "reference",
        n_regions=judge.city.n_regions,
        clock=judge.clock.reference,
        users=judge.rules.users,
        gaps=True,
    )
    released = read_released(
        Path(payload["released"]),
        n_regions=judge.city.n_regions,
        clock=judge.clock.original,
        users=judge.rules.users,
    )
    case = judge.case(reference, released)
    tables, inferred = answers(bot, payload["name"], entry, case, payload["seed"])
    out, made = Path(payload["out"]), []
    for k, table in enumerate(tables):
        path = out / entry.answer("etable", payload["name"], k + 1)
        write_inferred_table(path, table)
        made.append({"kind": "reid", "file": path.name, "method": bot.reid[k]})
    for k, traces in enumerate(inferred):
        path = out / entry.answer("etraces", payload["name"], k + 1)
        write_inferred_traces(path, traces)
        made.append({"kind": "trace", "file": path.name, "method": bot.trace[k]})
    return {"answers": made}


def _judge(payload: dict[str, Any]) -> Judge:
    rules = parse_rules(payload["rules"])
    return Judge(rules, read_city(Path(payload["city"])), rules.clock_of(payload["round"]))


def _entry(payload: dict[str, Any]) -> Entry:
    team, challenge = payload["entry"]
    return Entry(team, challenge)


def _bot(payload: dict[str, Any]) -> Bot:
    return bots_for(payload["bot"])[-1]
