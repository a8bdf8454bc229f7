"""What a worker brings back, looked at before it becomes a row: numbers in range, files as named.

A worker may be broken or hostile; what it says cannot be checked for truth here (a verification of
the archive does that), but what no computation can result in is refused.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from tracecup.contest.judging.commitment import SCORER
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.contest.results.compute import UNIT_COLUMNS
from tracecup.contest.results.tables import ResultTable
from tracecup.errors import InvalidParameter, TraceCupError
from tracecup.score.utility import is_valid

ROUNDING = 1e-9
LONGEST_TOLD = 1000


class Implausible(TraceCupError, ValueError):
    """A result that no such computation has."""


def require_files(found: Collection[str], wanted: Collection[str]) -> None:
    """A computation writes its own files, all of them and no others."""
    if set(found) != set(wanted):
        odd = sorted(set(found) ^ set(wanted))
        raise Implausible(f"the file {odd[0]} is missing or not one of this job")


def require_score(held: Mapping[str, Any]) -> None:
    """A score with its interval: three numbers from 0 to 1, by this version of the scorer.

    >>> require_score({"score": 0.5, "low": 0.4, "high": 0.6, "error": None, "scorer": SCORER})
    >>> require_score({"score": 7, "low": 0.4, "high": 0.6, "scorer": SCORER})
    Traceback (most recent call last):
    tracecup.server.jobs.plausible.Implausible: the score is 7, expected 0 to 1
    """
    for name in ("score", "low", "high"):
        _require_unit(name, held[name])
    if held["low"] > held["high"]:
        raise Implausible(f"the interval {held['low']} to {held['high']} is none")
    error = held.get("error")
    if error is not None and not (_is_number(error) and error >= 0):
        raise Implausible(f"the expected error is {error!r}, expected kilometres")
    if held["scorer"] != SCORER:
        raise Implausible(f"the scorer is {held['scorer']!r}, expected {SCORER}")


def require_remark(held: Mapping[str, Any]) -> None:
    """What a sample attack knew: a line of text; workers of before do not tell.

    >>> require_remark({"knew": "release taken as it is"})
    >>> require_remark({"knew": "two\\nlines"})
    Traceback (most recent call last):
    tracecup.server.jobs.plausible.Implausible: what an attack knew is no line of text
    """
    said = held.get("knew", "")
    if not isinstance(said, str) or len(said) > LONGEST_TOLD or not said.isprintable():
        raise Implausible("what an attack knew is no line of text")


def require_verdict(said: Mapping[str, Any], told: Mapping[str, Any], floor: float) -> None:
    """A verdict on a release: of the form it has to have, and valid if and only if the utility
    reaches the floor; method and standing are those that were `told`.
    """
    try:
        given = JudgedRelease.of_dict({k: v for k, v in said.items() if k != "published"})
    except ValueError as error:
        raise Implausible(f"a verdict with {error}") from error
    for name in ("utility", "utility_low", "utility_high"):
        if getattr(given, name) is not None:
            _require_unit(name, getattr(given, name))
    if given.valid != (given.utility is not None and is_valid(given.utility, floor)):
        raise Implausible(f"valid is {given.valid} at the utility {given.utility}, floor {floor}")
    if said["published"] != given.published or not isinstance(given.reason, str):
        raise Implausible("a verdict that contradicts itself")
    # Where nothing was handed in the judge has no word about standing.
    if given.method != told["method"] or (given.hors_concours and not told["hors_concours"]):
        raise Implausible("a verdict about another release")


def require_tables(tables: Mapping[str, Any]) -> None:
    """Tables of results: columns of equal length, finite numbers, scores from 0 to 1."""
    for name, columns in tables.items():
        try:
            ResultTable(columns)
        except InvalidParameter as error:
            raise Implausible(f"table {name}: {error}") from error
        for column, values in columns.items():
            for value in values:
                if not isinstance(value, str | int | float | None):
                    raise Implausible(f"table {name}, column {column}: {type(value).__name__}")
                if isinstance(value, float) and not math.isfinite(value):
                    raise Implausible(f"table {name}, column {column}: {value}")
                if column in UNIT_COLUMNS and value is not None:
                    _require_unit(f"{column} of table {name}", value)


def _require_unit(name: str, value: Any) -> None:
    if not _is_number(value) or not -ROUNDING <= value <= 1 + ROUNDING:
        raise Implausible(f"the {name} is {value!r}, expected 0 to 1")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
