"""What attackers hand in, each kind declared once: how it is read, written, made and scored.

An ID table answers a re-identification, traces answer a trace inference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tracecup.attack import Case, parse_inference, parse_reid
from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES, AttackKind, HandedKind
from tracecup.contest.judging.commitment import SCORER
from tracecup.errors import InvalidParameter
from tracecup.registry import parse
from tracecup.rng import Rng
from tracecup.score import Score, expected_error_score, inference_score, reid_score
from tracecup.traces import IdTable, SetTraces, Traces
from tracecup.traces.files import write_inferred_table, write_inferred_traces

if TYPE_CHECKING:
    from tracecup.contest.judging.judge import Judge
    from tracecup.contest.judging.scorer import Scorer

Answer = IdTable | Traces
Answers = Mapping[AttackKind, Sequence[Answer]]
"""What one attacker hands in against one target: the tries of each kind, in order."""
Part = Literal["reid", "trace", "error"]
LONGEST_REMARK = 500


@dataclass(frozen=True, eq=False)
class Truth:
    """What attackers are after: the original traces and, once shuffled, the ID table."""

    original: Traces
    table: IdTable | None = None

    def __repr__(self) -> str:
        """Never shows what it holds: it is a secret."""
        return f"Truth(<{self.original.n_users} users>)"


@dataclass(frozen=True, eq=False)
class CellScores:
    """One cell of the defender x attacker matrix: s_R, s_T and the expected error beside it.

    None where the attacker handed nothing in.
    """

    reid: Score | None = None
    trace: Score | None = None
    error: Score | None = None

    def of(self, part: Part) -> Score | None:
        """The score of one kind of attack, or the expected error."""
        found: Score | None = getattr(self, part)
        return found


@dataclass(frozen=True)
class AnswerKind:
    """One kind of answer.

    `truth` names the secret files without which it cannot be scored, `differs` is
    what a verification says about an attack that has another answer now. `beside` computes what is
    shown beside the score of the try that counts.
    """

    truth: tuple[str, ...]
    differs: str
    read: Callable[[Judge, Path], Answer]
    write: Callable[[Path, Any], None]
    attack: Callable[[str, Case, Rng], Answer]
    score: Callable[[Scorer, Truth, Any], Score]
    beside: Callable[[Scorer, Truth, Any], dict[Part, Score]] = lambda *_: {}


def _score_table(scorer: Scorer, truth: Truth, table: IdTable) -> Score:
    if truth.table is None:
        raise InvalidParameter("a release that was never shuffled has no ID table to infer")
    return reid_score(truth.table, table)


def _score_traces(scorer: Scorer, truth: Truth, traces: Traces) -> Score:
    return inference_score(
        scorer.city,
        truth.original,
        traces,
        hospital_weight=scorer.rules.hospital_weight,
        reach_km=scorer.rules.lambda_t,
    )


def _expected_error(scorer: Scorer, truth: Truth, traces: Traces) -> dict[Part, Score]:
    return {"error": expected_error_score(scorer.city, truth.original, traces)}


ANSWERS: Mapping[AttackKind, AnswerKind] = {
    "reid": AnswerKind(
        truth=("orgtraces", "ptable"),
        differs="gives another table",
        read=lambda judge, path: judge.read_table(path),
        write=write_inferred_table,
        attack=lambda name, case, rng: parse_reid(name).identify(case, rng),
        score=_score_table,
    ),
    "trace": AnswerKind(
        truth=("orgtraces",),
        differs="infers other traces",
        read=lambda judge, path: judge.read_inferred(path),
        write=write_inferred_traces,
        attack=lambda name, case, rng: parse_inference(name).infer(case, rng),
        score=_score_traces,
        beside=_expected_error,
    ),
}


def score_answers(scorer: Scorer, truth: Truth, answers: Answers) -> CellScores:
    """Score what one attacker handed in against one target.

    Of several tries of a kind the lower score, the stronger attack, counts; the first one if they
    are equal.
    """
    parts: dict[Part, Score] = {}
    for kind in ATTACK_KINDS:
        for answer in answers.get(kind, ()):
            found = ANSWERS[kind].score(scorer, truth, answer)
            if kind not in parts or found.value < parts[kind].value:
                parts |= {kind: found, **ANSWERS[kind].beside(scorer, truth, answer)}
    return CellScores(**parts)


def run_attack(kind: AttackKind, name: str, case: Case, rng: Rng) -> Answer:
    """The answer of a named attack to a case."""
    return ANSWERS[kind].attack(name, case, rng)


def remark_of(kind: AttackKind, name: str, case: Case) -> str:
    """What a named attack knew of a case that it has attacked, on one line."""
    attack: Any = parse(CHALLENGES[kind].method, name)
    return " ".join(attack.remark(case).split())[:LONGEST_REMARK]


def read_handed(judge: Judge, kind: HandedKind, path: Path) -> SetTraces | Answer:
    """What a team hands in, with the limits of the rules; `InvalidFile` if it is something else."""
    if kind == "release":
        return judge.read_submission(path)
    return ANSWERS[kind].read(judge, path)


def same_answer(one: Answer, other: Answer) -> bool:
    """Whether two answers of a kind say the same, whatever clock and names they have."""
    if isinstance(one, Traces) and isinstance(other, Traces):
        return bool(np.array_equal(one.regions, other.regions))
    return one == other


def cell_scores(cell: CellScores, kind: AttackKind) -> dict[str, Any]:
    """A scored cell as JSON: `score`, `low`, `high`, and the expected error in km for traces."""
    score = cell.of(kind)
    assert score is not None
    return {
        "score": score.value,
        "low": score.interval.low,
        "high": score.interval.high,
        "error": None if cell.error is None else cell.error.value,
        "scorer": SCORER,
    }
