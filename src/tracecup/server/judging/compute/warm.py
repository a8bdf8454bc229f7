"""Loads everything that the computations need, once, before children are forked.

Compiled kernels are loaded when they are first called, which takes longer than most computations;
a tiny contest is judged and attacked here, so that children find them in memory.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tracecup.city import City, ContestClock, Grid, write_city
from tracecup.contest.archive.folder import CITY_FILE
from tracecup.contest.challenges import CHALLENGES
from tracecup.contest.entries import Entry
from tracecup.contest.rules import ClockRules, RoundRules, Rules
from tracecup.contest.rules.file import rules_text
from tracecup.server.judging.compute import attack, check, publish, score
from tracecup.traces import SetTraces, Traces
from tracecup.traces.files import (
    write_obfuscated,
    write_traces,
)

USERS, SLOTS = 4, 2


def warm() -> None:
    """Check, shuffle, attack and score a contest of four users in a city of four regions."""
    with TemporaryDirectory(prefix="tracecup-warm-") as name:
        _play(Path(name))


def _play(folder: Path) -> None:
    rules = Rules(users=USERS, clock=ClockRules(days=1, slots=SLOTS), rounds=(RoundRules("warm"),))
    clock = ContestClock.regular(1, SLOTS)
    city = City(Grid.from_metres(2, 2, width_m=300, height_m=300), [0])
    entry = Entry(1)
    regions = [[0, 1], [1, 2], [2, 3], [3, 0]]
    cells = SetTraces.of_cells([[[0, 1], [1]], [[1], []], [[2], [3]], [[3], [0]]], clock.original)
    names = [entry.file(kind) for kind in ("reftraces", "orgtraces", "anotraces")]
    files = {name: str(folder / name) for name in (CITY_FILE, *names)}
    write_city(files[CITY_FILE], city)
    write_traces(files[names[0]], Traces.of(regions, clock.reference))
    write_traces(files[names[1]], Traces.of(regions, clock.original))
    write_obfuscated(files[names[2]], cells)
    told = {"rules": rules_text(rules), "round": "warm", "team": entry.team, "seed": "1"}
    told |= {"challenge": entry.challenge, "files": files, "out": str(folder)}
    paths = {"city": files[CITY_FILE], "original": files[names[1]], "file": files[names[2]]}
    check.release(told | paths)
    handed = {"challenge": entry.challenge, "method": "", "hors_concours": True}
    publish.shuffle(told | {"entries": [handed], "shuffle_seed": "1"})
    files |= {name: str(folder / name) for name in map(entry.file, ("pubtraces", "ptable"))}
    attack.samples(told)
    for kind, challenge in CHALLENGES.items():
        column = next(iter(rules.samples.columns(kind)))
        files[score.ANSWER] = str(folder / entry.answer(challenge.answer, column))
        score.answer(told | {"kind": kind})


# Imported by the fork server; without it children only begin more slowly.
with suppress(Exception):
    warm()
