"""`tracecup client results`, `targets` and `defence`: who stands where.

The same objects as the pages show; `--json` prints all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from tracecup.cli._client_common import (
    KINDS,
    Contest,
    Folder,
    Round,
    answering,
    data_folder,
    open_contest,
    outcome,
    time_left,
)
from tracecup.cli.common import Json, emit, people, progress, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tracecup.client.contest import ContestClient

FOUND_SHOWN = 10
BOUNDS = (
    ("guessing", "s_R at most (guessing)"),
    ("group", "s_R at most (groups)"),
    ("ceiling", "s_T without the release"),
    ("true_link", "s_T at most, link known"),
)


@answering
def results(
    folder: Folder = None,
    fetch: Annotated[bool, typer.Option("--download", help="Also fetch the files.")] = False,
    contest: Contest = None,
    round_name: Round = None,
    as_json: Json = False,
) -> int:
    """Who stands where? The board, the attackers and the awards; your own team is marked.

    The board: place, team, utility s_U, the lowest score of any attack of each kind (s_R,min and
    s_T,min, higher is better for the team) and their total, which decides the place. With
    --download report and tables come as files; the archive, with which all scores can be computed
    again, is among them if the organisers have opened it.

    Exit code 1 while the results are not public.

    Example: `tracecup client results --download`
    """
    client = open_contest(contest, round_name)
    found = client.results()
    board = found["board"]
    if board is None:
        soon = escape(_expected(found["expected_at"], found["now"]))
        people().print(f"The results are not public yet{soon}.")
        emit(as_json, found)
        return 1
    if fetch:
        where = data_folder(client, folder)
        with progress("results") as advance:
            found["fetched"] = client.download_results(where, advance)
        found["folder"] = str(where)
    tables = []
    if not as_json:
        own = _own_number(client)
        tables = [_board_table(board, own), _attacker_table(board, own)]
        tables.append(_award_table("Awards", board["awards"]))
        if found["season"]:
            tables.append(_award_table("Awards over all rounds", found["season"]))
    emit(as_json, found, *tables)
    if fetch:
        people().print(f"{len(found['fetched'])} files are in {escape(found['folder'])}.")
    return 0


@answering
def targets(contest: Contest = None, round_name: Round = None, as_json: Json = False) -> int:
    """Whom do we attack? Tries left and our last answer for each target; missing ones first.

    What is told of a score is what the rules allow.

    Example: `tracecup client targets`
    """
    found = open_contest(contest, round_name).targets()
    if not found["targets"]:
        people().print("Nothing to attack yet: the releases are published by the judge.")
        emit(as_json, found)
        return 0
    title = f"{found['missing']} answers are missing, {found['answers_left']} tries are left"
    table = _table(title, "target", "data", *KINDS)
    for one in found["targets"]:
        name = "benchmark" if one["team"] == 0 else one["name"]
        answers = {answer["kind"]: _answer(answer) for answer in one["answers"]}
        cells = (answers.get(kind, "") for kind in KINDS)
        table.add_row(escape(f"{one['team']} {name}"), one["label"].removeprefix("team"), *cells)
    emit(as_json, found, table)
    files = " and ".join(answer["file_name"] for answer in found["targets"][0]["answers"])
    people().print(f"[dim]Files are named like {escape(files)}.[/dim]", soft_wrap=True)
    return 0


@answering
def defence(
    user: Annotated[
        int | None, typer.Option("--user", min=1, help="With --json: this user's traces, too.")
    ] = None,
    contest: Contest = None,
    round_name: Round = None,
    as_json: Json = False,
) -> int:
    """Which attack hurts us? Our row of the matrix, and the users who are most exposed.

    Before the results only the sample attacks, as far as the rules let them be told.

    Example: `tracecup client defence`
    """
    found = open_contest(contest, round_name).defence(user)
    if found["out"]:
        tables = [table for one in found["releases"] for table in _own_tables(one)]
        tables += [_exposed(found["users"])] if found["users"] else []
        if not tables:
            people().print("Your team had no valid release in this round.")
    else:
        tables = [_samples(found["hurting"])] if found["hurting"] else []
        people().print("The attacks of other teams are told with the results.")
    emit(as_json, found, *tables)
    return 0


def _answer(answer: Mapping[str, Any]) -> str:
    """Our answers of one kind against one target: the last one, and the tries that are left."""
    last = answer["submissions"][0] if answer["submissions"] else None
    said = (outcome(last) or last["state"]) if last else ""
    missing = "[yellow]missing[/yellow]" if answer["missing"] else ""
    return " ".join(part for part in (missing, said, f"({answer['tries']['left']} left)") if part)


def _board_table(board: Mapping[str, Any], own: str) -> Table:
    """The releases by place, then those without one."""
    heads = ("s_U", "s_R,min", "s_T,min", "≤", "total")
    told = ("utility", "reid_min", "trace_min", "ceiling", "total")
    table = _table("Board", "place", "team", *heads, "", right=(0, *range(2, 2 + len(heads))))
    order = sorted(board["releases"], key=lambda row: row["place"] or len(board["releases"]) + 1)
    for row in order:
        name = row["name"] or ("benchmark" if row["status"] == "benchmark" else "")
        table.add_row(
            "–" if row["place"] is None else str(row["place"]),
            escape(f"{row['label']} {name}".strip()),
            *(_score(row.get(score)) for score in told),
            "your team" if row["team"] == own else _status(row),
            style="bold" if row["team"] == own else None,
        )
    guessing = board["releases"][0].get("guessing") if board["releases"] else None
    if guessing is not None:
        table.caption = (
            f"s_R,min is at most {_score(guessing)} (guessing), s_T,min at most what an attacker "
            "who never saw the release can reach (≤); told who is who, s_T is at most 1 - s_U, all "
            "regions weighted alike"
        )
        table.caption_justify = "left"
    return table


def _status(row: Mapping[str, Any]) -> str:
    return "" if row["status"] in ("team", "benchmark") else str(row["status"])


def _attacker_table(board: Mapping[str, Any], own: str) -> Table:
    """What each team left of the others: sums of scores, lower is better for the attacker."""
    sums: dict[str, dict[str, Any]] = {}
    for matrix in board["matrices"]:
        for one in matrix["attackers"]:
            if not one["sample"]:
                row = sums.setdefault(one["label"], {"name": one["name"]})
                row[matrix["kind"]] = one["sum"]
    kinds = [matrix["kind"] for matrix in board["matrices"]]
    heads = [f"sum of s_{'R' if kind == 'reid' else 'T'}" for kind in kinds]
    title = "Attackers (lower is better)"
    table = _table(title, "team", *heads, "", right=range(1, 1 + len(kinds)))
    for label, row in sorted(sums.items(), key=lambda one: _total(one[1], kinds)):
        table.add_row(
            escape(f"{label} {row['name']}".strip()),
            *(_score(row.get(kind)) for kind in kinds),
            "your team" if label == own else "",
            style="bold" if label == own else None,
        )
    return table


def _award_table(title: str, awards: Iterable[Mapping[str, Any]]) -> Table:
    table = _table(title, "award", "winner", "value", right=(2,))
    for award in awards:
        tie = " (tie)" if award["tie"] else ""
        winners = ", ".join(
            f"{place['team']} {place['name']}" for place in award["places"] if place["rank"] == 1
        )
        value = "" if award["value"] is None else f"{award['value']:.6f}"
        table.add_row(award["title"], escape(winners or "nobody") + tie, value)
    return table


def _total(row: Mapping[str, Any], kinds: Iterable[str]) -> float:
    """What orders attackers: all their sums together; who has none comes last."""
    told = [row.get(kind) for kind in kinds]
    return sum(one for one in told if one is not None) if any(told) else float("inf")


def _own_tables(release: Mapping[str, Any]) -> Iterable[Table]:
    """One of our releases: its lowest scores, then every attack on it, the strongest first."""
    rows = [
        ("s_U", _score(release["utility"])),
        ("s_R,min", f"{_score(release['reid_min'])} by {release['reid_by_names'] or 'nobody'}"),
        ("s_T,min", f"{_score(release['trace_min'])} by {release['trace_by_names'] or 'nobody'}"),
    ]
    bounds = [(said, release.get(name)) for name, said in BOUNDS]
    rows += [(said, _score(value)) for said, value in bounds if value is not None]
    yield table_of(escape(release["label"]), [(name, escape(said)) for name, said in rows])
    for row in release["rows"]:
        title = f"{release['label']}, {KINDS[row['kind']]}: low means that more was found out"
        table = _table(title, "attacker", "score", "95 % interval", right=(1, 2))
        for cell in row["cells"]:
            low, high = cell["low"], cell["high"]
            spread = "" if low is None or high is None else f"{low:.4f} to {high:.4f}"
            who = f"{cell['attacker']} {cell['name'] or cell['attack']}".strip()
            table.add_row(escape(who), _score(cell["score"]), spread)
        yield table


def _exposed(users: Iterable[Mapping[str, Any]]) -> Table:
    title = "The most exposed users"
    table = _table(
        title, "user", "part of the trace found out", "re-identified by", right=(0, 1, 2)
    )
    for one in list(users)[:FOUND_SHOWN]:
        found = f"{one['found_by']} of {one['attacks']}"
        table.add_row(str(one["user"]), _score(one["risk"]), found)
    return table


def _samples(hurting: Iterable[Mapping[str, Any]]) -> Table:
    heads = ("release", "attack", "kind", "score")
    table = _table("Sample attacks on our releases", *heads, right=(3,))
    for one in hurting:
        told = (one["release"], one["attacker_name"], KINDS[one["kind"]], one["shown"])
        table.add_row(*map(escape, told))
    return table


def _table(title: str, *columns: str, right: Iterable[int] = ()) -> Table:
    table = Table(title=escape(title), title_justify="left", title_style="bold")
    numbers = set(right)
    for k, name in enumerate(columns):
        table.add_column(name, justify="right" if k in numbers else "left", overflow="fold")
    return table


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _own_number(client: ContestClient) -> str:
    """The number of the own team as boards write it; empty for who has none."""
    from tracecup.client import Refusal

    try:
        return f"{client.team_number():03d}"
    except Refusal:
        return ""


def _expected(at: str | None, now: str) -> str:
    if not at:
        return ""
    left = time_left(at, now)
    return f"; expected {left}" if left != "over" else "; judge or organisers are at work on them"
