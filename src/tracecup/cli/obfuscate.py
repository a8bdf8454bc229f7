"""`tracecup obfuscate`: original traces in, a team's obfuscated traces out.

Says what the release is worth and whether it is valid.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from tracecup.cli.common import (
    CityFile,
    ClockFile,
    Gaps,
    Json,
    OriginalFile,
    Plugin,
    Seed,
    emit,
    load_city,
    load_clock,
    looks_like_a_reference,
    original_part,
    people,
    progress,
    score_payload,
    score_rows,
    table_of,
)

if TYPE_CHECKING:
    from tracecup.city import City
    from tracecup.obfuscate import KMeansReport, Obfuscator
    from tracecup.traces import SetTraces, Traces


def obfuscate(
    city: CityFile,
    name: Annotated[
        str, typer.Argument(help="Method with parameters, or a chain of them joined by +.")
    ],
    original: OriginalFile,
    out: Annotated[Path, typer.Option("--out", help="Obfuscated traces to write (anotraces).")],
    clock: ClockFile = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            help="Public reference traces of the same users, for methods that prepare for what an "
            "attacker knows (Equalise).",
        ),
    ] = None,
    gaps: Gaps = False,
    seed: Seed = None,
    tune_to: Annotated[
        float | None,
        typer.Option(
            "--tune-to", help="Find the method's strongest setting that keeps this utility."
        ),
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option("--floor", help="Leave with exit code 1 below this utility (contest: 0.7)."),
    ] = None,
    plugin: Plugin = None,
    as_json: Json = False,
) -> int:
    """Obfuscate original traces with a named method and score the result's utility.

    Methods: None, MRLH(mu_x,mu_y,lambda), RR(eps), PL(l,r), Cheat(p), KMeans(k),
    RareShift(cells). With replay=true the first five draw as the organisers' programs did.
    The file is written whatever its utility is; --floor makes a low one an exit code.
    With --gaps an event that was not recorded becomes a deleted cell and counts in no score.

    Example: `tracecup obfuscate "MRLH(1,1,0.1)" --city info_region.csv --original orgtraces.csv
    --out anotraces.csv`
    """
    from tracecup.obfuscate import parse_obfuscator, to_utility
    from tracecup.rng import generator
    from tracecup.score import FLOOR
    from tracecup.score.observed import observed_utility
    from tracecup.traces.files import read_traces, write_obfuscated

    method = parse_obfuscator(name)
    where = load_city(city)
    part = original_part(load_clock(clock))
    truth = read_traces(original, n_regions=where.n_regions, clock=part, gaps=gaps)
    looks_like_a_reference(original, truth, clock)
    known = None
    if reference is not None:
        times = load_clock(clock)
        known = read_traces(
            reference, "reference", n_regions=where.n_regions,
            clock=times.reference if times else None, users=truth.n_users, gaps=True,
        )  # fmt: skip
    if tune_to is not None:
        seed = int(generator(None).integers(2**32)) if seed is None else seed
        method, _ = to_utility(name, where, truth, tune_to, seed)
    missing = _missing(method, truth, clock, reference)
    for text in missing:
        people().print(f"[yellow]note:[/yellow] {escape(text)}", soft_wrap=True)
    released, report = _run(method, truth, where, seed, known)
    write_obfuscated(out, released)
    score = observed_utility(where, truth, released, floor=FLOOR if floor is None else floor)
    payload: dict[str, Any] = {
        "method": str(method),
        "guarantee": method.guarantee(truth.times),
        "seed": seed,
        "out": str(out),
        "utility": score_payload(score, per_user=False),
        "valid": score.valid,
        "floor": score.floor,
        "times": truth.times,
        "notes": missing,
    }
    verdict = "[green]yes[/green]" if score.valid else "[red]no[/red]"
    rows = [
        ("method", str(method)),
        ("promise by proof", method.guarantee(truth.times) or "none"),
        *score_rows(score),
        ("valid", f"{verdict} (floor {score.floor:g})"),
        ("written to", str(out)),
    ]
    if report is not None:
        payload["report"] = str(report)
        rows.insert(2, ("what was done", str(report)))
    emit(as_json, payload, table_of("Obfuscated", rows))
    return 1 if floor is not None and not score.valid else 0


def _missing(
    method: Obfuscator, truth: Traces, clock: Path | None, reference: Path | None
) -> list[str]:
    """What a method that prepares for an attacker's knowledge would need and did not get."""
    if not method.prepares:
        return []
    found = []
    if reference is None:
        found.append(
            f"{method.name} without --reference takes the original traces for what attackers know, "
            "and so protects less than it could"
        )
    if clock is None:
        found.append(
            f"{method.name} without --clock takes {truth.times} events for one day of as many "
            "hours: it sees no habits, and seconds and memory grow with the hours"
        )
    return found


def _run(
    method: Obfuscator, truth: Traces, where: City, seed: int | None, known: Traces | None
) -> tuple[SetTraces, KMeansReport | None]:
    """The release and, where the method gives one, its report; with a bar where it takes long."""
    from tracecup.obfuscate import KMeans

    if not isinstance(method, KMeans) or truth.has_gaps:
        return method.obfuscate(where, truth, seed, reference=known), None
    with progress(f"{method.name}: looking for moves") as advance:
        return method.obfuscate_with_report(where, truth, seed, advance)
