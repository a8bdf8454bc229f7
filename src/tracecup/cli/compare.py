"""`tracecup compare`: defences against attacks on one team's traces, in one table.

The bench for a new defence or attack.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from tracecup.cli.common import (
    CityFile,
    ClockFile,
    Engine,
    Json,
    OriginalFile,
    Plugin,
    Strength,
    different_files,
    emit,
    load_city,
    load_clock,
    looks_like_a_reference,
    people,
    progress,
    with_the_usual,
    with_usual,
    without_clock,
)

if TYPE_CHECKING:
    from tracecup.contest.challenges import AttackKind

MARK = "*"
MARKS = {"coarse": "coarse", "strongest": "strongest"}


def compare(
    city: CityFile,
    original: OriginalFile,
    reference: Annotated[
        Path, typer.Option("--reference", help="Reference traces: reftraces file.")
    ],
    clock: ClockFile = None,
    defence: Annotated[
        list[str] | None, typer.Option("--defence", help="A defence; may be repeated.")
    ] = None,
    reid: Annotated[
        list[str] | None, typer.Option("--reid", help="A re-identification; may be repeated.")
    ] = None,
    trace: Annotated[
        list[str] | None, typer.Option("--trace", help="A trace inference; may be repeated.")
    ] = None,
    strength: Strength = "quick",
    floor: Annotated[
        float | None,
        typer.Option("--floor", help="Tune each defence to this utility (default 0.7)."),
    ] = 0.7,
    as_written: Annotated[
        bool, typer.Option("--as-written", help="Take defences as written, without tuning.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all draws.")] = 1,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Also write the tables to this file.")
    ] = None,
    plugin: Plugin = None,
    engine: Engine = "local",
    as_json: Json = False,
) -> int:
    """Run defences, tuned to a utility floor, against attacks; the strongest attack counts.

    Without names it takes the paper's defences (KMeans with fewer clusters where there are fewer
    than 2000 users), the paper's attacks, and those of --strength; a plus before a name adds it to
    them: `--plugin my.py --defence +Mine`.
    Give --clock where attacks need days and slots (HomeProb, Fuzzy-T, Prior-T); without it a
    trace is one long day.

    Example: `tracecup compare --city info_region.csv --clock info_time.csv --reference
    reftraces.csv --original orgtraces.csv --defence "PL(4,1)" --defence "KMeans(100)"`
    """
    from tracecup.attack.learned import shipped_suits
    from tracecup.facts.text import spelled
    from tracecup.front.plugins import shipped
    from tracecup.jobs import engine as engine_of
    from tracecup.methodnames import short_method
    from tracecup.safeio import atomic_write
    from tracecup.study import comparison
    from tracecup.study.tried import known_stronger, what_attacks_knew
    from tracecup.traces.files import read_traces

    different_files(reference=reference, original=original)
    without_clock(clock)
    where, times = load_city(city), load_clock(clock)
    known = read_traces(
        reference,
        "reference",
        n_regions=where.n_regions,
        clock=times.reference if times else None,
    )
    truth = read_traces(
        original, n_regions=where.n_regions, clock=times.original if times else None
    )
    looks_like_a_reference(original, truth, clock)
    every = comparison.portfolio(strength, learned=shipped_suits(where, truth.clock.slots))
    kinds = {end: [n for n in every if n.partition("(")[0].endswith(end)] for end in ("-R", "-T")}
    asked: dict[AttackKind, list[str] | None] = {"reid": reid, "trace": trace}
    usual = comparison.usual_defences(truth.n_users)
    with engine_of(engine, shipped(plugin)) as jobs, progress("comparing") as advance:
        results = comparison.compare(
            where,
            known,
            truth,
            defences=with_usual(defence or usual, usual),
            reid_attacks=with_usual(reid or kinds["-R"], kinds["-R"]),
            trace_attacks=with_usual(trace or kinds["-T"], kinds["-T"]),
            informed=[
                kind for kind, named in asked.items() if strength == "max" and with_the_usual(named)
            ],
            floor=None if as_written else floor,
            seed=seed,
            progress=advance,
            executor=jobs,
        )
    if markdown:
        with atomic_write(markdown) as file:
            file.write(comparison.as_markdown(results).encode())
    table = Table(title="Defences against attacks", title_justify="left", title_style="bold")
    heads = ("s_R,min", "by", "at most", "s_T,min", "by", "at most", "link known")
    for name in ("defence", "s_U", "floor", *heads, "seconds"):
        table.add_column(name)
    for row in results:
        bounds = row.bounds
        above = bounds.reid is not None and row.weakest_reid.score.value > bounds.reid
        table.add_row(
            short_method(row.defence),
            f"{row.utility.value:.4f}",
            MARKS.get(row.tuning, "") if row.utility.valid else "below",
            f"{row.weakest_reid.score.value:.4f}{MARK if above else ''}",
            row.weakest_reid.attack,
            spelled(bounds.reid, 4),
            f"{row.weakest_trace.score.value:.4f}",
            row.weakest_trace.attack,
            spelled(bounds.prior, 4),
            spelled(bounds.true_link, 4),
            f"{row.seconds:.2f}",
        )
    payload = {
        "seed": seed,
        "defences": [
            {
                "defence": row.defence,
                "utility": row.utility.value,
                "tuning": row.tuning,
                "valid": row.utility.valid,
                "seconds": row.seconds,
                "reid": {a.attack: a.score.value for a in row.reid},
                "trace": {a.attack: a.score.value for a in row.trace},
                "expected_error_km": {a.attack: a.expected_error for a in row.trace},
                "attack_seconds": {a.attack: a.seconds for a in (*row.reid, *row.trace)},
                "remarks": {a.attack: a.remark for a in (*row.reid, *row.trace) if a.remark},
                "minimum": {
                    "reid": row.weakest_reid.score.value,
                    "trace": row.weakest_trace.score.value,
                },
                "bounds": vars(row.bounds),
            }
            for row in results
        ],
    }
    if any(str(cell).endswith(MARK) for cell in table.columns[3].cells):
        table.caption = f"{MARK} above its bound: the attacks were weak, no merit of the defence."
        table.caption_justify = "left"
    emit(as_json, payload, table)
    if not as_json:
        met = [(one.attack, one.remark) for row in results for one in (*row.reid, *row.trace)]
        for text in what_attacks_knew(met, "the answer of --json"):
            people().print(escape(text), soft_wrap=True)
        people().print(escape(known_stronger({name for name, _ in met})), soft_wrap=True)
    return 0
