"""Beyond the paper: the maximum-knowledge attacker, whom the contest leaves out.

She has the original traces of all users and only asks which pseudonym is whose.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.scores import MatrixScores
from tracecup.city import City
from tracecup.contest.judging.published import publish
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.obfuscate import parse_obfuscator
from tracecup.rng import Rng, generator
from tracecup.score import FLOOR, reid_score, utility_score
from tracecup.study.attacked import LINKING, Attacks, attack
from tracecup.study.context import Context, Team
from tracecup.study.results import BUILT_IN, Comparison, StudyResult, Table
from tracecup.traces import IdTable, SetTraces, Traces

RELEASES: dict[str, tuple[str, ...]] = {
    "PL": tuple(f"PL({level:g},1)" for level in (0.02, 0.05, 0.1, 0.25, 1.0, 4.0)),
    "RR": tuple(f"RR({eps:g})" for eps in (0.1, 1.0, 2.0, 3.0, 5.0, 8.0)),
    "deletion": tuple(f"MRLH(0,0,{p:g})" for p in (0.9975, 0.995, 0.99, 0.97, 0.9, 0.3)),
    "KMeans": ("KMeans(100)",),
    "Cheat": ("Cheat(1)",),
}
POINTS = (1, 2, 3, 4, 5, 6, 8, 10)
# de Montjoye et al. (2013), as the paper quotes them: 1.5 million users of a mobile network.
QUOTED = {3: 0.80, 4: 0.95}
COLUMNS = ("mechanism", "release", "s_U", "s_R, partial knowledge", "s_R, maximum knowledge")


def knowledge(context: Context) -> StudyResult:
    """s_R against reference traces and against the originals themselves, over utility."""
    team = context.stages["long"]
    rows = [
        (mechanism, name, *_scores(context, team, name))
        for mechanism, names in RELEASES.items()
        for name in (names[::2] if context.quick else names)
    ]
    table = Table.of(COLUMNS, rows)
    random = generator(context.seed_of("beyond3", "points"))
    unique = [(k, unicity(team.original, k, random)) for k in POINTS]
    valid = [row for row in table.records() if row["s_U"] >= FLOOR]
    worst = max(row["s_R, maximum knowledge"] for row in valid)
    return StudyResult(
        BUILT_IN,
        {"knowledge": table, "points": Table.of(("points", "share of users alone"), unique)},
        {"largest s_R against maximum knowledge of a release with s_U >= 0.7": worst},
        tuple(
            Comparison(
                f"users alone with {k} random points of their trace",
                share,
                dict(unique)[k],
                why="the paper quotes 1.5 million users of a mobile network; ours are "
                f"{team.original.n_users} in a city of {team.city.n_regions} regions",
            )
            for k, share in QUOTED.items()
        ),
        team.sizes,
        (
            "Maximum knowledge: the attacker holds every user's original trace and links each "
            "pseudonym to the user whose trace is nearest, event by event: in the sum of distances "
            "or in the number of events that differ, whichever is stronger. Partial knowledge: the "
            "contest's attackers, who hold other days.",
            "She infers no trace: she knows them all, which is why the contest leaves her out.",
        ),
    )


def _scores(context: Context, team: Team, name: str) -> tuple[float, float, float]:
    seed = context.seed_of("beyond3", "knowledge", name)
    cells = parse_obfuscator(name).obfuscate(team.city, team.original, seed)
    partial = attack(team, cells, Attacks(LINKING.reid, ()), seed, shuffle=seed)
    made = publish(team.city, team.reference, team.original, cells, seed)
    best = min(
        reid_score(made.table, nearest_trace(made.case.released, team.original, costs)).value
        for costs in (team.city.grid.distances, _differs(team.city))
    )
    return utility_score(team.city, team.original, cells).value, min(partial.reid.values()), best


def _differs(city: City) -> NDArray[np.float64]:
    return 1.0 - np.eye(city.n_regions)


def nearest_trace(released: SetTraces, known: Traces, costs: NDArray[np.float64]) -> IdTable:
    """The known trace with the least sum over events of the mean cost to the cell's members.

    `costs` is (regions, regions), released by true; deleted cells cost nothing. Ties go to the
    smallest user. O(m^2 regions in the cells).

    >>> released = SetTraces.of_cells([[[2], []], [[0], [0, 1]]])
    >>> nearest_trace(released, Traces.of([[0, 0], [2, 2]]), 1 - np.eye(3)).users.tolist()
    [1, 0]
    """
    m = known.n_users
    scores = np.zeros((m, m))
    by_event = np.ascontiguousarray(known.regions.T)
    table = np.ascontiguousarray(costs, dtype=np.float64)

    def work(low: int, high: int) -> None:
        cells = released.offsets[low * released.times :]
        _subtract_costs(cells, released.regions, by_event, table, scores[low:high])

    map_blocks(work, m)
    return IdTable(MatrixScores(scores).best())


def unicity(traces: Traces, points: int, rng: Rng = None) -> float:
    """Share of users whose trace is the only one through `points` random events of it.

    Unobserved events are not drawn: a user with fewer events is looked for by all of them, one
    without any is left out (nan where nobody has one).

    >>> unicity(Traces.of([[0, 1], [0, 1], [0, 2]]), 2)
    0.3333333333333333
    """
    random, regions = generator(rng), traces.regions
    alone = users = 0
    for user in regions:
        seen = np.flatnonzero(user >= 0)
        if not len(seen):
            continue
        at = random.choice(seen, min(points, len(seen)), replace=False)
        users += 1
        alone += int((regions[:, at] == user[at]).all(axis=1).sum() == 1)
    return alone / users if users else math.nan


@kernel
def _subtract_costs(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    by_event: NDArray[np.int32],
    costs: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    times = by_event.shape[0]
    for k in range(scores.shape[0]):
        for j in range(times):
            begin, end = offsets[k * times + j], offsets[k * times + j + 1]
            for e in range(begin, end):
                row, share = costs[regions[e]], 1.0 / (end - begin)
                for u in range(by_event.shape[1]):
                    scores[k, u] -= share * row[by_event[j, u]]
