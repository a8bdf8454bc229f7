"""The attack phase of a season: every bot and every sample attack against every release.

An attacker is handed a case and nothing else; the judge scores the answer at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tracecup.attack import Case
from tracecup.contest.archive.folder import ANSWERS, Archive, read_json, write_data, write_json
from tracecup.contest.archive.manifest import WORK
from tracecup.contest.bots import Bot
from tracecup.contest.entries import Entry
from tracecup.contest.judging.judge import CellScores, Truth
from tracecup.contest.judging.release_scores import ReleaseScores, collect, score_answers
from tracecup.contest.rules import ATTACK_KINDS, AttackKind
from tracecup.contest.stages import Stages, in_threads
from tracecup.errors import InvalidFile, Problem
from tracecup.rng import child_seed
from tracecup.traces import IdTable, Traces
from tracecup.traces.files import write_inferred_table, write_inferred_traces

STAGE = "attacks"
ATTACKS_FILE = "attacks.json"


class AttackPhase:
    """All attacks of a season.

    Answers that are recorded are not made again, and a release whose scores are kept is not even
    read.
    """

    def __init__(
        self, archive: Archive, bots: Mapping[str, Bot], seed: int, stages: Stages
    ) -> None:
        self._archive, self._seed, self._stages = archive, seed, stages
        self._players = {**bots, **sample_players(archive)}
        self._done = self._total = 0

    def run(self, targets: Sequence[Entry]) -> list[ReleaseScores]:
        """Attack the releases one after the other, several attackers at a time; all scores."""
        self._total = sum(len(self._attackers(entry)) for entry in targets)
        with self._stages.stage(STAGE):
            self._describe()
            return [self._row(entry) for entry in targets]

    def _describe(self) -> None:
        """Write which attack stands behind each column of the score sheets."""
        named = {
            kind: {name: bot.attack_name(kind) for name, bot in self._players.items()}
            for kind in ATTACK_KINDS
        }
        said = {kind: {k: v for k, v in names.items() if v} for kind, names in named.items()}
        write_json(self._archive.root / ANSWERS / ATTACKS_FILE, said)

    def _attackers(self, entry: Entry) -> list[str]:
        """Who attacks a release: every team but its own, every sample attack."""
        judge = self._archive.judge
        return [
            name
            for name in self._players
            if not name.isdigit() or judge.targets(int(name), [entry])
        ]

    def _row(self, entry: Entry) -> ReleaseScores:
        archive, ledger, attackers = self._archive, self._stages.ledger, self._attackers(entry)
        kept = archive.root / WORK / f"scores_{entry.label}.npz"
        if ledger.done(f"scores: {entry.label}"):
            self._advance(len(attackers))
            return ReleaseScores.load(kept, entry)
        case = archive.judge.case(archive.reference(entry), archive.released(entry))
        truth = archive.truth(entry)
        cells: dict[str, CellScores] = {}

        def attack(name: str) -> None:
            cells[name] = self._cell(entry, case, truth, name)

        for _ in in_threads(attack, attackers):
            self._advance(1)
        row = collect(archive.judge, entry, case, truth, {name: cells[name] for name in attackers})
        row.save(kept)
        ledger.record(f"scores: {entry.label}", [kept])
        return row

    def _cell(self, entry: Entry, case: Case, truth: Truth, name: str) -> CellScores:
        ledger, step = self._stages.ledger, f"{STAGE}: {entry.label} by {name}"
        if ledger.done(step):
            return score_answers(self._archive, entry, truth, name)
        tables, inferred = answers(self._players[name], name, entry, case, self._seed)
        ledger.record(step, write_answers(self._archive, entry, name, tables, inferred))
        return self._archive.judge.score(truth, tables, inferred)

    def _advance(self, steps: int) -> None:
        self._done += steps
        self._stages.say(STAGE, self._done, self._total)


def attack_seed(seed: int) -> int:
    """The seed of all attacks of a contest with this seed."""
    return child_seed(seed, "attack")


def sample_players(archive: Archive) -> dict[str, Bot]:
    """The sample attacks as players: each attacks in its own way only and defends nothing."""
    reid = {c: Bot("None", (name,), ()) for c, name in archive.sample_attacks("reid").items()}
    trace = {c: Bot("None", (), (name,)) for c, name in archive.sample_attacks("trace").items()}
    return reid | trace


def answers(
    bot: Bot, name: str, entry: Entry, case: Case, seed: int
) -> tuple[list[IdTable], list[Traces]]:
    """All tries of an attacker against one release; every try has a seed of its own."""
    tables = [
        bot.identify(k, case, child_seed(seed, entry.label, name, "reid", k))
        for k in range(len(bot.reid))
    ]
    inferred = [
        bot.infer(k, case, child_seed(seed, entry.label, name, "trace", k))
        for k in range(len(bot.trace))
    ]
    return tables, inferred


def write_answers(
    archive: Archive,
    entry: Entry,
    name: str,
    tables: Sequence[IdTable],
    inferred: Sequence[Traces],
) -> list[Path]:
    """Write what an attacker hands in; the paths written."""
    paths = []
    for k, table in enumerate(tables, start=1):
        path = archive.answer_file(entry, "etable", name, k)
        paths.append(write_data(path, write_inferred_table, table))
    for k, traces in enumerate(inferred, start=1):
        path = archive.answer_file(entry, "etraces", name, k)
        paths.append(write_data(path, write_inferred_traces, traces))
    return paths


def read_attack_names(archive: Archive) -> dict[tuple[AttackKind, str], str]:
    """(kind, attacker) -> what the attacker says it did."""
    path = archive.root / ANSWERS / ATTACKS_FILE
    held = read_json(path)
    try:
        return {
            (kind, str(name)): str(said)
            for kind in ATTACK_KINDS
            for name, said in held[kind].items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidFile(path, [Problem(0, "", "something else", "names of attacks")]) from error
