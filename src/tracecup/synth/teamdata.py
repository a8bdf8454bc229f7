"""The data of a contest: for every team, reference and original traces of its own virtual users.

Each team's seed is a one-way child of the contest's, so one team's data tell nothing of another's.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from tracecup.city.clock import MINUTES_A_DAY
from tracecup.errors import InvalidParameter
from tracecup.jobs import done_as_they_come
from tracecup.records import Timetable
from tracecup.rng import child_seed
from tracecup.synth.base import Model
from tracecup.synth.ppmtf import PPMTFPlus
from tracecup.traces import Traces

# The generator of the 2019 contest: 32 factors, masks, homes from the user's own first slot.
CONTEST_SYNTHESIZER = PPMTFPlus(z=32, masks=True, home="own")


@dataclass(frozen=True)
class ContestShape:
    """How much data a team gets: users, days, and the times of day that are kept.

    A day of the model is walked in steps of `step` minutes; kept are `slots` instants every
    `interval` minutes from minute `start` on (8:00 to 17:30 by default).
    """

    n_users: int = 2000
    reference_days: int = 20
    original_days: int = 20
    slots: int = 20
    start: int = 8 * 60
    interval: int = 30
    step: int = 5

    def __post_init__(self) -> None:
        for name in ("n_users", "reference_days", "original_days", "slots", "interval", "step"):
            if getattr(self, name) < 1:
                raise InvalidParameter(
                    f"ContestShape.{name} must be >= 1, got {getattr(self, name)}"
                )
        if not 0 <= self.start < MINUTES_A_DAY:
            raise InvalidParameter(
                f"ContestShape.start must be a minute of the day, got {self.start}"
            )

    def instants(self, day: Timetable) -> int:
        """Instants in each slot of the model's day."""
        if day.slot_minutes % self.step:
            raise InvalidParameter(
                f"slots of {day.slot_minutes} minutes cannot be walked in steps of {self.step}"
            )
        return day.slot_minutes // self.step

    def pick(self, day: Timetable) -> list[int]:
        """Which instants of the model's day are kept.

        >>> ContestShape().pick(Timetable(360, 60, 12, 12))[:3]
        [24, 30, 36]
        """
        minutes = [self.start + self.interval * k - day.start for k in range(self.slots)]
        end = day.slots * day.slot_minutes
        if minutes[0] < 0 or minutes[-1] >= end:
            raise InvalidParameter(
                f"times from minute {self.start} to {minutes[-1] + day.start} are not within the "
                f"model's day, minute {day.start} to {day.start + end}"
            )
        if any(minute % self.step for minute in minutes):
            raise InvalidParameter(
                f"times every {self.interval} minutes from minute {self.start} do not fall on "
                f"steps of {self.step} minutes from minute {day.start}"
            )
        return [minute // self.step for minute in minutes]


@dataclass(frozen=True, eq=False)
class TeamData:
    """What one team receives: its number, reference traces, then original traces."""

    team: int
    reference: Traces
    original: Traces


def team_data(model: Model, seed: int, team: int, shape: ContestShape | None = None) -> TeamData:
    """The data of one team, the same whenever and wherever they are made.

    Reference days come first, original days after them, both of the same virtual users, whom no
    other team has. Anybody who knows `seed` can make every team's data: in a contest that is
    played for something, take 128 bits from `secrets` and keep them.
    """
    shape = shape or ContestShape()
    if model.n_users is not None:
        raise InvalidParameter(
            f"this synthesizer has {model.n_users} virtual users for everybody; teams need one "
            "that draws fresh users, such as PPMTF+"
        )
    days = shape.reference_days + shape.original_days
    traces = model.sample(
        shape.n_users,
        days,
        child_seed(seed, "team", team),
        instants=shape.instants(model.day),
        pick=shape.pick(model.day),
    )
    return TeamData(
        team,
        traces.take_days(0, shape.reference_days),
        traces.take_days(shape.reference_days, days),
    )


def contest_data(
    model: Model,
    seed: int,
    teams: int,
    shape: ContestShape | None = None,
    executor: Executor | None = None,
) -> Iterator[TeamData]:
    """The data of teams 1..teams, one after the other; from an `executor` as they are finished."""
    every = range(1, teams + 1)
    if executor is None:
        return (team_data(model, seed, team, shape) for team in every)
    calls = ((team, partial(team_data, model, seed, team, shape)) for team in every)
    return (future.result() for _, future in done_as_they_come(executor, calls))
