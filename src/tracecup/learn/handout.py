"""Parts of a race that do not wait for each other, handed to an engine's workers.

Sums of floating-point numbers depend on the device: a worker that has another one refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple, TypeVar

import jax

from tracecup.engine import cores
from tracecup.errors import InvalidParameter
from tracecup.jobs import all_done

R = TypeVar("R")


class Place(NamedTuple):
    """What the last digits of a network's sums depend on; cores where the device is a CPU."""

    jax: str
    platform: str
    kind: str
    cores: int

    @classmethod
    def here(cls) -> Place:
        """The place of this process."""
        device = jax.devices()[0]
        count = cores() if device.platform == "cpu" else 0
        return cls(jax.__version__, device.platform, device.device_kind, count)


def handed_out(
    executor: Executor | None,
    calls: Sequence[Callable[[], R]],
    progress: Callable[[float, float], None] | None = None,
) -> list[R]:
    """The results of all calls, in order: here, or by workers whose device is the same."""
    if executor is None:
        return all_done(None, calls, progress)
    here = Place.here()
    return all_done(executor, [partial(_at, here, call) for call in calls], progress)


def _at(place: Place, call: Callable[[], R]) -> R:
    here = Place.here()
    if here != place:
        raise InvalidParameter(
            f"a worker computes on {' '.join(map(str, here))}, the race on "
            f"{' '.join(map(str, place))}; results could differ: take workers of one kind"
        )
    return call()
