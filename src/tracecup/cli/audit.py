"""`tracecup audit`: what known attacks find out from a data owner's own release.

From the contest's files, or from raw tables of positions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from tracecup.cli.common import (
    ClockFile,
    Confidence,
    Json,
    PerUser,
    box_of,
    columns_of,
    emit,
    grid_size,
    load_city,
    minute_of,
    people,
    progress,
    table_of,
)

if TYPE_CHECKING:
    from tracecup.city import City
    from tracecup.study.audit import Audit, Subject

FILES = "Contest files"
RAW = "Raw tables"


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    app.command("audit")(audit)


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
    raw_reference: Annotated[
        Path | None,
        typer.Option(
            "--raw-reference",
            help="Table user,time,lat,lon (CSV or Parquet): what an attacker may know.",
            rich_help_panel=RAW,
        ),
    ] = None,
    raw_released: Annotated[
        Path | None,
        typer.Option(
            "--raw-released",
            help="The release as such a table, still with the users' own names.",
            rich_help_panel=RAW,
        ),
    ] = None,
    raw_original: Annotated[
        Path | None,
        typer.Option(
            "--raw-original",
            help="The truth as such a table; without it the release is taken as true.",
            rich_help_panel=RAW,
        ),
    ] = None,
    grid: Annotated[
        str, typer.Option("--grid", help="Regions, columns x rows.", rich_help_panel=RAW)
    ] = "32x32",
    box: Annotated[
        str | None,
        typer.Option(
            "--box",
            help="South,north,west,east in degrees; around all records without.",
            rich_help_panel=RAW,
        ),
    ] = None,
    interval: Annotated[
        int, typer.Option("--interval", min=1, help="Minutes per event.", rich_help_panel=RAW)
    ] = 30,
    start: Annotated[
        str, typer.Option("--start", help="Begin of the day.", rich_help_panel=RAW)
    ] = "8:00",
    end: Annotated[
        str,
        typer.Option(
            "--end", help="End of the day; before --start: on the next day.", rich_help_panel=RAW
        ),
    ] = "18:00",
    columns: Annotated[
        str, typer.Option("--columns", help="Names of the four columns.", rich_help_panel=RAW)
    ] = "user,time,lat,lon",
    time: Annotated[
        str, typer.Option("--time", help="Times in CSV: iso or unix.", rich_help_panel=RAW)
    ] = "iso",
    utc_offset: Annotated[
        float,
        typer.Option(
            "--utc-offset", help="Minutes added to get the local hour.", rich_help_panel=RAW
        ),
    ] = 0.0,
    strength: Annotated[
        Literal["quick", "standard", "max"],
        typer.Option(
            "--strength",
            help="quick: the paper's attacks, also with optimal one-to-one links. standard: "
            "Bayes attacks too, about a minute for 2000 users. max: those that trust the release.",
        ),
    ] = "quick",
    attack: Annotated[
        list[str] | None,
        typer.Option("--attack", help="Another attack besides the portfolio; may be repeated."),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=0, help="Users at most risk to list.")] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all draws.")] = 1,
    confidence: Confidence = 0.95,
    html: Annotated[
        Path | None, typer.Option("--html", help="Also write a page to this file.")
    ] = None,
    per_user: PerUser = False,
    as_json: Json = False,
) -> int:
    """How risky is a release of your own traces? Known attacks on it, with intervals.

    Re-identification beside random guessing, trace inference beside what is known without the
    release, utility, and the users at most risk. The answer is an average over users against
    these attacks, no proof.

    Example: `tracecup audit --city info_region.csv --clock info_time.csv --reference
    reftraces.csv --original orgtraces.csv --released pubtraces.csv --id-table ptable.csv
    --html audit.html`

    Example: `tracecup audit --raw-reference march.csv --raw-released april.csv --grid 40x40
    --interval 30 --start 6:00 --end 22:00`
    """
    from tracecup.errors import InvalidParameter
    from tracecup.report.audit import write_audit
    from tracecup.study.audit import audit as run
    from tracecup.study.audit import portfolio
    from tracecup.study.auditwords import as_dict

    raw = [path for path in (raw_reference, raw_released, raw_original) if path]
    files = [path for path in (reference, original, released, id_table, obfuscated) if path]
    if raw and files:
        raise InvalidParameter("give contest files or raw tables, not both")
    where = load_city(city) if city else None
    if raw:
        if raw_reference is None or raw_released is None:
            raise InvalidParameter("raw tables need --raw-reference and --raw-released")
        subject = _from_tables(
            raw_reference, raw_released, raw_original, where, grid, box,
            interval, start, end, columns, time, utc_offset, seed,
        )  # fmt: skip
    else:
        if where is None or clock is None or reference is None or original is None:
            raise InvalidParameter(
                "contest files need --city, --clock, --reference and --original; "
                "raw tables need --raw-reference and --raw-released"
            )
        subject = _from_files(
            where, clock, reference, original, released, id_table, obfuscated, seed
        )
    with progress("auditing") as advance:
        found = run(
            subject,
            attacks=(*portfolio(strength), *(attack or ())),
            confidence=confidence,
            seed=seed,
            progress=advance,
        )
    if html:
        write_audit(found, html, top=top)
    emit(as_json, as_dict(found, top, per_user), *_shown(found, top))
    if html and not as_json:
        people().print(f"page: {escape(str(html))}", soft_wrap=True)
    return 0


def _from_files(
    where: City,
    clock: Path,
    reference: Path,
    original: Path,
    released: Path | None,
    id_table: Path | None,
    obfuscated: Path | None,
    seed: int,
) -> Subject:
    from tracecup.city import read_clock
    from tracecup.contest.judging.shuffle import pseudonymize
    from tracecup.errors import InvalidParameter
    from tracecup.rng import child_seed
    from tracecup.study.audit import Subject
    from tracecup.traces.files import read_id_table, read_obfuscated, read_released, read_traces

    if (released is None) == (obfuscated is None):
        raise InvalidParameter("give one of --released and --obfuscated")
    if obfuscated is not None and id_table is not None:
        raise InvalidParameter("--obfuscated is shuffled here and takes no --id-table")
    times, regions = read_clock(clock), where.n_regions
    truth = read_traces(original, n_regions=regions, clock=times.original, gaps=True)
    users = truth.n_users
    known = read_traces(
        reference, "reference", n_regions=regions, clock=times.reference, users=users, gaps=True
    )
    table = None
    if obfuscated is not None:
        cells = read_obfuscated(obfuscated, users=users, clock=times.original, n_regions=regions)
        public, table = pseudonymize(cells, child_seed(seed, "shuffle"))
    elif released is not None:
        public = read_released(released, n_regions=regions, clock=times.original, users=users)
        table = read_id_table(id_table, users=users) if id_table else None
    return Subject(where, known, truth, public, table, tuple(str(user) for user in truth.users))


def _from_tables(
    reference: Path,
    released: Path,
    original: Path | None,
    city: City | None,
    grid: str,
    box: str | None,
    interval: int,
    start: str,
    end: str,
    columns: str,
    time: str,
    utc_offset: float,
    seed: int,
) -> Subject:
    from tracecup.datasets import Timetable
    from tracecup.rng import child_seed
    from tracecup.study.rawtables import Cutting, read_raw

    timetable = Timetable.of_hours(minute_of(start), minute_of(end), interval, interval)
    cutting = Cutting(
        timetable,
        columns_of(columns),
        time,
        utc_offset,
    )
    return read_raw(
        reference,
        released,
        original,
        cutting=cutting,
        city=city,
        grid=grid_size(grid),
        box=box_of(box) if box else None,
        rng=child_seed(seed, "shuffle"),
    )


def _shown(found: Audit, top: int) -> list[Table]:
    from tracecup.study.auditwords import CAVEATS, percent, sentences
    from tracecup.study.comparison import is_blind

    attacks = Table(title="Attacks on the release", title_justify="left", title_style="bold")
    for name in ("attack", "uses it", "right names", "s_T", "interval", "error km"):
        attacks.add_column(name, no_wrap=name in ("attack", "interval"))
    for one in found.reid:
        ends = one.score.interval
        high = 1.0 if ends.high is None else ends.high
        span = f"{percent(1 - high)} to {percent(1 - ends.low)}"
        attacks.add_row(escape(one.attack), "yes", percent(1 - one.score.value), "", span, "")
    for one in found.trace:
        ends = one.score.interval
        high = 1.0 if ends.high is None else ends.high
        attacks.add_row(
            escape(one.attack),
            "no" if is_blind(one.attack) else "yes",
            "",
            f"{one.score.value:.3f}",
            f"{ends.low:.3f} to {high:.3f}",
            "" if one.error is None else f"{one.error.value:.2f}",
        )
    worst = Table(title="Users at most risk", title_justify="left", title_style="bold")
    for name in ("user", "named by", "own s_T", "without the release"):
        worst.add_column(name, overflow="fold")
    for risk in found.worst(top):
        worst.add_row(
            escape(risk.user),
            escape(", ".join(risk.identified_by)),
            _spelled(risk.s_t),
            _spelled(risk.s_t_prior),
        )
    words = [*sentences(found), *CAVEATS, *found.subject.notes]
    lines = table_of("What it means", [(str(k + 1), escape(text)) for k, text in enumerate(words)])
    return [attacks, *([worst] if top else []), lines]


def _spelled(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
