"""What the verbs share: options that mean the same everywhere, output, progress.

`--json` prints one object on stdout and nothing else; progress and warnings go to stderr.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tracecup.cli._fitting import print_tables
from tracecup.cli._progress import progress as progress  # noqa: PLC0414 - what verbs share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tracecup.city import City, Clock, ContestClock
    from tracecup.datasets import Box
    from tracecup.errors import InvalidFile
    from tracecup.records import Timetable
    from tracecup.score import Score
    from tracecup.traces import Traces

TimetableName = Literal["contest", "people-flow", "check-ins"]
NamedTimetable = Annotated[
    TimetableName,
    typer.Option(
        "--timetable",
        help="contest: 6:00 to 18:00 every 5 minutes, slots of an hour. people-flow: 30 slots of "
        "20 minutes from 9:00, all records of a user one day. check-ins: hours, slots of two.",
    ),
]
Start = Annotated[
    str | None, typer.Option("--start", help="Begin of the day, if not the timetable's.")
]
End = Annotated[
    str | None,
    typer.Option("--end", help="End of the day; before --start it is on the next day."),
]
Interval = Annotated[
    int | None, typer.Option("--interval", min=1, help="Minutes from one event to the next.")
]
SlotMinutes = Annotated[
    int | None, typer.Option("--slot-minutes", min=1, help="Minutes in a slot of the model.")
]
GridSize = Annotated[
    str | None,
    typer.Option("--grid", help="Columns x rows of the grid whose cells are the places."),
]
CellsFile = Annotated[
    Path | None,
    typer.Option(
        "--cells",
        help="For places that are not the cells of a grid: columns poi_index, x_id, y_id.",
    ),
]

CityFile = Annotated[
    Path, typer.Option("--city", help="Regions of the city: info_region.csv.", show_default=False)
]
ClockFile = Annotated[
    Path | None, typer.Option("--clock", help="Times of the contest: info_time.csv.")
]
OriginalFile = Annotated[
    Path, typer.Option("--original", help="Original traces: orgtraces file.", show_default=False)
]
Gaps = Annotated[
    bool,
    typer.Option(
        "--gaps", help="Rows of the original traces may be missing: events nobody recorded."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


def _check_engine(name: str) -> str:
    """Refuse an engine that cannot be one before anything is read or written."""
    if name != "local":
        from tracecup.jobs import check_engine

        check_engine(name)
    return name


Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        callback=_check_engine,
        help="Where the work is done: local, processes (as many as there are cores), or "
        "dask://HOST:PORT (a dask scheduler).",
    ),
]
Shared = Annotated[
    bool,
    typer.Option(
        "--shared",
        help="With --engine: workers read the data at the same paths; else it travels to them.",
    ),
]


def _load_plugins(given: list[str] | None) -> list[str] | None:
    """Make the methods of the files known before any name is looked up."""
    if given:
        from tracecup.front.plugins import load_plugin

        for file in given:
            load_plugin(file)
    return given


Plugin = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="my.py[:Class]",
        help="A file with methods of your own; may be repeated.",
        callback=_load_plugins,
        is_eager=True,
        show_default=False,
    ),
]
Strength = Annotated[
    Literal["quick", "standard", "max"],
    typer.Option(
        "--strength",
        help="quick: the paper's attacks, also with optimal one-to-one links. standard: Bayes "
        "attacks too, and the learned ones in the built-in city; about a minute for 2000 users. "
        "max: those that trust the release, and those that know the defence and run it themselves.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed of the random draws; system entropy without."),
]
Confidence = Annotated[
    float, typer.Option("--confidence", help="Confidence of the interval, between 0 and 1.")
]
PerUser = Annotated[
    bool, typer.Option("--per-user", help="With --json: also each user's own value.")
]


def people() -> Console:
    """Where text for people goes besides the result: stderr."""
    return Console(stderr=True, highlight=False)


def emit(as_json: bool, payload: Mapping[str, Any], *tables: Table) -> None:
    """Print the result: the payload as JSON, or the tables."""
    if as_json:
        print(json.dumps(payload, allow_nan=False))
    else:
        print_tables(tables)


def table_of(title: str, rows: Sequence[tuple[str, str]]) -> Table:
    """A small two-column table."""
    table = Table(title=title, show_header=False, title_justify="left", title_style="bold")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, value)
    return table


def with_usual(names: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Names as they are; a plus before one means the usual ones and this.

    >>> with_usual(["+Mine"], ["None", "RR(8)"]), with_usual(["Mine"], ["None"])
    (['None', 'RR(8)', 'Mine'], ['Mine'])
    """
    plain = [name.removeprefix("+").strip() for name in names]
    added = any(name.startswith("+") for name in names)
    return list(dict.fromkeys([*usual, *plain] if added else plain))


