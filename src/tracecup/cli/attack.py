"""`tracecup attack`: a case in, an inferred ID table or inferred traces out.

Neither command sees the truth; `tracecup score` compares with it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tracecup.cli.common import (
    CityFile,
    Engine,
    Json,
    Plugin,
    Seed,
    emit,
    load_city,
    progress,
    table_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracecup.attack import Case, ReidAttack
    from tracecup.attack.match import Assigned
    from tracecup.learn.teach import Lesson

Times = Annotated[Path, typer.Option("--clock", help="Times of the contest: info_time.csv.")]
Reference = Annotated[
    Path, typer.Option("--reference", help="Reference traces of the users: reftraces file.")
]
TrainingDevice = Annotated[
    Literal["cpu", "cuda"] | None,
    typer.Option(
        "--device", help="Where JAX trains; without it on a GPU where it finds one, else the CPU."
    ),
]
TrainingSeed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the training.")]
Released = Annotated[Path, typer.Option("--released", help="Release to attack: pubtraces file.")]


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    attack = typer.Typer(no_args_is_help=True, help="Attack a release, as a contestant does.")
    attack.command("reid")(reid)
    attack.command("trace")(trace)
    attack.command("all")(attack_every)
    attack.command("train")(train)
    app.add_typer(attack, name="attack")


def reid(
    name: Annotated[str, typer.Argument(help="Attack with parameters, like VisitProb-R.")],
    city: CityFile,
    clock: Times,
    reference: Reference,
    released: Released,
    out: Annotated[Path, typer.Option("--out", help="Inferred ID table to write (etable).")],
    match: Annotated[
        Literal["argmax", "greedy", "assignment", "soft"] | None,
        typer.Option(
            "--match",
            help="argmax: the best user of each pseudonym, users may repeat. greedy: one to one "
            "by ascending pseudonym. assignment: one to one with the largest sum of scores. soft: "
            "the likeliest user if links are one to one. The same as match= in the name.",
        ),
    ] = None,
    device: Annotated[
        Literal["cpu", "cuda"],
        typer.Option(
            "--device",
            help="Where the products run; cuda needs tracecup[gpu] and gives the same table.",
        ),
    ] = "cpu",
    seed: Seed = None,
    plugin: Plugin = None,
    as_json: Json = False,
) -> int:
    """Who is behind each pseudonym? Writes one user per pseudonym.

    Attacks: Random-R, VisitProb-R, HomeProb-R, Fuzzy-R(eta0,lambda0), Bayes-R(channel=learned)
    and more: `tracecup methods`.

    Example: `tracecup attack reid VisitProb-R --city info_region.csv --clock info_time.csv
    --reference reftraces.csv --released pubtraces.csv --out etable.csv`
    """
    from dataclasses import replace

    from tracecup.attack import ReidAttack
    from tracecup.attack.base import arrays_of
    from tracecup.attack.match import proofs
    from tracecup.errors import InvalidParameter
    from tracecup.registry import parse
    from tracecup.traces.files import write_inferred_table
    from tracecup.traces.largefiles import are_large

    method = parse("reid", name)
    if not isinstance(method, ReidAttack):
        raise InvalidParameter(f"{method.name} is registered as re-identification but is none")
    method = replace(method, match=match) if match else method
    arrays_of(device, method)  # before files are read
    if are_large(reference, released):
        files = (city, clock, reference, released)
        return _reid_large(method, *files, out, device, seed, as_json)
    case = _load_case(city, clock, reference, released)
    started = time.perf_counter()
    with proofs() as proved:
        table = method.identify_on(device, case, seed)
    seconds = time.perf_counter() - started
    write_inferred_table(out, table)
    named = len(set(table.users.tolist()))
    payload = {
        "attack": str(method),
        "match": method.match,
        "device": device,
        "seed": seed,
        "users": case.n_users,
        "users_named": named,
        "remark": method.remark(case),
        **_proof(proved),
        "seconds": seconds,
        "out": str(out),
    }
    rows = [
        ("attack", f"{method} ({method.match})"),
        ("users named", f"{named} of {case.n_users}"),
        *_proof_rows(proved),
        *((("it knew", remark),) if (remark := method.remark(case)) else ()),
        ("took", f"{seconds:.3f} s"),
        ("written to", str(out)),
    ]
    emit(as_json, payload, table_of("Re-identification", rows))
    return 0


def _reid_large(
    method: ReidAttack,
    city: Path,
    clock: Path,
    reference: Path,
    released: Path,
    out: Path,
    device: str,
    seed: int | None,
    as_json: bool,
) -> int:
    """The attack on files that are read in parts."""
    from tracecup.attack.match import proofs
    from tracecup.attack.outofcore import identify_files
    from tracecup.city import read_clock
    from tracecup.scratch import listening, peak_mb
    from tracecup.traces.files import write_inferred_table

    started = time.perf_counter()
    where, when = load_city(city), read_clock(clock)
    with progress("attacking") as advance, listening(advance), proofs() as proved:
        table = identify_files(method, where, when, reference, released, device, seed)
    seconds = time.perf_counter() - started
    write_inferred_table(out, table)
    payload = {
        "attack": str(method),
        "match": method.match,
        "device": device,
        "seed": seed,
        "users": len(table.users),
        "remark": "read in parts",
        **_proof(proved),
        "peak_mb": peak_mb(),
        "seconds": seconds,
        "out": str(out),
    }
    rows = [
        ("attack", f"{method} ({method.match}), files read in parts"),
        ("users", f"{len(table.users)}"),
        *_proof_rows(proved),
        ("took", f"{seconds:.3f} s, reading included; {peak_mb()} MB of memory at most"),
        ("written to", str(out)),
    ]
    emit(as_json, payload, table_of("Re-identification", rows))
    return 0


def _proof(proved: Sequence[Assigned]) -> dict[str, object]:
    """How good an assignment on shortlists is at least; nothing where the matrix was held."""
    found = [{"gap": one.gap, "passes": one.passes, "pairs": one.pairs} for one in proved]
    return {"assignment": found[-1]} if found else {}


def _proof_rows(proved: Sequence[Assigned]) -> list[tuple[str, str]]:
    return [
        (
            "proved",
            f"no assignment has a sum more than {one.gap:.2g} larger; {one.passes} passes over all "
            f"scores, {one.pairs / len(one.table.users):.1f} pairs kept a user",
        )
        for one in proved
    ]


def trace(
    name: Annotated[str, typer.Argument(help="Attack with parameters, like VisitProb-T.")],
    city: CityFile,
    clock: Times,
    reference: Reference,
    released: Released,
    out: Annotated[Path, typer.Option("--out", help="Inferred traces to write (etraces).")],
    seed: Seed = None,
    plugin: Plugin = None,
    as_json: Json = False,
) -> int:
    """Where was each user at each event? Writes one region per user and event.

    Attacks: Random-T, VisitProb-T, HomeProb-T, Fuzzy-T(eta0,lambda0,threshold), Replay-T,
    Prior-T, Bayes-T(channel=learned) and more: `tracecup methods`.

    Example: `tracecup attack trace VisitProb-T --city info_region.csv --clock info_time.csv
    --reference reftraces.csv --released pubtraces.csv --out etraces.csv --seed 1`
    """
    from tracecup.attack import InferenceAttack
    from tracecup.errors import InvalidParameter
    from tracecup.registry import parse
    from tracecup.scratch import listening, peak_mb
    from tracecup.traces.files import write_inferred_traces
    from tracecup.traces.largefiles import are_large

    method = parse("inference", name)
    if not isinstance(method, InferenceAttack):
        raise InvalidParameter(f"{method.name} is registered as trace inference but is none")
    large = are_large(reference, released)
    case = _load_case(city, clock, reference, released, large=large)
    started = time.perf_counter()
    with progress("attacking") as advance, listening(advance):
        inferred = method.infer(case, seed)
    seconds = time.perf_counter() - started
    write_inferred_traces(out, inferred)
    payload = {
        "attack": str(method),
        "seed": seed,
        "users": inferred.n_users,
        "times": inferred.times,
        "remark": method.remark(case),
        **({"peak_mb": peak_mb()} if large else {}),
        "seconds": seconds,
        "out": str(out),
    }
    rows = [
        ("attack", f"{method}{', files read in parts' * large}"),
        ("inferred", f"{inferred.n_users} users x {inferred.times} events"),
        *((("it knew", remark),) if (remark := method.remark(case)) else ()),
        ("took", f"{seconds:.3f} s{f'; {peak_mb()} MB of memory at most' * large}"),
        ("written to", str(out)),
    ]
    emit(as_json, payload, table_of("Trace inference", rows))
    return 0


def attack_every(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder with info_region.csv, info_time.csv, reftraces_teamNNN and "
            "pubtraces_teamNNN files: what `tracecup client download` fetched, or the public "
            "folder of an archive.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Zip of all answers to write.")],
    team: Annotated[
        str,
        typer.Option("--team", help="Number of your team, as in file names; its own is left out."),
    ] = "001",
    reid: Annotated[
        str, typer.Option("--reid", help="Re-identification; an empty text for none.")
    ] = "Fuzzy-R(0.33,1,match=assignment)",
    trace: Annotated[
        str, typer.Option("--trace", help="Trace inference; an empty text for none.")
    ] = "Fuzzy-T(0.33,1,0,match=assignment)",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all draws.")] = 1,
    plugin: Plugin = None,
    as_json: Json = False,
) -> int:
    """Attack every release of a folder and write the answers as one zip to hand in.

    Files in the zip have the contest's names, so that `tracecup client submit answers.zip` takes
    them as they are.

    Example: `tracecup attack all mycontest/final --team 004 --out answers.zip`
    """
    from tracecup.attack import InferenceAttack, parse_inference, parse_reid
    from tracecup.cli.common import people
    from tracecup.contest.targets import attack_all

    attacks: list[ReidAttack | InferenceAttack] = [
        *([parse_reid(reid)] if reid.strip() else []),
        *([parse_inference(trace)] if trace.strip() else []),
    ]
    with progress("attacking") as advance:
        made = attack_all(folder, attacks, team.zfill(3), out, seed, advance)
    for name in made.without_reference:
        people().print(f"left out: {name} has no reference traces in {folder}", soft_wrap=True)
    payload = {
        "attacks": [str(method) for method in attacks],
        "team": team.zfill(3),
        "seed": seed,
        "answers": list(made.answers),
        "left_out": list(made.without_reference),
        "out": str(out),
    }
    rows = [
        ("attacks", ", ".join(str(method) for method in attacks)),
        ("answers", str(len(made.answers))),
        ("written to", str(out)),
    ]
    emit(as_json, payload, table_of("All targets", rows))
    return 0


def train(
    city: CityFile,
    clock: Times,
    references: Annotated[
        list[Path],
        typer.Option(
            "--references", help="Public reference traces of a team; once for every team."
        ),
    ],
    defence: Annotated[
        list[str],
        typer.Option(
            "--defence",
            help="Defence to learn, like KMeans(100); several make an attack that expects any of "
            "them. Named without values it is tuned to the floor.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Model file to write, .npz or .npz.zst.")],
    steps: Annotated[int, typer.Option("--steps", min=1, help="Steps of training.")] = 1500,
    users: Annotated[int, typer.Option("--users", min=2, help="Users drawn for a step.")] = 1000,
    floor: Annotated[
        float, typer.Option("--floor", min=0, max=1, help="Utility of the defences.")
    ] = 0.7,
    device: TrainingDevice = None,
    seed: TrainingSeed = 0,
    plugin: Plugin = None,
    engine: Engine = "local",
    as_json: Json = False,
) -> int:
    """Train a learned attack from public data: references of other teams and a defence's program.

    The earlier half of each reference's days is what an attacker knows, the later half is
    defended, and a network learns what such a release looks like. Needs JAX (tracecup[learn]); a
    GPU is used where JAX finds one, in half precision: two minutes for 31 teams of 2000 users on an
    H200, some ten hours on two cores. With --engine teams are defended by its workers, the network
    is trained here. Interrupted, the same command goes on from OUT.parts on the same kind of
    device. Then: `Learned-R(model=OUT)`, `Learned-T(model=OUT)`.

    Example: `tracecup attack train --city info_region.csv --clock info_time.csv
    --references reftraces_team002.csv --references reftraces_team003.csv
    --defence "KMeans(100)" --out kmeans.npz.zst`
    """
    from tracecup.cli._contest_play import stages_shown
    from tracecup.front.plugins import shipped
    from tracecup.jobs import engine as engine_of
    from tracecup.learn import require_jax

    require_jax(device)
    from tracecup.learn.attack import Schedule, precision
    from tracecup.learn.teach import learn_attack

    lesson = load_lesson(city, clock, references, defence, floor, seed)
    parts = out.with_name(f"{out.name}.parts")
    started = time.perf_counter()
    with engine_of(engine, shipped(plugin)) as jobs, stages_shown() as stage:
        parts.mkdir(parents=True, exist_ok=True)

        def say(part: str, done: int, total: int, losses: dict[str, float]) -> None:
            stage(part, done, total)

        schedule = Schedule(steps=steps, users=users, seed=lesson.seed, precision=precision())
        model = learn_attack(lesson, schedule, parts, say, jobs)
    model.save(out)
    remove_parts(parts)
    payload = {
        "trained_on": str(model.training),
        "loss": model.training.loss,
        "seconds": time.perf_counter() - started,
        "out": str(out),
    }
    rows = [("trained on", str(model.training)), ("written to", str(out))]
    emit(as_json, payload, table_of("Learned attack", rows))
    return 0


def load_lesson(
    city: Path,
    clock: Path,
    references: list[Path],
    defences: list[str],
    floor: float,
    seed: int,
) -> Lesson:
    """What to train on, from files."""
    from tracecup.city import read_clock
    from tracecup.learn.teach import Lesson
    from tracecup.traces.files import read_traces

    where, when = load_city(city), read_clock(clock)
    known = [
        read_traces(path, "reference", n_regions=where.n_regions, clock=when.reference)
        for path in references
    ]
    return Lesson(where, known, tuple(defences), floor, seed)


def remove_parts(folder: Path) -> None:
    """Take away what was kept for an interruption."""
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def _load_case(
    city: Path, clock: Path, reference: Path, released: Path, *, large: bool = False
) -> Case:
    """The case of the four files, `large` ones in parts; reference traces may have gaps."""
    from tracecup.attack import Case
    from tracecup.attack.outofcore import read_case
    from tracecup.city import read_clock
    from tracecup.traces.files import read_released, read_traces

    where, when = load_city(city), read_clock(clock)
    if large:
        return read_case(where, when, reference, released)
    target = read_released(released, n_regions=where.n_regions, clock=when.original)
    known = read_traces(
        reference,
        "reference",
        n_regions=where.n_regions,
        clock=when.reference,
        users=target.n_users,
        gaps=True,
    )
    return Case(where, known, target)
