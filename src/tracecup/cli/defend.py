"""`tracecup defend`: a defence that is trained in a race against learned attacks.

What it leaves is a model file for `Equalise(model=FILE)`.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli.attack import Times, TrainingDevice, TrainingSeed, load_lesson
from tracecup.cli.common import CityFile, Engine, Json, Plugin, emit, table_of


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    defend = typer.Typer(no_args_is_help=True, help="Train a defence against learned attacks.")
    defend.command("train")(train)
    app.add_typer(defend, name="defend")


def train(
    city: CityFile,
    clock: Times,
    references: Annotated[
        list[Path],
        typer.Option("--references", help="Reference traces of a team; once for every team."),
    ],
    out: Annotated[Path, typer.Option("--out", help="Model file to write, .npz or .npz.zst.")],
    defence: Annotated[
        str, typer.Option("--defence", help="What the first attacker is trained on.")
    ] = "KMeans(100)",
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of the race.")] = 7,
    tests: Annotated[
        int, typer.Option("--tests", min=1, help="The last references only test.")
    ] = 3,
    group: Annotated[int, typer.Option("--group", min=2, help="Users in a group.")] = 25,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Steps of each attacker.")] = 400,
    copies: Annotated[
        int, typer.Option("--copies", min=1, help="Releases of every team that attackers see.")
    ] = 1,
    users: Annotated[int, typer.Option("--users", min=2, help="Users drawn for a step.")] = 1000,
    floor: Annotated[
        float, typer.Option("--floor", min=0, max=1, help="Utility of the defence.")
    ] = 0.7,
    device: TrainingDevice = None,
    seed: TrainingSeed = 0,
    plugin: Plugin = None,
    engine: Engine = "local",
    as_json: Json = False,
) -> int:
    """Race a defence against attackers who are trained on it, round by round.

    Each round equalises all teams against every attacker so far, then trains the next attacker on
    the result. The numbers of all rounds go to OUT.rounds/race.json beside the attackers
    themselves; interrupted, the same command goes on from there on the same kind of device, and
    with more rounds it plays those on top. Needs JAX (tracecup[learn]), half precision on a GPU:
    about 35 s a round with 16 teams of 2000 users on an H200. With --engine a round's teams are
    defended, and its test teams attacked, by workers with the same device; attackers are trained
    here.

    Example: `tracecup defend train --city info_region.csv --clock info_time.csv
    --references reftraces_team002.csv --references reftraces_team003.csv --tests 1
    --out defence.npz.zst`
    """
    from tracecup.cli._contest_play import stages_shown
    from tracecup.front.plugins import shipped
    from tracecup.jobs import engine as engine_of
    from tracecup.learn import require_jax

    require_jax(device)
    from tracecup.learn.attack import Schedule, precision
    from tracecup.learn.equalise import Equaliser
    from tracecup.learn.race import RaceSettings
    from tracecup.learn.teach import RACE_LOG, learn_defence

    lesson = load_lesson(city, clock, references, [defence], floor, seed)
    folder = out.with_name(f"{out.name}.rounds")
    settings = RaceSettings(
        rounds,
        Equaliser(group=group),
        Schedule(steps=steps, users=users, warm=True, precision=precision()),
        floor,
        lesson.seed,
        copies,
    )
    started = time.perf_counter()
    with engine_of(engine, shipped(plugin), ["jax"]) as jobs, stages_shown() as stage:
        folder.mkdir(parents=True, exist_ok=True)
        model = learn_defence(
            lesson, tests, settings, 2 * steps, folder,
            lambda part, done, total, losses: stage(part, done, total), executor=jobs,
        )  # fmt: skip
    model.save(out)
    played = json.loads((folder / RACE_LOG).read_text())
    last = played[-1]["verdicts"]
    payload = {
        "rounds": played,
        "models": len(model.models),
        "seconds": time.perf_counter() - started,
        "out": str(out),
    }
    rows = [
        ("models met", str(len(model.models))),
        ("last attacker", ", ".join(f"s_R {v['reid']:.3f}, s_T {v['trace']:.3f}" for v in last)),
        ("written to", str(out)),
    ]
    emit(as_json, payload, table_of("Trained defence", rows))
    return 0
