"""Progress of long work: a bar in a terminal, a bar in a notebook, nothing where nobody looks.

A function of your own can take its place.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

AFTER_SECONDS = 1.0
EVERY_SECONDS = 0.25

Progress = Callable[[float, float], None]
"""Called with (steps done, steps in all)."""
Advance = Callable[[float, str], None]


@contextmanager
def progress_bar(wanted: bool | Progress, text: str, total: float) -> Iterator[Advance]:
    """Yields `advance(steps, label)`; the bar appears after a second and goes away at the end.

    >>> told = []
    >>> with progress_bar(lambda done, all_: told.append((done, all_)), "work", 2) as advance:
    ...     advance(1, "half")
    >>> told
    [(1, 2)]
    """
    show, close = _shower(wanted, text)
    done, started, last = 0.0, time.monotonic(), 0.0

    def advance(steps: float, label: str = "") -> None:
        nonlocal done, last
        done += steps
        now = time.monotonic()
        if callable(wanted):
            wanted(done if done % 1 else int(done), total)
        elif show and now - started > AFTER_SECONDS and now - last > EVERY_SECONDS:
            last = now
            show(done / total if total else 1.0, label)

    try:
        yield advance
    finally:
        close()


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and hasattr(found, "kernel")


def _shower(wanted: Any, text: str) -> tuple[Any, Callable[[], None]]:
    if wanted is not True:
        return None, lambda: None
    if in_notebook():
        return _in_notebook(text)
    return _in_terminal(text) if sys.stderr.isatty() else (None, lambda: None)


def _in_terminal(text: str) -> tuple[Callable[[float, str], None], Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[label]}"),
        console=Console(stderr=True, highlight=False),
        transient=True,
    )
    task = bar.add_task(text, total=1.0, label="")

    def show(share: float, label: str) -> None:
        bar.start()
        bar.update(task, completed=share, label=label)

    return show, bar.stop


def _in_notebook(text: str) -> tuple[Callable[[float, str], None], Callable[[], None]]:
    display: Any = importlib.import_module("IPython.display")
    handles: list[Any] = []

    def show(share: float, label: str) -> None:
        said = f"{text} {share:.0%} {label}"
        html = display.HTML(f"<progress value='{share:.4f}' max='1'></progress> {escape(said)}")
        if handles:
            handles[0].update(html)
        else:
            handles.append(display.display(html, display_id=True))

    def close() -> None:
        if handles:
            handles[0].update(display.HTML(""))

    return show, close
