"""`tracecup client login`, `status` and `logout`.

The token is asked for without showing it, or read from a file; never from the command line, where
others on the machine could see it.
"""

from __future__ import annotations

import getpass
import platform
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from tracecup.cli._client_common import (
    Contest,
    Round,
    answering,
    open_contest,
    outcome,
    time_left,
    what,
)
from tracecup.cli.common import Json, emit, people, table_of


@answering
def login(
    url: Annotated[str, typer.Argument(metavar="URL", help="Like https://contest.example.")],
    user: Annotated[
        str | None, typer.Option("--user", help="Log in with name and password; makes a token.")
    ] = None,
    token_file: Annotated[
        str | None, typer.Option("--token-file", help="A file with the token; - is stdin.")
    ] = None,
    days: Annotated[
        int, typer.Option("--days", min=1, help="With --user: life of the token.")
    ] = 90,
    contest: Contest = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow http://, where others can read the token.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Log in and keep the token in a file that only you can read.

    Make a token on your account's page and paste it when asked; or give --user and type your
    password. Programs set TRACECUP_URL and TRACECUP_TOKEN instead and need no log-in.

    Example: `tracecup client login https://contest.example`
    """
    from tracecup.client import Account, Connection, save_account
    from tracecup.client.contest import log_in, visitor
    from tracecup.errors import InvalidParameter

    page = Account.of_page(url, "")
    url = page.url
    if not page.is_private and not insecure:
        raise InvalidParameter(
            f"{url} is not encrypted: others on the way could read your token; use https://, "
            "or --insecure if you know the network"
        )
    if user is not None:
        name = f"{getpass.getuser()} on {platform.node()}"[:80]
        token = log_in(visitor(url), user, _secret("Password: ", token_file), name, days)
    else:
        token = _secret("Token (tct_...): ", token_file)
    if not token:
        raise InvalidParameter("no token was given")
    account = Account(url, token, contest or page.contest)
    me: dict[str, Any] = Connection(account).get("/me")
    path = save_account(account)
    roles = [f"{one['contest']} ({one['role']})" for one in me["roles"]]
    rows = [
        ("logged in as", escape(str(me["username"]))),
        ("contests", escape(", ".join(roles) or "none yet")),
        ("kept in", escape(str(path))),
    ]
    payload = {"username": me["username"], "roles": me["roles"], "account": str(path)}
    emit(as_json, payload, table_of("Welcome", rows))
    return 0


def logout(as_json: Json = False) -> int:
    """Forget the token on this machine; revoke it on your account's page as well.

    Example: `tracecup client logout`
    """
    from tracecup.client.account import forget_account

    there = forget_account()
    emit(
        as_json,
        {"forgotten": there},
        table_of("Logged out" if there else "There was nothing to forget", []),
    )
    return 0


@answering
def status(contest: Contest = None, round_name: Round = None, as_json: Json = False) -> int:
    """What should we do now? Phase, time left, tries left, last files, news.

    Example: `tracecup client status`
    """
    found = open_contest(contest, round_name).status()
    held, team = found["contest"], found["team"]
    now = held["now"]
    rows = [
        ("contest", escape(f"{held['name']} ({held['slug']}), round {team['round']}")),
        ("team", escape(f"{team['number']}: {team['name']}")),
        *_phase_rows(held, team["round"]),
        ("next step", _step(team["step"], now)),
    ]
    for one in team["releases"]:
        counting = one["counting"]
        counts = f"counts: {counting['ref']}, utility {counting['utility']:.4f}" if counting else ""
        tries = f"{one['tries']['left']} of {one['tries']['allowed']} tries left"
        rows.append((f"releases, {one['challenge']}", f"{tries}; {counts or 'none counts yet'}"))
    if team["targets"]:
        answered = f"{team['answered']} answered, {team['missing']} missing"
        rows.append(("attacks", f"{answered}; {team['answers_left']} tries left"))
    tables: list[Table] = [table_of("Status", rows)]
    if team["last"]:
        tables.append(table_of("Last files", [_last(one) for one in team["last"]]))
    if team["news"]:
        told = [(_minute(one["at"]), _told(one)) for one in team["news"][:NEWS_SHOWN]]
        tables.append(table_of("News", told))
    emit(as_json, found, *tables)
    return 0


def _last(one: dict[str, Any]) -> tuple[str, str]:
    said = outcome(one)
    state = f"{one['state']}: {said}" if said else one["state"]
    return one["ref"], f"{what(one)}; {_minute(one['received_at'])} UTC; {state}"


def _told(one: dict[str, Any]) -> str:
    """An announcement: its title, then its text."""
    only = " (to your team)" if one["to_us"] else ""
    return f"[bold]{escape(one['title'])}[/bold]{only}\n{escape(one['text'])}".rstrip()


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")


NEWS_SHOWN = 5
STEPS = {
    "download": "fetch your data: tracecup client download",
    "prepare": "prepare your release; it may be handed in",
    "release-first": "hand in a valid release: tracecup client submit FILE",
    "release-better": "a valid release counts; improve it if you like",
    "release-done": "your release counts and no try is left; wait",
    "attack-missing": "download the releases, attack, hand in: see tracecup client targets",
    "attack-more": "every target is answered; try stronger attacks if you like",
    "wait-announce": "wait for the announcement",
    "wait-judge": "the judge works; attacks begin",
    "wait-results": "attacks are over; results come",
    "look-results": "results are out: tracecup client results",
    "paused": "the contest is paused; nothing is accepted",
    "unscheduled": "the organisers have not set the phases yet",
    "withdrawn": "your team was withdrawn",
    "disqualified": "your team was disqualified",
}


def _step(step: dict[str, Any], now: str) -> str:
    said = STEPS.get(step["code"], step["code"])
    missing = f" ({step['missing']} missing)" if step.get("missing") else ""
    until = time_left(step.get("until"), now)
    waits = step["code"].startswith(("wait", "prepare"))
    if until in ("", "over") and step["code"] in ("wait-judge", "wait-results"):
        said += " soon"
    if until.startswith("in "):
        said += f" {until}" if waits else f"; time left: {until.removeprefix('in ')}"
    return escape(said + missing)


def _phase_rows(held: dict[str, Any], name: str) -> list[tuple[str, str]]:
    for one in held["rounds"]:
        if one["name"] == name:
            following = one["next_phase"]
            comes = f"{following} {time_left(one['next_at'], held['now'])}" if following else "-"
            paused = " (paused)" if held["paused"] else ""
            return [("phase", f"{one['phase'] or 'not begun'}{paused}"), ("then", comes)]
    return []


def _secret(prompt: str, file: str | None) -> str:
    """A secret from a file, from stdin, or typed without being shown."""
    if file == "-":
        return sys.stdin.readline().strip()
    if file is not None:
        from tracecup.errors import UnreadableFile

        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableFile(file, "cannot be read") from error
    if not sys.stdin.isatty():
        from tracecup.errors import InvalidParameter

        raise InvalidParameter("no terminal to ask on: give --token-file, or - for stdin")
    people().print("[dim](what you type is not shown)[/dim]")
    return getpass.getpass(prompt).strip()
