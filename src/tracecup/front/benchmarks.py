"""`tc.benchmark`: the grid of `tracecup benchmark` from Python, kept cell by cell in a folder.

For long runs: what is finished stays, and the next call does only what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any

from tracecup.errors import InvalidParameter
from tracecup.front.data import Data, PathName
from tracecup.front.naming import (
    AttackLike,
    DefenceLike,
    attacks_of,
    defences_of,
    seeds_of,
    several,
)
from tracecup.front.progress import Progress, progress_bar
from tracecup.front.results import Result
from tracecup.score import FLOOR
from tracecup.study import comparison
from tracecup.study.results import Table
from tracecup.study.sweep import Sweep, sweep
from tracecup.study.sweepdata import find_data
from tracecup.study.sweeptable import summarize, write_tables


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Result):
    """What `benchmark` found, and the files it wrote."""

    sweep: Sweep
    files: tuple[Path, ...]

    @cached_property
    def summary(self) -> Table:
        """A row for every data set and defence: means and deviations over the seeds."""
        return summarize(self.sweep.table)

    @property
    def attacks(self) -> Table:
        """A row for every data set, team, defence, seed and attack."""
        return self.sweep.table

    def tables(self) -> Mapping[str, Table]:
        return {"summary": self.summary, "attacks": self.attacks}

    def said(self) -> str:
        """How many cells were run, kept and lost."""
        lost = f", {len(self.sweep.failed)} failed" if self.sweep.failed else ""
        return (
            f"<Benchmark: {len(self.summary)} rows, {self.sweep.computed} cells run, "
            f"{self.sweep.kept} found finished{lost}>"
        )

    def _records(self) -> list[dict[str, Any]]:
        return [
            row
            | {
                "data": f"{row['data']} {row['team']}".strip(),
                "s_r": row["s_r_min"],
                "s_t": row["s_t_min"],
                "prior": row["s_t_prior"],
            }
            for row in self.summary.records()
        ]


def benchmark(
    folders: PathName | Iterable[PathName],
    out: PathName,
    defences: DefenceLike | Iterable[DefenceLike] = "usual",
    attacks: AttackLike | Iterable[AttackLike] | None = None,
    *,
    seeds: int | Iterable[int] = 3,
    floor: float | None = FLOOR,
    strength: str = "quick",
    force: bool = False,
    progress: bool | Progress = True,
) -> Benchmark:
    """Run every defence against every attack on every team in `folders` with every seed.

    As `tracecup benchmark`: finished cells are kept under `out` and used again as long as data,
    method (its source, closure and parameters), floor and seed are the same; tables are
    written beside them. Names, objects and words as in `evaluate`.
    """
    paths = [folders] if isinstance(folders, str | PathLike | Data) else list(folders)
    if any(isinstance(one, Data) for one in paths):
        raise InvalidParameter(
            "benchmark reads folders: data.save(folder) writes one, tc.evaluate takes data as it is"
        )
    sets = find_data([Path(folder) for folder in paths])
    informed = attacks is None and strength == "max"
    if attacks is None:
        learned = all(one.suits_shipped_model() for one in sets)
        attacks = comparison.portfolio(strength, learned=learned)
    shields = several(defences)
    with progress_bar(progress, "benchmark", 1.0) as advance:
        last = 0.0

        def told(done: float, total: float) -> None:
            nonlocal last
            advance(done / total - last, "")
            last = done / total

        made = sweep(
            sets,
            Path(out),
            defences=partial(defences_of, shields),
            attacks=attacks_of(attacks),
            seeds=seeds_of(seeds),
            floor=floor,
            informed=informed,
            force=force,
            progress=told,
        )
    return Benchmark(made, tuple(write_tables(Path(out), made.table)))
