"""A toy to play with: turn the knob of a defence, see utility and both risks at once.

Public data of the shipped model, sixty people, six days. Every position of every slider is
computed once and kept: a fixed, small amount of work, whoever asks how often.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tracecup.city import City
from tracecup.contest.classroom.lessons import measured_release
from tracecup.contest.classroom.practice import RULES, practice, practice_city
from tracecup.contest.sizes import clusters_for
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import parse_obfuscator
from tracecup.rng import child_seed
from tracecup.traces import SetTraces

SEED = 2019
STEPS = 11
NONE = "None"
DAY = 20
BLURS = (
    (1, 0),
    (1, 0.1),
    (1, 0.2),
    (1, 0.3),
    (2, 0),
    (2, 0.1),
    (2, 0.2),
    (2, 0.3),
    (3, 0),
    (3, 0.2),
)
_KMEANS = clusters_for(RULES.users)
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "noise": (NONE, *(f"PL({4 / k:.3g},1)" for k in np.linspace(0.5, 5, STEPS - 1))),
    "flip": (NONE, *(f"RR({eps:g})" for eps in np.linspace(9.5, 5, STEPS - 1))),
    "delete": (NONE, *(f"MRLH(0,0,{p:.2g})" for p in np.linspace(0.1, 1, STEPS - 1))),
    "blur": (NONE, *(f"MRLH({m},{m},{p:g})" for m, p in BLURS)),
    "alike": (
        NONE,
        *(f"KMeans({_KMEANS},floor={f:.2g})" for f in np.linspace(0.95, 0.5, STEPS - 1)),
    ),
    "exchange": (NONE, *(f"Cheat({p:.1g})" for p in np.linspace(0.1, 1, STEPS - 1))),
}
"""What a slider stands for, position by position; the first is always no protection at all."""

_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Play:
    """What a position of a slider gives; risks are what the attackers got, 0 is the best."""

    defence: str
    step: int
    method: str
    utility: float
    named: float
    followed: float
    original: tuple[int, ...]
    released: tuple[tuple[int, ...], ...]


def city() -> City:
    """The city of the toy and of all practice data."""
    return practice_city()


def play(defence: str, step: int) -> Play:
    """Utility and both risks of a position; the first time tens of milliseconds, then none.

    `named` is the share of people whose pseudonym was told, 1 - s_R; `followed` is how much of
    their places was found out, 1 - s_T. `original` and `released` are a day of one person.

    >>> found = play("noise", 0)
    >>> found.utility, found.method, len(found.original)
    (1.0, 'None', 20)
    """
    if defence not in SETTINGS:
        raise InvalidParameter(f"a slider is one of {', '.join(SETTINGS)}, got {defence!r}")
    if not 0 <= step < STEPS:
        raise InvalidParameter(f"a position is within 0..{STEPS - 1}, got {step}")
    # One thread computes; the others wait and find it kept.
    with _one_at_a_time:
        return _play(defence, step)


@lru_cache(maxsize=len(SETTINGS) * STEPS)
def _play(defence: str, step: int) -> Play:
    held, method = practice(NONE, SEED), SETTINGS[defence][step]
    city, own = held.judge.city, held.protected
    made = parse_obfuscator(method).obfuscate(
        city, own.original, child_seed(SEED, "play"), reference=own.reference
    )
    found = measured_release(held, made, SEED)
    day = [int(x) for x in own.original.regions[0, :DAY]]
    return Play(
        defence,
        step,
        method,
        found["s_U"],
        1 - found["s_R"],
        1 - found["s_T"],
        tuple(day),
        _cells(made),
    )


def _cells(made: SetTraces) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(x) for x in made.cell(0, j)) for j in range(DAY))
