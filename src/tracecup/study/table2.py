"""Table 2: how much chance there is in a team's scores, and what more users would change.

The same obfuscation and attacks on the data of 17 teams; only the virtual users differ.
"""

from __future__ import annotations

import math
from statistics import fmean, stdev

from scipy import special

from tracecup.obfuscate import parse_obfuscator
from tracecup.study.attacked import Attacks, attack
from tracecup.study.context import USERS, Context
from tracecup.study.reproduce import study
from tracecup.study.results import BUILT_IN, Comparison, StudyResult, Table

TEAMS, QUICK_TEAMS = 17, 4
OBFUSCATIONS = ("None", "MRLH(1,1,0.5)", "RR(1)", "PL(1,1)")
PUBLISHED = {
    "None": (0.0095, 0.011),
    "MRLH(1,1,0.5)": (0.0068, 0.0033),
    "RR(1)": (0.00055, 0.00015),
    "PL(1,1)": (0.0026, 0.0010),
}
FACTOR = 3.0
SIZES, QUICK_SIZES = (500, 1000, 2000, 4000), (125, 250, 500)
# Best and second-best score of the final round, for each kind of attack.
WINNERS = {"s_R,min": (0.79, 0.67), "s_T,min": (0.720, 0.709)}


@study(
    "table2",
    "Fairness: the spread of scores over teams",
    "Table 2",
    "The standard deviation of the minimum scores over 17 teams is about 0.01 without obfuscation "
    "and less with it, so only the first two places of trace inference may have been chance.",
    needs=("built-in",),
)
def run(context: Context) -> StudyResult:
    """Standard deviations at the contest's size, at other sizes, and the chance of a swap."""
    teams = QUICK_TEAMS if context.quick else TEAMS
    sizes = QUICK_SIZES if context.quick else SIZES
    scores = _scores(context, teams, sizes)
    table = Table.of(("obfuscation", "users", "team", "s_R,min", "s_T,min"), scores)
    spread = [
        _spread(table, name, m) for name in OBFUSCATIONS for m in sizes if (name, m) in _done(table)
    ]
    columns = ("obfuscation", "users", "mean s_R,min", "SD s_R,min", "mean s_T,min", "SD s_T,min")
    spreads = Table.of(columns, spread)
    at = sizes[-1] if context.quick else USERS
    comparisons = [
        Comparison(
            f"SD of {score}, {name}",
            value,
            ours := spreads.row(obfuscation=name, users=at)[f"SD {score}"],
            None if context.quick else value / FACTOR,
            None if context.quick else value * FACTOR,
            _why(context, ours),
        )
        for name, pair in PUBLISHED.items()
        for score, value in zip(("s_R,min", "s_T,min"), pair, strict=True)
    ]
    return StudyResult(
        BUILT_IN,
        {"scores": table, "spread": spreads, "swaps": _swaps(spreads, sizes)},
        {},
        tuple(comparisons),
        {"teams": teams, "events": 400},
        (
            "Sample attacks with the organisers' sub-sampling, 20-day traces. The built-in city is "
            "not Tokyo: bands are a factor of 3 either way.",
            "The chance of a swap treats both scores as normal with the standard deviation of "
            "None, the largest: Phi(-difference / (SD sqrt 2)).",
        ),
    )


def _why(context: Context, ours: float) -> str:
    if context.quick:
        return "quick run: fewer users and teams, no band"
    return "factor 3; with 17 teams a standard deviation itself is known to about 17 %"


def _scores(
    context: Context, teams: int, sizes: tuple[int, ...]
) -> list[tuple[str, int, int, float, float]]:
    """Every obfuscation at every size; above the contest's size only None."""
    attacks, rows = Attacks.samples("organisers2019"), []
    for number in range(1, teams + 1):
        whole = context.long_team(number, max(sizes))
        for m in sizes:
            team = whole.take_users(m)
            for name in OBFUSCATIONS if m <= USERS else ("None",):
                seed = context.seed_of("table2", number, m, name)
                cells = parse_obfuscator(name).obfuscate(team.original, team.city, seed)
                found = attack(team, cells, attacks, seed)
                rows.append((name, m, number, found.s_r, found.s_t))
    return rows


def _done(table: Table) -> set[tuple[str, int]]:
    return set(zip(table.column("obfuscation"), table.column("users"), strict=True))


def _spread(table: Table, name: str, m: int) -> tuple[str, int, float, float, float, float]:
    some = table.where(obfuscation=name, users=m)
    reid, trace = some.column("s_R,min"), some.column("s_T,min")
    return name, m, fmean(reid), stdev(reid), fmean(trace), stdev(trace)


def _swaps(spreads: Table, sizes: tuple[int, ...]) -> Table:
    """Probability that the second-best of the final round would have come first."""
    rows = []
    for m in sizes:
        row = spreads.row(obfuscation="None", users=m)
        for score, (best, second) in WINNERS.items():
            sd = row[f"SD {score}"]
            rows.append((m, score, best - second, sd, swap_probability(best - second, sd)))
    return Table.of(("users", "score", "difference", "SD", "probability of a swap"), rows)


def swap_probability(difference: float, sd: float) -> float:
    """Phi(-difference / (sd sqrt 2)): two independent normal scores change their order.

    >>> swap_probability(0.0, 0.01), round(swap_probability(0.02, 0.01), 4)
    (0.5, 0.0786)
    """
    if sd <= 0:
        return 0.0 if difference > 0 else 0.5
    return float(special.ndtr(-difference / (sd * math.sqrt(2))))
