"""Scripted students of a class: what they know, what they hand in, right and wrong.

They get the files that the site gives them, and use the package's own programs.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from tracecup.attack import Case
from tracecup.city import read_city, read_clock
from tracecup.contest.classroom.practice import RULES
from tracecup.contest.judging.answers import run_attack
from tracecup.obfuscate import parse_obfuscator
from tracecup.traces.files import (
    read_released,
    read_traces,
    write_inferred_table,
    write_inferred_traces,
    write_obfuscated,
)

RIGHT = {
    ("pseudonyms", "half"): "VisitProb-R",
    ("pseudonyms", "most"): "Fuzzy-R(0.33,1,match=assignment)",
    ("noise", "half"): "Fuzzy-R(0.33,1,match=assignment)",
    ("noise", "useful"): "PL(6,1)",
    ("noise", "hidden"): "PL(3.5,1)",
    ("cheating", "places"): "VisitProb-T(match=assignment)",
    ("cheating", "cheat"): "Cheat(0.3)",
    ("winner", "third"): "Fuzzy-R(0.33,1,match=assignment)",
    ("winner", "own"): "Equalise(10,sweeps=6)",
}
"""A method for every step that takes a file.

Practice data differ from team to team, so each has some room: the last one left s_R 0.68 or more of
the data of 24 teams, where half is asked for (with 3 sweeps 0.53 of 60 teams).
"""
WRONG = {"reid": "Random-R", "trace": "Prior-T", "release": "None"}
"""Those who do not try."""


def hand_in(packed: bytes, kind: str, method: str, folder: Path, seed: int = 3) -> Path:
    """The file that a student with a method hands in for a step of a kind."""
    zipfile.ZipFile(io.BytesIO(packed)).extractall(folder)
    city, clock = read_city(folder / "info_region.csv"), read_clock(folder / "info_time.csv")
    out = folder / f"{kind}.csv"
    given = {"n_regions": city.n_regions, "users": RULES.users}

    def reference(name: str):
        path = folder / f"reftraces{name}.csv"
        return read_traces(path, "reference", clock=clock.reference, gaps=True, **given)

    if kind == "release":
        original = read_traces(folder / "orgtraces_own.csv", clock=clock.original, **given)
        shield = parse_obfuscator(method)
        write_obfuscated(out, shield.obfuscate(city, original, seed, reference=reference("_own")))
        return out
    released = read_released(folder / "pubtraces.csv", clock=clock.original, **given)
    answer = run_attack(kind, method, Case(city, reference(""), released), seed)
    write = write_inferred_table if kind == "reid" else write_inferred_traces
    write(out, answer)
    return out
