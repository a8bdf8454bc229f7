"""What must not matter and what must not change: threads, global random numbers, inputs.

A method that reads or writes any of these would give results that nobody can repeat.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tracecup.attack import Case
from tracecup.checks.result import demand
from tracecup.city import City
from tracecup.errors import InvalidParameter
from tracecup.synth import Training
from tracecup.traces import IdTable, SetTraces, Traces

SEED = 11
THREADS = "TRACECUP_THREADS"

T = TypeVar("T")
Input = City | Traces | SetTraces | Training


@contextmanager
def surroundings(threads: int) -> Iterator[None]:
    """Run with so many threads and with global random states that depend on that number."""
    before = os.environ.get(THREADS)
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 - the state to shield from
    os.environ[THREADS] = str(threads)
    random.seed(threads)
    np.random.seed(threads)  # noqa: NPY002 - the state to shield from
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002 - the state to shield from
        if before is None:
            del os.environ[THREADS]
        else:
            os.environ[THREADS] = before


def demand_same_bytes(work: Callable[[int], Any]) -> None:
    """`work(seed)` gives the same answer again, on one thread and on two."""
    answers = []
    for threads in (1, 1, 2):
        with surroundings(threads):
            answers.append(_bytes(work(SEED)))
    advice = "draw everything from generator(rng)"
    demand(answers[0] == answers[1], f"the same seed gave another answer: {advice}")
    demand(
        answers[1] == answers[2],
        f"with two threads (or other global random numbers) the answer was another one: {advice} "
        "before work is cut into blocks",
    )


def demand_any_rng(work: Callable[[int | np.random.Generator | None], Any]) -> None:
    """`work` takes a seed, nothing, or a generator, which it may refuse in words (replays do)."""
    work(SEED)
    work(None)
    with suppress(InvalidParameter):
        work(np.random.default_rng(SEED))


def demand_untouched(work: Callable[[], Any], *inputs: Input) -> None:
    """`work()` leaves the content of all inputs as it was."""
    before = [_content(given) for given in inputs]
    work()
    for given, old in zip(inputs, before, strict=True):
        for name, array in _arrays(given):
            demand(
                array.tobytes() == old[name],
                f"{type(given).__name__}.{name} that was handed in has been changed: work on a "
                "copy, np.array(...)",
            )


def _content(given: Input) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in _arrays(given)}


def _arrays(given: Input) -> list[tuple[str, NDArray[Any]]]:
    if isinstance(given, City):
        return [("is_hospital", given.is_hospital), ("grid.offset_km", given.grid.offset_km)]
    if isinstance(given, Training):
        names = ("user", "location", "instant", "follows")
        return [(name, getattr(given, name)) for name in names]
    arrays: list[tuple[str, NDArray[Any]]] = [("regions", given.regions), ("users", given.users)]
    return [*arrays, ("offsets", given.offsets)] if isinstance(given, SetTraces) else arrays


def _bytes(answer: object) -> tuple[bytes, ...]:
    """An answer down to its last bit."""
    if isinstance(answer, tuple):
        return tuple(part for item in answer for part in _bytes(item))
    if isinstance(answer, Traces | SetTraces):
        return tuple(array.tobytes() for _, array in _arrays(answer))
    return (np.asarray(answer.users if isinstance(answer, IdTable) else answer).tobytes(),)


def inputs_of(case: Case) -> tuple[Input, ...]:
    """The parts of a case."""
    return case.city, case.reference, case.released
