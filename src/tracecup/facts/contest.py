"""What a report says about a contest, as plain data: no files, no randomness, no charts.

Everything that is not there (a map, the risk of each user) is None and is left out of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.errors import InvalidParameter
from tracecup.facts.board import STATUSES, BoardFacts, MatrixFacts, ReleaseFacts
from tracecup.facts.text import clean

LONGEST_LABEL = 12
BOUNDS = ("guessing", "group", "ceiling", "true_link")


@dataclass(frozen=True)
class UserRisks:
    """What attackers found out about each user of a release, shape (users,) each.

    `trace` is the part of the user's trace that the strongest attack got right (1 - the user's
    own s_T), `reid` the share of the attackers who found the user's pseudonym.
    """

    trace: NDArray[np.float64] | None = None
    reid: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class CityFacts:
    """The grid of regions (index = y * nx + x from the south-west) and its hospital regions."""

    nx: int
    ny: int
    km_x: float
    km_y: float
    hospitals: tuple[int, ...] = ()


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
class Movement:
    """Shares of all events by how far they were moved; `regions` are mean km by original region.

    Bin k holds distances from k * width_km; the last bin holds everything farther.
    """

    width_km: float
    shares: tuple[float, ...]
    regions: tuple[float | None, ...]
    unchanged: float
    deleted: float
    sets: float
    mean_km: float | None


@dataclass(frozen=True)
class ContestFacts:
    """Everything the report of a contest shows.

    `summary` is one line such as "2000 users, 1024 regions, 20 days"; `users` the number of users
    of each release; `rules` are pairs of a name and a value as people read them; `risks` are by
    the label of a release. `true_link_at_floor` bounds the s_T of an attacker who is told the
    link, for a release at the utility floor and with hospitals weighted. `made_with` names
    versions and seeds.
    """

    name: str
    summary: str
    users: int
    rules: tuple[tuple[str, str], ...]
    board: BoardFacts
    risks: Mapping[str, UserRisks] = field(default_factory=dict)
    floor: float = 0.7
    true_link_at_floor: float | None = None
    city: CityFacts | None = None
    population: Population | None = None
    example: TraceExample | None = None
    made_with: str = ""

    def check(self) -> None:
        """Raise `InvalidParameter` at the first thing that does not fit together."""
        if self.users < 1:
            raise InvalidParameter(f"a contest has at least one user, got {self.users}")
        board = self.board
        labels = [release.label for release in board.releases]
        if not labels:
            raise InvalidParameter("a report needs at least one release")
        _check_labels("releases", labels)
        for release in board.releases:
            _check_release(release)
        for label, risks in self.risks.items():
            _check_risk(f"trace risk of {label}", risks.trace)
            _check_risk(f"re-identification risk of {label}", risks.reid)
        for matrix in board.matrices:
            _check_matrix(matrix, labels)
        _check_share("floor", self.floor)
        c = board.correlation
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


def _check_release(release: ReleaseFacts) -> None:
    if release.status not in STATUSES:
        raise InvalidParameter(
            f"the status of {release.label} is one of {', '.join(STATUSES)}, got {release.status!r}"
        )
    for name in ("utility", *(f"{kind}_min" for kind in ATTACK_KINDS), *BOUNDS):
        _check_share(f"{name} of {release.label}", getattr(release, name))


def _check_risk(name: str, risk: NDArray[np.float64] | None) -> None:
    if risk is None:
        return
    if risk.ndim != 1 or not len(risk):
        raise InvalidParameter(f"{name}: shape (users,), got {risk.shape}")
    if not bool(np.all((risk >= 0) & (risk <= 1))):
        raise InvalidParameter(f"{name} must lie within 0..1")


def _check_matrix(matrix: MatrixFacts, labels: Sequence[str]) -> None:
    name, columns = matrix.kind, len(matrix.attackers)
    _check_labels(f"attackers of {name}", [attacker.label for attacker in matrix.attackers])
    if [row.label for row in matrix.rows] != list(labels):
        raise InvalidParameter(f"{name}: the rows of the matrix must be the releases")
    for row in matrix.rows:
        if len(row.values) != columns:
            raise InvalidParameter(
                f"{name}: {row.label} must have {columns} scores, got {len(row.values)}"
            )
        for value in (*row.values, row.minimum):
            _check_share(f"a score of {name}", value)


def _check_maps(
    city: CityFacts, population: Population | None, example: TraceExample | None
) -> None:
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
