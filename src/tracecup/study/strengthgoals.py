"""What strong attacks and a strong defence were meant to reach, goal by goal, and what they do.

Goals for means over at least three teams of the built-in city.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from tracecup.study.results import Table
from tracecup.study.strengthcells import Kind, Side
from tracecup.study.strengthtables import KINDS, STRONG, Found, Mean, best, team_mean

COLUMNS = ("item", "score", "goal", "mean", "low", "high", "by", "met")
EQUALISED = "Equalise, trained"
KMEANS = "KMeans(100), winner 2019"
LEAST_REID, BELOW_PRIOR = 0.75, 0.04
"""What a new defence shall leave: so much s_R, and s_T so little below prior only."""
ROUND_SECONDS, LEARNED_SECONDS = 120, 180
"""How long a round of the race and the training of a learned attack may take on one H200."""


@dataclass(frozen=True)
class Goal:
    """A limit for the strongest of some attacks on a defence; `attacks` names them, or sides.

    An attack shall get at most `limit`; where `least`, a defence shall leave at least that.
    """

    item: str
    defence: str
    kind: Kind
    limit: float
    attacks: tuple[str, ...] = ()
    sides: tuple[Side, ...] = STRONG
    least: bool = False


def _both(item: str, defence: str, reid: float, trace: float, word: str = "") -> list[Goal]:
    """A goal for each of the two scores; `word` picks attacks by how their names end."""
    return [
        Goal(item, defence, kind, limit, (word,) if word else ())
        for kind, limit in zip(KINDS, (reid, trace), strict=True)
    ]


FUZZY = ("Fuzzy-R, assigned", "Fuzzy-R, spread first, assigned")
GOALS = (
    *_both("pseudonyms only", "None", 0.005, 0.01),
    Goal("pseudonyms only, Fuzzy-R assigned", "None", "reid", 0.01, FUZZY),
    Goal("PL, Fuzzy-R assigned", "PL", "reid", 0.10, FUZZY),
    *_both("PL, program unknown", "PL", 0.03, 0.30, "unknown"),
    *_both("MRLH", "MRLH(1,1)", 0.01, 0.22),
    *_both("Swap", "Swap", 0.04, 0.30),
    *_both("KMeans, program known, not learned", KMEANS, 0.50, 0.48, " known"),
    *_both("KMeans, program unknown, not learned", KMEANS, 0.60, 0.62, "unknown"),
    *_both("KMeans, learned, the shipped mixture", KMEANS, 0.12, 0.28, "Learned"),
    Goal("prior only", "None", "trace", 0.73, sides=("blind",)),
    Goal("Equalise, all attacks here", EQUALISED, "reid", LEAST_REID, least=True),
)


def goals(found: Sequence[Found]) -> Table:
    """Goal by goal: limit, mean over teams with its interval, strongest attack, met or not."""
    there = {one.shield.label for one in found}
    rows = [_row(found, goal) for goal in GOALS if goal.defence in there]
    if EQUALISED in there:
        rows.append(_near_prior(found))
    return Table.of(COLUMNS, rows)


def in_time(item: str, seconds: Sequence[float], limit: float) -> tuple[object, ...]:
    """A goal of time: mean seconds with the fastest and the slowest; met if none took longer.

    >>> in_time("a round", [100.0, 130.0], 120)[2:]
    ('<= 120', 115.0, 100.0, 130.0, 'slowest of 2', False)
    """
    ends = (fmean(seconds), min(seconds), max(seconds))
    said = f"slowest of {len(seconds)}"
    return (item, "seconds", f"<= {limit:g}", *ends, said, max(seconds) <= limit)


def _row(found: Sequence[Found], goal: Goal) -> tuple[object, ...]:
    chosen = [
        one
        for one in found
        if not goal.attacks or any(word in one.sword.label for word in goal.attacks)
    ]
    met = best(chosen, goal.defence, goal.kind, goal.sides)
    mean = met.mean
    ok = mean.value >= goal.limit if goal.least else mean.value <= goal.limit
    limit = f"{'>=' if goal.least else '<='} {goal.limit:g}"
    return (goal.item, _symbol(goal.kind), limit, mean.value, mean.low, mean.high, met.label, ok)


def _near_prior(found: Sequence[Found]) -> tuple[object, ...]:
    """How far the trained defence is below prior only, team by team."""
    met = best(found, EQUALISED, "trace", STRONG)
    ceiling = best(found, EQUALISED, "trace", ("blind",))
    below = [high - low for high, low in zip(ceiling.scores, met.scores, strict=True)]
    apart: Mean = team_mean([max(0.0, gap) for gap in below])
    limit = f"<= {BELOW_PRIOR:g}"
    item, what = "Equalise, all attacks here", "prior only - s_T"
    ok = apart.value <= BELOW_PRIOR
    return (item, what, limit, apart.value, apart.low, apart.high, met.label, ok)


def _symbol(kind: Kind) -> str:
    return {"reid": "s_R", "trace": "s_T"}[kind]
