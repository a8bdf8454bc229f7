"""`tracecup tune`: fit an attack's parameters on sample teams whose truth is known.

Prints what was tried, strongest first, and the name to use.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tracecup.cli.common import Json, Plugin, emit, progress


def tune(
    name: Annotated[str, typer.Argument(help="Attack; parameters given here stay fixed.")],
    sample: Annotated[
        Path,
        typer.Option(
            "--sample",
            help="Folder with info_region, info_time, reftraces_TEAM, orgtraces_TEAM and "
            "pubtraces_TEAM with ptable_TEAM, or anotraces_TEAM.",
            show_default=False,
        ),
    ],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all random draws.")] = 0,
    top: Annotated[int, typer.Option("--top", min=1, help="Settings to print.")] = 10,
    plugin: Plugin = None,
    as_json: Json = False,
) -> int:
    """Try the documented grid of an attack on samples and print the strongest setting.

    Fuzzy-R and Fuzzy-T: eta0, lambda0, TF-IDF, order, threshold; HomeProb: slots; Prior-T:
    smoothing weights. The printed score is that of the samples it was chosen on.

    Example: `tracecup tune "Fuzzy-R" --sample samples/`
    """
    from tracecup.attack.tuning import read_samples
    from tracecup.attack.tuning import tune as search

    samples = read_samples(sample, seed)
    with progress(f"tuning {name}") as advance:
        found = search(name, samples, seed, advance=advance)
    ranked = sorted(found.trials, key=lambda trial: trial.score)
    payload = {
        "best": found.best.attack,
        "metric": found.metric,
        "score": found.best.score,
        "default_score": found.trials[0].score,
        "samples": [known.name for known in samples],
        "seed": seed,
        "trials": [
            {"attack": trial.attack, "score": trial.score, "per_sample": list(trial.per_sample)}
            for trial in ranked
        ],
    }
    table = Table(
        title=f"Strongest of {len(ranked)}",
        title_justify="left",
    )
    table.add_column("attack", overflow="fold")
    table.add_column(f"mean {found.metric}", justify="right")
    for trial in [
        *ranked[:top],
        *(found.trials[:1] if found.trials[0] not in ranked[:top] else ()),
    ]:
        table.add_row(trial.attack, f"{trial.score:.6f}")
    emit(as_json, payload, table)
    return 0
