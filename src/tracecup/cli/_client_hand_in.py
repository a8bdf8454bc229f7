"""`tracecup client submit`, `list`, `choose`, `describe` and `withdraw`.

A file is checked here before it travels; sent twice, the server takes it once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    outcome,
    size_of,
    what,
)
from tracecup.cli._client_data import (
    ChallengeOption,
    File,
    KindOption,
    TargetOption,
    found_tables,
    require_there,
)
from tracecup.cli.common import Json, emit, people, table_of

if TYPE_CHECKING:
    from tracecup.client.checking import Found
    from tracecup.client.contest import ContestClient
    from tracecup.client.naming import Meant

Wait = Annotated[bool, typer.Option("--wait", help="Wait until it is scored, ten minutes at most.")]
Ref = Annotated[str, typer.Argument(metavar="REF", help="The submission, as `list` calls it.")]


@answering
def submit(
    file: File,
    kind: KindOption = None,
    challenge: ChallengeOption = None,
    target: TargetOption = None,
    method: Annotated[str, typer.Option("--method", help="How it was made, in a few words.")] = "",
    consent: Annotated[
        bool, typer.Option("--consent", help="Method and file may be published with the results.")
    ] = False,
    confirm_invalid: Annotated[
        bool, typer.Option("--confirm-invalid", help="Hand in a release below the floor.")
    ] = False,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Do not check the file here first.")
    ] = False,
    once_more: Annotated[
        bool, typer.Option("--once-more", help="A new try with a file that was sent before.")
    ] = False,
    wait: Wait = False,
    folder: Folder = None,
    contest: Contest = None,
    round_name: Round = None,
    as_json: Json = False,
) -> int:
    """Hand in a release, an answer, or a zip of many answers.

    The contest's file names say what a file is (anotraces_team001_data02_TRP.csv,
    etable_team001-003_data02_TRP.csv, etraces_...); otherwise say --kind, --challenge, --target.
    The file is checked here first, if the data were downloaded; a file in a wrong format costs no
    try. If the network fails the file is sent again; the same file is never counted twice. A
    release is scored at once; with --wait the program ends when answers are scored, too.

    Exit code 0: accepted; 1: refused, with the reason.

    Example: `tracecup client submit anotraces_team001_data02_TRP.csv --method "PL(4,1)"`
    """
    from tracecup.client.naming import meant

    require_there(file)
    said = meant(file.name, kind, challenge, target)
    return hand_in(
        open_contest(contest, round_name),
        file,
        said,
        folder=folder,
        method=method,
        consent=consent,
        confirm_invalid=confirm_invalid,
        check=not no_check,
        once_more=once_more,
        wait=wait,
        as_json=as_json,
    )


def hand_in(
    client: ContestClient,
    file: Path,
    said: Meant,
    *,
    folder: Path | None,
    method: str,
    consent: bool,
    wait: bool,
    as_json: bool,
    confirm_invalid: bool = False,
    check: bool = True,
    once_more: bool = False,
) -> int:
    """Check a file here, send it, and say what became of it; the exit code."""
    from tracecup.client.contest import new_key
    from tracecup.client.naming import foreign
    from tracecup.errors import InvalidParameter

    if reason := foreign(said, client.team_number()):
        raise InvalidParameter(f"{file.name}: {reason}")
    if check:
        bad = _bad_here(client, folder, file, said, confirm_invalid)
        if bad:
            listed = [vars(one) for one in bad]
            payload = {"error": "not sent", "code": "checked-here", "files": listed}
            emit(as_json, payload, *found_tables(bad))
            people().print("Nothing was sent and no try was charged.")
            if any(one.ok for one in bad):
                people().print("To hand in a release below the floor, say --confirm-invalid.")
            return 1
    answer = client.submit(
        file,
        said,
        key=new_key() if once_more else None,
        method=method,
        consent=consent,
        confirm_invalid=confirm_invalid,
    )
    if said.kind == "archive":
        if wait:
            _await_items(client, answer["items"])
        emit(as_json, answer, _archive_table(answer))
        return 0 if answer["items"] and all(map(_taken, answer["items"])) else 1
    if wait:
        answer |= client.settled([answer["ref"]])[0]
    emit(as_json, answer, _receipt_table(answer, client))
    if answer["repeated"] and method and answer["method"] != method:
        words = f"tracecup client describe {answer['ref']} --method ..."
        people().print(f"Its description stays as it was; to change it: {escape(words)}")
    return 0


@answering
def list_submissions(
    ref: Annotated[
        str | None, typer.Argument(metavar="[REF]", help="Show the receipt of this one.")
    ] = None,
    wait: Wait = False,
    contest: Contest = None,
    round_name: Round = None,
    as_json: Json = False,
) -> int:
    """What we handed in, the newest first; with REF the receipt of one.

    Example: `tracecup client list`
    """
    client = open_contest(contest, round_name)
    if wait:
        refs = [ref] if ref is not None else [one["ref"] for one in client.submissions()]
        client.settled(refs)
    if ref is not None:
        one = client.receipt(ref)
        emit(as_json, one, _receipt_table(one, client), *_problem_tables(one))
        return 0
    found = client.submissions()
    table = Table(title="Submissions", title_justify="left", title_style="bold")
    for name in ("ref", "received (UTC)", "what", "state", "said"):
        table.add_column(name, overflow="fold", no_wrap=name in ("ref", "received (UTC)"))
    for one in found:
        counts = ", counts" if one["counts"] else ""
        when = one["received_at"][5:16].replace("T", " ")
        aim = one["challenge"] if one["target"] is None else f"team {one['target']}"
        kind = f"{one['kind']} → {aim}"
        table.add_row(one["ref"], when, kind, one["state"] + counts, outcome(one))
    emit(as_json, {"submissions": found}, table)
    return 0


@answering
def choose(
    ref: Ref, contest: Contest = None, round_name: Round = None, as_json: Json = False
) -> int:
    """Let this release count; without a choice the last valid one does.

    Example: `tracecup client choose 3f9a1c20be77`
    """
    client = open_contest(contest, round_name)
    emit(as_json, answer := client.choose(ref), _receipt_table(answer, client))
    return 0


@answering
def withdraw(
    ref: Ref, contest: Contest = None, round_name: Round = None, as_json: Json = False
) -> int:
    """Take a submission back: it counts no more, and its try stays used.

    Example: `tracecup client withdraw 3f9a1c20be77`
    """
    client = open_contest(contest, round_name)
    emit(as_json, answer := client.withdraw(ref), _receipt_table(answer, client))
    return 0


@answering
def describe(
    ref: Ref,
    method: Annotated[str, typer.Option("--method", help="How it was made, in a few words.")],
    consent: Annotated[
        bool | None,
        typer.Option("--consent/--no-consent", help="Whether method and file may be published."),
    ] = None,
    contest: Contest = None,
    round_name: Round = None,
    as_json: Json = False,
) -> int:
    """Say how a submission was made; costs nothing.

    Whether it may be published stays as it was unless you say --consent or --no-consent.

    Example: `tracecup client describe 3f9a1c20be77 --method "PL(4,1)" --consent`
    """
    client = open_contest(contest, round_name)
    answer = client.describe(ref, method, consent)
    emit(as_json, answer, _receipt_table(answer, client))
    return 0


def _await_items(client: ContestClient, items: list[dict[str, Any]]) -> None:
    """Wait for the files of an archive, and put what came out in their places."""
    refs = [item["submission"]["ref"] for item in items if item["submission"]]
    scored = {one["ref"]: one for one in client.settled(refs)}
    for item in items:
        if item["submission"]:
            item["submission"] = scored.get(item["submission"]["ref"], item["submission"])


def _bad_here(
    client: ContestClient, folder: Path | None, file: Path, said: Meant, confirmed: bool
) -> list[Found]:
    """The files that the server would refuse; none where the data are not here to check with."""
    from tracecup.client.checking import LocalJudge
    from tracecup.errors import UnreadableFile

    where = data_folder(client, folder)
    try:
        local = LocalJudge(where, client.round, client.team_number())
    except UnreadableFile:
        people().print(f"[dim]not checked here: {escape(str(where))} has no data[/dim]")
        return []
    found = local.check(file, said)
    return [one for one in found if not (one.ok if confirmed else one.fine)]


def _receipt_table(one: dict[str, Any], client: ContestClient) -> Table:
    title = "Was here before" if one.get("repeated") else "Receipt"
    rows = [
        ("ref", one["ref"]),
        ("what", f"{what(one)}, try {one['attempt']}" if one["attempt"] else what(one)),
        ("file", escape(f"{one['file_name']}, {size_of(one['size'])}")),
        ("SHA-256", one["sha256"]),
        ("received", one["received_at"]),
        ("state", _state(one)),
    ]
    rows += [("result", outcome(one))] if outcome(one) else []
    if one["method"]:
        public = "may be published" if one["consent"] else "not to be published"
        rows.append(("method", escape(f"{one['method']} ({public})")))
    rows.append(("receipt", escape(client.connection.account.url + one["receipt"])))
    return table_of(title, rows)


def _problem_tables(one: dict[str, Any]) -> list[Table]:
    """Why a file was rejected: its first bad lines, as the server named them."""
    rows = [
        (
            f"line {told['line']}" if told["line"] else "file",
            escape(f"{told['field']}: found {told['found']}, expected {told['expected']}"),
        )
        for told in one["problems"]
    ]
    return [table_of("The first bad lines", rows)] if rows else []


def _archive_table(answer: dict[str, Any]) -> Table:
    title = f"{answer['accepted']} of {len(answer['items'])} files were accepted"
    table = Table(title=title, title_justify="left", title_style="bold")
    for name in ("file", "ref", "said"):
        table.add_column(name, overflow="fold")
    for item in answer["items"]:
        held, error = item["submission"], item["error"]
        said = _state(held) if held else escape((error or {}).get("message", ""))
        if held and item["already"]:
            said = "already received; cost no try again"
        elif held and outcome(held):
            said += f"; {outcome(held)}"
        table.add_row(escape(item["name"]), held["ref"] if held else "", said)
    return table


def _state(one: dict[str, Any]) -> str:
    cost = "cost a try" if one["charged"] else "cost nothing"
    return f"{one['state']} ({cost})"


def _taken(item: dict[str, Any]) -> bool:
    held = item["submission"]
    return held is not None and held["state"] != "rejected"
