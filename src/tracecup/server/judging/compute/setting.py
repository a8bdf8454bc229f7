"""What every computation of the judge is told: rules, round, files by name, a folder to write to.

A payload is JSON, so that a worker on another machine gets the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tracecup.city import City, ContestClock, read_city
from tracecup.contest.archive.folder import CITY_FILE
from tracecup.contest.challenges import CHALLENGES, AttackKind
from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import ANSWERS, Answers
from tracecup.contest.judging.files import StoredFiles
from tracecup.contest.judging.judge import Judge
from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import parse_rules
from tracecup.traces import SetTraces


class Setting(StoredFiles):
    """A payload with its parts read where they are needed; the `RoundFiles` of a computation.

    `files` maps names to paths; the names are those of the contest (`orgtraces_team001_...`). What
    a computation has written to `out` is there too.
    """

    def __init__(self, payload: dict[str, Any]) -> None:
        self.payload = payload
        self.out = Path(payload["out"])
        self._handed_in: dict[Entry, SetTraces | None] = {}

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
    def judge(self) -> Judge:  # type: ignore[override]  # mypy: not an attribute; it is made once, then kept
        """The judge of the round."""
        return Judge(self.rules, self.city, self.clock)

    @property
    def entry(self) -> Entry:
        """The data set that it is about."""
        return Entry(self.payload["team"], self.payload["challenge"])

    def file(self, name: str) -> Path:
        """Where a file lies."""
        return Path(self.payload["files"][name])

    def locate(self, entry: Entry, kind: str) -> Path | None:
        """Where a file of a data set lies: given, or written here."""
        name = entry.file(kind)
        if name in self.payload["files"]:
            return self.file(name)
        return self.out / name

    def locate_answers(self, entry: Entry, kind: AttackKind, attacker: str) -> Sequence[Path]:
        """Nobody's: an answer to be scored is a file of its own."""
        return ()

    def handed_in(self, entry: Entry) -> SetTraces | None:
        """What the team handed in; read once, since it is judged and then shuffled."""
        if entry not in self._handed_in:
            self._handed_in[entry] = super().handed_in(entry)
        return self._handed_in[entry]

    def obfuscated(self, entry: Entry) -> SetTraces:
        """The same, once it was found readable."""
        held = self.handed_in(entry)
        return super().obfuscated(entry) if held is None else held

    def write_answers(self, entry: Entry, attacker: str, answers: Answers) -> dict[str, AttackKind]:
        """Write all tries of an attacker; their names, each with its kind of attack."""
        written: dict[str, AttackKind] = {}
        for kind, tries in answers.items():
            for k, answer in enumerate(tries, start=1):
                name = entry.answer(CHALLENGES[kind].answer, attacker, k)
                ANSWERS[kind].write(self.out / name, answer)
                written[name] = kind
        return written


def judge_of(payload: dict[str, Any]) -> Judge:
    """The judge of a payload that names its few files one by one: `rules`, `round`, `city`."""
    rules = parse_rules(payload["rules"])
    return Judge(rules, read_city(payload["city"]), rules.clock_of(payload["round"]))
