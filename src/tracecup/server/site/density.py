"""How many people are where in a contest's city, for its map.

From the sample teams' reference traces once they are out; before that a generated city knows
where its homes and workplaces are, and a city from a file has nothing to tell.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tracecup.datasets import Metropolis
from tracecup.server import clock
from tracecup.server.models import Contest, Round, StoredFile
from tracecup.server.storage import store
from tracecup.traces.files import read_traces

SAMPLES = (901, 902)


def density_of(contest: Contest, round: Round | None, regions: int) -> tuple[float, ...] | None:
    """People per region, in the mean over the times; None where nothing is known."""
    seen = StoredFile.objects.filter(
        round=round,
        contest=contest,
        kind="reftraces",
        entry_team__in=SAMPLES,
        audience="all",
        visible_from__lte=clock.contest_now(contest),
    )
    first = seen.order_by("name").first() if round else None
    if first is not None and store().has(first.sha256):
        return _counted(first.sha256, regions)
    return _planned() if contest.rules.city.builtin else None


@lru_cache(maxsize=16)
def _counted(sha256: str, regions: int) -> tuple[float, ...]:
    traces = read_traces(store().checked(sha256), "reference", n_regions=regions, gaps=True)
    places = traces.regions[traces.regions >= 0]
    return _told(np.bincount(places, minlength=regions) / traces.regions.shape[1])


@lru_cache(maxsize=1)
def _planned() -> tuple[float, ...]:
    plan = Metropolis().plan
    return _told(1000 * (plan.homes + plan.jobs) / 2)


def _told(counts: np.ndarray) -> tuple[float, ...]:
    return tuple(float(one) for one in np.round(counts, 3))
