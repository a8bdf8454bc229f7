"""Metropolis: the built-in city and its inhabitants, generated from a seed.

The default training data of tracecup: offline, deterministic and free of licence questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Clock
from tracecup.datasets.destinations import Ground
from tracecup.datasets.inhabitantdays import HABITS, simulate
from tracecup.datasets.inhabitants import SHARES, Inhabitants, settle
from tracecup.datasets.townplan import (
    HOSPITAL_SHARE,
    REGION_HEIGHT_M,
    REGION_WIDTH_M,
    Townplan,
    make_townplan,
)
from tracecup.datasets.travelling import Window
from tracecup.engine import map_blocks
from tracecup.errors import InvalidParameter
from tracecup.records import Records, Timetable
from tracecup.rng import child_seed
from tracecup.streams import stream_key
from tracecup.traces import Traces

MINUTES_A_DAY = 24 * 60
DAYS_A_WEEK, WORKDAYS = 7, 5
MAX_CELLS = 2**31
# Monday, 5 January 1970, 0:00 by the clock of the city: the first day of every record.
FIRST_MONDAY = 4 * 86_400


@dataclass(frozen=True)
class Metropolis:
    """A generated city with `n_inhabitants` people who live in it day by day.

    The city (`city`, `plan`): nx x ny regions of the contest's size with a bay, districts
    (business, shopping, nightlife, campus, industry, old town, residential, park), railway
    stations, hospital regions (37 of 1024), places with categories, and densities of homes,
    jobs and schools.

    The people (`inhabitants`): desk workers, students, field workers, people at home and
    visitors, with homes, workplaces chosen by gravity, personal ranges and hours. A day is
    simulated minute by minute: ways to work on foot, by street or by train; lunch near work;
    business trips; stops of field workers; errands and evenings whose goals come from
    exploration and preferential return; nights at home. Days 5 and 6 of each week are free.

    Assumptions, all of them simplifications: people do not interact; nobody sleeps away from
    home or leaves the box; ways are straight lines between regions and stations; who is not
    back at midnight is put at home; positions carry no measurement error.

    Everything follows from `seed`, whatever the number of threads; fewer days give the
    beginning of more days. About 20 microseconds per person and day.

    >>> town = Metropolis(n_inhabitants=20, nx=8, ny=8, seed=7)
    >>> town.traces(days=2, interval=60).shape
    (20, 48)
    """

    n_inhabitants: int = 10_000
    nx: int = 32
    ny: int = 32
    seed: int = 0
    region_width_m: float = REGION_WIDTH_M
    region_height_m: float = REGION_HEIGHT_M
    hospital_share: float = HOSPITAL_SHARE
    shares: tuple[float, ...] = SHARES
    warm_up: int = 30

    @cached_property
    def plan(self) -> Townplan:
        """The plan of the city; made on first use."""
        return make_townplan(
            self.nx,
            self.ny,
            region_width_m=self.region_width_m,
            region_height_m=self.region_height_m,
            hospital_share=self.hospital_share,
            rng=child_seed(self.seed, "city"),
        )

    @property
    def city(self) -> City:
        """Grid, hospital regions and places."""
        return self.plan.city

    @cached_property
    def inhabitants(self) -> Inhabitants:
        """The people and their habits; made on first use."""
        return settle(
            self.plan,
            self.n_inhabitants,
            shares=self.shares,
            rng=child_seed(self.seed, "inhabitants"),
        )

    def traces(
        self, days: int = 1, start: int = 0, interval: int = 30, slots: int | None = None
    ) -> Traces:
        """Where everybody is at `slots` instants a day, `interval` minutes apart from `start`.

        `slots` defaults to what fits until midnight. The same person is at the same place at
        the same minute whatever the resolution.
        """
        window = self._window(start, interval, slots)
        cells = self.n_inhabitants * days * window.instants
        if days < 1 or cells > MAX_CELLS:
            raise InvalidParameter(
                f"days must be >= 1 and give at most {MAX_CELLS} cells, got {days} days, "
                f"{cells} cells"
            )
        if self.warm_up < 0:
            raise InvalidParameter(f"warm_up must be >= 0, got {self.warm_up}")
        habits = np.stack(
            [np.asarray(getattr(self.inhabitants, name), dtype=float) for name in HABITS], axis=1
        )
        ground = self._ground()
        workdays = np.arange(days) % DAYS_A_WEEK < WORKDAYS
        key0, key1 = stream_key(child_seed(self.seed, "days"))
        regions = np.empty((self.n_inhabitants, days * window.instants), dtype=np.int32)

        def work(low: int, high: int) -> None:
            simulate(
                key0,
                key1,
                low,
                self.warm_up,
                workdays,
                habits[low:high],
                ground,
                window,
                regions[low:high],
            )

        map_blocks(work, self.n_inhabitants)
        return Traces.of(regions, Clock.regular(days, window.instants, start, interval))

    def records(
        self,
        days: int = 3,
        start: int = 6 * 60,
        end: int = 18 * 60,
        interval: int = 5,
        slots: int = 12,
    ) -> Records:
        """Training records: every person's region every `interval` minutes of every day.

        The defaults are the contest's: 6:00 to 18:00, 12 slots of an hour, 12 instants of five
        minutes each, and three days of each person (see the guide for why three).
        """
        if not 0 <= start < end <= MINUTES_A_DAY or interval < 1 or (end - start) % interval:
            raise InvalidParameter(
                f"records need 0 <= start < end <= {MINUTES_A_DAY} and an interval that divides "
                f"end - start, got {start}, {end}, {interval}"
            )
        instants = (end - start) // interval
        timetable = Timetable(start, interval, instants, slots)
        traces = self.traces(days, start, interval, instants)
        return Records.of_traces(traces, self.city.n_regions, timetable, FIRST_MONDAY)

    def _window(self, start: int, interval: int, slots: int | None) -> Window:
        if not 0 <= start < MINUTES_A_DAY or interval < 1:
            raise InvalidParameter(
                f"start must be a minute of the day and interval >= 1, got {start}, {interval}"
            )
        fits = (MINUTES_A_DAY - 1 - start) // interval + 1
        if slots is not None and not 1 <= slots <= fits:
            raise InvalidParameter(f"slots must be within 1..{fits}, got {slots}")
        return Window(start, interval, slots or fits)

    def _ground(self) -> Ground:
        grid, attraction = self.city.grid, self.plan.attraction
        cumulative: NDArray[np.float64] = np.cumsum(attraction, axis=1)
        return Ground(
            attraction,
            cumulative,
            self.plan.station_of,
            grid.nx,
            grid.ny,
            grid.km_x,
            grid.km_y,
        )
