"""`tracecup synth`: traces of people who do not exist, from a trained model.

For a contest: reference and original traces for every team, different people for each.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli.common import (
    Engine,
    Json,
    Seed,
    emit,
    load_city,
    minute_of,
    people,
    progress,
    table_of,
)

ModelFile = Annotated[Path, typer.Option("--model", help="Model file that `tracecup train` wrote.")]


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    synth = typer.Typer(no_args_is_help=True, help="Make synthetic traces from a trained model.")
    synth.command("contest")(contest)
    synth.command("traces")(traces)
    app.add_typer(synth, name="synth")


def contest(
    out: Annotated[Path, typer.Option("--out", help="Folder to write to; made if missing.")],
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            help="Model file that `tracecup train` wrote; without, the shipped one.",
        ),
    ] = None,
    city: Annotated[
        Path | None, typer.Option("--city", help="Regions the model was trained on.")
    ] = None,
    teams: Annotated[int, typer.Option("--teams", min=1, max=999, help="Number of teams.")] = 1,
    users: Annotated[int, typer.Option("--users", min=1, help="Virtual users per team.")] = 2000,
    days: Annotated[int, typer.Option("--days", min=1, help="Days of original traces.")] = 20,
    reference_days: Annotated[
        int | None, typer.Option("--reference-days", min=1, help="Days of reference traces.")
    ] = None,
    slots: Annotated[int, typer.Option("--slots", min=1, help="Events a day.")] = 20,
    start: Annotated[str, typer.Option("--start", help="Time of the first event.")] = "8:00",
    interval: Annotated[
        int, typer.Option("--interval", min=1, help="Minutes between events.")
    ] = 30,
    step: Annotated[
        int, typer.Option("--step", min=1, help="Minutes between steps of the chain.")
    ] = 5,
    seed: Seed = None,
    engine: Engine = "local",
    as_json: Json = False,
) -> int:
    """Write reference and original traces for every team, each with virtual users of its own.

    Files have the names of 2019 (reftraces_team001_data02_TRP.csv.zst, orgtraces_...), with
    info_region.csv and info_time.csv beside them. Without --seed the data come from the
    operating system's entropy; with it anyone who knows the seed can make every team's data.
    Without --model and --city they are people of the built-in city, from the model that comes with
    the package.

    Example: `tracecup synth contest --teams 3 --users 300 --out data`
    """
    from tracecup.city import ContestClock, write_city, write_clock
    from tracecup.contest.worlds import BuiltinWorld
    from tracecup.errors import InvalidParameter, InvalidTraces
    from tracecup.jobs import engine as engine_of
    from tracecup.synth import ContestShape, contest_data, load_model
    from tracecup.traces.files import write_traces

    if model is not None and city is not None:
        trained, where = load_model(model), load_city(city)
    elif model is None and city is None:
        world = BuiltinWorld()
        trained, where = world.model, world.city
    else:
        raise InvalidParameter("--model and --city belong together: give both, or neither")
    if trained.n_locations != where.n_regions:
        raise InvalidTraces(
            f"the model has {trained.n_locations} locations, the city {where.n_regions} regions"
        )
    begin = minute_of(start)
    shape = ContestShape(users, reference_days or days, days, slots, begin, interval, step)
    clock = ContestClock.regular(days, slots, begin, interval, reference_days or days)
    if seed is not None:
        people().print(
            "[yellow]warning:[/yellow] the data come from a seed; whoever knows it can make "
            "every team's originals. Leave --seed out in a real contest"
        )
    root = secrets.randbits(128) if seed is None else seed
    with engine_of(engine) as jobs, progress("synthesizing teams") as advance:
        out.mkdir(parents=True, exist_ok=True)
        write_city(out / "info_region.csv", where)
        write_clock(out / "info_time.csv", clock)
        every = contest_data(trained, root, teams, shape, jobs)
        for done, data in enumerate(every, start=1):
            name = f"team{data.team:03d}_data02_TRP.csv.zst"
            write_traces(out / f"reftraces_{name}", data.reference)
            write_traces(out / f"orgtraces_{name}", data.original)
            advance(done, teams)
    facts = {
        "folder": str(out),
        "teams": teams,
        "users": users,
        "reference_days": shape.reference_days,
        "original_days": days,
        "events_a_day": slots,
        "method": str(trained.method),
        "entropy": "operating system" if seed is None else "seed",
    }
    emit(as_json, facts, table_of("Contest data", [(k, str(v)) for k, v in facts.items()]))
    return 0


def traces(
    model: ModelFile,
    out: Annotated[Path, typer.Option("--out", help="File to write (.csv, .gz, .zst).")],
    users: Annotated[
        int | None,
        typer.Option("--users", min=1, help="Virtual users; all training users for PPMTF, SGLT."),
    ] = None,
    days: Annotated[int, typer.Option("--days", min=1, help="One-day traces per user.")] = 10,
    instants: Annotated[
        int | None,
        typer.Option("--instants", min=1, help="Instants in each slot; 1, for SGLT as trained."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", help="Use what was trained as this, such as PPMTF."),
    ] = None,
    seed: Seed = None,
    as_json: Json = False,
) -> int:
    """Write one-day traces as the published evaluation reads them.

    Columns user,trace_no,time_slot,time_instant,poi_index, all from 0: the input of
    `tracecup evaluate synth`.

    Example: `tracecup synth traces --model model.npz --days 10 --out synthetic.csv --seed 1`
    """
    from tracecup.registry import parse
    from tracecup.synth import PpmtfModel, load_model
    from tracecup.usefulness.dayfiles import write_day_traces

    trained = load_model(model)
    if method is not None:
        trained = trained.using(parse("synthesizer", method))
    if instants is None:
        instants = 1 if isinstance(trained, PpmtfModel) else trained.instants_per_slot
    made = trained.sample(users, days, seed, instants=instants)
    write_day_traces(out, made.regions.reshape(made.n_users, days, -1), trained.day.slots)
    facts = {
        "out": str(out),
        "method": str(trained.method),
        "users": made.n_users,
        "days": days,
        "instants_a_day": made.clock.slots,
    }
    emit(as_json, facts, table_of("Synthetic traces", [(k, str(v)) for k, v in facts.items()]))
    return 0
