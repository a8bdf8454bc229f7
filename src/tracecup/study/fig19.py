"""Figure 19: how likely people are at home, by time of day.

The home of a virtual user is where she is in almost every first hour.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tracecup.study.context import TOKYO_REFERENCES, Context
from tracecup.study.reproduce import study
from tracecup.study.results import (
    BUILT_IN,
    PEOPLE_FLOW_ATTRIBUTION,
    Comparison,
    Source,
    StudyResult,
    Table,
)
from tracecup.traces import Traces

DAYS, QUICK_DAYS = 20, 5
INSTANTS = 12
HOME_HOURS = 2
CONTEST_START = 8 * 60
NEAR = 0.1


@study(
    "fig19",
    "Probability of being at home",
    "Figure 19",
    "Virtual users are at home from 6:00 to 8:00 almost surely and in the evening again with high "
    "probability, which is why the contest leaves the first two hours out.",
    needs=("built-in",),
)
def run(context: Context) -> StudyResult:
    """Share of users in their home region at every five minutes from 6:00 to 18:00."""
    model, days = context.world.model, QUICK_DAYS if context.quick else DAYS
    seed = context.seed_of("fig19")
    traces = model.sample(context.users, days, seed, instants=INSTANTS)
    first = HOME_HOURS * 60 // (traces.clock.minutes[1] - traces.clock.minutes[0])
    share = _at_home(traces, homes(traces, first))
    rows = list(zip(traces.clock.minutes, share.tolist(), strict=True))
    table = Table.of(("minute", "probability"), rows)
    early = [p for minute, p in rows if minute < CONTEST_START]
    noon = [p for minute, p in rows if 12 * 60 <= minute < 13 * 60]
    tables = {"home": table, "contest": _contest(context)}
    others = tables["contest"].columns[2:]
    source = Source(f"{BUILT_IN.label}; right: also PWS Cup 2019 traces", PEOPLE_FLOW_ATTRIBUTION)
    return StudyResult(
        source if others else BUILT_IN,
        tables,
        {
            "at home before 8:00": float(np.mean(early)),
            "at home 12:00 to 13:00": float(np.mean(noon)),
            "at home at the last instant": rows[-1][1],
        },
        (
            Comparison(
                "at home before 8:00",
                1.0,
                float(np.mean(early)),
                0.9,
                1.0,
                "the paper: almost all; band: at least 0.9",
            ),
            *_beside(tables["contest"]),
        ),
        {"users": context.users, "days": days, "instants a day": len(rows)},
        (
            "The curve of the paper is a picture without numbers. What teams saw can be compared: "
            "of users who are in the same region at 8:00 of two days, the share who are there at "
            "each later time of those days.",
            "The text says that users are at home in the evening with high probability too. Before "
            "18:00 that is not to be seen: not in the built-in city, and not in the contest's own "
            "traces, whose users are back in the region of 8:00 as rarely.",
        ),
    )


def _contest(context: Context) -> Table:
    """The same estimate on all traces that are there: 8:00 to 17:30, two days each."""
    columns = {"built-in city": seen_at_home(context.stages["long"].reference.take_days(0, 2))}
    if context.has("sample"):
        columns["Osaka sample"] = seen_at_home(context.sample_team().reference)
    if context.has("tokyo"):
        held = [seen_at_home(context.tokyo_reference(label)) for label in TOKYO_REFERENCES]
        columns["Tokyo, preliminary"] = np.mean(held, axis=0)
    minutes = context.stages["long"].reference.clock.minutes
    return Table.of(("minute", *columns), zip(minutes, *columns.values(), strict=True))


def _beside(table: Table) -> Iterator[Comparison]:
    for name in table.columns[2:]:
        for minute, words in ((8 * 60 + 30, "8:30"), (17 * 60 + 30, "17:30")):
            row = table.row(minute=minute)
            yield Comparison(
                f"share back at the region of 8:00 at {words}, {name} beside built-in city",
                row[name],
                row["built-in city"],
                row[name] - NEAR,
                row[name] + NEAR,
                "the contest's own traces; band: within 0.1",
            )


def seen_at_home(traces: Traces) -> NDArray[np.float64]:
    """Of users with the same first region on both days: the share there, by slot (1 at first)."""
    days = traces.regions.reshape(traces.n_users, traces.clock.days, traces.clock.slots)[:, :2]
    steady = days[days[:, 0, 0] == days[:, 1, 0]]
    if not len(steady):
        return np.full(traces.clock.slots, np.nan)
    return np.asarray((steady == steady[:, :1, :1]).mean(axis=(0, 1)))


def homes(traces: Traces, first: int) -> NDArray[np.int32]:
    """The region each user is in most often during the first `first` slots of all days."""
    slots = traces.take_slots(list(range(first))).regions
    return np.array([np.bincount(row).argmax() for row in slots], dtype=np.int32)


def _at_home(traces: Traces, home: NDArray[np.int32]) -> NDArray[np.float64]:
    """Share of users and days at home, by slot."""
    days = traces.regions.reshape(traces.n_users, traces.clock.days, traces.clock.slots)
    return np.asarray((days == home[:, None, None]).mean(axis=(0, 1)))
