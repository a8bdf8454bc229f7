"""The judge over a folder of 2019: every file read, every release judged, every answer scored.

Works without the server's tables; what cannot be scored is kept with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.entries import BENCHMARK, Entry, team_entries
from tracecup.contest.judging.answers import ANSWERS, Truth, cell_scores
from tracecup.contest.judging.flow import BENCHMARK_METHOD
from tracecup.contest.judging.judge import Judge
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.contest.judging.reasons import Reason
from tracecup.contest.judging.scorer import NOTHING
from tracecup.contest.judging.shuffle import shuffled
from tracecup.contest.legacy2019.folder import AnswerFile, Folder
from tracecup.errors import InvalidTraces, TraceCupError
from tracecup.traces import IdTable, SetTraces, Traces
from tracecup.traces.files import (
    write_id_table,
    write_obfuscated,
    write_released,
    write_traces,
)

T = TypeVar("T")
Say = Callable[[int, int], None]
"""Called with (data sets done, data sets in all)."""


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer and its scores as JSON; `why` says what is missing where there are none."""

    file: AnswerFile
    scores: Mapping[str, Any] | None
    why: str = ""


@dataclass
class DataSet2019:
    """A data set: the verdict on its release, its files as the server keeps them, its answers.

    `files` maps kinds to paths; `handed_in` is the file of the team as it lay in the folder.
    """

    entry: Entry
    given: JudgedRelease
    files: dict[str, Path] = field(default_factory=dict)
    handed_in: Path | None = None
    missing: tuple[str, ...] = ()
    answers: list[ScoredAnswer] = field(default_factory=list)


