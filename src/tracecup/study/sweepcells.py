"""What is known of one cell of a sweep (data set, defence, seed), as a small JSON file.

The name of the file holds everything the cell depends on, so that nothing stale is used.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracecup import __version__
from tracecup.attack import InferenceAttack, ReidAttack
from tracecup.attack.naming import kind_of
from tracecup.obfuscate import Obfuscator
from tracecup.safeio import atomic_write
from tracecup.study.comparison import Attacked, DefendedRelease
from tracecup.study.methodkey import method_key

FORMAT = 4

Attack = ReidAttack | InferenceAttack


@dataclass
class Cell:
    """What is known of one cell; as JSON in its file."""

    tuned: str | None
    tuning: str
    utility: float
    group: float | None
    true_link: float | None
    seconds: float
    attacks: dict[str, dict[str, Any]]

    @classmethod
    def new(cls) -> Cell:
        """A cell of which nothing is known."""
        return cls(None, "", 0.0, None, None, 0.0, {})

    @classmethod
    def read(cls, path: Path | None) -> Cell:
        """The stored cell; a new one where there is none or where it is damaged."""
        if path is None:
            return cls.new()
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            held = json.loads(path.read_text("utf-8"))
            found = cls(
                str(held["tuned"]),
                str(held["tuning"]),
                float(held["utility"]),
                _number(held["group"]),
                _number(held["true_link"]),
                float(held["seconds"]),
                held["attacks"],
            )
            for entry in found.attacks.values():
                float(entry["score"] + entry["low"] + entry["high"] + entry["seconds"])
                str(entry["code"] + entry["knew"])
                float(entry["expected_error_km"] or 0)
            return found
        return cls.new()

    def holds(self, method: Attack) -> bool:
        """Whether the attack was run, with the code it has now, as far as that can be told."""
        held, code = self.attacks.get(_key(method)), method_key(method)
        return held is not None and code is not None and held["code"] == code

    def note(self, made: DefendedRelease) -> None:
        """Remember the defence, tuned, its utility, and what follows from both."""
        if self.tuned is None:
            self.tuned, self.tuning = made.tuned, made.tuning
            self.utility, self.seconds = made.utility.value, made.seconds
            self.group, self.true_link = made.bounds.group, made.bounds.true_link

    def add(self, method: Attack, met: Attacked) -> None:
        """Remember what an attack achieved."""
        self.attacks[_key(method)] = {
            "score": met.score.value,
            "low": met.score.interval.low,
            "high": met.score.interval.high,
            "expected_error_km": met.expected_error,
            "seconds": met.seconds,
            "code": method_key(method),
            "knew": met.remark,
        }

    def write(self, path: Path) -> None:
        """Store it, whole or not at all; without attacks whose code has no key."""
        kept = {name: held for name, held in self.attacks.items() if held["code"] is not None}
        with atomic_write(path) as file:
            file.write(json.dumps(vars(self) | {"attacks": kept}, allow_nan=False).encode())

    def rows(
        self,
        names: tuple[str, str, str],
        seed: int,
        floor: float | None,
        swords: Sequence[Attack],
    ) -> list[tuple[Any, ...]]:
        """A row of the table for each of these attacks."""
        found = []
        for method in swords:
            held = self.attacks[_key(method)]
            numbers = (held[k] for k in ("score", "low", "high", "expected_error_km", "seconds"))
            found.append(
                (
                    *names,
                    self.tuned,
                    self.tuning,
                    seed,
                    floor,
                    self.utility,
                    self.group,
                    self.true_link,
                    kind_of(method),
                    str(method),
                    held["knew"],
                    *numbers,
                    self.seconds,
                    __version__,
                )
            )
        return found


def _number(held: Any) -> float | None:
    return None if held is None else float(held)


def _key(method: Attack) -> str:
    return f"{kind_of(method)} {method}"


def file_name(digest: str, defence: Obfuscator, floor: float | None, seed: int) -> str | None:
    """A readable name that holds everything the cell depends on as a hash.

    None where the code of the defence has no key: such a cell is not kept.
    """
    code = method_key(defence)
    if code is None:
        return None
    path = json.dumps([FORMAT, __version__, digest, str(defence), code, floor, seed])
    word = re.sub(r"[^A-Za-z0-9.]+", "_", str(defence)).strip("_")[:40]
    return f"{word}-seed{seed}-{hashlib.sha256(path.encode()).hexdigest()[:24]}.json"
