"""`tracecup standings`: who is where, from score sheets as organisers publish them.

Minimum of every file, sum of every attacker, totals, places, awards, correlation; several rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from tracecup.cli.common import Confidence, Json, emit, people, table_of
from tracecup.errors import InvalidParameter

if TYPE_CHECKING:
    from tracecup.contest.sheets.cells import Note
    from tracecup.contest.sheets.rounds import Round
    from tracecup.contest.sheets.standings import Standings


def standings(
    reid: Annotated[
        list[Path],
        typer.Option(
            "--reid",
            help="Re-identification sheet: files x attackers (CSV, .xlsx). Once a round.",
            show_default=False,
        ),
    ],
    trace: Annotated[
        list[Path],
        typer.Option(
            "--trace", help="Trace-inference sheet: files x attackers.", show_default=False
        ),
    ],
    utility: Annotated[
        list[Path] | None,
        typer.Option(
            "--utility", help="Table pubtraces,utility; files below the floor are invalid."
        ),
    ] = None,
    reid_sheet: Annotated[
        list[str] | None,
        typer.Option("--reid-sheet", metavar="NAME", help="Which sheet of the workbook it is."),
    ] = None,
    trace_sheet: Annotated[
        list[str] | None, typer.Option("--trace-sheet", metavar="NAME", help="The same.")
    ] = None,
    utility_sheet: Annotated[
        list[str] | None, typer.Option("--utility-sheet", metavar="NAME", help="The same.")
    ] = None,
    totals: Annotated[
        Path | None,
        typer.Option(
            "--totals",
            help="Published totals (team no.,SecI,SecT,Total,Remark) to compare with.",
            show_default=False,
        ),
    ] = None,
    totals_sheet: Annotated[
        str, typer.Option("--totals-sheet", metavar="NAME", help="Which sheet it is.")
    ] = "",
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--round", metavar="NAME", help="Name of a round; of two: preliminary, final."
        ),
    ] = None,
    weight: Annotated[
        list[float] | None,
        typer.Option("--weight", min=0, help="Weight of a round; of two rounds: 1 and 9."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="GLOB[,GLOB...]",
            help="Use only the files whose names match. The paper: `*_TRP.csv,*team000*`.",
        ),
    ] = None,
    floor: Annotated[
        float, typer.Option("--floor", min=0, max=1, help="Utility floor, with --utility.")
    ] = 0.7,
    winner_excluded: Annotated[
        bool,
        typer.Option(
            "--winner-excluded",
            help="Winners of best anonymization get no attack award (the rules of 2019).",
        ),
    ] = False,
    confidence: Confidence = 0.95,
    as_json: Json = False,
) -> int:
    """Who wins? Minima, sums, totals, awards and correlation from published score sheets.

    A sheet has a row for every released file and a column for every attacker and sample attack
    (I1.. or T1..); `-` marks a team's own file. Slips that can be put right (a heading of the
    other attack, order, blank rows, numbers without zeros) and a stated minimum, sum or total
    that the cells do not give are reported with cell and value. For several rounds give --reid
    and --trace once a round, in the same order.

    Example: `tracecup standings --reid preliminary_reidentification.csv
    --trace preliminary_traceinference.csv --reid final_reidentification.csv
    --trace final_traceinference.csv --weight 1 --weight 9`
    """
    from tracecup.contest.sheets import read_sheet, read_utilities
    from tracecup.contest.sheets.rounds import Round
    from tracecup.contest.sheets.standings import standings as compute

    count = len(reid)
    titles, weights = _rounds(count, name, weight)
    utilities = _each("--utility", utility, count)
    sheets = [
        _each(option, given, count) or [""] * count
        for option, given in (
            ("--reid-sheet", reid_sheet),
            ("--trace-sheet", trace_sheet),
            ("--utility-sheet", utility_sheet),
        )
    ]
    patterns = [pattern.strip() for pattern in (only or "").split(",") if pattern.strip()]
    rounds, remarks = [], list[str]()
    for k, traced in enumerate(_each("--trace", trace, count) or ()):
        odd: list[Note] = []
        result = compute(
            read_sheet(reid[k], "reid", sheets[0][k]),
            read_sheet(traced, "trace", sheets[1][k]),
            read_utilities(utilities[k], sheets[2][k], odd.append) if utilities else None,
            only=patterns,
            floor=floor,
            winner_excluded=winner_excluded,
            confidence=confidence,
        )
        rounds.append(Round(titles[k], weights[k], result))
        where = f"{titles[k]}: " if count > 1 else ""
        notes = (*(f"utility: {note}" for note in odd), *result.notes, *result.differences)
        remarks += [where + text for text in notes]
    payload, tables = _one(rounds[0].standings) if count == 1 else _several(rounds, winner_excluded)
    if totals:
        against = _compared(totals, totals_sheet, payload)
        payload["published_totals"] = against
        remarks += [f"totals: {text}" for texts in against.values() for text in texts]
    for text in remarks:
        people().print(f"[bold yellow]note:[/bold yellow] {escape(text)}", soft_wrap=True)
    emit(as_json, payload, *tables)
    return 0


def _rounds(
    count: int, names: Sequence[str] | None, weights: Sequence[float] | None
) -> tuple[list[str], list[float]]:
    """Names and weights of the rounds; two rounds have those of 2019 unless told otherwise."""
    from tracecup.contest.rules import ROUND_WEIGHTS

    usual = list(ROUND_WEIGHTS) if count == 2 else [f"round {k + 1}" for k in range(count)]
    titles = _each("--round", names, count) or usual
    if weights is None and count > 2:
        raise InvalidParameter(f"{count} rounds need --weight for each")
    known = [1.0] if count == 1 else list(ROUND_WEIGHTS.values())
    return titles, _each("--weight", weights, count) or known


def _each(option: str, given: Sequence[Any] | None, count: int) -> list[Any]:
    """What was given for every round; nothing, or as much as there are rounds."""
    if given and len(given) != count:
        raise InvalidParameter(f"{option} is given {len(given)} times for {count} rounds (--reid)")
    return list(given or ())


def _one(result: Standings) -> tuple[dict[str, Any], list[Table]]:
    payload = result.as_dict()
    return payload, [
        _minima(result),
        _sums(payload),
        _totals("Totals", payload["total"]),
        _awards(payload["awards"], [("correlation of the two minima", str(result.correlation))]),
    ]


def _several(rounds: Sequence[Round], winner_excluded: bool) -> tuple[dict[str, Any], list[Table]]:
    from tracecup.contest.sheets.rounds import combine

    payload = combine(rounds, winner_excluded).as_dict()
    formula = " + ".join(f"{one.weight:g} x {one.name}" for one in rounds)
    correlations = [(f"correlation, {one.name}", str(one.standings.correlation)) for one in rounds]
    return payload, [
        *(_totals(f"Totals, {n}", one["total"], few=True) for n, one in payload["rounds"].items()),
        _totals(f"Totals, {formula}", payload["total"]),
        _sums(payload, f", {formula}"),
        _awards(payload["awards"], correlations),
    ]


def _compared(path: Path, sheet: str, payload: Mapping[str, Any]) -> dict[str, list[str]]:
    """Title of a published table -> what it states otherwise; the last one is the whole."""
    from tracecup.contest.sheets.totals import differing, read_totals

    ours = {name.casefold(): one["total"] for name, one in payload.get("rounds", {}).items()}
    return {
        table.title or "total": list(
            differing(table, ours.get(table.title.casefold(), payload["total"]))
        )
        for table in read_totals(path, sheet)
    }


def _minima(result: Standings) -> Table:
    from tracecup.score import true_link_bound

    table = _titled("Minimum of every release", "file", ["s_R,min", "s_T,min"])
    if result.utility:
        table.add_column("utility", justify="right")
        table.add_column("link known", justify="right")
    reid, trace = result.board.reid.minimum(), result.board.trace.minimum()
    for row in result.board.releases:
        verdict = "" if row.valid else " [red]invalid[/red]"
        cells = [f"{reid[row.name]:.6f}", f"{trace[row.name]:.6f}"]
        if result.utility:
            utility = result.utility[row.name]
            cells += [f"{utility:.6f}", f"{true_link_bound(utility):.6f}"]
        table.add_row(escape(row.name), *cells[:-1], cells[-1] + verdict)
    table.caption = (
        "s_R is at most 1 - 1/users, s_T at most what an attacker who never saw the "
        "release can reach (not in score sheets); link known: s_T is at most "
        "1 - s_U, all regions weighted alike"
    )
    table.caption_justify = "left"
    return table


def _sums(payload: Mapping[str, Any], which: str = "") -> Table:
    title = f"Sum of every attacker{which} (less is stronger)"
    table = _titled(title, "attacker", ["re-identification", "place", "trace inference", "place"])
    sums, places = payload["sums"], payload["attackers"]
    for name in dict.fromkeys([*sums["reid"], *sums["trace"]]):
        cells: list[str] = []
        for kind in ("reid", "trace"):
            total, held = sums[kind].get(name), places[kind].get(name)
            cells += ["" if total is None else f"{total:.6f}", str(held["place"]) if held else ""]
        table.add_row(escape(name), *cells)
    return table


def _totals(title: str, totals: Mapping[str, Mapping[str, Any]], few: bool = False) -> Table:
    """Teams from first to last; `few`: only those with a remark."""
    table = _titled(title, "team", ["s_R", "s_T", "total", "place"])
    table.add_column("remark")
    for team, row in sorted(totals.items(), key=lambda item: (-item[1]["total"], item[0])):
        if row["remark"] or not few:
            place = "" if row["place"] is None else str(row["place"])
            values = (f"{row[key]:.6f}" for key in ("reid", "trace", "total"))
            table.add_row(escape(team), *values, place, row["remark"])
    return table


def _awards(awards: Mapping[str, Any], more: Sequence[tuple[str, str]]) -> Table:
    rows = []
    for award in awards.values():
        shared = " (tie)" if award["tie"] else ""
        value = "" if award["value"] is None else f" with {award['value']:.6f}{shared}"
        rows.append((award["title"], escape(", ".join(award["winners"]) or "nobody") + value))
    rows += [(what, escape(text)) for what, text in more]
    return table_of("Awards", rows)


def _titled(title: str, first: str, others: Sequence[str]) -> Table:
    table = Table(first, title=escape(title), title_justify="left", title_style="bold")
    for name in others:
        table.add_column(name, justify="right")
    return table