class Court2019:
    """Judges the data sets of a folder one after the other; files are written below `work`."""

    def __init__(
        self, folder: Folder, judge: Judge, work: Path, hors_concours: frozenset[int] = frozenset()
    ) -> None:
        self.folder, self.judge, self.work = folder, judge, work
        self._hors_concours = hors_concours
        self._answers: dict[Entry, list[AnswerFile]] = {}
        for one in sorted(folder.answers):
            self._answers.setdefault(one.entry, []).append(one)

    def all(self, teams: int, say: Say = lambda *_: None) -> list[DataSet2019]:
        """The benchmark and the data sets of all teams; `BrokenFolder` names every mistake."""
        entries = [BENCHMARK, *team_entries(teams, self.judge.rules.challenges_played)]
        self._check_places(entries)
        made = []
        for k, entry in enumerate(entries):
            say(k, len(entries))
            made.append(self.data_set(entry))
        say(len(entries), len(entries))
        return made

    def sample(self, entry: Entry, number: int) -> DataSet2019:
        """A sample team with its truth, under the number that it has on the server."""
        here = Entry(number, entry.challenge)
        given = JudgedRelease.of("", NOTHING)
        made = DataSet2019(here, given)
        made.files |= self._truth_files(here, self.reference(entry), self.original(entry))
        released, table = self.released(entry), self.table(entry)
        if released is not None and table is not None:
            made.files |= self._release_files(here, released, table)
        return made

    def data_set(self, entry: Entry) -> DataSet2019:
        """Judge one data set and score the answers to it."""
        files = self.folder.of(entry)
        original, reference = self.original(entry), self.reference(entry)
        obfuscated, released, table = (
            self.obfuscated(entry),
            self.released(entry),
            self.table(entry),
        )
        if obfuscated is None and released is not None and table is not None:
            obfuscated = released.take_users(table.inverse()).renamed(
                np.arange(1, released.n_users + 1)
            )
        elif obfuscated is not None and table is not None:
            wanted = shuffled(obfuscated, table)
            if released is not None:
                self._check_shuffle(entry, wanted, released)
            released = wanted
        given, missing = self._verdict(entry, original, reference, obfuscated, released, table)
        made = DataSet2019(entry, given, missing=missing)
        made.files |= self._truth_files(entry, reference, original)
        if obfuscated is not None:
            made.handed_in = files.get("anotraces")
            if made.handed_in is None:
                made.handed_in = self.work / entry.file("anotraces")
                write_obfuscated(made.handed_in, obfuscated)
        if given.published and released is not None and table is not None:
            made.files |= self._release_files(entry, released, table)
        self._score(made, original, table)
        return made

    def original(self, entry: Entry) -> Traces | None:
        """The original traces, where they are there and right."""
        return self._read(entry, "orgtraces", self.judge.read_original)

    def reference(self, entry: Entry) -> Traces | None:
        """The reference traces, where they are there and right."""
        return self._read(entry, "reftraces", self.judge.read_reference)

    def obfuscated(self, entry: Entry) -> SetTraces | None:
        """What the team handed in, where it is there and right."""
        return self._read(entry, "anotraces", self.judge.read_obfuscated)

    def released(self, entry: Entry) -> SetTraces | None:
        """The published traces, where they are there and right."""
        return self._read(entry, "pubtraces", self.judge.read_released)

    def table(self, entry: Entry) -> IdTable | None:
        """The ID table, where it is there and right."""
        return self._read(entry, "ptable", self.judge.read_id_table)

    def _verdict(
        self,
        entry: Entry,
        original: Traces | None,
        reference: Traces | None,
        obfuscated: SetTraces | None,
        released: SetTraces | None,
        table: IdTable | None,
    ) -> tuple[JudgedRelease, tuple[str, ...]]:
        """The judge's verdict; a release that cannot be scored is invalid, with that reason."""
        if obfuscated is None and released is None:
            return JudgedRelease.of("", NOTHING), ()
        held = {"orgtraces": original, "reftraces": reference, "ptable": table}
        missing = tuple(entry.file(kind, ".csv") for kind, one in held.items() if one is None)
        if original is not None and obfuscated is not None:
            hors_concours = entry.team in self._hors_concours
            method = BENCHMARK_METHOD if entry.is_benchmark else ""
            verdict = self.judge.verdict(original, obfuscated)
            given = JudgedRelease.of(method, verdict, hors_concours)
            if not missing or not given.published:
                return given, ()
        else:
            given = JudgedRelease.of("", NOTHING)
        reason = Reason.of("truth-missing", files=", ".join(missing))
        return replace(given, valid=False, hors_concours=False, reason=reason), missing

    def _score(self, made: DataSet2019, original: Traces | None, table: IdTable | None) -> None:
        judge = self.judge
        for one in self._answers.get(made.entry, []):
            kind = ANSWERS[one.kind]
            answer = self._attempt(one.path, partial(kind.read, judge))
            if answer is None:
                continue
            held = {"orgtraces": original, "ptable": table}
            missing = [name for name in kind.truth if held[name] is None]
            if original is None or missing:
                name = made.entry.file(missing[0], ".csv")
                made.answers.append(ScoredAnswer(one, None, f"{name} not in the folder"))
                continue
            cell = judge.score(Truth(original, table), {one.kind: [answer]})
            made.answers.append(ScoredAnswer(one, cell_scores(cell, one.kind)))

    def _truth_files(
        self, here: Entry, reference: Traces | None, original: Traces | None
    ) -> dict[str, Path]:
        """Reference and original traces, packed as the server packs them."""
        written = {}
        for kind, traces in (("reftraces", reference), ("orgtraces", original)):
            if traces is not None:
                written[kind] = self.work / here.file(kind)
                write_traces(written[kind], traces)
        return written

    def _release_files(self, here: Entry, released: SetTraces, table: IdTable) -> dict[str, Path]:
        paths = {kind: self.work / here.file(kind) for kind in ("pubtraces", "ptable")}
        write_released(paths["pubtraces"], released)
        write_id_table(paths["ptable"], table)
        return paths

    def _check_places(self, entries: list[Entry]) -> None:
        """Every answer is about a data set of the contest, within the tries of the rules."""
        tries, known = self.judge.rules.limits.attack_tries, set(entries)
        named = self.judge.rules.samples
        samples = {column for kind in ATTACK_KINDS for column in named.columns(kind)}
        for one in self.folder.answers:
            if one.entry not in known:
                self.folder.problems.append(f"{one.path}: there is no data set {one.entry.label}")
            elif one.attempt > tries:
                self.folder.problems.append(
                    f"{one.path}: found try {one.attempt}, the rules allow {tries}"
                )
            elif not one.by_team and one.attacker not in samples:
                self.folder.problems.append(f"{one.path}: the rules have no attack {one.attacker}")

    def _check_shuffle(self, entry: Entry, wanted: SetTraces, found: SetTraces) -> None:
        """Published traces are the ones handed in, in the order of the ID table."""
        if np.array_equal(wanted.offsets, found.offsets) and np.array_equal(
            wanted.regions, found.regions
        ):
            return
        for user in range(found.n_users):
            for time in range(found.times):
                if sorted(wanted.cell(user, time)) != sorted(found.cell(user, time)):
                    path = self.folder.of(entry)["pubtraces"]
                    self.folder.problems.append(
                        f"{path}: line {user * found.times + time + 2}: not what anotraces holds "
                        f"for the user behind pseudonym {int(found.users[user])} by the ptable"
                    )
                    return

    def _read(self, entry: Entry, kind: str, read: Callable[[Path], T]) -> T | None:
        path = self.folder.of(entry).get(kind)
        return None if path is None else self._attempt(path, read)

    def _attempt(self, path: Path, read: Callable[[Path], T]) -> T | None:
        """What a file holds; what is wrong with it is noted, once."""
        try:
            return read(path)
        except TraceCupError as error:
            said = (
                [f"{path}: {error}"] if isinstance(error, InvalidTraces) else str(error).split("\n")
            )
            self.folder.problems += [line for line in said if line not in self.folder.problems]
            return None
