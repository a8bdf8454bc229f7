"""`tracecup benchmark`: a grid of defences, attacks, data sets and seeds into one tidy table.

Can be stopped at any time; what is finished is kept.
"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from tracecup.cli.common import (
    Engine,
    Json,
    Plugin,
    Shared,
    Strength,
    emit,
    people,
    progress,
    with_the_usual,
    with_usual,
)

if TYPE_CHECKING:
    from tracecup.study.results import Table as Rows
    from tracecup.study.sweep import Sweep

HEADS = (
    "defence",
    "s_U",
    "floor",
    "s_R,min",
    "at most",
    "by",
    "s_T,min",
    "by",
    "s_T,linked",
    "at most",
    "link known",
)
MARKS = {"coarse": "coarse", "strongest": "strongest"}


def benchmark(
    out: Annotated[Path, typer.Option("--out", help="Folder for cells, tables and the picture.")],
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data",
            help="Folder with info_region.csv, info_time.csv, reftraces_TEAM and orgtraces_TEAM, "
            "or the archive of a contest; may be repeated. Every team in it is a data set.",
            show_default=False,
        ),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo", help="Contest-like data of 300 people and 20 days from the shipped model."
        ),
    ] = False,
    defences: Annotated[
        list[str] | None,
        typer.Option("--defences", help="Names with commas between; may be repeated."),
    ] = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attacks", help="Of both kinds, commas between; may be repeated."),
    ] = None,
    strength: Strength = "quick",
    seeds: Annotated[str, typer.Option("--seeds", help="Seeds: 1,2,3 or 1-5.")] = "1,2,3",
    floor: Annotated[
        float, typer.Option("--floor", help="Tune each defence to this utility.")
    ] = 0.7,
    as_written: Annotated[
        bool, typer.Option("--as-written", help="Take defences as written, without tuning.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run again what is finished already.")
    ] = False,
    engine: Engine = "local",
    shared: Shared = False,
    plugin: Plugin = None,
    as_json: Json = False,
) -> int:
    """Run every defence against every attack on every data set with every seed.

    Writes table.csv and table.parquet (one row per data set, defence, seed and attack),
    summary.csv (means and spread over the seeds) and, where matplotlib is installed, scatter.png
    and scatter.svg. Without names it takes the paper's defences (KMeans with fewer clusters where
    there are fewer than 2000 users), the paper's attacks, and those of --strength; a plus before
    a name adds it to them (`--plugin my.py --defences +Mine`). Stopped runs go on where they
    were; exit code 1 if a cell failed.

    Example: `tracecup benchmark --data osaka --defences "None,PL(4,1),KMeans(100)" --attacks
    "VisitProb-R,Fuzzy-R,Fuzzy-T,Prior-T" --seeds 1-5 --out sweep`
    """
    from tracecup.errors import InvalidParameter
    from tracecup.front.plugins import shipped
    from tracecup.jobs import engine as engine_of
    from tracecup.study import comparison
    from tracecup.study.sweep import sweep
    from tracecup.study.sweepdata import find_data
    from tracecup.study.sweeptable import summarize, write_tables
    from tracecup.study.tried import known_stronger, what_attacks_knew

    folders = list(data or [])
    if demo:
        from tracecup.front.data import load_demo

        folders.append(load_demo().save(out / "demo"))
    if not folders:
        raise InvalidParameter("give --data FOLDER, or --demo for data from the shipped model")
    sets = find_data(folders)
    learned = all(one.suits_shipped_model() for one in sets)
    every = comparison.portfolio(strength, learned=learned)
    chosen = named(defences, "--defences")

    asked = named(attacks, "--attacks")

    def defences_for(users: int) -> list[str]:
        usual = comparison.usual_defences(users)
        return with_usual(chosen or usual, usual)

    with engine_of(engine, shipped(plugin)) as executor, progress("sweeping") as advance:
        made = sweep(
            sets,
            out,
            defences=defences_for,
            attacks=with_usual(asked or every, every),
            seeds=seeds_of(seeds),
            floor=None if as_written else floor,
            informed=strength == "max" and with_the_usual(asked),
            force=force,
            progress=advance,
            executor=executor,
            shared=shared,
        )
    written = write_tables(out, made.table)
    end = written[0].stem.removeprefix("table")
    files = [*written, *_draw(made.table, out, end)]
    for failure in made.failed:
        people().print(f"[bold red]failed:[/bold red] {escape(str(failure))}", soft_wrap=True)
    summary = summarize(made.table)
    emit(as_json, _payload(made, summary, files), *_shown(summary))
    if not as_json:
        met = [(row["attack"], row["knew"]) for row in made.table.records()]
        for text in what_attacks_knew(met, "table.csv"):
            people().print(escape(text), soft_wrap=True)
        people().print(escape(known_stronger({name for name, _ in met})), soft_wrap=True)
        if not as_written:
            people().print(f"Defences are tuned to utility {floor:g}; table.csv says to what.")
        said = f"{made.computed} cells run, {made.kept} found finished; written to {out}"
        people().print(escape(said), soft_wrap=True)
        if end:
            kept = f"{out} holds the tables of a larger grid, which stay; these end in {end}"
            people().print(escape(kept), soft_wrap=True)
    return 1 if made.failed else 0


def named(given: list[str] | None, option: str) -> list[str]:
    """The names of an option; one that is there but empty is a mistake, not the usual list."""
    from tracecup.errors import InvalidParameter

    found = names_of(given)
    if given is not None and not found:
        raise InvalidParameter(f"{option} is empty; leave it out for the usual ones")
    return found


def names_of(given: list[str] | None) -> list[str]:
    """Names from repeated lists; commas inside brackets belong to a name.

    >>> names_of(["None, PL(4,1)", "RR(8)"])
    ['None', 'PL(4,1)', 'RR(8)']
    """
    found, depth, word = [], 0, ""
    for character in ",".join(given or []):
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            found.append(word)
            word = ""
        else:
            word += character
    return [name.strip() for name in (*found, word) if name.strip()]


def seeds_of(text: str) -> list[int]:
    """Seeds from `1,2,3`, `1-5` or both.

    >>> seeds_of("1,4-6")
    [1, 4, 5, 6]
    """
    from tracecup.errors import InvalidParameter

    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        last = high if dash else low
        if not (low.isdecimal() and last.isdecimal() and len(low + last) < 32):
            raise InvalidParameter(f"seeds are written 1,2,3 or 1-5, got {text[:80]!r}")
        if not 0 <= int(last) - int(low) < 10_000:
            raise InvalidParameter(f"{part.strip()!r} is no range of 1 to 10000 seeds")
        found += range(int(low), int(last) + 1)
    return found


def _draw(table: Rows, out: Path, end: str) -> list[Path]:
    if find_spec("matplotlib") is None:
        people().print("no picture: matplotlib is not installed")
        return []
    from tracecup.plot.sweep import scatter
    from tracecup.safeio import atomic_write

    picture = scatter(table)
    if picture is None:
        return []
    paths = [out / f"scatter{end}.png", out / f"scatter{end}.svg"]
    for path, content in zip(paths, (picture.png(), picture.svg()), strict=True):
        with atomic_write(path) as file:
            file.write(content)
    return paths


def _payload(made: Sweep, summary: Rows, files: list[Path]) -> dict[str, Any]:
    return {
        "cells_run": made.computed,
        "cells_kept": made.kept,
        "rows": len(made.table),
        "failed": [vars(failure) for failure in made.failed],
        "files": [str(path) for path in files],
        "summary": summary.records(),
    }


def _shown(summary: Rows) -> list[Table]:
    """A table for every data set; beside the scores what bounds them."""
    tables = []
    for (data, team), rows in groupby(summary.records(), lambda row: (row["data"], row["team"])):
        found = list(rows)
        seeds = sorted({row["seeds"] for row in found})
        said = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
        over = "users and seeds" if seeds[-1] > 1 else "users"
        title = escape(f"{data} {team}".strip() + f": mean over seeds ({said}), [95% over {over}]")
        table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
        for name in HEADS:
            table.add_column(name, overflow="fold", no_wrap=name.startswith("s_"))
        for row in found:
            mark = "below" if row["valid"] is False else MARKS.get(row["tuning"], "")
            table.add_row(
                escape(row["ran"]),
                f"{row['utility']:.3f}",
                f"[red]{mark}[/red]" if mark == "below" else mark,
                _spelled(row, "s_r_min", "s_r"),
                _spelled(row, "s_r_group"),
                (row["s_r_by"] or "").partition("(")[0],
                _spelled(row, "s_t_min", "s_t"),
                (row["s_t_by"] or "").partition("(")[0],
                _spelled(row, "s_t_linked", "s_t_linked"),
                _spelled(row, "s_t_prior"),
                _spelled(row, "s_t_true_link"),
            )
        table.caption = (
            "Names say what ran. s_T,linked: by attacks that use the release, the height in the "
            "picture. s_R is at most 1 - 1/users, and (g - 1)/g where users are alike in groups "
            "of g; link known: s_T is at most this. Floor: coarse: the knob's next step would "
            "miss it; strongest: kept by the strongest setting; below: missed"
        )
        table.caption_justify = "left"
        tables.append(table)
    return tables


def _spelled(row: dict[str, Any], column: str, ends: str = "") -> str:
    """A score, with its interval if it has one; escaped for the table."""
    if row[column] is None:
        return "–"
    said = f"{row[column]:.3f}"
    if not ends:
        return said
    low, high = row[f"{ends}_low"], row[f"{ends}_high"]
    return escape(f"{said} [{low:.3f}, {high:.3f}]")
