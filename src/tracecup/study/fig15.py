"""Figure 15: how long people stay at a place, as a distribution of visit fractions.

The paper's example in numbers of our own, and two places of the built-in city.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.datasets import Metropolis
from tracecup.datasets.townplan import PURPOSES
from tracecup.records import Records
from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, MOST, WORKED, Comparison, StudyResult, Table
from tracecup.traces import Traces
from tracecup.usefulness import visit_fractions

BINS = 5
# Five people, ten times each: o in the office x1, b in the bar x2, a dot elsewhere.
EXAMPLE = ("..ooooooob", ".ooooooobb", "oooooo..b.", "...oo...bb", "..o.....bb")
OFFICE, BAR, ELSEWHERE = "ob."
PEOPLE, QUICK_PEOPLE = 10_000, 1000
DAYS = 14


@dataclass(frozen=True, eq=False)
class Seen:
    """Where people who are not at home are, hour by hour (-1 at home), and two places."""

    traces: Traces
    places: dict[str, int]
    n_regions: int


@study(
    "fig15",
    "Visit fractions of two places",
    "Figure 15",
    "For every place the share of their time that visitors spend there makes a distribution: "
    "people tend to stay longer in an office than in a bar.",
)
def run(context: Context) -> StudyResult:
    """The example with bins of 0.2, and an office and an evening region of the built-in city."""
    seen = built_in(QUICK_PEOPLE if context.quick else PEOPLE)
    example, city = _example(), _city(seen)
    stay = {name: _mean_fraction(seen.traces.regions, at) for name, at in seen.places.items()}
    tables = {
        "traces": Table.of(("user", "places"), enumerate(EXAMPLE, start=1)),
        "example": example,
        "city": city,
        "hours": _by_hour(seen),
    }
    return StudyResult(
        BUILT_IN,
        tables,
        {f"mean visit fraction, {name}": value for name, value in stay.items()},
        (
            Comparison(
                "mean visit fraction of the office over that of the bar (built-in city)",
                math.nan,
                stay["office"] / stay["bar"],
                1.0,
                MOST,
                "the paper: people tend to stay in the office longer; band: more than 1",
            ),
        ),
        {"people": seen.traces.n_users, "days": DAYS, "regions": seen.n_regions},
        (
            "The paper's figure is a drawn example without numbers; the traces of ours are made "
            "up. A region of the built-in city also has other uses than its main one: most who "
            "come to the office region only pass through or visit.",
        ),
        {"traces": WORKED, "example": WORKED},
    )


def built_in(people: int) -> Seen:
    """Two weeks of the built-in city; office: the region with most jobs; bar: the one that draws
    most people in the evening for the jobs it has.
    """
    town = Metropolis(people)
    traces = town.traces(DAYS, 0, 60, 24)
    home = town.inhabitants.home[:, None]
    away = np.where(traces.regions == home, -1, traces.regions).astype(np.int32)
    plan = town.plan
    evening = plan.attraction[PURPOSES.index("evening")]
    jobs = plan.jobs / plan.jobs.max()
    places = {"office": int(jobs.argmax()), "bar": int((evening / (jobs + 0.02)).argmax())}
    return Seen(Traces(away, traces.users, traces.clock), places, town.city.n_regions)


def _example() -> Table:
    cells = [[(OFFICE + BAR + ELSEWHERE).index(letter) for letter in row] for row in EXAMPLE]
    found = visit_fractions(Records.of_traces(Traces.of(cells), 3), BINS)[0]
    return _distribution({"office": found[0], "bar": found[1]})


def _city(seen: Seen) -> Table:
    found = visit_fractions(Records.of_traces(seen.traces, seen.n_regions), BINS)[0]
    return _distribution({name: found[at] for name, at in seen.places.items()})


def _distribution(users: dict[str, NDArray[np.int64]]) -> Table:
    """Share of the visitors in every bin, one column a place."""
    edges = [(k / BINS, (k + 1) / BINS) for k in range(BINS)]
    shares = [counts / max(1, int(counts.sum())) for counts in users.values()]
    rows = [(*edge, *row) for edge, row in zip(edges, np.transpose(shares).tolist(), strict=True)]
    return Table.of(("above", "up to", *users), rows)


def _mean_fraction(regions: NDArray[np.int32], place: int) -> float:
    """Mean over those who ever come: the share of their hours away from home spent there."""
    here = (regions == place).sum(axis=1)
    came = here > 0
    return float((here[came] / (regions[came] >= 0).sum(axis=1)).mean())


def _by_hour(seen: Seen) -> Table:
    """Visitors present at every hour, as a share of all the hours visitors spend there."""
    clock = seen.traces.clock
    days = seen.traces.regions.reshape(-1, clock.days, clock.slots)
    columns = []
    for place in seen.places.values():
        present = (days == place).sum(axis=(0, 1))
        columns.append(present / present.sum())
    return Table.of(("hour", *seen.places), zip(range(clock.slots), *columns, strict=True))