def with_the_usual(names: Sequence[str] | None) -> bool:
    """Whether the usual ones are among what `with_usual` makes of the names of an option.

    >>> with_the_usual(None), with_the_usual(["+Mine"]), with_the_usual(["Mine"])
    (True, True, False)
    """
    return not names or any(name.startswith("+") for name in names)


def different_files(**given: Path | None) -> None:
    """Refuse the same file in two roles: one of them must be a slip."""
    from tracecup.errors import InvalidParameter

    seen: dict[Path, str] = {}
    for role, path in given.items():
        if path is None:
            continue
        whole = path.resolve()
        if whole in seen:
            raise InvalidParameter(
                f"--{role} and --{seen[whole]} are the same file, {path}; they are different traces"
            )
        seen[whole] = role


def looks_like_a_reference(path: Path, traces: Traces, clock: Path | None) -> None:
    """Say so where original traces begin as reference traces do; with a clock that is refused."""
    if clock is None and traces.clock.first_time == 0:
        people().print(
            f"[yellow]{escape(str(path))}[/yellow] begins at time 1, as reference traces do; "
            "original traces of a contest begin behind them. --clock has that checked",
            soft_wrap=True,
        )


def without_clock(clock: Path | None) -> None:
    """Say what is lost where no clock is given."""
    if clock is None:
        people().print(
            "[yellow]no --clock:[/yellow] a trace counts as one long day, so that attacks which "
            "know days and slots (HomeProb, Fuzzy-T, Prior-T, Bayes) are weaker than they are"
        )


def score_payload(score: Score, per_user: bool) -> dict[str, Any]:
    """The JSON of a score: value, interval, how the interval was made."""
    payload: dict[str, Any] = {
        "score": score.value,
        "interval": [score.interval.low, score.interval.high],
        "confidence": score.interval.confidence,
        "interval_method": score.interval.method,
        "users": len(score.per_user),
    }
    if per_user:
        payload["per_user"] = score.per_user.tolist()
    return payload


def score_rows(score: Score) -> list[tuple[str, str]]:
    """The lines of a score in a table for people."""
    unit = f" {score.unit}" if score.unit else ""
    interval = score.interval
    high = "∞" if interval.high is None else f"{interval.high:.4f}"
    return [
        (score.name, f"[bold]{score.value:.9f}[/bold]{unit}"),
        (
            f"{interval.confidence:.0%} interval",
            f"{interval.low:.4f} to {high} ({interval.method})",
        ),
    ]


def load_city(path: Path) -> City:
    """The city of `--city`."""
    from tracecup.city import read_city

    return read_city(path)


class Locations(NamedTuple):
    """The places that records name: their number, their cells (N, 2), and the city if known."""

    n: int
    cells: NDArray[np.float64]
    city: City | None


def load_locations(city: Path | None, grid: str | None, cells: Path | None) -> Locations:
    """The places of `--city`, `--grid` or `--cells`, of which one is given."""
    from tracecup.errors import InvalidParameter
    from tracecup.usefulness import grid_coordinates, read_cells

    if sum(given is not None for given in (city, grid, cells)) != 1:
        raise InvalidParameter("give one of --city, --grid and --cells")
    if cells is not None:
        points = read_cells(cells)
        return Locations(len(points), points, None)
    where = load_city(city) if city is not None else None
    nx, ny = (where.grid.nx, where.grid.ny) if where is not None else grid_size(grid or "")
    return Locations(nx * ny, grid_coordinates(nx, ny), where)


