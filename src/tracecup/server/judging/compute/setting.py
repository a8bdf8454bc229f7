"""What every computation of the judge is told: rules, round, files by name, a folder to write to.

A payload is JSON, so that a worker on another machine gets the same one.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from tracecup.attack import Case
from tracecup.city import City, ContestClock, read_city
from tracecup.contest.archive.folder import CITY_FILE
from tracecup.contest.entries import Entry
from tracecup.contest.judging.judge import Judge, Truth
from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import parse_rules
from tracecup.traces import Traces


class Setting:
    """A payload with its parts read where they are needed.

    `files` maps names to paths; the names are those of the contest (`orgtraces_team001_...`).
    """

    def __init__(self, payload: dict[str, Any]) -> None:
        self.payload = payload
        self.out = Path(payload["out"])

    @cached_property
    def rules(self) -> Rules:
        """The contest's rules."""
        return parse_rules(self.payload["rules"])

    @cached_property
    def clock(self) -> ContestClock:
        """The clock of the round."""
        return self.rules.clock_of(self.payload["round"])

    @cached_property
    def city(self) -> City:
        """The city, as everybody has it."""
        return read_city(self.file(CITY_FILE))

    @cached_property
    def judge(self) -> Judge:
        """The judge of the round."""
        return Judge(self.rules, self.city, self.clock)

    @property
    def entry(self) -> Entry:
        """The data set that it is about."""
        return Entry(self.payload["team"], self.payload["challenge"])

    def file(self, name: str) -> Path:
        """Where a file lies."""
        return Path(self.payload["files"][name])

    def original(self, entry: Entry) -> Traces:
        """The original traces of a data set."""
        return self.judge.read_original(self.file(entry.file("orgtraces")))

    def case(self, entry: Entry) -> Case:
        """What attackers get of a data set: reference traces and the release."""
        reference = self.judge.read_reference(self.file(entry.file("reftraces")))
        released = self.judge.read_released(self.file(entry.file("pubtraces")))
        return self.judge.case(reference, released)

    def truth(self, entry: Entry) -> Truth:
        """Original traces and ID table of a published data set."""
        table = self.judge.read_id_table(self.file(entry.file("ptable")))
        return Truth(self.original(entry), table)
