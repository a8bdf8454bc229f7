"""Playing a season on the terminal: progress per stage, then awards, stages and where it all is.

Shared by `tracecup contest simulate` and `tracecup demo`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from tracecup.cli._progress import Lines
from tracecup.cli.common import emit, people, table_of

if TYPE_CHECKING:
    from tracecup.cluster import Jobs
    from tracecup.contest.archive.folder import Archive
    from tracecup.contest.season import Season
    from tracecup.contest.worlds import World
    from tracecup.facts import BoardFacts

REPORT_FILE = "report.html"
BOUNDS_NOTE = (
    "s_R,min is at most {guessing} (guessing){groups}, s_T,min at most what an attacker reaches "
    "who never saw the release (≤); whoever is told who is who gets s_T down to 1 - s_U or below, "
    "all regions weighted alike (linked).\n* above its bound: the attacks were weak, which is no "
    "merit of the defence."
)


def play_and_tell(
    folder: Path,
    season: Season,
    world: World,
    *,
    packed: bool,
    reported: bool,
    as_json: bool,
    jobs: Jobs | None = None,
) -> int:
    """Play a season (or go on with it), write zip and report, print what came out."""
    from tracecup.contest.archive.export import zip_archive
    from tracecup.contest.archive.manifest import read_digest
    from tracecup.contest.season import play
    from tracecup.contest.stages import StageClock, peak_mb, read_timings
    from tracecup.facts import board_of_archive

    reported = reported and can_report()
    with stages_shown() as progress:
        archive = play(folder, season, world, progress, jobs)
        after = StageClock(folder, progress)
        report = folder / REPORT_FILE if reported else None
        if report is not None and not report.exists():
            with after.stage("report"):
                report = write_html_report(folder, report)
        pack = folder.with_name(f"{folder.name}.zip") if packed else None
        if pack is not None:
            with after.stage("zip"):
                zip_archive(folder, pack)
    timings, board = read_timings(folder), board_of_archive(archive)
    payload: dict[str, Any] = {
        **summary_of(archive),
        "archive": str(folder),
        "zip": str(pack) if pack else None,
        "report": str(report) if report else None,
        "manifest_sha256": read_digest(folder),
        "seconds": {stage: about["seconds"] for stage, about in timings.items()},
        "peak_mb": peak_mb(),
    }
    rows = [("archive", escape(str(folder))), ("digest", read_digest(folder))]
    rows += [("zip", escape(str(pack)))] if pack else []
    rows += [("report", escape(str(report)))] if report else []
    emit(
        as_json,
        payload,
        stage_table(timings),
        release_table(board),
        award_table(board),
        table_of("Where it is", rows),
    )
    return 0


def can_report() -> bool:
    """Whether reports can be drawn here; says so if not, before the long work begins."""
    if find_spec("vl_convert") is not None:
        return True
    people().print(
        'no report: vl-convert is not installed (pip install "tracecup\\[report]")', soft_wrap=True
    )
    return False


def write_html_report(folder: Path, path: Path) -> Path:
    """Write the report of an archive; the path of it."""
    from tracecup.facts import facts_of_archive
    from tracecup.report import write_report

    write_report(facts_of_archive(folder), path)
    return path


def summary_of(archive: Archive) -> dict[str, Any]:
    """What the results say in short: awards, correlation, counts."""
    from tracecup.contest.results.compute import SUMMARY_FILE
    from tracecup.contest.smallfiles import read_json

    return dict(read_json(archive.results / SUMMARY_FILE))


def stage_table(timings: dict[str, dict[str, float]]) -> Table:
    """What took how long."""
    table = Table(title="Stages", title_justify="left", title_style="bold")
    table.add_column("stage")
    table.add_column("seconds", justify="right")
    table.add_column("peak memory", justify="right")
    for stage, about in timings.items():
        table.add_row(stage, f"{about['seconds']:.1f}", f"{about['peak_mb']:.0f} MB")
    total = sum(about["seconds"] for about in timings.values())
    table.add_row("[bold]all[/bold]", f"[bold]{total:.1f}[/bold]", "")
    return table


def release_table(board: BoardFacts) -> Table:
    """Every release with its utility, its two minima and what bounds them, the safest first."""
    from tracecup.facts.text import spelled
    from tracecup.methodnames import short_method

    table = Table(
        title="Releases",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("team", no_wrap=True)
    table.add_column("obfuscation", overflow="fold")
    for name in ("s_U", "s_R,min", "s_T,min", "≤", "linked"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for one in sorted(board.releases, key=lambda one: (-(one.trace_min or 0.0), one.file)):
        scores = [spelled(one.utility), spelled(one.reid_min)]
        scores += [f"{spelled(one.trace_min)}{'*' if one.uncredited else ''}"]
        scores += [spelled(one.ceiling), spelled(one.true_link)]
        note = "" if one.status == "team" else one.status
        table.add_row(one.label, escape(short_method(one.method, 3)), *scores, note)
    hidden = [f", {one.label} {spelled(one.group)} (groups)" for one in board.releases if one.group]
    guessing = spelled(board.releases[0].guessing)
    table.caption = BOUNDS_NOTE.format(guessing=guessing, groups="".join(hidden))
    table.caption_justify = "left"
    return table


def award_table(board: BoardFacts) -> Table:
    """The awards with their winners and how sure the first places are."""
    table = Table(title="Awards", title_justify="left", title_style="bold")
    for name in ("award", "winner", "value", "rank, 95 %"):
        table.add_column(name)
    for award in board.awards:
        if not award.winners:
            table.add_row(award.title, "nobody", "", "")
        for place in (one for one in award.places if one.rank == 1):
            tie = " (tie)" if award.tie else ""
            sure = f"{place.rank_low} to {place.rank_high}"
            table.add_row(award.title, f"team{place.team}{tie}", f"{place.value:.6f}", sure)
    found = board.correlation
    if found.value is not None:
        words = f"{found.value:.3f} over {found.pairs} releases"
        table.caption = f"correlation of the two minima: {words}"
        table.caption_justify = "left"
    return table


@contextmanager
def stages_shown() -> Iterator[Callable[[str, float, float], None]]:
    """A bar for each stage on stderr with the time left; in a pipe lines, if asked for."""
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = people()
    bars = Progress(
        TextColumn("{task.description:<16}"),
        BarColumn(),
        TextColumn("{task.completed:>4.0f} of {task.total:.0f}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    known: dict[str, Any] = {}
    line = Lines(console)

    def progress(stage: str, done: float, total: float) -> None:
        if stage not in known:
            for task in known.values():
                bars.stop_task(task)
            known[stage] = bars.add_task(stage, total=total)
        bars.update(known[stage], completed=done, total=total)
        line.tell(stage, done, total)

    with bars:
        yield progress
