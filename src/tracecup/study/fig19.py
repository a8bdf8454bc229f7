"""Figure 19: how likely people are at home, by time of day.

The home of a virtual user is where she is in almost every first hour.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, Comparison, StudyResult, Table
from tracecup.traces import Traces

DAYS, QUICK_DAYS = 20, 5
INSTANTS = 12
HOME_HOURS = 2
CONTEST_START = 8 * 60


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
    return StudyResult(
        BUILT_IN,
        {"home": table},
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
        ),
        {"users": context.users, "days": days, "instants a day": len(rows)},
        ("The curve of the paper is a picture without numbers.",),
    )


def homes(traces: Traces, first: int) -> NDArray[np.int32]:
    """The region each user is in most often during the first `first` slots of all days."""
    slots = traces.take_slots(list(range(first))).regions
    return np.array([np.bincount(row).argmax() for row in slots], dtype=np.int32)


def _at_home(traces: Traces, home: NDArray[np.int32]) -> NDArray[np.float64]:
    """Share of users and days at home, by slot."""
    days = traces.regions.reshape(traces.n_users, traces.clock.days, traces.clock.slots)
    return np.asarray((days == home[:, None, None]).mean(axis=(0, 1)))
