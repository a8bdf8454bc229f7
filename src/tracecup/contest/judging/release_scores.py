"""All scores of one release: every attacker's, user by user, and how to keep them for a while.

A season that was interrupted goes on from the kept scores instead of scoring again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import CellScores, Part
from tracecup.errors import InvalidFile, Problem
from tracecup.safeio import atomic_write, open_regular
from tracecup.score import Interval, Score

PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True, eq=False)
class ReleaseScores:
    """The row of a release in both matrices.

    `cells` maps attackers to scores; `weights` (users,) is what each user weighs in s_T;
    `ceiling` is the s_T of an attacker who never looked at the release (Prior-T): no defence can
    be credited with more.
    """

    entry: Entry
    cells: Mapping[str, CellScores]
    weights: NDArray[np.float64]
    ceiling: float

    def of(self, part: Part) -> dict[str, Score]:
        """Attacker -> score of one part, for those who handed something in."""
        scores = {name: cell.of(part) for name, cell in self.cells.items()}
        return {name: score for name, score in scores.items() if score is not None}

    def save(self, path: Path) -> None:
        """Keep everything, to the last bit."""
        header: dict[str, Any] = {"ceiling": self.ceiling, "parts": {}}
        arrays: dict[str, NDArray[np.float64]] = {"weights": self.weights}
        for part in PARTS:
            scores = self.of(part)
            header["parts"][part] = [
                [attacker, score.name, score.value, vars(score.interval), score.unit]
                for attacker, score in scores.items()
            ]
            if scores:
                arrays[part] = np.stack([score.per_user for score in scores.values()])
        header["attackers"] = list(self.cells)
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        savez: Any = np.savez  # its stub takes the names of arrays for options
        with atomic_write(path, 0o600) as file:
            savez(file, header=text, **arrays)

    @classmethod
    def load(cls, path: Path, entry: Entry) -> ReleaseScores:
        """What `save` kept."""
        try:
            with open_regular(path) as file, np.load(file, allow_pickle=False) as held:
                header = json.loads(bytes(held["header"]))
                parts: dict[str, dict[str, Score]] = {}
                for part in PARTS:
                    rows = held.get(part, ())
                    parts[part] = {
                        attacker: Score(name, value, row, Interval(**interval), unit)
                        for (attacker, name, value, interval, unit), row in zip(
                            header["parts"][part], rows, strict=True
                        )
                    }
                cells = {
                    name: CellScores(**{part: parts[part].get(name) for part in PARTS})
                    for name in header["attackers"]
                }
                return cls(entry, cells, held["weights"], header["ceiling"])
        except (ValueError, KeyError, TypeError, EOFError) as error:
            raise InvalidFile(path, [Problem(0, "", "something else", "kept scores")]) from error
