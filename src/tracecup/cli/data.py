"""`tracecup data`: from raw data to the files that all other commands read.

City, clock, training, testing, reference and original files of a box, a grid and some hours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from tracecup.cli.common import (
    End,
    Interval,
    Json,
    NamedTimetable,
    SlotMinutes,
    Start,
    box_of,
    emit,
    grid_size,
    load_timetable,
    table_columns,
    table_of,
)

TABLES = "Tables"
CLEANING = "Cleaning"
ONE_DAY = "reference and original files: all records are of one day, and these need two"


def data(
    form: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="csv, parquet, geoparquet, gpx, google-takeout, geolife, gowalla, foursquare, "
            "tsmc2014, peopleflow or prepared.",
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
        float,
        typer.Option(
            "--training-share",
            help="Share of the users who train, 0 for none; prepared files come split.",
        ),
    ] = 0.5,
    fewest: Annotated[
        int, typer.Option("--fewest", min=1, help="Records that a user must have to stay.")
    ] = 1,
    utc_offset: Annotated[
        float | None,
        typer.Option("--utc-offset", help="Minutes to add to UTC to get the hour of the day."),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(
            "--zone", help="Instead: IANA time zone of the box, with daylight saving (Asia/Tokyo)."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            help="Tables: names of user, time, latitude and longitude, or of user, time and "
            "points; or scikit-mobility, trackintel, movingpandas. Found by usual names without.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            help="csv: iso, unix (seconds), milliseconds or day-first; found out without.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter",
            help="csv: what parts columns; found out without.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    crs: Annotated[
        str | None,
        typer.Option(
            "--crs",
            help="Coordinate system of positions that are not degrees: EPSG:3857, or any other "
            "if pyproj is installed. GeoParquet names its own.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    max_accuracy: Annotated[
        float | None,
        typer.Option(
            "--max-accuracy",
            help="Drop points with an accuracy above so many metres.",
            rich_help_panel=CLEANING,
        ),
    ] = None,
    duplicates: Annotated[
        Literal["keep", "drop"],
        typer.Option(
            "--duplicates",
            help="Drop points of the same user, time and place (and count them as such).",
            rich_help_panel=CLEANING,
        ),
    ] = "keep",
    max_speed: Annotated[
        float | None,
        typer.Option(
            "--max-speed",
            help="Drop stray points, which nobody reaches below so many km/h.",
            rich_help_panel=CLEANING,
        ),
    ] = None,
    stay_minutes: Annotated[
        float | None,
        typer.Option(
            "--stay-minutes",
            help="Keep only stays of at least so many minutes, at their middle.",
            rich_help_panel=CLEANING,
        ),
    ] = None,
    stay_metres: Annotated[
        float,
        typer.Option("--stay-metres", help="How wide a stay may be.", rich_help_panel=CLEANING),
    ] = 200.0,
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
    was recorded. Of a single recorded day there are no reference and original files.

    Example: `tracecup data gowalla loc-gowalla_totalCheckins.txt.gz --box NYC --timetable
    check-ins --utc-offset -300 --out nyc`
    """
    from tracecup.datasets.cleaning import Cleaning
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
        table_columns(columns),
        time,
        "\t" if delimiter == "\\t" else delimiter,
        crs,
        zone,
        Cleaning(max_accuracy, duplicates == "drop", max_speed, stay_minutes, stay_metres),
    )
    parts = contest_parts(
        loader_of(form).load(inputs, wish),
        days=days,
        reference_days=reference_days,
        training_share=training_share,
        seed=seed,
    )
    parts.write(out)
    loaded, clock = parts.dataset, parts.clock
    facts = {
        "folder": str(out),
        "regions": loaded.city.n_regions,
        "records": len(loaded.records),
        "users": loaded.records.n_users,
        "training_users": parts.training.n_users,
        "testing_users": parts.testing.n_users,
        "reference_and_original_users": parts.original.n_users,
        "users_in_one_part_only": parts.one_sided,
        "reference_days": clock.reference.days if clock else 0,
        "original_days": clock.original.days if clock else 0,
        "days_not_used": parts.unused_days,
        "events_a_day": loaded.records.timetable.instants,
        "dropped": vars(loaded.dropped),
        "notes": [*loaded.notes, *(() if clock else (ONE_DAY,))],
    }
    shown = [
        (name, str(value)) for name, value in facts.items() if name not in ("dropped", "notes")
    ]
    shown += [
        (f"dropped: {name}", str(count)) for name, count in vars(loaded.dropped).items() if count
    ]
    shown += [("understood", escape(note)) for note in loaded.notes]
    shown += [] if clock else [("not written", ONE_DAY)]
    emit(as_json, facts, table_of("Data", shown))
    return 0
