"""A release under attack: every attack's scores, and the minimum that counts.

What the studies of privacy share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tracecup.contest.challenges import ATTACK_KINDS, AttackKind
from tracecup.contest.judging.answers import Part, run_attack
from tracecup.contest.judging.published import publish
from tracecup.contest.judging.scorer import Scorer
from tracecup.contest.rules import Rules, ScoreRules
from tracecup.rng import child_seed
from tracecup.study.context import Team
from tracecup.traces import SetTraces


@dataclass(frozen=True)
class Attacks:
    """Names of re-identifications and trace inferences."""

    reid: tuple[str, ...]
    trace: tuple[str, ...]

    @classmethod
    def samples(cls, preset: str = "paper") -> Attacks:
        """The sample attacks: I1 to I3 and T1 to T3."""
        samples = Rules.preset(preset).samples
        return cls(samples.reid, samples.trace)

    def of(self, kind: AttackKind) -> tuple[str, ...]:
        """The names of one kind."""
        found: tuple[str, ...] = getattr(self, kind)
        return found


LINKING = Attacks(
    ("VisitProb-R", "HomeProb-R", "Fuzzy-R(0.33,1)"),
    (
        "VisitProb-T",
        "VisitProb-T(match=assignment)",
        "HomeProb-T",
        "Fuzzy-T(0.33,1,0)",
    ),
)
"""The strongest attacks that use the release; those that do not look at it are a ceiling."""


@dataclass(frozen=True)
class Outcome:
    """Scores by attack: s_R, s_T, expected error in km, and s_T at other hospital weights."""

    reid: Mapping[str, float]
    trace: Mapping[str, float]
    error_km: Mapping[str, float]
    weighted: Mapping[float, Mapping[str, float]] = field(default_factory=dict)

    @property
    def s_r(self) -> float:
        """The minimum over re-identifications."""
        return min(self.reid.values())

    @property
    def s_t(self) -> float:
        """The minimum over trace inferences."""
        return min(self.trace.values())


def attack(
    team: Team,
    cells: SetTraces,
    attacks: Attacks,
    seed: int,
    *,
    shuffle: int | None = None,
    weights: Sequence[float] = (),
) -> Outcome:
    """Pseudonymize `cells` and attack them; all draws come from `seed`.

    `shuffle` fixes the judge's permutation apart from the attacks' draws.
    """
    order = child_seed(seed, "shuffle") if shuffle is None else shuffle
    made = publish(team.city, team.reference, team.original, cells, order)
    scorer = Scorer(team.city)
    others = {
        weight: Scorer(team.city, ScoreRules(hospital_weight=weight))
        for weight in weights
        if weight != scorer.rules.hospital_weight
    }
    scores: dict[Part, dict[str, float]] = {"reid": {}, "trace": {}, "error": {}}
    weighted: dict[float, dict[str, float]] = {weight: {} for weight in weights}
    for kind in ATTACK_KINDS:
        for name in attacks.of(kind):
            answer = run_attack(kind, name, made.case, child_seed(seed, name))
            for part, score in scorer.score_answer(made.truth, kind, answer).items():
                scores[part][name] = score.value
            if kind == "trace":
                for weight, at_weight in weighted.items():
                    at_weight[name] = (
                        others[weight].score_answer(made.truth, kind, answer)[kind].value
                        if weight in others
                        else scores[kind][name]
                    )
    return Outcome(scores["reid"], scores["trace"], scores["error"], weighted)