def grid_size(text: str) -> tuple[int, int]:
    """Columns and rows of a grid written like 32x32."""
    from tracecup.city.grid import MAX_REGIONS
    from tracecup.errors import InvalidParameter

    found = re.fullmatch(r"([1-9][0-9]{0,6})x([1-9][0-9]{0,6})", text)
    if not found or int(found[1]) * int(found[2]) > MAX_REGIONS:
        raise InvalidParameter(
            f"--grid is written columns x rows, like 32x32, with at most {MAX_REGIONS} cells, "
            f"got {text[:80]!r}"
        )
    return int(found[1]), int(found[2])


def box_of(text: str) -> Box:
    """The box written as four edges, or the one of that name."""
    from tracecup.datasets import BEIJING, CITIES, TOKYO_CENTRE, Box
    from tracecup.errors import InvalidParameter

    named = {"BEIJING": BEIJING, "TOKYO": TOKYO_CENTRE, **CITIES}
    if text.upper() in named:
        return named[text.upper()]
    try:
        south, north, west, east = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidParameter(
            f"--box is written south,north,west,east in degrees or is one of {', '.join(named)}, "
            f"got {text[:80]!r}"
        ) from error
    return Box(south, north, west, east)


def table_columns(text: str | None) -> str | tuple[str, ...] | None:
    """What `--columns` says: names, a preset, or nothing."""
    if text is None or "," not in text:
        return text
    return tuple(name.strip() for name in text.split(","))


def load_timetable(
    name: str,
    start: str | None = None,
    end: str | None = None,
    interval: int | None = None,
    slot_minutes: int | None = None,
) -> Timetable:
    """The timetable of that name, with what is given put in its place."""
    from tracecup.records import TIMETABLES, Timetable

    named = TIMETABLES[name]
    last = named.start + named.interval * named.instants
    step = named.interval if interval is None else interval
    slot = named.slot_minutes if slot_minutes is None else slot_minutes
    return Timetable.of_hours(
        named.start if start is None else minute_of(start),
        last if end is None else minute_of(end),
        step,
        # A step that was asked for and is longer than the named slots makes slots of its own.
        slot if slot_minutes is not None else max(slot, step),
    )


def load_clock(path: Path | None) -> ContestClock | None:
    """The clock of `--clock`, if given."""
    from tracecup.city import read_clock

    return read_clock(path) if path else None


def original_part(clock: ContestClock | None) -> Clock | None:
    """The original part of a clock, if there is one."""
    return clock.original if clock else None


def minute_of(text: str) -> int:
    """The minute of the day that `6:00` or `17:30` means."""
    from tracecup.errors import InvalidParameter

    hour, _, minute = text.partition(":")
    if not (hour.isdigit() and minute.isdigit() and len(minute) == 2 and int(minute) < 60):
        raise InvalidParameter(f"a time of day is written like 6:00 or 17:30, got {text!r}")
    if 60 * int(hour) + int(minute) > 24 * 60:
        raise InvalidParameter(f"a time of day is at most 24:00, got {text!r}")
    return 60 * int(hour) + int(minute)


def error_payload(error: Exception) -> dict[str, Any]:
    """The JSON of a failure."""
    from tracecup.errors import InvalidFile

    payload: dict[str, Any] = {"error": str(error)}
    if isinstance(error, InvalidFile):
        payload |= file_problems(error)
    return payload


def file_problems(error: InvalidFile) -> dict[str, Any]:
    """The problems of a file, as JSON."""
    return {
        "file": error.path,
        "problems": [vars(problem) for problem in error.problems],
        "problem_count": error.total,
    }
