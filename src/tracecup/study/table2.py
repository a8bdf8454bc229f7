"""Table 2: how much chance there is in a team's scores, and what more users would change.

The same obfuscation and attacks on the data of 17 teams; only the virtual users differ.
"""

from __future__ import annotations

import math
from statistics import fmean, stdev

import numpy as np
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
SCORES = ("s_R,min", "s_T,min")
CONFIDENCE = 0.95
TINY = 1e-12
# Best and second-best score of the final round, for each kind of attack.
WINNERS = {"s_R,min": (0.79, 0.67), "s_T,min": (0.720, 0.709)}
THIRD = 0.637
# How often RR(1) keeps the region, to the paper's digits.
KEPT, HALF_A_DIGIT = 0.0027, 0.00005


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
    table = Table.of(("obfuscation", "users", "team", *SCORES), scores)
    spread = [_spread(table, name, m) for name in OBFUSCATIONS for m in sizes]
    columns = [f"{what} {score}" for score in SCORES for what in ("mean", "SD", "low", "high")]
    spreads = Table.of(("obfuscation", "users", *columns), spread)
    at = sizes[-1] if context.quick else USERS
    comparisons = [
        Comparison(
            f"SD of {score}, {name}",
            value,
            spreads.row(obfuscation=name, users=at)[f"SD {score}"],
            None if context.quick else value / FACTOR,
            None if context.quick else value * FACTOR,
            _why(context),
        )
        for name, pair in PUBLISHED.items()
        for score, value in zip(SCORES, pair, strict=True)
    ]
    kept = math.e / (context.world.city.n_regions - 1 + math.e)
    why = "e / (1023 + e); why the standard deviation is so small"
    comparisons.append(Comparison.equal("RR(1) keeps a region", KEPT, kept, HALF_A_DIGIT, why))
    sd = spreads.row(obfuscation="None", users=at)["SD s_T,min"]
    return StudyResult(
        BUILT_IN,
        {"scores": table, "spread": spreads, "swaps": _swaps(spreads, sizes)},
        {
            f"probability that second and third swap, s_T,min, {at} users": swap_probability(
                WINNERS["s_T,min"][1] - THIRD, sd
            ),
        }
        | {
            f"SD of {score} falls as users to the power, {name}": _power(spreads, name, score)
            for name in OBFUSCATIONS
            for score in SCORES
        },
        tuple(comparisons),
        {"teams": teams, "events": 400, "users, at most": sizes[-1]},
        (
            "Sample attacks with the organisers' sub-sampling, 20-day traces. The built-in city is "
            "not Tokyo: bands are a factor of 3 either way.",
            "Low and high bound a standard deviation with 95 % confidence if scores are normal "
            "(chi-square with one degree of freedom less than there are teams).",
            "The chance of a swap treats the scores of the first two as independent and normal, "
            "each with the standard deviation of None, the largest of the four: "
            "Phi(-difference / (SD sqrt 2)). The teams' own files are not in our hands, and the "
            "smaller their standard deviation, the smaller the chance.",
        ),
    )


def _why(context: Context) -> str:
    if context.quick:
        return "quick run: fewer users and teams, no band"
    return "factor 3; from 17 teams a standard deviation is itself known to about 18 %"


def _scores(
    context: Context, teams: int, sizes: tuple[int, ...]
) -> list[tuple[str, int, int, float, float]]:
    """Every obfuscation at every size; a smaller team is the first users of the largest."""
    attacks, rows = Attacks.samples("organisers2019"), []
    for number in range(1, teams + 1):
        whole = context.long_team(number, max(sizes))
        for m in sizes:
            team = whole.take_users(m)
            for name in OBFUSCATIONS:
                seed = context.seed_of("table2", number, m, name)
                cells = parse_obfuscator(name).obfuscate(team.city, team.original, seed)
                found = attack(team, cells, attacks, seed)
                rows.append((name, m, number, found.s_r, found.s_t))
    return rows


def _spread(table: Table, name: str, m: int) -> tuple[str | int | float, ...]:
    some = table.where(obfuscation=name, users=m)
    found: list[float] = []
    for score in SCORES:
        values = some.column(score)
        sd = stdev(values)
        found += [fmean(values), sd, *deviation_interval(sd, len(values))]
    return name, m, *found


def deviation_interval(sd: float, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Bounds of a standard deviation estimated from n normal values: sd sqrt((n - 1) / chi^2).

    >>> [round(bound, 3) for bound in deviation_interval(1.0, 17)]
    [0.745, 1.522]
    """
    tail = (1 - confidence) / 2
    # chdtri(k, q) is the point above which chi-square with k degrees of freedom has mass q.
    low, high = (math.sqrt((n - 1) / special.chdtri(n - 1, q)) for q in (tail, 1 - tail))
    return sd * low, sd * high


def _power(spreads: Table, name: str, score: str) -> float:
    """Slope of the logarithm of the standard deviation over that of the number of users."""
    some = spreads.where(obfuscation=name)
    sd = [max(value, TINY) for value in some.column(f"SD {score}")]
    return float(np.polyfit(np.log(some.column("users")), np.log(sd), 1)[0])


def _swaps(spreads: Table, sizes: tuple[int, ...]) -> Table:
    """Probability that the second-best of the final round would have come first."""
    rows = []
    for m in sizes:
        row = spreads.row(obfuscation="None", users=m)
        for score, (best, second) in WINNERS.items():
            sds = [row[f"{what} {score}"] for what in ("SD", "low", "high")]
            gap = best - second
            rows.append((m, score, gap, sds[0], *(swap_probability(gap, sd) for sd in sds)))
    columns = ("users", "score", "difference", "SD", "probability of a swap", "low", "high")
    return Table.of(columns, rows)


def swap_probability(difference: float, sd: float) -> float:
    """Phi(-difference / (sd sqrt 2)): two independent normal scores change their order.

    >>> swap_probability(0.0, 0.01), round(swap_probability(0.02, 0.01), 4)
    (0.5, 0.0786)
    """
    if sd <= 0:
        return 0.0 if difference > 0 else 0.5
    return float(special.ndtr(-difference / (sd * math.sqrt(2))))
