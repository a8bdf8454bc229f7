"""`tracecup measure`: what a release tells beyond the contest's scores, by whoever knows the truth.

Unicity (known visits) and membership in published counts.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli.common import (
    CityFile,
    Confidence,
    Json,
    Plugin,
    Seed,
    emit,
    load_city,
    progress,
    table_of,
)


def measure(
    name: Annotated[str, typer.Argument(help="Measure with parameters, like 'AggMIA(100)'.")],
    city: CityFile,
    clock: Annotated[Path, typer.Option("--clock", help="Times of the contest: info_time.csv.")],
    obfuscated: Annotated[
        Path, typer.Option("--obfuscated", help="Obfuscated traces in user order: anotraces file.")
    ],
    original: Annotated[
        Path | None, typer.Option("--original", help="Original traces: orgtraces (Unicity).")
    ] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", help="Reference traces: reftraces (AggMIA).")
    ] = None,
    confidence: Confidence = 0.95,
    seed: Seed = None,
    plugin: Plugin = None,
    as_json: Json = False,
) -> int:
    """What could somebody tell who knows visits of a user, or gets counts of a group?

    Unicity(p): the share of choices of p true visits that fit one released trace. AggMIA(g): how
    well members of groups of g users are told by the groups' counts (0.5: not at all, 1: always).
    Neither is a score of the contest. More: `tracecup methods measure`.

    Example: `tracecup measure "AggMIA(100)" --city info_region.csv --clock info_time.csv
    --reference reftraces.csv --obfuscated anotraces.csv --seed 1`
    """
    from tracecup.attack import Measure
    from tracecup.city import read_clock
    from tracecup.errors import InvalidParameter
    from tracecup.registry import parse
    from tracecup.scratch import listening
    from tracecup.traces.files import read_obfuscated, read_traces
    from tracecup.traces.largefiles import are_large, read_large_cells, read_large_traces, users_of

    method = parse("measure", name)
    if not isinstance(method, Measure):
        raise InvalidParameter(f"{method.name} is registered as a measure but is none")
    file = {"original": original, "reference": reference}[method.known]
    if file is None:
        raise InvalidParameter(
            f"{method} looks at the {method.known} traces: give --{method.known}"
        )
    where, times = load_city(city), read_clock(clock)
    part, regions = getattr(times, method.known), where.n_regions
    if are_large(file, obfuscated):
        m = users_of(obfuscated, times.original)
        truth = read_large_traces(file, method.known, n_regions=regions, clock=part, users=m)
        released = read_large_cells(
            obfuscated, "obfuscated", n_regions=regions, clock=times.original
        )
    else:
        truth = read_traces(file, method.known, n_regions=regions, clock=part, gaps=True)
        released = read_obfuscated(
            obfuscated, users=truth.n_users, clock=times.original, n_regions=regions
        )
    started = time.perf_counter()
    with progress("measuring") as advance, listening(advance):
        found = method.measure(where, truth, released, seed, confidence=confidence)
    seconds = time.perf_counter() - started
    interval = found.interval
    value = None if math.isnan(found.value) else found.value
    payload = {
        "measure": str(method),
        "value": value,
        "interval": [interval.low, interval.high],
        "confidence": interval.confidence,
        "method": interval.method,
        "nothing_told": found.nothing_told,
        "meaning": found.meaning,
        "seed": seed,
        "seconds": seconds,
    }
    rows = [
        ("value", "nothing could be measured" if value is None else f"{value:.4f}"),
        (f"{interval.confidence:.0%} interval", f"{interval.low:.4f} to {interval.high:.4f}"),
        ("nothing told", f"{found.nothing_told:g}"),
        ("what it is", found.meaning),
        ("took", f"{seconds:.3f} s"),
    ]
    emit(as_json, payload, table_of(str(method), rows))
    return 0
