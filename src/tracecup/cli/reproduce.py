"""`tracecup reproduce`: the paper's figures and tables, and what goes beyond, from one command.

Numbers as CSV and JSON, pictures as PNG and SVG, one page with everything.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from tracecup.cli.common import Engine, Json, Shared, emit, people, progress

if TYPE_CHECKING:
    from tracecup.study.context import Context
    from tracecup.study.reproduce import Study


def reproduce(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID...", help="Studies such as fig8, or `all`.", show_default=False),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for numbers, pictures and the page.")
    ] = Path("out/paper"),
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            envvar="TRACECUP_DATA",
            help="Your copy of the public contest data; without it the built-in city is used.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer users and coarser sweeps: minutes, not digits.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run again what is complete already.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all draws.")] = 1,
    users: Annotated[
        int | None,
        typer.Option("--users", min=2, help="Users of a team, instead of a study's own number."),
    ] = None,
    teams: Annotated[
        int | None,
        typer.Option(
            "--teams", min=1, help="Teams that strength, bounds, replay, knowledge and race judge."
        ),
    ] = None,
    engine: Engine = "local",
    shared: Shared = False,
    as_json: Json = False,
) -> int:
    """Make figures and tables of the paper again: numbers, pictures, and published beside ours.

    Without IDs it lists them. A study that is complete in the folder is kept, so a run that was
    stopped goes on where it was; long ones (existing, strength, replay, knowledge, race) also
    inside of a study. The page is index.html, the comparisons alone are summary.md.

    Example: `tracecup reproduce fig6 fig11 --out paper`
    """
    from tracecup.errors import UnreadableFile
    from tracecup.study.context import FILES, Context
    from tracecup.study.reproduce import studies

    if data is not None and not data.is_dir():
        raise UnreadableFile(data, "no such folder of data")
    context = Context(data, quick, seed, asked_users=users, asked_teams=teams)
    if data is not None and not context.there:
        folders = sorted({name.partition("/")[0] for names in FILES.values() for name in names})
        raise UnreadableFile(
            data, f"holds nothing of the public contest data (folders {', '.join(folders)})"
        )
    if not ids:
        return _list(studies(), context, as_json)
    return _run(ids, out, context, force, engine, shared, as_json)


def _list(known: dict[str, Study], context: Context, as_json: bool) -> int:
    table = Table(title="Studies", title_justify="left", title_style="bold")
    for name in ("ID", "paper", "what", "can run here"):
        table.add_column(name)
    for one in known.values():
        table.add_row(one.id, one.paper, one.title, one.missing(context) or "yes")
    payload = {
        "studies": [
            {
                "id": one.id,
                "paper": one.paper,
                "title": one.title,
                "missing": one.missing(context) or None,
            }
            for one in known.values()
        ]
    }
    emit(as_json, payload, table)
    return 0


def _run(
    ids: list[str],
    out: Path,
    context: Context,
    force: bool,
    engine: str,
    shared: bool,
    as_json: bool,
) -> int:
    from tracecup.jobs import PROCESSES
    from tracecup.jobs import engine as engine_of
    from tracecup.plot import album
    from tracecup.study.reproduce import choose

    learns = any("learn" in one.needs for one in choose(ids, context)[0])
    also = ["jax"] if learns else []
    with engine_of(engine, also=also) as executor, progress("reproducing") as advance:
        made = album.reproduce(
            ids,
            out,
            context,
            force=force,
            told=lambda _, done, total: advance(done, total),
            executor=executor,
            shared=shared or engine == PROCESSES,  # of this machine: they use the folders
        )
    table = Table(title="The paper, reproduced", title_justify="left", title_style="bold")
    for name in ("ID", "compared", "inside", "outside", "seconds"):
        table.add_column(name)
    for record in made.records:
        verdicts = [c.inside for c in record.result.comparisons]
        table.add_row(
            record.id,
            str(len(verdicts)),
            str(verdicts.count(True)),
            str(verdicts.count(False)),
            "kept" if record.id in made.kept else f"{record.seconds:.1f}",
        )
    payload = {
        "page": str(made.folder / album.PAGE),
        "studies": {
            record.id: {k: v for k, v in record.as_dict().items() if k != "tables"}
            for record in made.records
        },
        "kept": list(made.kept),
        "left_out": list(made.left_out),
    }
    for text in made.left_out:
        people().print(f"left out: {escape(text)}", soft_wrap=True)
    emit(as_json, payload, table)
    if not as_json:
        people().print(f"page: {escape(str(made.folder / album.PAGE))}", soft_wrap=True)
    return 0
