"""`tracecup data`: from raw data to the files that all other commands read.

City, clock, training, testing, reference and original files of a box, a grid and some hours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tracecup.cli.common import (
    End,
    Interval,
    Json,
    NamedTimetable,
    SlotMinutes,
    Start,
    box_of,
    columns_of,
    emit,
    grid_size,
    load_timetable,
    table_of,
)


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    app.command("data")(data)


def data(
    form: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="csv, parquet, geolife, gowalla, foursquare, tsmc2014 or peopleflow.",
        ),
    ],
    inputs: Annotated[list[Path], typer.Argument(metavar="INPUT...", help="Raw files or folder.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write to; made if missing.")],
    box: Annotated[
        str | None,
        typer.Option(
            "--box",
            help="South,north,west,east in degrees, or BEIJING, TOKYO, IST, JK, KL, NYC, SP, TKY.",
        ),
    ] = None,
    grid: Annotated[str, typer.Option("--grid", help="Regions, columns x rows.")] = "32x32",
    timetable: NamedTimetable = "contest",
    start: Start = None,
    end: End = None,
    interval: Interval = None,
    slot_minutes: SlotMinutes = None,
    days: Annotated[
        int | None,
        typer.Option("--days", min=2, help="Recorded days to use, from the first; all without."),
    ] = None,
    reference_days: Annotated[
        int | None,
        typer.Option("--reference-days", min=1, help="How many of them are reference days; half."),
    ] = None,
    training_share: Annotated[
        float, typer.Option("--training-share", help="Share of the users who train, 0 for none.")
    ] = 0.5,
    fewest: Annotated[
        int, typer.Option("--fewest", min=1, help="Records that a user must have to stay.")
    ] = 1,
    utc_offset: Annotated[
        float | None,
        typer.Option("--utc-offset", help="Minutes to add to UTC to get the hour of the day."),
    ] = None,
    columns: Annotated[
        str, typer.Option("--columns", help="csv, parquet: names of the four columns.")
    ] = "user,time,lat,lon",
    time: Annotated[
        str, typer.Option("--time", help="csv: iso, or unix for seconds since 1970.")
    ] = "iso",
    delimiter: Annotated[str, typer.Option("--delimiter", help="csv: what parts columns.")] = ",",
    bad_lines: Annotated[
        Literal["refuse", "skip"],
        typer.Option("--bad-lines", help="Refuse a file with a bad line, or count and skip it."),
    ] = "refuse",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which users train.")] = 1,
    as_json: Json = False,
) -> int:
    """Make city, clock, training, testing, reference and original files from raw data.

    Records in the box and the hours are put on the grid and the timetable; of several in one
    instant the earliest counts. Days are those on which anything was recorded. Everything that
    is left out is counted, with the reason. Users are numbered from 1; who they are stands in
    names.csv, which only its owner can read and which must not be published.

    traintraces.csv and testtraces.csv are what `tracecup train` and `tracecup evaluate synth`
    read, reftraces.csv and orgtraces.csv what `tracecup audit` reads; all have gaps where nothing
    was recorded.

    Example: `tracecup data gowalla loc-gowalla_totalCheckins.txt.gz --box NYC --timetable
    check-ins --utc-offset -300 --out nyc`
    """
    from tracecup.datasets.contestfiles import contest_parts
    from tracecup.datasets.loaders import Wish, loader_of

    nx, ny = grid_size(grid)
    wish = Wish(
        box_of(box) if box is not None else None,
        nx,
        ny,
        load_timetable(timetable, start, end, interval, slot_minutes),
        fewest,
        utc_offset,
        "raise" if bad_lines == "refuse" else "skip",
        columns_of(columns),
        time,
        "\t" if delimiter == "\\t" else delimiter,
    )
    parts = contest_parts(
        loader_of(form).load(inputs, wish),
        days=days,
        reference_days=reference_days,
        training_share=training_share,
        seed=seed,
    )
    parts.write(out)
    clock, loaded = parts.clock, parts.dataset
    facts = {
        "folder": str(out),
        "regions": loaded.city.n_regions,
        "records": len(loaded.records),
        "users": loaded.records.n_users,
        "training_users": parts.training.n_users,
        "testing_users": parts.testing.n_users,
        "reference_and_original_users": parts.original.n_users,
        "users_in_one_part_only": parts.one_sided,
        "reference_days": clock.reference.days,
        "original_days": clock.original.days,
        "days_not_used": parts.unused_days,
        "events_a_day": clock.reference.slots,
        "dropped": vars(loaded.dropped),
    }
    shown = [(name, str(value)) for name, value in facts.items() if name != "dropped"]
    shown += [(f"dropped: {name}", str(count)) for name, count in vars(loaded.dropped).items()]
    emit(as_json, facts, table_of("Data", shown))
    return 0
