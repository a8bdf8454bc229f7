"""`tracecup contest simulate`: a whole season with bots, from nothing to the awards.

Started again after an interruption it goes on where it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tracecup.cli.common import Engine, Json, minute_of

if TYPE_CHECKING:
    from tracecup.contest.rules import Rules
    from tracecup.contest.worlds import World


def simulate(
    out: Annotated[Path, typer.Option("--out", help="Folder of the archive; made if missing.")],
    teams: Annotated[int, typer.Option("--teams", min=2, max=900, help="Bot teams.")] = 21,
    users: Annotated[
        int | None, typer.Option("--users", min=2, help="Users of each data set; 2000 without.")
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(
            "--days", min=1, help="Days of original, and of reference traces; 20 without."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Everything random comes from it.")
    ] = 1,
    challenges: Annotated[
        Literal["trace", "reid", "both"] | None,
        typer.Option(
            "--challenges", help="trace (the paper's), reid, or both: two data sets each."
        ),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option("--rules", help="A contest.toml instead of these three; its last round."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Training traces of your own instead of the built-in city."),
    ] = None,
    city: Annotated[
        Path | None, typer.Option("--city", help="With --data: its regions, info_region.csv.")
    ] = None,
    interval: Annotated[
        int, typer.Option("--interval", min=1, help="With --data: minutes between two events.")
    ] = 5,
    start: Annotated[
        str, typer.Option("--start", help="With --data: time of day of the first event.")
    ] = "6:00",
    end: Annotated[
        str, typer.Option("--end", help="With --data: time of day at which a day ends.")
    ] = "18:00",
    packed: Annotated[
        bool, typer.Option("--zip/--no-zip", help="Also write the archive as OUT.zip.")
    ] = True,
    reported: Annotated[
        bool, typer.Option("--report/--no-report", help="Also write OUT/report.html.")
    ] = True,
    engine: Engine = "local",
    as_json: Json = False,
) -> int:
    """Play a season: data, obfuscation, shuffle, attacks, scores, awards, archive, report.

    Every bot team has another obfuscation, tuned to the utility floor, and another attack; team
    003 plays hors concours (Cheat(1)), team 004 is invalid on purpose. A season that was
    interrupted goes on where it was when the command is given again, and ends with the same
    files, byte by byte.

    Example: `tracecup contest simulate --out season --teams 5 --users 200 --days 4`
    """
    from tracecup.cli._contest_play import play_and_tell
    from tracecup.contest.season import Season
    from tracecup.jobs import engine as engine_of

    world = _world(data, city, interval, minute_of(start), minute_of(end), seed)
    season = Season(_rules(rules, users, days, challenges), teams, seed)
    with engine_of(engine) as jobs:
        return play_and_tell(
            out, season, world, packed=packed, reported=reported, as_json=as_json, jobs=jobs
        )


def _rules(path: Path | None, users: int | None, days: int | None, challenges: str | None) -> Rules:
    from tracecup.contest.rules.file import read_rules
    from tracecup.contest.season import in_archive, season_rules
    from tracecup.errors import InvalidParameter

    if path is None:
        played = challenges or "trace"
        return season_rules(
            users=users or 2000, days=days or 20, trace=played != "reid", reid=played != "trace"
        )
    if (users, days, challenges) != (None, None, None):
        raise InvalidParameter("--rules says users, days and challenges; give one or the other")
    return in_archive(read_rules(path))


def _world(
    data: Path | None, city: Path | None, interval: int, start: int, end: int, seed: int
) -> World:
    from tracecup.cli.common import load_city, load_locations
    from tracecup.cli.train import load_training
    from tracecup.contest.judging.commitment import content_hash
    from tracecup.contest.worlds import BuiltinWorld, TrainedWorld
    from tracecup.errors import InvalidParameter
    from tracecup.records import Timetable
    from tracecup.rng import child_seed

    if data is None:
        return BuiltinWorld()
    if city is None:
        raise InvalidParameter("training traces of your own need their regions: give --city")
    timetable = Timetable.of_hours(start, end, interval, 60)
    training = load_training(data, load_locations(city, None, None), timetable)
    name = f"training traces {data.name} (SHA-256 {content_hash(data)})"
    return TrainedWorld(name, load_city(city), training, child_seed(seed, "training"))
