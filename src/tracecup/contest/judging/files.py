"""The files of a round as the judge sees them, wherever they lie.

The judge's steps (`flow`) take a `RoundFiles`: the folder of an archive, blobs of the server, or a
folder of 2019. What is in memory needs none of it (`published`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tracecup.contest.challenges import AttackKind
from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import ANSWERS, Answer
from tracecup.contest.judging.commitment import content_hash
from tracecup.contest.judging.judge import Judge
from tracecup.errors import UnreadableFile
from tracecup.traces import IdTable, SetTraces, Traces


class RoundFiles(Protocol):
    """What lies of the data sets of a round. A file that is needed and not there is an error."""

    @property
    def judge(self) -> Judge:
        """The judge of the round, who knows how to read its files."""

    def reference(self, entry: Entry) -> Traces:
        """The reference traces of a data set."""

    def original(self, entry: Entry) -> Traces:
        """The original traces of a data set."""

    def handed_in(self, entry: Entry) -> SetTraces | None:
        """What the team handed in, None for nothing; read with the limits for strangers' files."""

    def obfuscated(self, entry: Entry) -> SetTraces:
        """What the team handed in, once it was found readable."""

    def released(self, entry: Entry) -> SetTraces:
        """The published traces of a data set."""

    def id_table(self, entry: Entry) -> IdTable:
        """Who is behind the pseudonyms of a release."""

    def answers(self, entry: Entry, kind: AttackKind, attacker: str) -> Sequence[Answer]:
        """All tries of an attacker against a release, the first one first."""

    def content_hash(self, entry: Entry, kind: str) -> str | None:
        """SHA-256 of the plain content of a file (orgtraces, ...); None where there is none."""


class StoredFiles(ABC):
    """`RoundFiles` over paths: a subclass says where the files lie, this class reads them."""

    judge: Judge

    @abstractmethod
    def locate(self, entry: Entry, kind: str) -> Path | None:
        """Where a file of a data set lies or would lie (reftraces, orgtraces, ...), if anywhere."""

    @abstractmethod
    def locate_answers(self, entry: Entry, kind: AttackKind, attacker: str) -> Sequence[Path]:
        """Where the tries of an attacker against a release lie, the first one first."""

    def reference(self, entry: Entry) -> Traces:
        return self.judge.read_reference(self._path(entry, "reftraces"))

    def original(self, entry: Entry) -> Traces:
        return self.judge.read_original(self._path(entry, "orgtraces"))

    def handed_in(self, entry: Entry) -> SetTraces | None:
        path = self.locate(entry, "anotraces")
        return self.judge.read_submission(path) if path and path.exists() else None

    def obfuscated(self, entry: Entry) -> SetTraces:
        return self.judge.read_obfuscated(self._path(entry, "anotraces"))

    def released(self, entry: Entry) -> SetTraces:
        return self.judge.read_released(self._path(entry, "pubtraces"))

    def id_table(self, entry: Entry) -> IdTable:
        return self.judge.read_id_table(self._path(entry, "ptable"))

    def answers(self, entry: Entry, kind: AttackKind, attacker: str) -> Sequence[Answer]:
        paths = self.locate_answers(entry, kind, attacker)
        return [ANSWERS[kind].read(self.judge, path) for path in paths]

    def content_hash(self, entry: Entry, kind: str) -> str | None:
        """SHA-256 of the plain content of a file; None where there is none."""
        path = self.locate(entry, kind)
        return content_hash(path) if path and path.exists() else None

    def _path(self, entry: Entry, kind: str) -> Path:
        path = self.locate(entry, kind)
        if path is None:
            raise UnreadableFile(entry.file(kind), "no such file")
        return path
