"""`tracecup import`: an archive or a folder of 2019's files as a finished contest of a server.

Everything is checked first; nothing is half-imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from tracecup.cli.common import Json, emit, people, progress, table_of
from tracecup.cli.serve import need_server
from tracecup.errors import InvalidParameter, UnreadableFile


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    app.command("import")(import_contest)


def import_contest(
    files: Annotated[
        Path, typer.Argument(metavar="PATH", help="Archive (folder or zip), or 2019's files.")
    ],
    server: Annotated[Path, typer.Option("--server", help="The server's folder.")],
    slug: Annotated[str, typer.Option("--slug", help="Its address: /c/SLUG/.")],
    name: Annotated[str, typer.Option("--name", help="Its name.")],
    organiser: Annotated[
        str, typer.Option(help="Account of who organises it; without it all who run the server.")
    ] = "",
    public: Annotated[bool, typer.Option("--public", help="Everybody may see it.")] = False,
    samples: Annotated[
        str, typer.Option(metavar="A,B", help="Numbers of the public sample teams, such as 22,23.")
    ] = "",
    hors_concours: Annotated[
        str, typer.Option(metavar="N,N", help="Teams that play out of competition.")
    ] = "",
    as_json: Json = False,
) -> int:
    """Bring a contest that is over into a server: teams, releases, answers, results.

    PATH is an archive, folder or zip, of `contest simulate` or of a server: it is verified first,
    and every difference stops the import. Or it is a folder of files with 2019's names, plain or
    packed: info_region.csv, info_time.csv, reftraces, orgtraces, anotraces, pubtraces, ptable of
    every team (000 is the benchmark), etable and etraces of every attacker (second tries end in
    _try2), and maybe contest.toml; without it the rules are those of 2019. Every release is judged
    and every answer scored anew.
    What cannot be scored because the truth is missing is said; a broken file stops the import.

    A folder without files of teams but with score sheets (final_reidentification.csv,
    final_traceinference.csv, final_utility.csv, the same for other rounds, or a workbook with
    sheets called Final(ID Disclosure), ...) gives a finished contest too: scores only, no files.

    Example: `tracecup import files2019 --server contests --slug pws2019 --name "PWS Cup 2019"`
    """
    need_server()
    from tracecup.contest.sheets.folder import find_sheets
    from tracecup.server.config import ServerConfig
    from tracecup.server.start import set_up

    if not ServerConfig(server).blobs.is_dir():
        raise UnreadableFile(server, "no folder of a contest server")
    two, apart = _numbers("--samples", samples), _numbers("--hors-concours", hors_concours)
    if two and len(two) != 2:
        raise InvalidParameter(f"--samples takes two numbers, got {len(two)}")
    set_up(server)
    from tracecup.contest.legacy2019.folder import scan
    from tracecup.server.access import SYSTEM
    from tracecup.server.errors import Refused
    from tracecup.server.organising.archiveimport import (
        As,
        finish,
        import_archive,
        import_folder,
        is_archive,
    )

    try:
        given = is_archive(files)
        if not given and find_sheets(files) and not scan(files).files:
            return _sheets(files, slug, name, public, organiser, as_json)
        wanted = As(slug, name, public, _organisers(organiser), apart)
        with progress("judging") as advance:
            if given:
                made = import_archive(files, SYSTEM, wanted, advance)
            else:
                numbers = (two[0], two[1]) if two else None
                made = import_folder(files, SYSTEM, wanted, numbers, advance)
        _notes(made.said)
        results = finish(made)
    except Refused as error:
        raise InvalidParameter(error.message) from error
    winners = _winners(results)
    payload: dict[str, Any] = {
        "contest": slug,
        "teams": made.teams,
        "releases": made.releases,
        "valid": made.valid,
        "answers": made.answers,
        "awards": winners,
        "notes": list(made.said),
    }
    rows = [
        ("address", f"/c/{slug}/"),
        ("teams", str(made.teams)),
        ("releases", f"{made.releases}, {made.valid} of them valid"),
        ("answers scored", str(made.answers)),
        *((one["title"], ", ".join(one["winners"]) or "nobody") for one in winners.values()),
        ("notes", str(len(made.said))),
    ]
    emit(as_json, payload, table_of(escape(name), rows))
    return 0


def _sheets(files: Path, slug: str, name: str, public: bool, organiser: str, as_json: bool) -> int:
    """Score sheets without traces: scores only, no files."""
    from tracecup.server.access import SYSTEM
    from tracecup.server.organising.sheetsimport import import_sheets

    made = import_sheets(
        files,
        SYSTEM,
        slug=slug,
        name=name,
        is_public=public,
        organisers=_organisers(organiser),
    )
    _notes(made.said)
    winners = _winners(made.results)
    rounds = [one.name for one in made.contest.rounds.all()]
    payload: dict[str, Any] = {
        "contest": slug,
        "scores_only": True,
        "rounds": rounds,
        "teams": made.teams,
        "releases": made.releases,
        "valid": made.valid,
        "scores": made.scores,
        "awards": winners,
        "notes": list(made.said),
    }
    rows = [
        ("address", f"/c/{slug}/"),
        ("what", "scores only, no files"),
        ("rounds", ", ".join(rounds)),
        ("teams", str(made.teams)),
        ("releases", f"{made.releases}, {made.valid} of them valid"),
        ("scores", str(made.scores)),
        *((one["title"], ", ".join(one["winners"]) or "nobody") for one in winners.values()),
        ("notes", str(len(made.said))),
    ]
    emit(as_json, payload, table_of(escape(name), rows))
    return 0


def _notes(said: Sequence[str]) -> None:
    for line in said:
        people().print(f"note: {escape(line)}", soft_wrap=True)


def _winners(results: Any) -> dict[str, dict[str, Any]]:
    """Award -> title and winners of a set of results."""
    return {
        key: {"title": award["title"], "winners": award["winners"]}
        for key, award in results.summary["awards"].items()
    }


def _organisers(username: str) -> list[Any]:
    from tracecup.server.models import Person

    if not username:
        return list(Person.objects.filter(is_staff=True, is_active=True))
    found = Person.objects.filter(username=username, is_active=True).first()
    if found is None:
        raise InvalidParameter(f"the server has no account {username[:150]!r}")
    return [found]


def _numbers(option: str, text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() and len(part) <= 3 for part in parts):
        raise InvalidParameter(f"{option} takes numbers of teams such as 3,4, got {text[:60]!r}")
    return tuple(int(part) for part in parts)
