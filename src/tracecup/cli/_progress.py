"""Progress of long work: a bar on a terminal, nothing in a pipe unless lines are asked for.

`TRACECUP_PROGRESS=60` asks for a line every 60 seconds, with what is left of the time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PROGRESS_AFTER_SECONDS = 2.0
PROGRESS_VARIABLE = "TRACECUP_PROGRESS"


@contextmanager
def progress(text: str) -> Iterator[Any]:
    """A progress bar on stderr for long work; silent when stderr is not a terminal.

    Yields a function `advance(done, total)`; the bar appears after two seconds. In a pipe the
    variable TRACECUP_PROGRESS asks for a line every so many seconds.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    started, task, running = time.monotonic(), bar.add_task(text, total=None), False
    line = Lines(console)

    def advance(done: float, total: float) -> None:
        nonlocal running
        line.tell(text, done, total)
        if not running and time.monotonic() - started > PROGRESS_AFTER_SECONDS:
            bar.start()
            running = True
        bar.update(task, completed=done, total=total)

    try:
        yield advance
    finally:
        if running:
            bar.stop()


class Lines:
    """A line every so many seconds where stderr is no terminal and TRACECUP_PROGRESS asks for it.

    What is left is reckoned by the pace since a text was first told with a total: what an
    interrupted run had finished before does not count.
    """

    def __init__(self, console: Console) -> None:
        self._console, self._every = console, None if console.is_terminal else _line_every()
        self._begun = self._told = time.monotonic()
        self._about, self._first = ("", 0.0), (0.0, 0.0)

    def tell(self, text: str, done: float, total: float) -> None:
        """Print how far `text` is, if it is time to."""
        if self._every is None:
            return
        now = time.monotonic()
        if (text, total) != self._about:
            self._about, self._first = (text, total), (now, done)
        if now - self._told < self._every:
            return
        self._told = now
        share = f"{done / total:.0%}" if total else "begun"
        since, before = self._first
        left = ""
        if done > before:
            left = f", about {_spelled((now - since) * (total - done) / (done - before))} left"
        self._console.print(
            f"{text}: {share} after {now - self._begun:.0f} s{left}", soft_wrap=True
        )


def _spelled(seconds: float) -> str:
    """Seconds, from two minutes on minutes, from two hours on hours.

    >>> _spelled(119), _spelled(600), _spelled(9000)
    ('119 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _line_every() -> float | None:
    """The seconds between two lines of progress in a pipe; None for no lines."""
    from tracecup.errors import InvalidParameter

    asked = os.environ.get(PROGRESS_VARIABLE, "")
    if not asked:
        return None
    try:
        return max(0.0, float(asked))
    except ValueError:
        raise InvalidParameter(
            f"{PROGRESS_VARIABLE} is a number of seconds, got {asked[:40]!r}"
        ) from None
