"""Progress of long work: a bar on a terminal, nothing in a pipe unless lines are asked for.

`TRACECUP_PROGRESS=60` asks for a line every 60 seconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PROGRESS_AFTER_SECONDS = 2.0
PROGRESS_VARIABLE = "TRACECUP_PROGRESS"


@contextmanager
def progress(text: str) -> Iterator[Any]:
    """A progress bar on stderr for long work; silent when stderr is not a terminal.

    Yields a function `advance(done, total)`; the bar appears after two seconds. In a pipe the
    variable TRACECUP_PROGRESS asks for a line every so many seconds.
    """
    import time

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
    every = None if console.is_terminal else _line_every()
    told = started

    def advance(done: float, total: float) -> None:
        nonlocal running, told
        if every is not None and time.monotonic() - told >= every:
            told = time.monotonic()
            share = f"{done / total:.0%}" if total else "begun"
            console.print(f"{text}: {share} after {told - started:.0f} s", soft_wrap=True)
        if not running and time.monotonic() - started > PROGRESS_AFTER_SECONDS:
            bar.start()
            running = True
        bar.update(task, completed=done, total=total)

    try:
        yield advance
    finally:
        if running:
            bar.stop()


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
