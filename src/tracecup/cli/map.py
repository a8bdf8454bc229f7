"""`tracecup map`: one's own traces, before and after a defence, as a page to look at.

The page shows originals; it is for their owner.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tracecup.cli.common import (
    CityFile,
    ClockFile,
    Gaps,
    Json,
    different_files,
    emit,
    load_city,
    load_clock,
    original_part,
    table_of,
)

if TYPE_CHECKING:
    from tracecup.city import City
    from tracecup.traces import SetTraces, Traces


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    app.command("map")(draw)


def draw(
    original: Annotated[
        Path, typer.Argument(metavar="ORIGINAL", help="Traces: an orgtraces or reftraces file.")
    ],
    city: CityFile,
    out: Annotated[Path, typer.Option("--out", help="Page to write.")] = Path("map.html"),
    release: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RELEASE]",
            help="The same traces after a defence: anotraces, or pubtraces with --id-table.",
            show_default=False,
        ),
    ] = None,
    id_table: Annotated[
        Path | None,
        typer.Option("--id-table", help="For a shuffled release: who is who (ptable file)."),
    ] = None,
    clock: ClockFile = None,
    users: Annotated[
        int, typer.Option("--users", min=0, help="How many users get maps of their own.")
    ] = 12,
    user: Annotated[
        list[int] | None,
        typer.Option("--user", min=1, help="This user instead; may be repeated."),
    ] = None,
    gaps: Gaps = False,
    as_json: Json = False,
) -> int:
    """Draw where people were, and what a defence made of it: one HTML page, for yourself.

    All events on a map, before and after, and what changed; then some users, a line through the
    events of each day (give --clock: without it a trace is one long day). The page asks nothing
    from anywhere. It shows original traces: do not hand it around.

    Example: `tracecup map orgtraces.csv anotraces.csv --city info_region.csv --clock
    info_time.csv --out map.html`
    """
    from tracecup.front.maps import draw_map
    from tracecup.traces.files import read_traces

    different_files(original=original, release=release)
    where, known = load_city(city), original.name.startswith("reftraces")
    whole = load_clock(clock)
    part = whole.reference if whole and known else original_part(whole)
    kind: Literal["reference", "original"] = "reference" if known else "original"
    before = read_traces(original, kind, n_regions=where.n_regions, clock=part, gaps=gaps)
    after = _release(where, before, release, id_table)
    made = draw_map(where, before, after, users=user or users, title=_title(original, release))
    made.save(out)
    shown = len(user) if user else min(users, before.n_users)
    payload = {"users": before.n_users, "times": before.times, "shown": shown, "out": str(out)}
    rows = [("users", f"{before.n_users}, {shown} with maps of their own"), ("page", str(out))]
    emit(as_json, payload, table_of("Map", rows))
    return 0


def _release(
    city: City, original: Traces, release: Path | None, id_table: Path | None
) -> SetTraces | None:
    """The traces after, in the order of the users."""
    from tracecup.errors import InvalidParameter
    from tracecup.traces.files import read_id_table, read_obfuscated, read_released

    if release is None:
        if id_table is not None:
            raise InvalidParameter("--id-table goes with a release")
        return None
    users, clock, regions = original.n_users, original.clock, city.n_regions
    if id_table is None:
        return read_obfuscated(release, users=users, clock=clock, n_regions=regions)
    table = read_id_table(id_table, users=users)
    released = read_released(release, users=users, clock=clock, n_regions=regions)
    return released.take_users(table.inverse())


def _title(original: Path, release: Path | None) -> str:
    return original.name if release is None else f"{original.name} and {release.name}"
