"""`tracecup validate`: is this a file the contest would accept?

Prints what is in it, or every problem with its line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tracecup.cli.common import (
    ClockFile,
    Json,
    emit,
    file_problems,
    load_city,
    load_clock,
    table_of,
)


def validate(
    kind: Annotated[
        str,
        typer.Argument(
            help="reference, original, obfuscated, released, id-table, inferred-table, "
            "inferred-traces (or reftraces, orgtraces, anotraces, pubtraces, ptable, etable, "
            "etraces), region-info, time-info, places."
        ),
    ],
    file: Annotated[Path, typer.Argument(help="The file: CSV, .gz, .zst or .parquet.")],
    city: Annotated[
        Path | None, typer.Option("--city", help="Regions of the city: info_region.csv.")
    ] = None,
    clock: ClockFile = None,
    users: Annotated[int | None, typer.Option("--users", help="Number of users, m.")] = None,
    times: Annotated[int | None, typer.Option("--times", help="Events per user, l.")] = None,
    max_mb: Annotated[
        int, typer.Option("--max-mb", min=1, help="Refuse files over this size, unpacked.")
    ] = 256,
    as_json: Json = False,
) -> int:
    """Check a file against the contest's format, line by line.

    Exit code 0 if it is valid, 1 with the first ten problems if not. One-column files
    (obfuscated, inferred traces) carry no sizes: give --users and --times to have the number of
    rows checked.

    Example: `tracecup validate obfuscated anotraces.csv --city info_region.csv --users 2000
    --times 400`
    """
    from tracecup.errors import InvalidFile

    try:
        facts = _facts(kind, file, city, clock, users, times, max_mb)
    except InvalidFile as error:
        if not as_json:
            raise
        payload = {"valid": False, "kind": kind} | file_problems(error)
        emit(True, payload, table_of("", []))
        return 1
    rows = [(name, str(value)) for name, value in facts.items() if value is not None]
    emit(as_json, {"valid": True} | facts, table_of("Valid", [("file", str(file)), *rows]))
    return 0


def _facts(
    kind: str,
    file: Path,
    city: Path | None,
    clock: Path | None,
    users: int | None,
    times: int | None,
    max_mb: int,
) -> dict[str, Any]:
    from tracecup.city import read_city, read_clock, read_places
    from tracecup.errors import InvalidParameter
    from tracecup.safeio import MIB, Limits
    from tracecup.traces.files import kind_of
    from tracecup.traces.summary import summarise

    limits = Limits(max_bytes=max_mb * MIB)
    if kind == "region-info":
        read = read_city(file, limits=limits)
        grid = read.grid
        return {
            "kind": kind,
            "nx": grid.nx,
            "ny": grid.ny,
            "width_km": grid.km_x,
            "height_km": grid.km_y,
            "hospital_regions": len(read.hospitals),
        }
    if kind == "time-info":
        whole = read_clock(file, limits)
        return {
            "kind": kind,
            "reference_days": whole.reference.days,
            "original_days": whole.original.days,
            "slots_a_day": whole.reference.slots,
        }
    if kind == "places":
        if city is None:
            raise InvalidParameter("validate places needs --city")
        places = read_places(file, load_city(city).grid, limits)
        return {"kind": kind, "places": len(places)}
    whole_clock = load_clock(clock)
    part = None
    if whole_clock:
        part = whole_clock.reference if kind_of(kind) == "reference" else whole_clock.original
    summary = summarise(
        file,
        kind_of(kind),
        n_regions=load_city(city).n_regions if city else None,
        users=users,
        times=times,
        clock=part,
        limits=limits,
    )
    return vars(summary)
