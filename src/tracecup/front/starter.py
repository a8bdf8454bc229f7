"""A starter kit: a method of your own in a few lines, with a test that passes.

Written by `tracecup new`; meant to be changed.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Literal

from tracecup.errors import InvalidParameter, UnknownMethod, UnreadableFile
from tracecup.front.data import PathName
from tracecup.registry import Kind, parse
from tracecup.safeio import atomic_write

Sort = Literal["obfuscator", "attack", "trace-attack"]
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)

HEAD = '''"""{name}: {what} of my own.

Check it:   tracecup check {name}.py:{name}   and   pytest test_{name}.py
Measure it: python {name}.py
"""

import numpy as np
import tracecup as tc

'''
OBFUSCATOR = '''
@tc.obfuscator(steps=(0, 8))  # a knob, from weak to strong
def {name}(original, city, rng, steps=1):
    """Every event moves by up to some columns and rows; change me."""
    grid, regions = city.grid, np.asarray(original)  # (users, times), regions from 0
    move = rng.integers(-steps, steps + 1, size=(2, *regions.shape))
    x = np.clip(grid.x[regions] + move[0], 0, grid.nx - 1)
    y = np.clip(grid.y[regions] + move[1], 0, grid.ny - 1)
    return y * grid.nx + x  # -1 would delete a cell


if __name__ == "__main__":
    result = tc.evaluate(tc.load_demo(days=20), ["usual", {name}], seeds=3)
    print(result.to_markdown())
'''
ATTACK = '''
@tc.attack(power=(0.1, 2.0))
def {name}(case, power=0.5):
    """Whose visits point the same way? Change me."""
    sides = []
    for traces in (case.released, case.reference):  # rows: pseudonyms, users
        counts = tc.traces.visit_counts(traces, case.city.n_regions).astype(float) ** power
        sides.append(counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9))
    return sides[0] @ sides[1].T  # (pseudonyms, users), higher is likelier


if __name__ == "__main__":
    attacks = ["VisitProb-R", "Fuzzy-R", {name}]
    result = tc.evaluate(tc.load_demo(days=20), "usual", attacks, seeds=3)
    print(result.to_frame("attacks"))
'''
TRACE_ATTACK = '''
@tc.attack(kind="trace")
def {name}(case):
    """Everybody does on every day what she did on her first one. Change me."""
    slots = case.released.clock.slots
    first = np.maximum(np.asarray(case.reference)[:, :slots], 0)  # -1: not observed
    return np.tile(first, (1, case.released.clock.days))  # (users, times), regions from 0


if __name__ == "__main__":
    attacks = ["VisitProb-T", "Prior-T", {name}]
    result = tc.evaluate(tc.load_demo(days=20), "usual", attacks, seeds=3)
    print(result.to_frame("attacks"))
'''
TEST_HEAD = '''"""What {name} has to keep; add what makes it better than others."""

import tracecup as tc
from tracecup.checks import check_method

from {name} import {name}


def test_keeps_the_contract():
    assert [result for result in check_method({name}) if not result.passed] == []

'''
TEST_OBFUSCATOR = """
def test_keeps_the_floor():
    assert tc.publish(tc.load_demo(days=2, users=30), {name}, floor=0.7).utility.valid
"""
TEST_ATTACK = """
def test_finds_more_than_guessing():
    release = tc.publish(tc.load_demo(days=5, users=30))
    assert tc.score(release, tc.attack(release, {name})).value < 0.9
"""
KITS: dict[str, tuple[str, str, str, Kind]] = {
    "obfuscator": ("an obfuscation", OBFUSCATOR, TEST_OBFUSCATOR, "obfuscator"),
    "attack": ("a re-identification", ATTACK, TEST_ATTACK, "reid"),
    "trace-attack": ("a trace inference", TRACE_ATTACK, TEST_ATTACK, "inference"),
}


def write_kit(sort: Sort, name: str, folder: PathName = ".") -> tuple[Path, Path]:
    """Write NAME.py and test_NAME.py into a folder; the two paths.

    What is there already is never overwritten.
    """
    if sort not in KITS:
        raise InvalidParameter(f"a starter kit is one of {', '.join(KITS)}, got {sort!r}")
    if not _NAME.fullmatch(name) or keyword.iskeyword(name) or name.startswith("test"):
        raise InvalidParameter(
            "a name has small letters, digits and _, a letter first, and is no word of Python, "
            f"such as my_attack; got {name[:60]!r}"
        )
    what, body, test, kind = KITS[sort]
    _check_free(kind, name)
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    texts = {out / f"{name}.py": HEAD + body, out / f"test_{name}.py": TEST_HEAD + test}
    for path in texts:
        if path.exists():
            raise UnreadableFile(path, "is there already and is not overwritten")
    for path, text in texts.items():
        with atomic_write(path) as file:
            file.write(text.format(name=name, what=what).encode())
    method, check = texts
    return method, check


def _check_free(kind: Kind, name: str) -> None:
    try:
        known = parse(kind, name)
    except UnknownMethod:
        return
    raise InvalidParameter(f"{name!r} is the name of {known} already")
