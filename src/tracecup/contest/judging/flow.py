"""The judge's steps, each a function of a round's files: verdict, release, seal, attacks, scores.

A season, the server and the verification all call these, and the import of 2019 in part; none of
them writes anything. Studies, lessons and `tc.publish` have no files: they share `published` and
`Scorer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from tracecup.attack import Case
from tracecup.attack.portfolio import fitting
from tracecup.contest.challenges import ATTACK_KINDS, AttackKind
from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import (
    Answer,
    Answers,
    CellScores,
    Truth,
    remark_of,
    run_attack,
)
from tracecup.contest.judging.commitment import SCORER, SORTED, Opening
from tracecup.contest.judging.files import RoundFiles
from tracecup.contest.judging.judge import Judge
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.contest.judging.reasons import Reason
from tracecup.contest.judging.release_scores import ReleaseScores
from tracecup.contest.judging.scorer import NOTHING, Verdict
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.contest.rules import SampleRules
from tracecup.errors import InvalidFile, InvalidParameter, InvalidTraces
from tracecup.rng import Rng, child_seed
from tracecup.traces import IdTable, SetTraces, Traces

SEALED = ("orgtraces", "anotraces", "ptable")
"""The files of a data set that a commitment fixes."""
BENCHMARK_METHOD = "None"


class Hashed(Protocol):
    """What a commitment asks of the files of a round."""

    def content_hash(self, entry: Entry, kind: str) -> str | None:
        """SHA-256 of the plain content of a file; None where there is none."""


class PeopleSource(Protocol):
    """Where the people of a contest come from."""

    def data(self, entry: Entry, clock: Any, users: int, seed: int) -> tuple[Traces, Traces]:
        """Reference and original traces of a data set."""


class Player(Protocol):
    """Who attacks: a bot, or a sample attack."""

    def tries(self, kind: AttackKind) -> Sequence[str]:
        """The names of its attacks of a kind, one for each try."""

    def answer(self, kind: AttackKind, attempt: int, case: Case, seed: int) -> Answer:
        """What it hands in at a try (from 0)."""


class SampleAttack:
    """A sample attack of the rules as a player: one try, in its own way only."""

    def __init__(self, kind: AttackKind, name: str) -> None:
        self.kind, self.name = kind, name

    def tries(self, kind: AttackKind) -> Sequence[str]:
        """Its name, for its own kind of attack."""
        return (self.name,) if kind == self.kind else ()

    def answer(self, kind: AttackKind, attempt: int, case: Case, seed: int) -> Answer:
        """What it finds; Bayes answers for a learned attack whose model knows another city."""
        return run_attack(kind, fitting(self.name, case), case, seed)

    def knew(self, case: Case) -> str:
        """What stands beside its score: what it knew of the case it has just attacked."""
        ran = fitting(self.name, case)
        told = remark_of(self.kind, ran, case)
        return told if ran == self.name else f"its model knows another city, {ran} ran; {told}"


def make_data(judge: Judge, world: PeopleSource, entry: Entry, seed: int) -> tuple[Traces, Traces]:
    """Reference traces for everybody, original traces for the team and the judge; `seed` is the
    contest's.
    """
    users, own = judge.rules.users, child_seed(seed, "data", entry.label)
    reference, original = world.data(entry, judge.clock, users, own)
    judge.check_data(reference, original)
    return reference, original


def sample_release(entry: Entry, original: Traces, seed: int) -> tuple[SetTraces, IdTable]:
    """The release of a sample team, whose truth is public: its original traces, shuffled."""
    shuffle = child_seed(seed, "sample", entry.team)
    return pseudonymize(SetTraces.of_traces(original), shuffle)


def judge_release(
    files: RoundFiles,
    entry: Entry,
    method: str = BENCHMARK_METHOD,
    hors_concours: bool = False,
    *,
    checked: bool = False,
) -> JudgedRelease:
    """The verdict on what was handed in for a data set; the team names the `method`.

    A file in a wrong format is invalid; if it was `checked` before, it is an error instead.
    """
    try:
        obfuscated = files.handed_in(entry)
    except (InvalidFile, InvalidTraces) as error:
        if checked:
            raise
        verdict = Verdict(False, Reason.of("format", error=str(error)))
        return JudgedRelease.of(method, verdict, hors_concours)
    if obfuscated is None:
        return JudgedRelease.of(method, NOTHING)
    verdict = files.judge.verdict(files.original(entry), obfuscated)
    return JudgedRelease.of(method, verdict, hors_concours)


def shuffle_release(
    files: RoundFiles, entry: Entry, judged: JudgedRelease, rng: Rng = None
) -> tuple[SetTraces, IdTable]:
    """The release that attackers get and the ID table that the judge keeps.

    Without `rng` the permutation comes from the operating system's entropy. Only valid releases
    are published, and demonstrations that play hors concours.
    """
    if not judged.published:
        raise InvalidParameter(f"an invalid release is not published: {judged.reason}")
    return pseudonymize(files.obfuscated(entry), rng)


def shuffle_seed(seed: int, entry: Entry) -> int:
    """The seed of a shuffle; for simulations, rehearsals and tests only."""
    return child_seed(seed, "shuffle", entry.label)


def is_shuffle(
    obfuscated: SetTraces, table: IdTable, released: SetTraces, version: str = SORTED
) -> bool:
    """Whether a release is the obfuscated traces in the order of the ID table.

    `version` is that of the team's commitment: it says whether cells were sorted before.
    """
    cells = obfuscated.with_sorted_cells() if version == SORTED else obfuscated
    return cells.take_users(table.users).renamed(released.users) == released


def seal(files: Hashed, entries: Sequence[Entry], nonce: str, version: str = SORTED) -> Opening:
    """What the commitment of a team fixes: the secrets of all its data sets (`entries`)."""
    hashes = {
        entry.file(kind, ".csv"): digest
        for entry in entries
        for kind in SEALED
        if (digest := files.content_hash(entry, kind)) is not None
    }
    return Opening(entries[0].number, SCORER, hashes, nonce, version)


def commitments(
    sealed: Mapping[str, str], judged: Mapping[Entry, JudgedRelease]
) -> dict[str, object]:
    """What is published with the releases: commitments by team, and which releases are out."""
    return {
        "scorer": SCORER,
        "commitments": dict(sealed),
        "releases": {
            entry.release: {
                "published": given.published,
                "valid": given.valid,
                "hors_concours": given.hors_concours,
            }
            for entry, given in judged.items()
        },
    }


def may_attack(attacker: str, entry: Entry) -> bool:
    """Whether somebody may attack a release: a team (`003`) any but its own, a sample attack all.

    >>> may_attack("003", Entry(3)), may_attack("003", Entry(0)), may_attack("I1", Entry(3))
    (False, True, True)
    """
    return attacker != entry.number


def sample_players(samples: SampleRules) -> dict[str, SampleAttack]:
    """The sample attacks by column: `I1`, ..., `T1`, ..."""
    return {
        column: SampleAttack(kind, name)
        for kind in ATTACK_KINDS
        for column, name in samples.columns(kind).items()
    }


def attack_seed(seed: int) -> int:
    """The seed of all attacks of a contest with this seed."""
    return child_seed(seed, "attack")


def case_of(files: RoundFiles, entry: Entry) -> Case:
    """What attackers get of a data set: reference traces and the release, nothing else."""
    return files.judge.case(files.reference(entry), files.released(entry))


def truth_of(files: RoundFiles, entry: Entry) -> Truth:
    """What they are after: original traces and ID table."""
    return Truth(files.original(entry), files.id_table(entry))


def attack(player: Player, name: str, entry: Entry, case: Case, seed: int) -> Answers:
    """All tries of an attacker against one release; every try has a seed of its own."""
    return {
        kind: [
            player.answer(kind, k, case, child_seed(seed, entry.label, name, kind, k))
            for k in range(len(player.tries(kind)))
        ]
        for kind in ATTACK_KINDS
    }


def attack_and_tell(
    player: Player, name: str, entry: Entry, case: Case, seed: int
) -> tuple[Answers, str]:
    """The tries of an attacker, and what it knew; "" for nothing, and for teams and bots."""
    answers = attack(player, name, entry, case, seed)
    return answers, player.knew(case) if isinstance(player, SampleAttack) else ""


def score_attacker(files: RoundFiles, entry: Entry, truth: Truth, attacker: str) -> CellScores:
    """Score what one attacker handed in against one release."""
    given = {kind: files.answers(entry, kind, attacker) for kind in ATTACK_KINDS}
    return files.judge.score(truth, given)


def score_release(files: RoundFiles, entry: Entry, attackers: Iterable[str]) -> ReleaseScores:
    """Score all answers to one release, of those who may attack it."""
    truth, case = truth_of(files, entry), case_of(files, entry)
    cells = {
        name: score_attacker(files, entry, truth, name)
        for name in attackers
        if may_attack(name, entry)
    }
    return collect(files.judge, entry, case, truth, cells)


def collect(
    judge: Judge, entry: Entry, case: Case, truth: Truth, cells: Mapping[str, CellScores]
) -> ReleaseScores:
    """The row of a release from its cells."""
    scorer, original = judge.scorer, truth.original
    ceiling = scorer.ceiling(case, original)
    return ReleaseScores(entry, cells, scorer.user_weights(original), ceiling.value)
