"""`tracecup publish`: shuffle and pseudonymize obfuscated traces, as the judge does.

Writes the release for everybody and the ID table for the judge alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli.common import (
    ClockFile,
    Gaps,
    Json,
    OriginalFile,
    Seed,
    emit,
    load_clock,
    looks_like_a_reference,
    original_part,
    people,
    table_of,
)


def publish(
    obfuscated: Annotated[
        Path, typer.Option("--obfuscated", help="Obfuscated traces: anotraces file.")
    ],
    original: OriginalFile,
    released: Annotated[Path, typer.Option("--released", help="Release to write (pubtraces).")],
    id_table: Annotated[
        Path, typer.Option("--id-table", help="ID table to write (ptable); keep it secret.")
    ],
    clock: ClockFile = None,
    gaps: Gaps = False,
    seed: Seed = None,
    as_json: Json = False,
) -> int:
    """Shuffle whole traces uniformly and give them pseudonyms m+1 to 2m.

    The shuffle comes from the operating system's entropy. With --seed it can be repeated, by
    anyone who knows or guesses the seed: use that for tests and simulations only. Both files
    appear together or not at all; the ID table is readable by its owner only.

    Example: `tracecup publish --obfuscated anotraces.csv --original orgtraces.csv --released
    pubtraces.csv --id-table ptable.csv`
    """
    from tracecup.contest.judging.shuffle import pseudonymize
    from tracecup.errors import InvalidParameter
    from tracecup.traces.files import read_obfuscated, read_traces, write_release_and_table

    if released.resolve() == id_table.resolve():
        raise InvalidParameter("--released and --id-table must be different files")
    if seed is not None:
        people().print(
            "[yellow]warning:[/yellow] the shuffle comes from a seed, so anyone who knows it "
            "can undo the pseudonyms; leave --seed out in a real contest"
        )
    truth = read_traces(original, clock=original_part(load_clock(clock)), gaps=gaps)
    looks_like_a_reference(original, truth, clock)
    cells = read_obfuscated(obfuscated, users=truth.n_users, clock=truth.clock)
    shuffled, table = pseudonymize(cells, rng=seed)
    write_release_and_table(released, shuffled, id_table, table)
    facts = {
        "released": str(released),
        "id_table": str(id_table),
        "users": truth.n_users,
        "times": truth.times,
        "entropy": "operating system" if seed is None else "seed",
    }
    emit(as_json, facts, table_of("Published", [(k, str(v)) for k, v in facts.items()]))
    return 0
