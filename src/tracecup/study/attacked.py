"""A release under attack: every attack's scores, and the minimum that counts.

What the studies of privacy share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tracecup.attack import Case
from tracecup.attack.portfolio import sample_attacks, winner_attacks
from tracecup.contest.bots import inference_attack, reid_attack
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.rng import child_seed
from tracecup.score import HOSPITAL_WEIGHT, expected_error_score, inference_score, reid_score
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
        named = sample_attacks(preset)
        reid = tuple(name for column, name in named.items() if column.startswith("I"))
        return cls(reid, tuple(name for column, name in named.items() if column.startswith("T")))

    def with_winner(self) -> Attacks:
        """These, and those of the 2019 winner."""
        reid, trace = winner_attacks()
        return Attacks((*self.reid, reid), (*self.trace, trace))


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
    released, table = pseudonymize(cells, order)
    case = Case(team.city, team.reference, released)
    reid = {
        name: reid_score(table, reid_attack(name).identify(case, child_seed(seed, name))).value
        for name in attacks.reid
    }
    trace, error = {}, {}
    weighted: dict[float, dict[str, float]] = {weight: {} for weight in weights}
    for name in attacks.trace:
        inferred = inference_attack(name).infer(case, child_seed(seed, name))
        trace[name] = inference_score(team.city, team.original, inferred).value
        error[name] = expected_error_score(team.city, team.original, inferred).value
        for weight, held in weighted.items():
            held[name] = (
                trace[name]
                if weight == HOSPITAL_WEIGHT
                else inference_score(
                    team.city, team.original, inferred, hospital_weight=weight
                ).value
            )
    return Outcome(reid, trace, error, weighted)
