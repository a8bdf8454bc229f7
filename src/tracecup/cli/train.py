"""`tracecup train`: fit a synthesizer to training traces and write the model file.

A stopped training goes on where it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracecup.cli.common import Json, emit, load_city, minute_of, progress, table_of

if TYPE_CHECKING:
    from tracecup.synth import Training


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    app.command("train")(train)


def train(
    out: Annotated[Path, typer.Option("--out", help="Model file to write (.npz).")],
    name: Annotated[
        str,
        typer.Argument(help='PPMTF, PPMTF+ or SGLT, such as "PPMTF+(32,200,masks=true,home=own)".'),
    ] = "PPMTF+(32,200,masks=true,home=own)",
    training: Annotated[
        Path | None,
        typer.Option("--training", help="Training traces; the built-in city without."),
    ] = None,
    city: Annotated[
        Path | None, typer.Option("--city", help="Regions of the training traces.")
    ] = None,
    interval: Annotated[
        int, typer.Option("--interval", min=1, help="Minutes between two events.")
    ] = 5,
    start: Annotated[str, typer.Option("--start", help="Time of day of the first event.")] = "6:00",
    end: Annotated[str, typer.Option("--end", help="Time of day at which a day ends.")] = "18:00",
    slot_minutes: Annotated[
        int, typer.Option("--slot-minutes", min=1, help="Length of a slot of the model.")
    ] = 60,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the training.")] = 0,
    as_json: Json = False,
) -> int:
    """Train PPMTF or PPMTF+ by Gibbs sampling, or learn SGLT's classes of places.

    The same seed gives the same model. PPMTF's state is saved every minute beside the model
    file: a training that was stopped goes on from there to the same result when the command is
    given again. SGLT takes seconds; its model file holds the training traces themselves.

    Training traces are a file like reference traces (`user_id,time_id,reg_id`, time ids counted
    through the days, rows may be missing).

    Example: `tracecup train --training mycity/traintraces.csv.zst --city
    mycity/info_region.csv --out model.npz`
    """
    from tracecup.errors import InvalidParameter
    from tracecup.registry import parse
    from tracecup.synth import SGLT, PpmtfModel, SgltModel
    from tracecup.synth.ppmtf import FactorSynthesizer

    method = parse("synthesizer", name)
    if not isinstance(method, FactorSynthesizer | SGLT):
        raise InvalidParameter(f"only PPMTF, PPMTF+ and SGLT have a model file, got {method}")
    records = load_training(
        training, city, interval, minute_of(start), minute_of(end), slot_minutes
    )
    checkpoint = out.with_name(out.name + ".part")
    with progress(f"training {method.name}") as advance:
        model: PpmtfModel | SgltModel
        if isinstance(method, SGLT):
            model = method.fit(
                records, rng=seed, progress=lambda done, total, _: advance(done, total)
            )
        else:
            model = method.fit(
                records,
                rng=seed,
                progress=lambda done, total, _: advance(done, total),
                checkpoint=checkpoint,
            )
    model.save(out)
    checkpoint.unlink(missing_ok=True)
    facts = {
        "model": str(out),
        "method": str(method),
        "users": records.n_users,
        "records": len(records.user),
        "locations": records.n_locations,
        "slots_a_day": records.slots,
        "seed": seed,
    }
    emit(as_json, facts, table_of("Trained", [(k, str(v)) for k, v in facts.items()]))
    return 0


def load_training(
    path: Path | None, city: Path | None, interval: int, start: int, end: int, slot_minutes: int
) -> Training:
    """Training records from a file, or from the built-in city."""
    import numpy as np

    from tracecup.city import Clock
    from tracecup.datasets import Metropolis
    from tracecup.errors import InvalidParameter
    from tracecup.synth import Training
    from tracecup.traces import Traces
    from tracecup.traces.files import read_traces

    if end <= start or (end - start) % slot_minutes or slot_minutes % interval:
        raise InvalidParameter(
            f"a day from minute {start} to {end} must divide into slots of {slot_minutes} "
            f"minutes, and a slot into steps of {interval}"
        )
    slots, instants = (end - start) // interval, slot_minutes // interval
    if path is None:
        town = Metropolis()
        traces = town.traces(3, start, interval, slots)
        return Training.of_traces(traces, town.city.n_regions, instants).placed(town.city.grid)
    if city is None:
        raise InvalidParameter("training traces of your own need their regions: give --city")
    where = load_city(city)
    read = read_traces(path, "reference", n_regions=where.n_regions, gaps=True)
    first = read.clock.first_time
    days = -(-(first + read.times) // slots)
    regions = np.full((read.n_users, days * slots), -1, dtype=np.int32)
    regions[:, first : first + read.times] = read.regions
    clock = Clock.regular(days, slots, start, interval)
    kept = Traces(regions, read.users, clock)
    return Training.of_traces(kept, where.n_regions, instants).placed(where.grid)
