"""What all synthesizers share: fit to training records, then make traces of virtual users.

Every virtual user has a random stream of her own, so blocks and threads never change a trace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.engine import map_blocks, thread_count
from tracecup.errors import InvalidParameter
from tracecup.records import Timetable
from tracecup.registry import Method
from tracecup.rng import Rng
from tracecup.streams import stream_key
from tracecup.synth.training import Training
from tracecup.traces import Traces

Progress = Callable[[int, int, float], None]
"""Called with (steps done, steps in all, seconds left)."""


@dataclass(frozen=True, eq=False)
class Walk:
    """One order for traces: virtual users `first_user`, ..., `days` days, `instants` instants in
    each of the day's slots, of which those marked in `kept` are written; the key of the streams.
    """

    first_user: int
    days: int
    instants: int
    kept: NDArray[np.bool_]
    key: tuple[np.uint64, np.uint64]


class Model(ABC):
    """A fitted synthesizer."""

    @property
    @abstractmethod
    def day(self) -> Timetable:
        """The shape of the days it makes."""

    @property
    @abstractmethod
    def n_locations(self) -> int:
        """Number of locations, N."""

    @property
    def n_users(self) -> int | None:
        """How many virtual users there are; None where as many as one likes."""
        return None

    @abstractmethod
    def walk(self, order: Walk, low: int, high: int, out: NDArray[np.int32]) -> None:
        """Write the traces of virtual users first_user + low .. first_user + high - 1 of the
        order into out[low:high], shape (users, days, kept instants).
        """

    def sample(
        self,
        n_users: int | None = None,
        days: int = 1,
        rng: Rng = None,
        *,
        instants: int = 1,
        pick: Sequence[int] | None = None,
        first_user: int = 0,
        executor: Executor | None = None,
    ) -> Traces:
        """Traces of `n_users` virtual users, each day independent given the user.

        A day has `instants` instants in each slot; `pick` keeps some of the day's instants
        (their numbers, ascending). The trace of a virtual user depends on the seed and on her
        number only: `first_user` makes a part of a larger order, the same as if made whole.
        """
        most = self.n_users
        if n_users is None:
            if most is None:
                raise InvalidParameter("the number of virtual users must be given")
            n_users = most - first_user
        if n_users < 1 or first_user < 0 or (most is not None and first_user + n_users > most):
            rule = "at least 1" if most is None else f"within the {most} there are"
            raise InvalidParameter(
                f"virtual users must be {rule}, got {n_users} from number {first_user} on"
            )
        clock = self.day.divided(instants).clock(days)
        kept = np.ones(clock.slots, dtype=np.bool_)
        if pick is not None:
            clock = clock.take_slots(pick)
            kept[:] = False
            kept[list(pick)] = True
        out = np.empty((n_users, days, clock.slots), dtype=np.int32)
        order = Walk(first_user, days, instants, kept, stream_key(rng))
        map_blocks(
            lambda low, high: self.walk(order, low, high, out),
            n_users,
            blocks=4 * thread_count(),
            executor=executor,
        )
        ids = np.arange(first_user + 1, first_user + n_users + 1)
        return Traces(out.reshape(n_users, -1), ids, clock)


class Synthesizer(Method):
    """Base of every synthesizer: a named method that turns training records into a `Model`."""

    def fit(
        self, training: Training, *, rng: Rng = None, progress: Progress | None = None
    ) -> Model:
        """Learn from `training`; the same seed gives the same model."""
        raise NotImplementedError
