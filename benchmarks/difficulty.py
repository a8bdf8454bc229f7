"""How hard is a contest in the built-in city? Its figures beside those of the real final round.

`python benchmarks/difficulty.py [--teams N]`: merely pseudonymized 20-day traces of the built-in
city against the sample attacks with the organisers' sub-sampling, and how people move in a day.
"""

from __future__ import annotations

import argparse

import numpy as np

from tracecup.contest.challenges import AttackKind
from tracecup.contest.judging.answers import run_attack
from tracecup.contest.judging.published import publish
from tracecup.contest.judging.scorer import Scorer
from tracecup.contest.worlds import BuiltinWorld
from tracecup.datasets.mobility import day_statistics
from tracecup.synth import team_data
from tracecup.traces import SetTraces

# Published for the real final round (attacks) and measured on the real generator's traces (days).
ATTACKS = {
    "VisitProb-R(cells=0.1,members=10)": 0.573,
    "HomeProb-R(members=10)": 0.667,
    "Fuzzy-R(0.33,1)": 0.086,
    "VisitProb-T(cells=0.1,members=10)": 0.553,
    "HomeProb-T(members=10)": 0.612,
}
DAYS = {
    "stay_share": 0.13,
    "distinct_regions": 15.3,
    "move_km": 1.35,
    "same_user_overlap": 0.17,
    "other_user_overlap": 0.028,
}


def figures(world: BuiltinWorld, team: int) -> dict[str, float]:
    """All figures of one team's data."""
    data = team_data(world.model, 1, team)
    cells = SetTraces.of_traces(data.original)
    made = publish(world.city, data.reference, data.original, cells, rng=team)
    scorer, found = Scorer(world.city), dict[str, float]()
    for name in ATTACKS:
        kind: AttackKind = "reid" if "-R" in name else "trace"
        answer = run_attack(kind, name, made.case, 7)
        found[name] = scorer.score_answer(made.truth, kind, answer)[kind].value
    days = day_statistics(data.original, world.city.grid)
    return found | {name: float(getattr(days, name)) for name in DAYS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teams", type=int, default=3, help="teams to average over")
    teams = parser.parse_args().teams
    world = BuiltinWorld()
    rows = [figures(world, team) for team in range(1, teams + 1)]
    print(f"| figure | real | built-in city ({teams} teams) | spread over teams |")
    print("| --- | --- | --- | --- |")
    for name, real in (ATTACKS | DAYS).items():
        values = np.array([row[name] for row in rows])
        print(f"| `{name}` | {real:g} | {values.mean():.3f} | {values.std():.4f} |", flush=True)


if __name__ == "__main__":
    main()
