"""One defence of the study `existing`: tuned, released, attacked; what is known is kept in a file.

The name of the file holds everything its content depends on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tracecup import __version__
from tracecup.attack import InferenceAttack, ReidAttack
from tracecup.contest.judging.published import publish
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import Obfuscator, parse_obfuscator, to_utility
from tracecup.registry import Method
from tracecup.rng import generator
from tracecup.score import FLOOR, utility_score
from tracecup.study.comparison import DefendedRelease, attack
from tracecup.study.context import Context, Team
from tracecup.study.keptcells import key_of, read_cell, write_cell
from tracecup.study.peak import watched
from tracecup.traces import SetTraces

TOLERANCE = 2e-3
"""Tuning stops so near above the floor."""

FEWEST = 12
"""So many users are attacked before an attack is timed for the first time."""

Attack = ReidAttack | InferenceAttack
_compiled: set[str] = set()


@dataclass(frozen=True)
class Tuning:
    """How a defence is written, and the parameter that is tuned ("" or words: none).

    `whole` bounds a whole number that is searched by bisection, largest value weakest.
    """

    written: str
    knob: str
    whole: tuple[int, int] | None = None

    def tuned(self, team: Team, seed: int) -> tuple[Obfuscator, str]:
        """The strongest valid setting, and how it was found in words."""
        method = parse_obfuscator(self.written)
        if self.knob not in {knob.parameter for knob in method.knobs}:
            return method, "as written"
        if self.whole is not None:
            return self._bisected(method, team, seed)
        try:
            found, _ = to_utility(
                self.written,
                team.city,
                team.original,
                FLOOR,
                seed,
                self.knob,
                tolerance=TOLERANCE,
            )
        except InvalidParameter as error:
            return method, f"as written: {error}"
        return found, f"by {self.knob}"

    def _bisected(self, method: Obfuscator, team: Team, seed: int) -> tuple[Obfuscator, str]:
        assert self.whole is not None
        bad, good = self.whole
        candidate: Any = method
        while good - bad > max(1, good // 50):
            middle = (good + bad) // 2
            tried = replace(candidate, **{self.knob: middle})
            cells = _obfuscated(tried, team, seed)
            if utility_score(team.city, team.original, cells).valid:
                good = middle
            else:
                bad = middle
        return replace(candidate, **{self.knob: good}), f"by {self.knob}"


class ExistingCells:
    """What is known of one defence, and how to find out the rest."""

    def __init__(self, context: Context, team: Team, tuning: Tuning) -> None:
        """Nothing is computed before it is asked for."""
        self.team, self.tuning = team, tuning
        self.seed = context.seed_of("existing", tuning.written)
        self.some = context.seed_of("existing", "users")
        self.path = _path(context, team, tuning)
        self.held: dict[str, Any] = read_cell(self.path, "attacks") or self._made()
        self._releases: dict[int, DefendedRelease] = {}

    def met(self, method: Attack, users: int) -> dict[str, Any]:
        """What an attack achieves on `users` users."""
        key = f"{method} on {users}"
        if key not in self.held["attacks"]:
            if method.name not in _compiled:  # or the first would pay for all
                attack(self._release(min(users, FEWEST)), method, self.seed)
                _compiled.add(method.name)
            with watched() as peak:
                found = attack(self._release(users), method, self.seed)
            interval = found.score.interval
            self.held["attacks"][key] = {
                "users": users,
                "score": found.score.value,
                "low": interval.low,
                "high": interval.high,
                "seconds": found.seconds,
                "MB": peak.megabytes,
            }
            write_cell(self.path, self.held)
        met: dict[str, Any] = self.held["attacks"][key]
        return met

    def _made(self) -> dict[str, Any]:
        method, how = self.tuning.tuned(self.team, self.seed)
        with watched() as peak:
            started = time.perf_counter()
            cells = _obfuscated(method, self.team, self.seed)
            seconds = time.perf_counter() - started
        self._cells = cells
        utility = utility_score(self.team.city, self.team.original, cells).value
        return {
            "tuned": str(method),
            "tuning": how,
            "s_U": utility,
            "seconds": seconds,
            "MB": peak.megabytes,
            "attacks": {},
        }

    @cached_property
    def _cells(self) -> SetTraces:
        """The obfuscated traces, made again where only their scores were kept."""
        return _obfuscated(parse_obfuscator(self.held["tuned"]), self.team, self.seed)

    def _release(self, users: int) -> DefendedRelease:
        """One case for all attacks on so many users, so that they share what it keeps."""
        if users not in self._releases:
            self._releases[users] = self._part(users)
        return self._releases[users]

    def _part(self, users: int) -> DefendedRelease:
        """The part of some users, drawn at random, shuffled: a case of their own."""
        team, part = self.team, self._cells
        if users < part.n_users:
            some = np.sort(generator(self.some).permutation(part.n_users)[:users])
            team = replace(
                team,
                reference=team.reference.take_users(some),
                original=team.original.take_users(some),
            )
            part = part.take_users(some)
        shown = publish(team.city, team.reference, team.original, part, self.seed)
        utility = utility_score(team.city, team.original, part)
        tuned = self.held["tuned"]
        method = parse_obfuscator(tuned)
        return DefendedRelease(tuned, tuned, utility, 0.0, shown.case, shown.truth, method)


def _obfuscated(method: Obfuscator, team: Team, seed: int) -> SetTraces:
    return method.obfuscate(team.city, team.original, seed, reference=team.reference)


def _path(context: Context, team: Team, tuning: Tuning) -> Path | None:
    if context.cells is None:
        return None
    depends = [__version__, context.seed, team.name, team.original.shape, repr(tuning)]
    word = Method.__str__(parse_obfuscator(tuning.written)).partition("(")[0]
    return context.cells / "existing" / f"{word}-{key_of(depends)}.json"
