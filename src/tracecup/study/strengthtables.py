"""The cells of the study `strength` as tables: means over teams, the strongest attack, seconds.

Nothing is computed here that a cell does not hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from scipy import special

from tracecup.errors import InvalidParameter
from tracecup.methodnames import short_method
from tracecup.score import FLOOR, group_bound, guessing_bound, true_link_bound
from tracecup.score.intervals import CONFIDENCE
from tracecup.study.context import Team
from tracecup.study.results import Table
from tracecup.study.strengthcells import Kind, Shield, Side, Sword

CELLS = (
    "team", "defence", "tuned", "s_U", "kind", "side", "attack", "score", "low", "high", "nats",
    "prior nats",
)  # fmt: skip
SCORES = (
    "defence", "s_U", "kind", "side", "attack", "teams", "mean", "low", "high", "users, half width",
    "nats", "prior nats",
)  # fmt: skip
ENDS = ("", " low", " high", " by")
STRONGEST = (
    "defence", "tuned on the first team", "s_U", "valid",
    *(f"{what}{end}" for what in ("s_R, paper", "s_R", "s_T, paper", "s_T") for end in ENDS),
    "prior only", "prior only by", "true link", "true link, hospitals", "told, copies",
    "told, Bayes", "guessing", "group",
)  # fmt: skip
SECONDS = ("what", "defence", "mean seconds", "largest")
KINDS: tuple[Kind, ...] = ("reid", "trace")
PAPER: tuple[Side, ...] = ("paper",)
STRONG: tuple[Side, ...] = ("paper", "links", "bayes", "learned")


@dataclass(frozen=True)
class Found:
    """One cell: who met whom, what came out, and what is known of the release."""

    team: str
    users: int
    events: int
    shield: Shield
    sword: Sword
    tuned: str
    utility: float
    hospital_share: float
    defence_seconds: float
    score: float
    low: float
    high: float
    seconds: float
    nats: float | None
    prior_nats: float | None

    @classmethod
    def of(
        cls, team: Team, shield: Shield, sword: Sword, held: dict[str, Any], met: dict[str, Any]
    ) -> Found:
        """From what `strengthcells.Cells` keeps."""
        return cls(
            team.name,
            team.original.n_users,
            team.original.times,
            shield,
            sword,
            held["tuned"],
            held["s_U"],
            held["hospital share"],
            held["seconds"],
            met["score"],
            met["low"],
            met["high"],
            met["seconds"],
            met.get("nats"),
            met.get("prior nats"),
        )


@dataclass(frozen=True)
class Mean:
    """A mean over teams with Student's interval; None where one team says nothing of the spread."""

    value: float
    low: float | None
    high: float | None


def team_mean(values: Sequence[float], confidence: float = CONFIDENCE) -> Mean:
    """Mean of one score per team, +- t sqrt(s^2 / n), cut to 0..1.

    >>> team_mean([0.2, 0.4])
    Mean(value=0.30000000000000004, low=0.0, high=1.0)
    >>> team_mean([0.5]).low is None
    True
    """
    if not values:
        raise InvalidParameter("a mean over teams needs a team")
    mean, n = fmean(values), len(values)
    if n == 1:
        return Mean(mean, None, None)
    t = float(special.stdtrit(n - 1, 0.5 + confidence / 2))
    half = t * stdev(values) / math.sqrt(n)
    return Mean(mean, max(0.0, mean - half), min(1.0, mean + half))


def cell_table(found: Sequence[Found]) -> Table:
    """Every cell, one row each; the intervals are over users."""
    return Table.of(
        CELLS,
        (
            (
                one.team, one.shield.label, short_method(one.tuned), one.utility, one.sword.kind,
                one.sword.side, one.sword.label, one.score, one.low, one.high, one.nats,
                one.prior_nats,
            )
            for one in found
        ),
    )  # fmt: skip


