"""The board of a round: awards with ties, releases, both matrices, the correlation.

Plain data, which report, site, API and tables show; `facts.tables` makes it from tables of results.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.contest.challenges import CHALLENGES
from tracecup.contest.correlation import Correlation
from tracecup.score import Bounds

STATUSES = ("team", "benchmark", "hors concours", "invalid")
SYMBOLS: dict[str, str] = {kind: challenge.score for kind, challenge in CHALLENGES.items()}
TITLES: dict[str, str] = {kind: challenge.title for kind, challenge in CHALLENGES.items()}
_DEFENCES: dict[str, str] = {kind: one.defence_award for kind, one in CHALLENGES.items()}


@dataclass(frozen=True)
class PlaceFacts:
    """A place in an award; `rank_low` to `rank_high` is its interval over resampled users."""

    rank: int
    rank_low: int | None
    rank_high: int | None
    team: str
    name: str
    value: float


@dataclass(frozen=True)
class ExcludedFacts:
    """A team that is not eligible, and why."""

    team: str
    name: str
    reason: str


@dataclass(frozen=True)
class AwardFacts:
    """An award with all its places; several winners are a tie."""

    key: str
    title: str
    better: str
    winners: tuple[str, ...] = ()
    tie: bool = False
    value: float | None = None
    places: tuple[PlaceFacts, ...] = ()
    excluded: tuple[ExcludedFacts, ...] = ()


@dataclass(frozen=True)
class ReleaseFacts:
    """A release with its lowest scores: a row of both matrices. `status` is one of `STATUSES`.

    `label` is how charts and tables call it ("007"). `place` and `total` are its team's in the
    overall award: the sum of both minima. `expected_error_km` belongs to the strongest trace
    inference.

    What bounds the scores (`tracecup.score.bounds`): `guessing` and, where the method makes groups
    of users alike, `group` bound s_R; `ceiling` is the s_T of an attacker who never saw the
    release; `true_link`, 1 - s_U with all regions alike, bounds the s_T of one who is told which
    pseudonym is whose.
    """

    label: str
    name: str
    status: str = "team"
    file: str = ""
    team: str = ""
    challenge: str = "trace"
    valid: bool = True
    reason: str = ""
    method: str = ""
    utility: float | None = None
    utility_low: float | None = None
    utility_high: float | None = None
    reid_min: float | None = None
    reid_by: str = ""
    reid_by_names: str = ""
    trace_min: float | None = None
    trace_by: str = ""
    trace_by_names: str = ""
    guessing: float | None = None
    group: float | None = None
    ceiling: float | None = None
    true_link: float | None = None
    expected_error_km: float | None = None
    place: int | None = None
    total: float | None = None

    @property
    def bounds(self) -> Bounds:
        """What bounds its scores."""
        return Bounds(self.guessing, self.group, self.ceiling, self.true_link)

    @property
    def uncredited(self) -> bool:
        """Whether s_T,min is above the ceiling: the attacks were weak, no merit of the release."""
        if self.trace_min is None or self.ceiling is None:
            return False
        return self.trace_min > self.ceiling

    @property
    def benchmark(self) -> bool:
        """Whether it is the organisers' pseudonymized data."""
        return self.status == "benchmark"

    @property
    def attacked(self) -> bool:
        """Whether attackers got it: an invalid release is not published."""
        return self.status != "invalid"

    @property
    def counts(self) -> bool:
        """Whether it enters the correlation: valid teams and the benchmark (paper, Figure 9)."""
        return self.status in ("team", "benchmark")


@dataclass(frozen=True)
class AttackerFacts:
    """A column of a matrix: a team, or a sample attack of the organisers (it wins nothing)."""

    label: str
    name: str
    attack: str = ""
    sample: bool = False
    sum: float | None = None
    not_attacked: int | None = None


@dataclass(frozen=True)
class MatrixRow:
    """The scores of one release against every attacker; None is its own or no answer.

    `by` names those who reached the minimum; `bound` is what the score cannot exceed.
    """

    label: str
    name: str
    values: tuple[float | None, ...]
    minimum: float | None
    by: str = ""
    bound: float | None = None
    benchmark: bool = False


@dataclass(frozen=True)
class KnewFacts:
    """What a sample attack knew of a release: how good its prior was, its channel, its training.

    `release` is the label of the release, `attacker` the column, `attack` the method.
    """

    release: str
    attacker: str
    attack: str
    score: float | None
    knew: str


@dataclass(frozen=True)
class MatrixFacts:
    """All scores of one kind of attack: a row per release, a column per attacker.

    `knew` is what sample attacks knew, where they tell it.
    """

    kind: str
    attackers: tuple[AttackerFacts, ...]
    rows: tuple[MatrixRow, ...]
    knew: tuple[KnewFacts, ...] = ()


@dataclass(frozen=True)
class BoardFacts:
    """What the results of a round say; `matrices` are those of re-identification and inference."""

    awards: tuple[AwardFacts, ...]
    releases: tuple[ReleaseFacts, ...]
    matrices: tuple[MatrixFacts, ...]
    correlation: Correlation

    @property
    def reid(self) -> MatrixFacts:
        """The matrix of re-identification."""
        return self.matrices[0]

    @property
    def trace(self) -> MatrixFacts:
        """The matrix of trace inference."""
        return self.matrices[1]

    @property
    def ceiling(self) -> float | None:
        """The s_T of an attacker without any release, in the mean over the releases."""
        known = [one.ceiling for one in self.releases if one.ceiling is not None]
        return sum(known) / len(known) if known else None

    @property
    def scored(self) -> tuple[ReleaseFacts, ...]:
        """Releases that attackers got and that have both minima."""
        return tuple(
            one
            for one in self.releases
            if one.attacked and one.reid_min is not None and one.trace_min is not None
        )

    def ranks(self, release: ReleaseFacts) -> tuple[int, int] | None:
        """The interval of a release's rank in best anonymization of its own challenge."""
        for award in self.awards:
            if award.key == _DEFENCES[release.challenge]:
                for place in award.places:
                    if place.team == release.team and place.rank_low and place.rank_high:
                        return place.rank_low, place.rank_high
        return None
