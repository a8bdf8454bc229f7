"""`tracecup client download` and `check`.

Downloads go on where they broke off; the check is the server's own, run here.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.table import Table

from tracecup.cli._client_common import (
    Contest,
    Folder,
    Round,
    answering,
    data_folder,
    open_contest,
    size_of,
)
from tracecup.cli.common import Json, emit, progress, table_of
from tracecup.contest.challenges import AttackKind, HandedKind

if TYPE_CHECKING:
    from tracecup.client.checking import Found
    from tracecup.client.contest import ContestClient

File = Annotated[Path, typer.Argument(metavar="FILE", help="The file, or a zip of many.")]
KindOption = Annotated[
    Literal[HandedKind, "archive"] | None,
    typer.Option("--kind", help="What the file is, where its name does not say so."),
]
ChallengeOption = Annotated[
    AttackKind | None,
    typer.Option("--challenge", help="The data set, where the name does not say so."),
]
TargetOption = Annotated[
    int | None,
    typer.Option("--target", min=0, help="Whom an answer is about; 0 is the benchmark."),
]


@answering
def download(
    folder: Folder = None,
    one_file: Annotated[
        bool, typer.Option("--zip", help="One zip file instead; it cannot be resumed.")
    ] = False,
    contest: Contest = None,
    round_name: Round = None,
    as_json: Json = False,
) -> int:
    """Fetch everything your team may have: rules, city, your traces, releases to attack.

    Files that are there already and whole are not fetched again; one that broke off goes on where
    it broke off. Every file is checked against its SHA-256. Run it again in the attack phase.

    Example: `tracecup client download`
    """
    client = open_contest(contest, round_name)
    where = data_folder(client, folder)
    if one_file:
        return _download_zip(client, where, as_json)
    with progress("download") as advance:
        files = client.download(where, advance)
    _tell_files("Downloaded", where, files, as_json)
    return 0


@answering
def check(
    file: File,
    kind: KindOption = None,
    challenge: ChallengeOption = None,
    target: TargetOption = None,
    folder: Folder = None,
    contest: Contest = None,
    round_name: Round = None,
    as_json: Json = False,
) -> int:
    """Would the server take this file? The same judge and the same number, on your machine.

    Needs the data that `tracecup client download` fetched. Exit code 0: it would count; 1: not in
    the format, or below the utility floor. The server is not asked at all where the file is named
    as the contest does and lies among the downloaded data, or the command stands there, or
    --folder and --round say where they are.

    Example: `tracecup client check anotraces_team001_data02_TRP.csv`
    """
    from tracecup.client.checking import LocalJudge, round_of_folder
    from tracecup.client.naming import meant

    require_there(file)
    said = meant(file.name, kind, challenge, target)
    if contest is None and round_name is None:
        for near in (folder,) if folder is not None else (file.parent, Path()):
            if (called := round_of_folder(near)) is not None:
                folder, round_name = near, called
                break
    if folder is not None and round_name is not None and said.team is not None:
        local = LocalJudge(folder, round_name, said.team)
    else:
        client = open_contest(contest, round_name)
        local = LocalJudge(data_folder(client, folder), client.round, client.team_number())
    found = local.check(file, said)
    fine = bool(found) and all(one.fine for one in found)
    emit(as_json, {"ok": fine, "files": [asdict(one) for one in found]}, *found_tables(found))
    return 0 if fine else 1


def require_there(file: Path) -> None:
    """Say that a file is missing before anything is said about its name."""
    from tracecup.errors import UnreadableFile

    if not file.is_file():
        raise UnreadableFile(file, "no such file")


def found_tables(found: list[Found]) -> list[Table]:
    """What a check says, and the first bad lines of each file."""
    table = Table(title="Checked", title_justify="left", title_style="bold")
    for name in ("file", "", "what the judge says"):
        table.add_column(name, overflow="fold")
    tables = [table]
    for one in found:
        mark = "[green]yes[/green]" if one.fine else "[red]no[/red]"
        table.add_row(escape(one.name), mark, escape(one.reason))
        if one.problems:
            rows = [(f"line {p['line']}" if p["line"] else "file", _said(p)) for p in one.problems]
            tables.append(table_of(escape(one.name), rows))
    return tables


def _said(problem: dict[str, Any]) -> str:
    column = f"{problem['column']}: " if problem["column"] else ""
    return escape(f"{column}found {problem['found']}, expected {problem['expected']}")


def _tell_files(title: str, where: Path, files: list[dict[str, Any]], as_json: bool) -> None:
    table = Table(title=f"{title} to {escape(str(where))}", title_justify="left")
    for name in ("file", "size", "SHA-256", ""):
        table.add_column(name, justify="right" if name == "size" else "left")
    for one in files:
        new = "new" if one["fetched"] else "was there"
        table.add_row(escape(one["name"]), size_of(one["size"]), one["sha256"][:16] + "…", new)
    emit(as_json, {"folder": str(where), "files": files}, table)


def _download_zip(client: ContestClient, where: Path, as_json: bool) -> int:
    from tracecup.client.contest import ARCHIVE_NAME

    where.mkdir(parents=True, exist_ok=True)
    target = where / ARCHIVE_NAME
    size = client.download_archive(target)
    rows = [("file", escape(str(target))), ("size", size_of(size))]
    emit(as_json, {"file": str(target), "size": size}, table_of("Downloaded", rows))
    return 0
