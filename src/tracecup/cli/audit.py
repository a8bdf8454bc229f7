"""`tracecup audit`: what known attacks find out from a data owner's own release.

From the contest's files, or from raw tables of positions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from tracecup.cli._audit_inputs import RawTables, cuts_of, from_files, from_tables
from tracecup.cli.common import (
    ClockFile,
    Confidence,
    Engine,
    Json,
    PerUser,
    Plugin,
    Strength,
    emit,
    load_city,
    people,
    progress,
)

if TYPE_CHECKING:
    from tracecup.records.zones import Zone
    from tracecup.study.verdict import Answer

FILES = "Contest files"
RAW = "Raw tables"


def audit(
    city: Annotated[
        Path | None, typer.Option("--city", help="Regions of the city: info_region.csv.")
    ] = None,
    clock: ClockFile = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            help="What an attacker may know: reference traces, gaps allowed.",
            rich_help_panel=FILES,
        ),
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option("--original", help="The truth: traces, gaps allowed.", rich_help_panel=FILES),
    ] = None,
    released: Annotated[
        Path | None,
        typer.Option("--released", help="The release: pubtraces file.", rich_help_panel=FILES),
    ] = None,
    id_table: Annotated[
        Path | None,
        typer.Option(
            "--id-table", help="Who is behind the pseudonyms: ptable file.", rich_help_panel=FILES
        ),
    ] = None,
    obfuscated: Annotated[
        Path | None,
        typer.Option(
            "--obfuscated",
            help="Instead of --released: anotraces file in user order, shuffled here.",
            rich_help_panel=FILES,
        ),
    ] = None,
    raw: Annotated[
        Path | None,
        typer.Option(
            "--raw",
            help="One table user,time,lat,lon (CSV or Parquet) for both sides, parted by --split.",
            rich_help_panel=RAW,
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            help="A date like 2024-03-15: earlier days are known to the attacker, the others are "
            "released.",
            rich_help_panel=RAW,
        ),
    ] = None,
    raw_reference: Annotated[
        Path | None,
        typer.Option(
            "--raw-reference",
            help="Such a table of what an attacker may know.",
            rich_help_panel=RAW,
        ),
    ] = None,
    raw_released: Annotated[
        Path | None,
        typer.Option(
            "--raw-released",
            help="The release as such a table, with the users' own names or with --raw-ids.",
            rich_help_panel=RAW,
        ),
    ] = None,
    raw_original: Annotated[
        Path | None,
        typer.Option(
            "--raw-original",
            help="The truth as such a table; without it (and without --raw) the release is taken "
            "as true.",
            rich_help_panel=RAW,
        ),
    ] = None,
    raw_ids: Annotated[
        Path | None,
        typer.Option(
            "--raw-ids",
            help="Who is behind the pseudonyms of --raw-released: table pseudonym,user.",
            rich_help_panel=RAW,
        ),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            help="Regions, columns x rows; may be repeated, the worst counts. 32x32 and 64x64.",
            rich_help_panel=RAW,
        ),
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(
            "--box",
            help="South,north,west,east in degrees; around all records without.",
            rich_help_panel=RAW,
        ),
    ] = None,
    interval: Annotated[
        list[int] | None,
        typer.Option(
            "--interval",
            min=1,
            help="Minutes per event; may be repeated, the worst counts. 30 and 60.",
            rich_help_panel=RAW,
        ),
    ] = None,
    start: Annotated[
        str, typer.Option("--start", help="Begin of the day.", rich_help_panel=RAW)
    ] = "0:00",
    end: Annotated[
        str,
        typer.Option(
            "--end", help="End of the day; before --start: on the next day.", rich_help_panel=RAW
        ),
    ] = "24:00",
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            help="user,time,lat,lon under their names, or scikit-mobility, trackintel, "
            "movingpandas; found out without.",
            rich_help_panel=RAW,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            help="Times in CSV: iso, unix, milliseconds or day-first; found out without.",
            rich_help_panel=RAW,
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(
            "--zone",
            help="IANA time zone that gives the local hour, with daylight saving.",
            rich_help_panel=RAW,
        ),
    ] = None,
    utc_offset: Annotated[
        float,
        typer.Option(
            "--utc-offset", help="Minutes added to get the local hour.", rich_help_panel=RAW
        ),
    ] = 0.0,
    strength: Strength = "quick",
    protected_by: Annotated[
        str | None,
        typer.Option(
            "--protected-by",
            help="What made the release, such as PL(4,1): attacks of --strength max know it.",
        ),
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option("--attack", help="Another attack besides the portfolio; may be repeated."),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(
            "--limit",
            help="Share of the users that may be named, 0.05 without; if given, exit code 1 above.",
        ),
    ] = None,
    home_metres: Annotated[
        float, typer.Option("--home-metres", min=0, help="A home this near counts as found.")
    ] = 500.0,
    protection: Annotated[
        list[str] | None,
        typer.Option("--protection", help="Try this protection instead of ours; may be repeated."),
    ] = None,
    protections: Annotated[
        bool,
        typer.Option(
            "--protections/--no-protections", help="Whether to run protections on the true traces."
        ),
    ] = True,
    protect: Annotated[
        str | None,
        typer.Option(
            "--protect",
            help="Also write the true records under this protection as a table (--protected-out), "
            "with new pseudonyms (--protected-ids).",
            rich_help_panel=RAW,
        ),
    ] = None,
    protected_out: Annotated[
        Path | None,
        typer.Option("--protected-out", help="Table to publish.", rich_help_panel=RAW),
    ] = None,
    protected_ids: Annotated[
        Path | None,
        typer.Option(
            "--protected-ids", help="Its ID table, to be kept secret.", rich_help_panel=RAW
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=0, help="Users at most risk to list.")] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all draws.")] = 1,
    confidence: Confidence = 0.95,
    html: Annotated[
        Path | None, typer.Option("--html", help="Also write a page to this file.")
    ] = None,
    per_user: PerUser = False,
    plugin: Plugin = None,
    engine: Engine = "local",
    as_json: Json = False,
) -> int:
    """How risky is a release of your own traces, and what would help? A verdict with its numbers.

    Known attacks and known points on the release; the worst grid and time step counts. Then what
    protections would change on your own data, and at what loss. The answer is about these
    attacks, no proof.

    Example: `tracecup audit --raw gps.csv --split 2024-03-15 --limit 0.05 --html audit.html`

    Example: `tracecup audit --city info_region.csv --clock info_time.csv --reference
    reftraces.csv --original orgtraces.csv --released pubtraces.csv --id-table ptable.csv
    --html audit.html`

    Example: `tracecup audit --raw gps.csv --split 2024-03-15 --raw-released safe.csv --raw-ids
    ids.csv`
    """
    from tracecup.attack.learned import shipped_suits
    from tracecup.cli._audit_tables import shown
    from tracecup.errors import InvalidParameter
    from tracecup.front.plugins import shipped
    from tracecup.jobs import engine as engine_of
    from tracecup.records.zones import Zone
    from tracecup.report.audit import write_audit
    from tracecup.report.figures import drawer
    from tracecup.study.audit import portfolio
    from tracecup.study.verdict import LIMIT, answer
    from tracecup.study.verdictwords import answer_dict

    if html:
        drawer()  # before the long work, not after it
    tables = RawTables(raw, split, raw_reference, raw_released, raw_original, raw_ids)
    files = [path for path in (reference, original, released, id_table, obfuscated) if path]
    if tables.given and files:
        raise InvalidParameter("give contest files or raw tables, not both")
    writes = (protect, protected_out, protected_ids)
    if any(writes) and not (all(writes) and tables.given):
        raise InvalidParameter(
            "--protect needs raw tables, --protected-out and --protected-ids; for contest files "
            "there are tracecup obfuscate and tracecup publish"
        )
    if protected_by and strength != "max":
        raise InvalidParameter("--protected-by is for attacks of --strength max")
    where = load_city(city) if city else None
    cuts = None
    if tables.given:
        cuts = cuts_of(interval or [30, 60], start, end, columns, time, utc_offset, zone)
        subjects = from_tables(tables, where, grid, box, cuts, seed)
    else:
        if where is None or clock is None or reference is None or original is None:
            raise InvalidParameter(
                "contest files need --city, --clock, --reference and --original; raw tables need "
                "--raw and --split, or --raw-reference and --raw-released"
            )
        subjects = [
            (
                f"{where.grid.nx} x {where.grid.ny} regions",
                from_files(where, clock, reference, original, released, id_table, obfuscated, seed),
            )
        ]
    learned = all(shipped_suits(one.city, one.original.clock.slots) for _, one in subjects)
    with engine_of(engine, shipped(plugin)) as jobs, progress("auditing") as advance:
        found = answer(
            subjects,
            attacks=(
                *portfolio(strength, protected_by or "", learned=learned),
                *(attack or ()),
            ),
            informed=strength == "max",
            limit=LIMIT if limit is None else limit,
            protections=(protection or None) if protections else (),
            within_km=home_metres / 1000,
            confidence=confidence,
            seed=seed,
            progress=advance,
            executor=jobs,
        )
    if html:
        write_audit(found, html, top=top)
    if protect and protected_out and protected_ids and cuts:
        clock_of = Zone(utc_offset, zone)
        _write_protected(found, protect, protected_out, protected_ids, clock_of)
    emit(as_json, answer_dict(found, top, per_user), *shown(found, top))
    if not as_json:
        for name, path in (("page", html), ("table", protected_out), ("IDs", protected_ids)):
            if path:
                people().print(f"{name}: {escape(str(path))}", soft_wrap=True)
    return 1 if limit is not None and found.safe is False else 0


def _write_protected(found: Answer, name: str, out: Path, ids: Path, clock: Zone) -> None:
    from tracecup.study.protectedtable import write_table
    from tracecup.study.protections import protect

    subject = found.worst.subject
    write_table(subject, protect(subject, name, None), out, ids, clock)
