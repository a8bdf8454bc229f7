"""What scores: a city and the rules of scoring, with no file, round or clock.

The judge has one; studies score with the contest's rules and their own traces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tracecup.attack import Case
from tracecup.city import City
from tracecup.contest.challenges import AttackKind
from tracecup.contest.judging.answers import (
    ANSWERS,
    Answer,
    Answers,
    CellScores,
    Part,
    Truth,
    run_attack,
    score_answers,
)
from tracecup.contest.judging.reasons import Reason
from tracecup.contest.rules import ScoreRules
from tracecup.score import Score, UtilityScore, utility_score
from tracecup.traces import SetTraces, Traces


@dataclass(frozen=True)
class Verdict:
    """What the judge says about obfuscated traces: valid or not, and why.

    `utility` is None where the file could not be read as obfuscated traces at all.
    """

    valid: bool
    reason: Reason
    utility: UtilityScore | None = None

    @property
    def readable(self) -> bool:
        """Whether the format was right; a readable release may still be below the floor."""
        return self.utility is not None


CEILING_ATTACK = "Prior-T"
NOTHING = Verdict(False, Reason.of("nothing"))


@dataclass(frozen=True, eq=False)
class Scorer:
    """Scores of releases and answers in a city, by the paper's rules unless others are given."""

    city: City
    rules: ScoreRules = field(default_factory=ScoreRules)

    def utility(self, original: Traces, obfuscated: SetTraces) -> UtilityScore:
        """s_U of obfuscated traces by the rules, and whether it reaches their floor."""
        rules = self.rules
        return utility_score(
            self.city,
            original,
            obfuscated,
            rule=rules.utility_rule,
            reach_km=rules.lambda_u,
            floor=rules.utility_floor,
        )

    def verdict(self, original: Traces, obfuscated: SetTraces) -> Verdict:
        """Judge obfuscated traces by their utility."""
        utility = self.utility(original, obfuscated)
        reason = Reason.of(
            "reaches-floor" if utility.valid else "below-floor",
            value=f"{utility.value:.6f}",
            floor=f"{utility.floor:g}",
        )
        return Verdict(utility.valid, reason, utility)

    def user_weights(self, original: Traces) -> NDArray[np.float64]:
        """What each user weighs in s_T: her events, those in hospital regions more; shape (m,)."""
        weight = np.where(self.city.is_hospital, self.rules.hospital_weight, 1.0)
        return np.asarray(weight[original.regions].sum(axis=1))

    def score(self, truth: Truth, answers: Answers) -> CellScores:
        """Score what one attacker handed in against one target; the stronger try counts."""
        return score_answers(self, truth, answers)

    def score_answer(self, truth: Truth, kind: AttackKind, answer: Answer) -> Mapping[Part, Score]:
        """The score of one answer, under its kind, and what is shown beside it."""
        how = ANSWERS[kind]
        return {kind: how.score(self, truth, answer), **how.beside(self, truth, answer)}

    def ceiling(self, case: Case, original: Traces) -> Score:
        """s_T of an attacker who never looks at the release: none is credited with more."""
        guess = run_attack("trace", CEILING_ATTACK, case, None)
        return self.score_answer(Truth(original), "trace", guess)["trace"]
