"""What a report says about a contest, as plain data: no files, no randomness, no charts.

Everything that is not there (a map, the risk of each user) is None and is left out of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.contest.correlation import Correlation
from tracecup.errors import InvalidParameter
from tracecup.report.markup import clean

LONGEST_LABEL = 12


@dataclass(frozen=True)
class Release:
    """One released set of traces: a row of the score matrices.

    `label` is how charts and tables call it ("007"). A release `hors_concours` shows its raw scores
    whether it is valid or not. `expected_error_km` belongs to the strongest trace inference;
    `ranks` is the interval of the rank in best anonymization over resampled users.
    `trace_risk` and `reid_risk` have shape (users,): the part of the user's trace that the
    strongest attack got right (1 - the user's own s_T), and the share of the attackers who found
    the user's pseudonym.
    """

    label: str
    name: str
    obfuscation: str = ""
    benchmark: bool = False
    valid: bool = True
    hors_concours: bool = False
    utility: float | None = None
    expected_error_km: float | None = None
    ranks: tuple[int, int] | None = None
    trace_risk: NDArray[np.float64] | None = None
    reid_risk: NDArray[np.float64] | None = None

    @property
    def status(self) -> str:
        """The word that charts colour by."""
        if self.hors_concours:
            return "hors concours"
        if not self.valid:
            return "invalid"
        return "benchmark" if self.benchmark else "team"

    @property
    def attacked(self) -> bool:
        """Whether attackers got it: an invalid release is not published."""
        return self.valid or self.hors_concours

    @property
    def counts(self) -> bool:
        """Whether it enters the correlation: valid teams and the benchmark (paper, Figure 9)."""
        return self.valid and not self.hors_concours


@dataclass(frozen=True)
class Attacker:
    """A column of a score matrix: a team, or a sample attack of the organisers."""

    label: str
    name: str
    method: str = ""
    sample: bool = False


@dataclass(frozen=True)
class Matrix:
    """Privacy scores of every release (rows) against every attacker (columns), one kind of attack.

    `values[i][j]` is None on a team's own release and where no attack was handed in; `minima`
    has one value per release, None where there is no score at all; `sums` one per attacker, None
    for sample attacks (they win nothing).
    """

    attackers: tuple[Attacker, ...]
    values: tuple[tuple[float | None, ...], ...]
    minima: tuple[float | None, ...]
    sums: tuple[float | None, ...]


@dataclass(frozen=True)
class Award:
    """A title, who won it (several on a tie), and the value that decided."""

    title: str
    winners: tuple[str, ...]
    value: float | None
    measure: str = ""


@dataclass(frozen=True)
class CityMap:
    """The grid of regions (index = y * nx + x from the south-west) and its hospital regions."""

    nx: int
    ny: int
    hospitals: tuple[int, ...] = ()
    width_km: float | None = None
    height_km: float | None = None


@dataclass(frozen=True)
class Population:
    """People per region at each hour, averaged over days; `counts` has shape (hours, regions)."""

    hours: tuple[str, ...]
    counts: NDArray[np.float64]


@dataclass(frozen=True)
class TraceExample:
    """One user's day-by-day trace: original, obfuscated (cells) and inferred, 0-based regions.

    All have days x slots events; `slots` names the time of each slot ("08:30"). `defender` and
    `attacker` say whose release and whose inference this is.
    """

    user: str
    defender: str
    attacker: str
    days: int
    slots: tuple[str, ...]
    original: tuple[int, ...]
    obfuscated: tuple[tuple[int, ...], ...]
    inferred: tuple[int, ...]


@dataclass(frozen=True)
class ContestFacts:
    """Everything the report of a contest shows.

    `summary` is one line such as "2000 users, 1024 regions, 20 days"; `users` the number of users
    of each release; `rules` are pairs of a name and a value as people read them. `prior_ceiling`
    is the s_T that an attacker without the release already reaches. `made_with` names versions
    and seeds.
    """

    name: str
    summary: str
    users: int
    rules: tuple[tuple[str, str], ...]
    releases: tuple[Release, ...]
    reid: Matrix
    trace: Matrix
    correlation: Correlation
    awards: tuple[Award, ...] = ()
    floor: float = 0.7
    city: CityMap | None = None
    population: Population | None = None
    example: TraceExample | None = None
    prior_ceiling: float | None = None
    made_with: str = ""

    def check(self) -> None:
        """Raise `InvalidParameter` at the first thing that does not fit together."""
        if self.users < 1:
            raise InvalidParameter(f"a contest has at least one user, got {self.users}")
        if not self.releases:
            raise InvalidParameter("a report needs at least one release")
        _check_labels("releases", [release.label for release in self.releases])
        for release in self.releases:
            _check_release(release)
        for name, matrix in (("reid", self.reid), ("trace", self.trace)):
            _check_matrix(name, matrix, len(self.releases))
        _check_share("floor", self.floor)
        _check_share("prior_ceiling", self.prior_ceiling)
        c = self.correlation
        if any(x is not None and not -1 <= x <= 1 for x in (c.value, c.low, c.high)):
            raise InvalidParameter(f"a correlation lies within -1..1, got {c}")
        if self.city is not None:
            _check_maps(self.city, self.population, self.example)
        elif self.population is not None or self.example is not None:
            raise InvalidParameter("population and example need the city they are shown on")


def _check_labels(what: str, labels: Sequence[str]) -> None:
    """Labels are short, harmless and different: charts tell rows and columns apart by them."""
    for label in labels:
        if not label or clean(label, LONGEST_LABEL) != label:
            raise InvalidParameter(
                f"{what}: a label has 1 to {LONGEST_LABEL} plain characters, got {label!r}"
            )
    if len(set(labels)) != len(labels):
        raise InvalidParameter(f"{what}: two have the same label")


def _check_release(release: Release) -> None:
    _check_share(f"utility of {release.label}", release.utility)
    for name in ("trace_risk", "reid_risk"):
        risk = getattr(release, name)
        if risk is None:
            continue
        if risk.ndim != 1 or not len(risk):
            raise InvalidParameter(f"{name} of {release.label}: shape (users,), got {risk.shape}")
        if not bool(np.all((risk >= 0) & (risk <= 1))):
            raise InvalidParameter(f"{name} of {release.label} must lie within 0..1")


def _check_matrix(name: str, matrix: Matrix, rows: int) -> None:
    columns = len(matrix.attackers)
    _check_labels(f"attackers of {name}", [attacker.label for attacker in matrix.attackers])
    if len(matrix.values) != rows or any(len(row) != columns for row in matrix.values):
        raise InvalidParameter(f"{name}: the matrix must be {rows} releases x {columns} attackers")
    if len(matrix.minima) != rows or len(matrix.sums) != columns:
        raise InvalidParameter(f"{name}: needs {rows} minima and {columns} sums")
    for row in matrix.values:
        for value in row:
            _check_share(f"a score of {name}", value)
    for value in matrix.minima:
        _check_share(f"a minimum of {name}", value)


def _check_maps(city: CityMap, population: Population | None, example: TraceExample | None) -> None:
    regions = city.nx * city.ny
    if city.nx < 1 or city.ny < 1:
        raise InvalidParameter(f"a city has at least one region, got {city.nx} x {city.ny}")
    _check_regions("hospital", city.hospitals, regions)
    if population is not None:
        shape = (len(population.hours), regions)
        if population.counts.shape != shape:
            raise InvalidParameter(
                f"population must have the shape {shape}, got {population.counts.shape}"
            )
        if not bool(np.all(np.isfinite(population.counts) & (population.counts >= 0))):
            raise InvalidParameter("population must be finite and >= 0")
    if example is not None:
        events = example.days * len(example.slots)
        lengths = {len(example.original), len(example.obfuscated), len(example.inferred)}
        if lengths != {events} or not events:
            raise InvalidParameter(f"the example needs {events} events each, got {sorted(lengths)}")
        _check_regions("original", example.original, regions)
        _check_regions("inferred", example.inferred, regions)
        for cell in example.obfuscated:
            _check_regions("obfuscated", cell, regions)


def _check_regions(name: str, values: Sequence[int], regions: int) -> None:
    bad = [value for value in values if not 0 <= value < regions]
    if bad:
        raise InvalidParameter(f"{name} region {bad[0]} is not within 0..{regions - 1}")


def _check_share(name: str, value: float | None) -> None:
    if value is not None and not 0 <= value <= 1:
        raise InvalidParameter(f"{name} must lie within 0..1, got {value}")
