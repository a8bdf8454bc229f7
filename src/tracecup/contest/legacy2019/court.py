"""The judge over a folder of 2019: every file read, every release judged, all laid in an archive.

What cannot be scored, since its truth is not there, is kept with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from tracecup.contest.archive.folder import Archive
from tracecup.contest.challenges import ANSWER_FILES, ATTACK_KINDS
from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import ANSWERS
from tracecup.contest.judging.flow import BENCHMARK_METHOD
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.contest.judging.reasons import Reason
from tracecup.contest.judging.scorer import NOTHING
from tracecup.contest.judging.shuffle import shuffled
from tracecup.contest.legacy2019.folder import AnswerFile, Folder
from tracecup.contest.smallfiles import make_folder, write_data, write_json
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


class Court2019:
    """Judges the data sets of a folder one after the other and lays them in an archive.

    What the folder holds as it was handed in is linked there, the rest is written anew. `said`
    tells what cannot be scored.
    """

    def __init__(
        self, folder: Folder, archive: Archive, hors_concours: frozenset[int] = frozenset()
    ) -> None:
        self.folder, self.archive, self.judge = folder, archive, archive.judge
        self.said: list[str] = []
        self._hors_concours = hors_concours
        self._answers: dict[Entry, list[AnswerFile]] = {}
        for one in sorted(folder.answers):
            self._answers.setdefault(one.entry, []).append(one)

    def all(self, say: Say = lambda *_: None) -> None:
        """The benchmark and the data sets of all teams; mistakes are noted in the folder."""
        entries = self.archive.defenders
        self._check_places(entries)
        unscored = []
        for k, entry in enumerate(entries):
            say(k, len(entries))
            unscored += self.data_set(entry)
        self.said += unscored
        say(len(entries), len(entries))

    def sample(self, entry: Entry, here: Entry) -> None:
        """A sample team with its truth, under the number that it has in the archive."""
        self._lay(here, "reftraces", write_traces, self.reference(entry))
        self._lay(here, "orgtraces", write_traces, self.original(entry))
        self._lay(here, "pubtraces", write_released, self.released(entry))
        self._lay(here, "ptable", write_id_table, self.table(entry))

    def data_set(self, entry: Entry) -> list[str]:
        """Judge one data set and take the answers to it; which of them cannot be scored."""
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
        if missing:
            self.said.append(f"{entry.label}: {given.reason}")
        write_json(self.archive.submission_file(entry), given.as_dict(), secret=True)
        self._lay(entry, "reftraces", write_traces, reference)
        self._lay(entry, "orgtraces", write_traces, original)
        handed_in = self.folder.of(entry).get("anotraces")
        if obfuscated is not None and handed_in is not None:
            self._link(self.archive.locate(entry, "anotraces"), handed_in)
        else:
            self._lay(entry, "anotraces", write_obfuscated, obfuscated)
        self._lay(entry, "pubtraces", write_released, released if given.published else None)
        self._lay(entry, "ptable", write_id_table, table)
        return self._take_answers(entry, original, table)

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

    def _take_answers(
        self, entry: Entry, original: Traces | None, table: IdTable | None
    ) -> list[str]:
        held = {"orgtraces": original, "ptable": table}
        unscored = []
        for one in self._answers.get(entry, []):
            kind = ANSWERS[one.kind]
            if self._attempt(one.path, partial(kind.read, self.judge)) is None:
                continue
            answer = ANSWER_FILES[one.kind]
            self._link(self.archive.answer_file(entry, answer, one.attacker, one.attempt), one.path)
            if missing := [name for name in kind.truth if held[name] is None]:
                why = Reason.of("truth-missing", files=entry.file(missing[0], ".csv"))
                unscored.append(f"{one.path}: {why}")
        return unscored

    def _lay(
        self, here: Entry, kind: str, write: Callable[[Path, T], None], data: T | None
    ) -> None:
        """Write a file of a data set, if there is one."""
        path = self.archive.locate(here, kind)
        if data is not None:
            write_data(path, write, data, secret=path.is_relative_to(self.archive.secret))

    def _link(self, path: Path, source: Path) -> None:
        make_folder(path.parent, secret=path.is_relative_to(self.archive.secret))
        path.symlink_to(source.resolve())

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
