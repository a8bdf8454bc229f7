"""Measures of a release: what could be told by somebody who knows much, outside the two scores.

A measure is a frozen dataclass of parameters, like an attack; whoever computes it knows the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, cast

from tracecup.city import City
from tracecup.errors import InvalidTraces
from tracecup.registry import Method, parameter, register
from tracecup.risk import unicity
from tracecup.rng import Rng
from tracecup.score.intervals import CONFIDENCE, Interval
from tracecup.traces import SetTraces, Traces


@dataclass(frozen=True, eq=False)
class Measured:
    """A value between 0 and 1 with its interval, what it is where nothing is told, what it says.

    NaN, with an interval from 0 to 1, where nothing could be measured.
    """

    value: float
    interval: Interval
    nothing_told: float
    meaning: str


class Measure(Method):
    """A number about a release whose row u belongs to user u of the traces that are known.

    `known` says which traces of the users those are. A new measure defines `_measure`.
    """

    known: ClassVar[Literal["reference", "original"]] = "original"

    def measure(
        self,
        city: City,
        known: Traces,
        released: SetTraces,
        rng: Rng = None,
        *,
        confidence: float = CONFIDENCE,
    ) -> Measured:
        """The measure of a release in user order; the traces may have gaps, cells be deleted."""
        self.check()
        if known.n_users != released.n_users:
            raise InvalidTraces(
                f"{known.n_users} users have {self.known} traces, {released.n_users} are released"
            )
        return self._measure(city, known, released, rng, confidence)

    def _measure(
        self, city: City, known: Traces, released: SetTraces, rng: Rng, confidence: float
    ) -> Measured:
        raise NotImplementedError(f"{type(self).__name__} defines no _measure")


@register(
    "measure",
    "Unicity",
    "share of the choices of p true visits that only the user's own released trace fits",
    "after Y.-A. de Montjoye, C. A. Hidalgo, M. Verleysen, V. D. Blondel, Unique in the Crowd: The "
    "privacy bounds of human mobility, Scientific Reports 3, 2013",
)
@dataclass(frozen=True)
class UnicityMeasure(Measure):
    """`risk.unicity`: every choice of p visits counted where a user has few, drawn otherwise.

    >>> from tracecup.city import Grid
    >>> city = City(Grid.from_metres(3, 1, width_m=300, height_m=300))
    >>> users = Traces.of([[0, 1], [0, 1], [0, 2]])
    >>> UnicityMeasure(1).measure(city, users, SetTraces.of_traces(users)).value
    0.16666666666666666
    """

    p: int = parameter(4, "visits that are known, with their times", low=1, high=1000)
    deleted: str = parameter(
        "strict",
        "a deleted cell fits nothing (strict) or anything (weak)",
        words=("strict", "weak"),
        positional=False,
    )

    def _measure(
        self, city: City, known: Traces, released: SetTraces, rng: Rng, confidence: float
    ) -> Measured:
        rule = cast(Literal["strict", "weak"], self.deleted)
        found = unicity(
            known, released, points=self.p, rng=rng, confidence=confidence, deleted=rule
        )
        visits = "one true visit" if self.p == 1 else f"{self.p} true visits"
        return Measured(
            found.value, found.interval, 0.0, f"share of the choices of {visits} that fit one trace"
        )
