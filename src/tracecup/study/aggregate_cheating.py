"""Beyond the paper: cheating anonymization where only aggregates have to be useful.

The paper says in a footnote that its conclusion would stand; this runs it.
"""

from __future__ import annotations

from tracecup.obfuscate import parse_obfuscator
from tracecup.score import FLOOR, utility_score
from tracecup.study.attacked import LINKING, attack
from tracecup.study.context import Context, Team
from tracecup.study.results import BUILT_IN, Comparison, StudyResult, Table
from tracecup.traces import SetTraces
from tracecup.usefulness import release_population, tp_tv

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
OTHERS = ("PL(4,1)", "PL(1,1)", "RR(8)", "RR(5)", "MRLH(1,1,0.5)", "MRLH(2,2,0.5)")
COLUMNS = (
    "release", "share who cheat", "s_U", "aggregate utility", "valid by s_U", "valid by aggregate",
    "s_R,min", "s_T,min",
)  # fmt: skip
NEAR = 0.02


def cheating(context: Context) -> StudyResult:
    """Cheat(p) from nobody to everybody, and other obfuscations, under both utilities."""
    team = context.stages["long"]
    shares = SHARES[::2] + SHARES[-1:] if context.quick else SHARES
    others = OTHERS[::3] if context.quick else OTHERS
    rows = [_row(context, team, f"Cheat({p:g})", p) for p in dict.fromkeys(shares)]
    rows += [_row(context, team, name, None) for name in others]
    table = Table.of(COLUMNS, rows)
    none, all_ = (table.row(release=name) for name in ("Cheat(0)", "Cheat(1)"))
    why = "the paper: not effective for trace inference under such a utility either; band ± 0.02"
    return StudyResult(
        BUILT_IN,
        {"cheating": table},
        {
            "aggregate utility of Cheat(1)": all_["aggregate utility"],
            "s_U of Cheat(1)": all_["s_U"],
            "s_R,min of Cheat(1)": all_["s_R,min"],
        },
        (
            Comparison.equal(
                "aggregate utility lost by Cheat(1)", 0.0, 1 - all_["aggregate utility"]
            ),
            Comparison(
                "s_T,min gained by Cheat(1), valid under an aggregate utility",
                0.0,
                all_["s_T,min"] - none["s_T,min"],
                -NEAR,
                NEAR,
                why,
            ),
        ),
        team.sizes,
        (
            "Aggregate utility: 1 minus the total variation between the original and the released "
            "distribution of all users over the regions, averaged over the times of day. "
            "Exchanging whole traces does not change it, so Cheat(1) would be valid at any floor.",
        ),
    )


def aggregate_utility(team: Team, cells: SetTraces) -> float:
    """1 - mean over times of day of the total variation of the population distributions."""
    truth, shown = (
        release_population(traces, team.city.n_regions) for traces in (team.original, cells)
    )
    return 1 - tp_tv(truth, shown).value


def _row(
    context: Context, team: Team, name: str, share: float | None
) -> tuple[str | float | bool | None, ...]:
    seed = context.seed_of("beyond3", "cheating", name)
    cells = parse_obfuscator(name).obfuscate(team.city, team.original, seed)
    utility = utility_score(team.city, team.original, cells).value
    aggregate = aggregate_utility(team, cells)
    found = attack(team, cells, LINKING, seed)
    floors = (utility >= FLOOR, aggregate >= FLOOR)
    return name, share, utility, aggregate, *floors, found.s_r, found.s_t
