"""Do defences behave in a class as they do at full size? The table of the docs' Classroom.

`python benchmarks/class_table.py USERS DAYS TEAMS` prints a line for every sample defence: utility
and what the strong sample attacks leave of both privacies, means over teams.
"""

from __future__ import annotations

import sys

import numpy as np

from tracecup.attack.portfolio import sample_attacks
from tracecup.city import ContestClock
from tracecup.contest.entries import Entry
from tracecup.contest.sizes import sample_defences
from tracecup.contest.worlds import BuiltinWorld
from tracecup.front.naming import attacks_of
from tracecup.study import comparison

FIRST_TEAM = 201


def main(users: int, days: int, teams: int, extra: tuple[str, ...] = ()) -> None:
    """Print the table of one size."""
    world, clock = BuiltinWorld(), ContestClock.regular(days)
    swords = attacks_of(list(sample_attacks("strong").values()))
    print(
        f"| {users} users, {days} days | s_U | s_R | s_T |\n| --- | --- | --- | --- |", flush=True
    )
    for name in (*sample_defences(users), *extra):
        rows = []
        for team in range(FIRST_TEAM, FIRST_TEAM + teams):
            reference, original = world.data(Entry(team), clock, users, seed=1)
            made = comparison.release(world.city, reference, original, name, seed=team)
            met = [comparison.attack(made, sword, team).score for sword in swords]
            lowest = {kind: min(s.value for s in met if s.name == kind) for kind in ("s_R", "s_T")}
            rows.append((made.utility.value, *lowest.values()))
        shown = " | ".join(f"{value:.2f}" for value in np.mean(rows, axis=0))
        print(f"| {name} | {shown} |", flush=True)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:4]), tuple(sys.argv[4:]))
