"""Beyond the paper: how much of a defence's s_T is privacy, how much the weakness of the attack.

An attacker without the release sets a ceiling; one who is told the ID table shows the noise alone.
"""

from __future__ import annotations

from tracecup.attack import Case
from tracecup.attack.portfolio import sample_attacks
from tracecup.contest.judging.scorer import Scorer
from tracecup.study.context import Context, Team
from tracecup.study.field import Defence, attacked_field
from tracecup.study.reproduce import study
from tracecup.study.results import StudyResult, Table
from tracecup.traces import SetTraces

COLUMNS = (
    "defence", "s_U", "s_T, samples", "s_T, strongest", "s_T, told who is who", "ceiling",
    "credit", "overstated",
)  # fmt: skip


@study(
    "beyond2",
    "The prior-only ceiling",
    "Goes beyond Section 5",
    "The paper's minimum is over the attacks that were handed in. It cannot tell a strong defence "
    "from weak attacks.",
    needs=("sample", "built-in"),
)
def run(context: Context) -> StudyResult:
    """Every defence of the field, the benchmark and cheating, against three kinds of attacker."""
    tables: dict[str, Table] = {}
    numbers: dict[str, float] = {}
    for name, team in context.stages.items():
        ceiling = prior_ceiling(team)
        rows = [_row(one, ceiling) for one in attacked_field(context, name)]
        tables[name] = Table.of(COLUMNS, rows)
        numbers[f"ceiling: s_T of Prior-T ({name})"] = ceiling
        above = [value > ceiling for value in tables[name].column("s_T, samples")]
        numbers[f"of {len(rows)} releases, above the ceiling against samples ({name})"] = sum(above)
    return StudyResult(
        next(iter(context.stages.values())).source,
        tables,
        numbers,
        (),
        context.sizes,
        (
            "Ceiling: Prior-T, the best guess from the reference traces alone. No defence can be "
            "credited with more, since this attacker needs no release at all.",
            "Credit is the smaller of the ceiling and the strongest linking attack's s_T; what the "
            "sample attacks show above it is their weakness, not privacy.",
            "'Told who is who' copies the released cells with the true ID table: what is left is "
            "the noise of the obfuscation alone, without the protection of the crowd. Cheat(1) "
            "changes who is who, so its true table is of no use to that attacker.",
        ),
        context.sources("{}"),
    )


def prior_ceiling(team: Team) -> float:
    """s_T of the attacker who never sees a release."""
    anything = SetTraces.of_traces(team.original)
    case = Case(team.city, team.reference, anything)
    return Scorer(team.city).ceiling(case, team.original).value


def _row(one: Defence, ceiling: float) -> tuple[str | float, ...]:
    trace = one.outcome.trace
    samples = min(trace[name] for name in sample_attacks().values() if name in trace)
    credit = min(one.outcome.s_t, ceiling)
    return (
        one.name,
        one.utility,
        samples,
        one.outcome.s_t,
        one.told,
        ceiling,
        credit,
        max(0.0, samples - credit),
    )
