"""`tracecup train`: fit a synthesizer to training traces and write the model file.

A stopped training goes on where it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tracecup.cli.common import (
    CellsFile,
    End,
    GridSize,
    Interval,
    Json,
    Locations,
    NamedTimetable,
    SlotMinutes,
    Start,
    emit,
    load_locations,
    load_timetable,
    progress,
    table_of,
)

if TYPE_CHECKING:
    from tracecup.records import Timetable
    from tracecup.synth import Training


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
    grid: GridSize = None,
    cells: CellsFile = None,
    timetable: NamedTimetable = "contest",
    start: Start = None,
    end: End = None,
    interval: Interval = None,
    slot_minutes: SlotMinutes = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the training.")] = 0,
    device: Annotated[
        Literal["cpu", "cuda"],
        typer.Option(
            "--device",
            help="Where PPMTF and PPMTF+ are trained; cuda needs tracecup[gpu] and gives the same "
            "factors up to rounding.",
        ),
    ] = "cpu",
    as_json: Json = False,
) -> int:
    """Train PPMTF or PPMTF+ by Gibbs sampling, or learn SGLT's classes of places.

    The same seed gives the same model. PPMTF's state is saved every minute beside the model
    file: a training that was stopped goes on from there to the same result when the command is
    given again, on the CPU or a GPU. SGLT takes seconds; its model file holds the training traces
    themselves.

    Training traces are what `tracecup data` and `tracecup city new` write
    (`user_id,time_id,reg_id`, time ids counted through the days, rows in any order, any of them
    may be missing), or the files of the published evaluation
    (`user_index,poi_index,unixtime,hour,min`). `tracecup evaluate synth` reads the same files.

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
    if isinstance(method, SGLT) and device != "cpu":
        raise InvalidParameter(
            f"SGLT is trained on the cpu only, in seconds; got --device {device}"
        )
    day = load_timetable(timetable, start, end, interval, slot_minutes)
    if training is None:
        if (city, grid, cells) != (None, None, None):
            raise InvalidParameter("--city, --grid and --cells are those of --training")
        records = built_in_training(day)
    else:
        records = load_training(
            training, load_locations(city, grid, cells), day, dates=timetable != "people-flow"
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
                device=device,
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
        "device": device,
    }
    emit(as_json, facts, table_of("Trained", [(k, str(v)) for k, v in facts.items()]))
    return 0


def load_training(
    path: Path, places: Locations, timetable: Timetable, *, dates: bool | None = None
) -> Training:
    """Training records from a file."""
    from tracecup.records import read_records
    from tracecup.synth import Training

    training = Training.of_records(read_records(path, places.n, timetable, dates=dates))
    return training if places.city is None else training.placed(places.city.grid)


def built_in_training(timetable: Timetable) -> Training:
    """Training records of the built-in city."""
    from tracecup.datasets import Metropolis
    from tracecup.synth import Training

    town = Metropolis()
    traces = town.traces(3, timetable.start, timetable.interval, timetable.instants)
    training = Training.of_traces(traces, town.city.n_regions, timetable.instants_per_slot)
    return training.placed(town.city.grid)