def score_table(found: Sequence[Found]) -> Table:
    """Means over teams of every defence and attack."""
    rows = []
    for cells in _grouped(found, lambda one: (one.shield.label, one.sword.label)):
        one, mean = cells[0], team_mean([cell.score for cell in cells])
        half = math.hypot(*((cell.high - cell.low) / 2 for cell in cells)) / len(cells)
        rows.append(
            (
                one.shield.label, fmean(cell.utility for cell in cells), one.sword.kind,
                one.sword.side, one.sword.label, len(cells), mean.value, mean.low, mean.high, half,
                _mean(cell.nats for cell in cells), _mean(cell.prior_nats for cell in cells),
            )
        )  # fmt: skip
    return Table.of(SCORES, rows)


@dataclass(frozen=True)
class Best:
    """The strongest of some attacks on a defence, and its scores by team."""

    label: str
    scores: tuple[float, ...]

    @property
    def mean(self) -> Mean:
        """Over the teams."""
        return team_mean(self.scores)


def best(found: Sequence[Found], shield: str, kind: Kind, sides: Sequence[Side]) -> Best:
    """The attack of these sides with the smallest mean over teams."""
    able = [
        one
        for one in found
        if one.sword.kind == kind
        and one.sword.side in sides
        and (one.sword.side == "blind" or one.shield.label == shield)
    ]
    groups = _grouped(able, lambda one: (one.sword.label,))
    if not groups:
        raise InvalidParameter(f"no attack of the sides {', '.join(sides)} met {shield}")
    strongest_of = min(groups, key=lambda cells: fmean(cell.score for cell in cells))
    return Best(strongest_of[0].sword.label, tuple(cell.score for cell in strongest_of))


def strongest(found: Sequence[Found]) -> Table:
    """One row per defence: the paper's strongest attack, the strongest now, and the bounds."""
    rows = []
    for cells in _grouped(found, lambda one: (one.shield.label,)):
        one, label = cells[0], cells[0].shield.label
        utility = fmean(_of_teams(cells, "utility"))
        share = fmean(_of_teams(cells, "hospital_share"))
        ends: list[Any] = []
        for kind in KINDS:
            for sides in (PAPER, STRONG):
                met = best(found, label, kind, sides)
                mean = met.mean
                ends += [mean.value, mean.low, mean.high, met.label]
        blind = best(found, label, "trace", ("blind",))
        told = [
            fmean(cell.score for cell in each)
            for each in _grouped(
                [c for c in cells if c.sword.side == "told"], lambda c: (c.sword.label,)
            )
        ]
        rows.append(
            (
                label, short_method(one.tuned), utility, utility >= FLOOR - 1e-9, *ends,
                blind.mean.value, blind.label, true_link_bound(utility),
                true_link_bound(utility, hospital_share=share), *told, guessing_bound(one.users),
                None if one.shield.group is None else group_bound(one.shield.group),
            )
        )  # fmt: skip
    return Table.of(STRONGEST, rows)


def seconds(found: Sequence[Found]) -> Table:
    """What defending and attacking one team takes; scores that attacks share count for each."""
    rows: list[tuple[Any, ...]] = []
    for cells in _grouped(found, lambda one: (one.shield.label,)):
        took = _of_teams(cells, "defence_seconds")
        rows.append(("defend", cells[0].shield.label, fmean(took), max(took)))
    for cells in _grouped(found, lambda one: (one.sword.label,)):
        spent = [cell.seconds for cell in cells]
        rows.append((cells[0].sword.label, "all", fmean(spent), max(spent)))
    return Table.of(SECONDS, rows)


def _of_teams(cells: Sequence[Found], name: str) -> list[float]:
    """A fact of the release, once per team."""
    return list({cell.team: float(getattr(cell, name)) for cell in cells}.values())


def _grouped(found: Sequence[Found], key: Callable[[Found], tuple[str, ...]]) -> list[list[Found]]:
    groups: dict[tuple[str, ...], list[Found]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    return list(groups.values())


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
