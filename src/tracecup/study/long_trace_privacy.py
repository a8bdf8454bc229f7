"""Beyond the paper: differential privacy on long traces, the avenue it leaves open.

Per-event budgets, what they compose to over a trace, and what is left of utility and privacy.
"""

from __future__ import annotations

import math

from tracecup.obfuscate import RR, Obfuscator, PlanarLaplace
from tracecup.score import FLOOR, utility_score
from tracecup.study.attacked import LINKING, attack
from tracecup.study.context import Context, Team
from tracecup.study.prior_ceiling import prior_ceiling
from tracecup.study.reproduce import study
from tracecup.study.results import StudyResult, Table

LEVELS = (0.0025, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0)
BUDGETS = (0.0025, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 14.0)
DELTA = 1e-6
COLUMNS = (
    "mechanism", "epsilon per event", "events", "epsilon of the trace",
    "epsilon of the trace, advanced", "s_U", "s_R,min", "s_T,min", "ceiling of s_T",
)  # fmt: skip


@study(
    "beyond1",
    "Differential privacy on long traces",
    "Section 3.2, left for future work",
    "The paper expects differential privacy to give either no meaningful guarantee or poor "
    "utility on long traces, and does not evaluate it.",
    needs=("sample", "built-in"),
)
def run(context: Context) -> StudyResult:
    """PL and RR over their whole range of budgets."""
    tables: dict[str, Table] = {}
    numbers: dict[str, float] = {}
    for name, team in context.stages.items():
        tables[name] = _swept(context, team)
        for mechanism in ("PL", "RR"):
            valid = [
                row["epsilon of the trace"]
                for row in tables[name].where(mechanism=mechanism).records()
                if row["s_U"] >= FLOOR
            ]
            numbers[f"smallest trace epsilon with s_U >= 0.7, {mechanism} ({name})"] = min(valid)
    return StudyResult(
        next(iter(context.stages.values())).source,
        tables,
        numbers,
        (),
        context.sizes,
        (
            "PL: epsilon per km of distance (geo-indistinguishability); the trace guarantee is for "
            "two traces that are 1 km apart at every event. RR: epsilon per event.",
            f"Basic composition adds the events; the advanced one (delta = {DELTA:g}) is smaller "
            "only for small budgets.",
            "The ceiling is Prior-T, an attacker who never sees the release.",
        ),
        context.sources("{}"),
    )


def advanced_composition(epsilon: float, events: int, delta: float = DELTA) -> float:
    """eps sqrt(2 k ln(1/delta)) + k eps (e^eps - 1), for k events (Dwork, Rothblum, Vadhan 2010).

    >>> round(advanced_composition(0.01, 400), 3)
    1.092
    """
    if epsilon > 50:
        return math.inf
    return epsilon * math.sqrt(2 * events * math.log(1 / delta)) + events * epsilon * math.expm1(
        epsilon
    )


def _swept(context: Context, team: Team) -> Table:
    events = team.original.times
    levels, budgets = (LEVELS[::2], BUDGETS[::2]) if context.quick else (LEVELS, BUDGETS)
    methods: list[tuple[str, float, Obfuscator]] = [
        *(("PL", level, PlanarLaplace(level, 1.0)) for level in levels),
        *(("RR", eps, RR(eps)) for eps in budgets),
    ]
    ceiling = prior_ceiling(team)
    rows = []
    for mechanism, epsilon, method in methods:
        seed = context.seed_of("beyond1", team.name, str(method))
        cells = method.obfuscate(team.city, team.original, seed)
        found = attack(team, cells, LINKING, seed)
        basic = epsilon * events
        rows.append(
            (
                mechanism,
                epsilon,
                events,
                basic,
                min(basic, advanced_composition(epsilon, events)),
                utility_score(team.city, team.original, cells).value,
                found.s_r,
                found.s_t,
                ceiling,
            )
        )
    return Table.of(COLUMNS, rows)
