"""`tracecup contest init`: a folder with a commented `contest.toml` to start from.

Never overwrites rules that are there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from tracecup.cli.common import Json, emit, table_of

if TYPE_CHECKING:
    from tracecup.contest.rules import Rules


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of the contest; made if missing.")
    ],
    name: Annotated[str | None, typer.Option("--name", help="Name of the contest.")] = None,
    preset: Annotated[
        Literal["strong", "paper", "organisers2019", "class"],
        typer.Option(
            "--preset",
            help="strong: one challenge, one round, sample attacks with optimal links and Bayes "
            "decisions. paper: the same with the paper's sample attacks. organisers2019: two "
            "challenges, two rounds and the choices of the program of 2019. class: 200 users, 10 "
            "days, scores told at once, lessons; a class plays it within an afternoon.",
        ),
    ] = "strong",
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Folder that `tracecup data` made: its regions, days and hours. "
            "`contest simulate --data` then takes its traintraces.csv.",
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Write the rules of a new contest: DIR/contest.toml, with a comment on every key.

    Example: `tracecup contest init mycontest --name "Spring contest"`

    Example: `tracecup contest init mycontest --data nyc`
    """
    from tracecup.contest.rules import Rules
    from tracecup.contest.rules.file import RULES_FILE, write_rules
    from tracecup.errors import InvalidParameter
    from tracecup.safeio import ensure_folder

    rules = Rules.preset(preset)
    if name is not None:
        rules = rules.renamed(name)
    if data is not None:
        rules = _in_the_city_of(rules, data, folder)
    rules.check()
    path = folder / RULES_FILE
    if path.exists() or path.is_symlink():
        raise InvalidParameter(f"{path} is there already; remove it first or choose another folder")
    ensure_folder(folder)
    write_rules(path, rules)
    rows = [
        ("contest", escape(rules.name)),
        ("rules", escape(str(path))),
        ("preset", preset),
    ]
    emit(
        as_json,
        {"rules": str(path), "name": rules.name, "preset": preset},
        table_of("New contest", rows),
    )
    return 0


def _in_the_city_of(rules: Rules, data: Path, folder: Path) -> Rules:
    """The rules with regions, days and hours of a folder that `tracecup data` made."""
    import os
    from dataclasses import replace

    from tracecup.attack.learned import shipped_suits
    from tracecup.attack.portfolio import LEARNED
    from tracecup.city import read_city, read_clock
    from tracecup.contest.rules.model import CityRules, ClockRules, SampleRules
    from tracecup.records import timetable_of

    regions = data / "info_region.csv"
    city = read_city(regions)
    clock = read_clock(data / "info_time.csv")
    hours = timetable_of(clock.original)
    samples = rules.samples
    if not shipped_suits(city, hours.instants):
        both = (samples.reid, samples.trace)
        known = (tuple(name for name in names if name not in LEARNED) for names in both)
        samples = SampleRules(*known)
    return replace(
        rules,
        samples=samples,
        city=CityRules(None, Path(os.path.relpath(regions, folder)).as_posix()),
        clock=ClockRules(
            clock.original.days, clock.reference.days, hours.instants, hours.start, hours.interval
        ),
    )
