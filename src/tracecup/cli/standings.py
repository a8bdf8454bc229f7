"""`tracecup standings`: who is where, from two score sheets in the format of 2019.

Minimum of every file, sum of every attacker, awards, correlation of the two minima.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from tracecup.cli.common import Confidence, Json, emit, people, table_of

if TYPE_CHECKING:
    from tracecup.contest.standings import Standings


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    app.command("standings")(standings)


def standings(
    reid: Annotated[
        Path,
        typer.Option(
            "--reid", help="Re-identification sheet: files x attackers.", show_default=False
        ),
    ],
    trace: Annotated[
        Path,
        typer.Option(
            "--trace", help="Trace-inference sheet: files x attackers.", show_default=False
        ),
    ],
    utility: Annotated[
        Path | None,
        typer.Option(
            "--utility", help="Table pubtraces,utility; files below the floor are invalid."
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="GLOB[,GLOB...]",
            help="Use only the files whose names match. The paper: '*_TRP.csv,*team000*'.",
        ),
    ] = None,
    floor: Annotated[
        float, typer.Option("--floor", min=0, max=1, help="Utility floor, with --utility.")
    ] = 0.7,
    winner_excluded: Annotated[
        bool,
        typer.Option(
            "--winner-excluded",
            help="Winners of best anonymization get no attack award (the rules of 2019).",
        ),
    ] = False,
    confidence: Confidence = 0.95,
    as_json: Json = False,
) -> int:
    """Who wins? Minima, sums, awards and correlation from published score sheets.

    A sheet has a row for every released file and a column for every attacker and sample attack
    (I1.. or T1..); `-` marks a team's own file. A stated minimum or sum that its cells do not
    give is reported.

    Example: `tracecup standings --reid preliminary_reidentification.csv
    --trace preliminary_traceinference.csv --only '*_TRP.csv,*team000*'`
    """
    from tracecup.contest.sheets import read_sheet, read_utilities
    from tracecup.contest.standings import standings as compute

    patterns = [pattern.strip() for pattern in (only or "").split(",") if pattern.strip()]
    result = compute(
        read_sheet(reid, "reid"),
        read_sheet(trace, "trace"),
        read_utilities(utility) if utility else None,
        only=patterns,
        floor=floor,
        winner_excluded=winner_excluded,
        confidence=confidence,
    )
    for difference in result.differences:
        people().print(f"[bold yellow]note:[/bold yellow] {escape(difference)}", soft_wrap=True)
    emit(as_json, result.as_dict(), _minima(result), _sums(result), _awards(result))
    return 0


def _minima(result: Standings) -> Table:
    table = Table(
        "file", title="Minimum of every release", title_justify="left", title_style="bold"
    )
    for name in ("s_R,min", "s_T,min", "utility" if result.utility else ""):
        if name:
            table.add_column(name, justify="right")
    reid, trace = result.board.reid.minimum(), result.board.trace.minimum()
    for row in result.board.releases:
        cells = [f"{reid[row.name]:.6f}", f"{trace[row.name]:.6f}"]
        if result.utility:
            verdict = "" if row.valid else " [red]invalid[/red]"
            cells.append(f"{result.utility[row.name]:.6f}{verdict}")
        table.add_row(escape(row.name), *cells)
    return table


def _sums(result: Standings) -> Table:
    table = Table(
        "attacker",
        title="Sum of every attacker (less is stronger)",
        title_justify="left",
        title_style="bold",
    )
    sums = result.as_dict()["sums"]
    for name in ("re-identification", "trace inference"):
        table.add_column(name, justify="right")
    for name in dict.fromkeys([*sums["reid"], *sums["trace"]]):
        cells = (sums[kind].get(name) for kind in ("reid", "trace"))
        table.add_row(escape(name), *("" if cell is None else f"{cell:.6f}" for cell in cells))
    return table


def _awards(result: Standings) -> Table:
    rows = []
    for award in result.as_dict()["awards"].values():
        shared = " (tie)" if award["tie"] else ""
        value = "" if award["value"] is None else f" with {award['value']:.6f}{shared}"
        rows.append((award["title"], escape(", ".join(award["winners"]) or "nobody") + value))
    rows.append(("correlation of the two minima", escape(str(result.correlation))))
    return table_of("Awards", rows)
