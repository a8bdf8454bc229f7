"""What the verbs of `tracecup client` share: which contest, how refusals are told.

A refusal of the server is an answer "no": exit code 1, its code in the JSON.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from tracecup.cli.common import people
from tracecup.contest.challenges import CHALLENGES

if TYPE_CHECKING:
    from tracecup.client.contest import ContestClient

Contest = Annotated[
    str | None,
    typer.Option(
        "--contest", metavar="NAME", help="Short name of the contest (as in its address)."
    ),
]
Round = Annotated[
    str | None, typer.Option("--round", metavar="NAME", help="A round; without it the current one.")
]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="DIR", help="Where the data are; without it CONTEST/ROUND."),
]
Verb = Callable[..., int]
KINDS: dict[str, str] = {kind: challenge.title for kind, challenge in CHALLENGES.items()}


def answering(verb: Verb) -> Verb:
    """A verb whose refusals by the server are told in the server's words."""

    @functools.wraps(verb)
    def told(*args: Any, **options: Any) -> int:
        from tracecup.client import Refusal

        try:
            return verb(*args, **options)
        except Refusal as refused:
            for line in str(refused).splitlines():
                people().print(f"[bold red]refused:[/bold red] {escape(line)}", soft_wrap=True)
            if "confirm" in refused.details:
                option = "--" + str(refused.details["confirm"]).replace("_", "-")
                people().print(f"To confirm, say {escape(option)}.")
            if options.get("as_json"):
                payload = {
                    "error": refused.message,
                    "code": refused.code,
                    "problems": refused.problems,
                    "details": refused.details,
                }
                print(json.dumps(payload))
            return 1

    return told


def open_contest(contest: str | None, round_name: str | None) -> ContestClient:
    """The contest that the options and the account mean."""
    from tracecup.client import Connection, load_account
    from tracecup.client.contest import ContestClient

    return ContestClient(Connection(load_account()), contest, round_name)


def data_folder(client: ContestClient, folder: Path | None) -> Path:
    """Where the data of a round are kept."""
    return folder if folder is not None else Path(client.slug) / client.round


def time_left(text: str | None, now: str | None = None) -> str:
    """How long it is until an instant, for people.

    >>> time_left("2030-01-02T01:30:00Z", "2030-01-01T00:00:00Z")
    'in 1 d 1 h'
    >>> time_left("2030-01-01T00:00:20Z", "2030-01-01T00:00:00Z")
    'in 20 s'
    """
    if not text:
        return ""
    then = datetime.fromisoformat(text)
    today = datetime.fromisoformat(now) if now else datetime.now(UTC)
    seconds = int((then - today).total_seconds())
    if seconds <= 0:
        return "over"
    parts = [(seconds // 86400, "d"), (seconds // 3600 % 24, "h"), (seconds // 60 % 60, "min")]
    shown = [f"{count} {unit}" for count, unit in parts if count][:2]
    return "in " + (" ".join(shown) or f"{seconds} s")


def size_of(count: int) -> str:
    """A number of bytes for people.

    >>> size_of(2_400_000)
    '2.4 MB'
    """
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count} B"


def what(one: Mapping[str, Any]) -> str:
    """What a submission is.

    >>> what({"kind": "trace", "challenge": "trace", "target": 3})
    'trace inference against team 3'
    """
    if one["target"] is None:
        return f"release for {KINDS[one['challenge']]}"
    whom = f"team {one['target']}" if one["target"] else "the benchmark"
    return f"{KINDS[one['kind']]} against {whom}"


def outcome(one: Mapping[str, Any]) -> str:
    """What came out of a submission, as far as its team may know; escaped for a table."""
    if one["utility"] is not None:
        valid = "valid" if one["valid"] else "below the floor"
        return f"utility {one['utility']:.6f}, {valid}"
    if one["feedback"]:
        return escape(str(one["feedback"]["shown"]))
    return escape(one["reason"])
