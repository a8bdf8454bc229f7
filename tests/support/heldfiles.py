"""`RoundFiles` of one data set that never was a file: what the judge's tests judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tracecup.contest.challenges import AttackKind
from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import Answer
from tracecup.contest.judging.judge import Judge
from tracecup.errors import UnreadableFile
from tracecup.traces import IdTable, SetTraces, Traces

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class FilesInMemory:
    """Fields are None until there is such a thing; `tries` are what attackers handed in."""

    judge: Judge
    references: Traces
    originals: Traces
    cells: SetTraces | None = None
    release: tuple[SetTraces, IdTable] | None = None
    tries: Mapping[tuple[AttackKind, str], Sequence[Answer]] = field(default_factory=dict)

    def reference(self, entry: Entry) -> Traces:
        return self.references

    def original(self, entry: Entry) -> Traces:
        return self.originals

    def handed_in(self, entry: Entry) -> SetTraces | None:
        return self.cells

    def obfuscated(self, entry: Entry) -> SetTraces:
        return _there(self.cells, entry, "anotraces")

    def released(self, entry: Entry) -> SetTraces:
        return _there(self.release, entry, "pubtraces")[0]

    def id_table(self, entry: Entry) -> IdTable:
        return _there(self.release, entry, "ptable")[1]

    def answers(self, entry: Entry, kind: AttackKind, attacker: str) -> Sequence[Answer]:
        return self.tries.get((kind, attacker), ())

    def content_hash(self, entry: Entry, kind: str) -> str | None:
        """Nothing here is a file."""
        return None


def _there(held: T | None, entry: Entry, kind: str) -> T:
    if held is None:
        raise UnreadableFile(entry.file(kind), "no such file")
    return held
