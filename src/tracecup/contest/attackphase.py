"""The attack phase of a season: every bot and every sample attack against every release.

An attacker is handed a case and nothing else; the judge scores the answer at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tracecup.attack import Case
from tracecup.contest.archive.folder import ANSWERS as ANSWERS_FOLDER
from tracecup.contest.archive.folder import ATTACKS_FILE, KNEW_FILE, Archive
from tracecup.contest.archive.manifest import WORK
from tracecup.contest.bots import Bot
from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES
from tracecup.contest.entries import Entry
from tracecup.contest.judging import flow
from tracecup.contest.judging.answers import ANSWERS, Answers, CellScores, Truth
from tracecup.contest.judging.release_scores import ReleaseScores
from tracecup.contest.smallfiles import write_data, write_json, write_text
from tracecup.contest.stages import Stages, in_threads

STAGE = "attacks"


class AttackPhase:
    """All attacks of a season.

    Answers that are recorded are not made again, and a release whose scores are kept is not even
    read.
    """

    def __init__(
        self, archive: Archive, bots: Mapping[str, Bot], seed: int, stages: Stages
    ) -> None:
        self._archive, self._seed, self._stages = archive, seed, stages
        self._bots = bots
        self._players: dict[str, flow.Player] = {
            **bots,
            **flow.sample_players(archive.rules.samples),
        }
        self._done = self._total = 0

    def run(self, targets: Sequence[Entry]) -> list[ReleaseScores]:
        """Attack the releases one after the other, several attackers at a time; all scores."""
        self._total = sum(len(self._attackers(entry)) for entry in targets)
        with self._stages.stage(STAGE):
            self._describe()
            rows = [self._row(entry) for entry in targets]
            self._tell(targets)
            return rows

    def _describe(self) -> None:
        """Write which attack stands behind each column of the score sheets."""
        archive = self._archive
        said = {
            kind: {
                **{
                    name: told
                    for name, bot in self._bots.items()
                    if (told := bot.attack_name(kind))
                },
                **archive.sample_attacks(kind),
            }
            for kind in ATTACK_KINDS
        }
        write_json(archive.root / ANSWERS_FOLDER / ATTACKS_FILE, said)

    def _tell(self, targets: Sequence[Entry]) -> None:
        """Write what sample attacks knew of each release; no file where none has anything to say.

        Not every attack has a remark, and then it left no file.
        """
        told: dict[str, dict[str, str]] = {}
        for entry in targets:
            for name in self._attackers(entry):
                if (path := self._remark(entry, name)).exists():
                    told.setdefault(entry.release, {})[name] = path.read_text("utf-8")
        if told:
            write_json(self._archive.root / ANSWERS_FOLDER / KNEW_FILE, told)

    def _remark(self, entry: Entry, name: str) -> Path:
        """Where the remark of an attack on a release waits until all are there."""
        return self._archive.root / WORK / f"knew_{entry.label}_{name}.txt"

    def _attackers(self, entry: Entry) -> list[str]:
        """Who attacks a release: every team but its own, every sample attack."""
        return [name for name in self._players if flow.may_attack(name, entry)]

    def _row(self, entry: Entry) -> ReleaseScores:
        archive, ledger, attackers = self._archive, self._stages.ledger, self._attackers(entry)
        kept = archive.root / WORK / f"scores_{entry.label}.npz"
        if ledger.done(f"scores: {entry.label}"):
            self._advance(len(attackers))
            return ReleaseScores.load(kept, entry)
        case, truth = flow.case_of(archive, entry), flow.truth_of(archive, entry)
        cells: dict[str, CellScores] = {}

        def attack(name: str) -> None:
            cells[name] = self._cell(entry, case, truth, name)

        for _ in in_threads(attack, _in_turn(attackers), self._stages.jobs):
            self._advance(1)
        ordered = {name: cells[name] for name in attackers}
        row = flow.collect(archive.judge, entry, case, truth, ordered)
        row.save(kept)
        ledger.record(f"scores: {entry.label}", [kept])
        return row

    def _cell(self, entry: Entry, case: Case, truth: Truth, name: str) -> CellScores:
        ledger, step = self._stages.ledger, f"{STAGE}: {entry.label} by {name}"
        if ledger.done(step):
            return flow.score_attacker(self._archive, entry, truth, name)
        player = self._players[name]
        answers, knew = self._stages.compute(
            flow.attack_and_tell, player, name, entry, case, self._seed
        )
        written = write_answers(self._archive, entry, name, answers)
        if knew:
            written.append(write_text(self._remark(entry, name), knew))
        ledger.record(step, written)
        return self._archive.judge.score(truth, answers)

    def _advance(self, steps: int) -> None:
        self._done += steps
        self._stages.say(STAGE, self._done, self._total)


def _in_turn(attackers: Sequence[str]) -> list[str]:
    """Sample attacks that name users first, those that infer traces last.

    A sample of each kind learns the same of a release: the second finds it learnt already, and
    teams have their turn meanwhile.
    """
    first = [name for name in attackers if name.startswith(CHALLENGES["reid"].letter)]
    last = [name for name in attackers if name.startswith(CHALLENGES["trace"].letter)]
    return [*first, *(name for name in attackers if name not in {*first, *last}), *last]


def write_answers(archive: Archive, entry: Entry, name: str, answers: Answers) -> list[Path]:
    """Write what an attacker hands in; the paths written."""
    return [
        write_data(
            archive.answer_file(entry, CHALLENGES[kind].answer, name, k),
            ANSWERS[kind].write,
            answer,
        )
        for kind, tries in answers.items()
        for k, answer in enumerate(tries, start=1)
    ]
