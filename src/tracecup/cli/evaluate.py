"""`tracecup evaluate`: how useful and how private synthetic traces are, from files.

Reads the files of the published synthesizer evaluation as they are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from tracecup.cli.common import Json, emit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tracecup.study.synthesizers import Numbers


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
            help="Training traces: columns user_index, poi_index, unixtime, hour, min.",
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
    grid: Annotated[
        str, typer.Option("--grid", help="Columns x rows of the grid whose cells are the places.")
    ] = "20x20",
    cells: Annotated[
        Path | None,
        typer.Option(
            "--cells",
            help="For places that are not the cells of a grid: columns poi_index, x_id, y_id.",
        ),
    ] = None,
    timetable: Annotated[
        Literal["people-flow", "check-ins"],
        typer.Option(
            "--timetable",
            help="people-flow: 30 slots of 20 minutes from 9:00. check-ins: 12 slots of 2 hours "
            "with two instants each; transitions within 7200 s.",
        ),
    ] = "people-flow",
    as_json: Json = False,
) -> int:
    """How useful and how private are synthetic traces? Beside real and uniform data.

    Population (TP), transitions (TM) and visit fractions (VF) are distances to the training
    traces, so less is better; `real` are the testing traces. `reid_rate` is the share of one-day
    traces linked to the training user of the same index, `membership_advantage` how well
    training users are told from testing users.

    Example: `tracecup evaluate synth --train traintraces_TK.csv --test testtraces_TK.csv
    --synthetic syntraces.csv`
    """
    from tracecup.study.synthesizers import METRICS, PRIVACY, evaluate_synthesizer
    from tracecup.usefulness import CHECK_INS, PEOPLE_FLOW, read_day_traces, read_records

    places = _places(grid, cells)
    times = PEOPLE_FLOW if timetable == "people-flow" else CHECK_INS
    report = evaluate_synthesizer(
        read_records(train, len(places), times),
        read_records(test, len(places), times),
        read_day_traces(synthetic, len(places), times),
        places,
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


def _places(grid: str, cells: Path | None) -> NDArray[np.float64]:
    """Coordinates of the places, shape (N, 2)."""
    from tracecup.city.grid import MAX_REGIONS
    from tracecup.errors import InvalidParameter
    from tracecup.usefulness import grid_coordinates, read_cells

    if cells is not None:
        return read_cells(cells)
    found = re.fullmatch(r"([1-9][0-9]{0,6})x([1-9][0-9]{0,6})", grid)
    if not found or int(found[1]) * int(found[2]) > MAX_REGIONS:
        raise InvalidParameter(
            f"--grid is written columns x rows, like 20x20, with at most {MAX_REGIONS} cells, "
            f"got {grid!r}"
        )
    return grid_coordinates(int(found[1]), int(found[2]))


def _spelled(numbers: Numbers, name: str) -> str:
    value = numbers[name]
    return "-" if value is None else f"{value:.5f}"
