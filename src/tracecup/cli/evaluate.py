"""`tracecup evaluate`: how useful and how private synthetic traces are, from files.

Reads the files of the published synthesizer evaluation as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from tracecup.cli.common import (
    CellsFile,
    End,
    GridSize,
    Interval,
    Json,
    NamedTimetable,
    SlotMinutes,
    Start,
    emit,
    load_locations,
    load_timetable,
)

if TYPE_CHECKING:
    from tracecup.study.synthesizers import Numbers

# The grid of the published people-flow files.
PEOPLE_FLOW_GRID = "20x20"


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    evaluate = typer.Typer(no_args_is_help=True, help="Evaluate what a synthesizer made.")
    evaluate.command("synth")(synth)
    app.add_typer(evaluate, name="evaluate")


def synth(
    train: Annotated[
        Path,
        typer.Option(
            "--train",
            help="Training traces: columns user_id, time_id, reg_id (what `tracecup train` "
            "reads) or user_index, poi_index, unixtime, hour, min.",
            show_default=False,
        ),
    ],
    test: Annotated[
        Path, typer.Option("--test", help="Testing traces, same columns.", show_default=False)
    ],
    synthetic: Annotated[
        Path,
        typer.Option(
            "--synthetic",
            help="Synthetic traces: columns user, trace_no, time_slot, time_instant, poi_index.",
            show_default=False,
        ),
    ],
    city: Annotated[
        Path | None, typer.Option("--city", help="Regions of the traces: info_region.csv.")
    ] = None,
    grid: GridSize = None,
    cells: CellsFile = None,
    timetable: NamedTimetable = "people-flow",
    start: Start = None,
    end: End = None,
    interval: Interval = None,
    slot_minutes: SlotMinutes = None,
    as_json: Json = False,
) -> int:
    """How useful and how private are synthetic traces? Beside real and uniform data.

    The places are the regions of --city, the cells of --grid (20x20 without either) or those of
    --cells; the day is that of --timetable, or of --start, --end, --interval and --slot-minutes.

    Population (TP), transitions (TM) and visit fractions (VF) are distances to the training
    traces, so less is better; `real` are the testing traces. `reid_rate` is the share of one-day
    traces linked to the training user of the same index, `membership_advantage` how well
    training users are told from testing users.

    Example: `tracecup evaluate synth --train traintraces_TK.csv --test testtraces_TK.csv
    --synthetic syntraces.csv`
    """
    from tracecup.records import read_records
    from tracecup.study.synthesizers import METRICS, PRIVACY, evaluate_synthesizer
    from tracecup.usefulness import read_day_traces

    if (city, grid, cells) == (None, None, None):
        grid = PEOPLE_FLOW_GRID
    places = load_locations(city, grid, cells)
    day = load_timetable(timetable, start, end, interval, slot_minutes)
    dates = timetable != "people-flow"
    report = evaluate_synthesizer(
        read_records(train, places.n, day, dates=dates),
        read_records(test, places.n, day, dates=dates),
        read_day_traces(synthetic, places.n, day),
        places.cells,
    )
    table = Table(title="Synthetic traces", title_justify="left", title_style="bold")
    table.add_column("")
    rows = report.as_dict()
    for row in rows:
        table.add_column(row, justify="right")
    for name in (*METRICS, *PRIVACY):
        table.add_row(name, *(_spelled(numbers, name) for numbers in rows.values()))
    emit(as_json, rows, table)
    return 0


def _spelled(numbers: Numbers, name: str) -> str:
    value = numbers[name]
    return "-" if value is None else f"{value:.5f}"
