"""`tracecup demo`: a whole contest from nothing.

Ten bot teams in the built-in city, ending with the awards and a report to read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli.common import Json

TEAMS = 10
USERS = 240
"""Fewer than the paper's 2000, so that the learned attack takes seconds."""


def demo(
    out: Annotated[
        Path, typer.Option("--out", help="Folder of the archive and the report.")
    ] = Path("tracecup-demo"),
    teams: Annotated[int, typer.Option("--teams", min=2, max=900, help="Bot teams.")] = TEAMS,
    users: Annotated[int, typer.Option("--users", min=2, help="Users of each team.")] = USERS,
    days: Annotated[
        int, typer.Option("--days", min=1, help="Days of original, and of reference traces.")
    ] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, another season.")] = 1,
    as_json: Json = False,
) -> int:
    """Play a season of ten bot teams: 240 users, 1024 regions, 400 + 400 events each.

    One bot attacks with a learned attack, one defends against such attacks, and the sample attacks
    are strong ones: the scores tell how private a release is. With --users 2000 it is the size of
    the paper's contest. Everything is made on the way: city, people, releases,
    attacks, scores, awards, a report. Stopped and started again, it goes on where it was.
    `tracecup contest verify` checks what it wrote, `tracecup example` is small enough to check by
    hand.

    Example: `tracecup demo`
    """
    from tracecup.cli._contest_play import play_and_tell
    from tracecup.contest.season import Season, season_rules
    from tracecup.contest.worlds import BuiltinWorld

    rules = season_rules(users=users, days=days, name="The tracecup demo", preset="strong")
    season = Season(rules, teams, seed)
    return play_and_tell(out, season, BuiltinWorld(), packed=False, reported=True, as_json=as_json)
