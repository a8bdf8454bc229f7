"""`tracecup city`: make the built-in city with its inhabitants as files.

Regions, places and training traces, generated from a seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli.common import Json, emit, minute_of, table_of


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    city = typer.Typer(no_args_is_help=True, help="Make a city and people who live in it.")
    city.command("new")(new)
    app.add_typer(city, name="city")


def new(
    out: Annotated[Path, typer.Option("--out", help="Folder to write to; made if missing.")],
    nx: Annotated[int, typer.Option("--nx", min=2, help="Regions from west to east.")] = 32,
    ny: Annotated[int, typer.Option("--ny", min=2, help="Regions from south to north.")] = 32,
    inhabitants: Annotated[
        int, typer.Option("--inhabitants", min=1, help="People whose traces are written.")
    ] = 10_000,
    days: Annotated[int, typer.Option("--days", min=1, help="Days of each person.")] = 3,
    interval: Annotated[
        int, typer.Option("--interval", min=1, help="Minutes between two events.")
    ] = 5,
    start: Annotated[str, typer.Option("--start", help="Time of day of the first event.")] = "6:00",
    end: Annotated[str, typer.Option("--end", help="Time of day at which a day ends.")] = "18:00",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, another city.")] = 0,
    as_json: Json = False,
) -> int:
    """Write a generated city: info_region.csv, places.csv and traintraces.csv.zst.

    The training traces hold everybody from 6:00 to 18:00 every five minutes, with time ids
    counted through; `tracecup train` reads them as they are.

    Example: `tracecup city new --out mycity --inhabitants 10000`
    """
    from tracecup.city import write_city, write_places
    from tracecup.datasets import Metropolis
    from tracecup.traces.files import write_traces

    town = Metropolis(n_inhabitants=inhabitants, nx=nx, ny=ny, seed=seed)
    begin, finish = minute_of(start), minute_of(end)
    slots = max(1, (finish - begin) // interval)
    traces = town.traces(days, begin, interval, slots)
    out.mkdir(parents=True, exist_ok=True)
    write_city(out / "info_region.csv", town.city)
    write_places(out / "places.csv", town.city.places, town.city.grid)
    write_traces(out / "traintraces.csv.zst", traces)
    facts = {
        "folder": str(out),
        "regions": town.city.n_regions,
        "hospital_regions": len(town.city.hospitals),
        "places": len(town.city.places),
        "inhabitants": inhabitants,
        "days": days,
        "events_a_day": slots,
        "from": start,
        "to": end,
        "interval_minutes": interval,
        "seed": seed,
    }
    emit(as_json, facts, table_of("A new city", [(k, str(v)) for k, v in facts.items()]))
    return 0
