"""Figure 13: what valid releases are good for, in three applications.

POI recommendation, population by time of day, transitions; box plots over defences and data sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tracecup.obfuscate import parse_obfuscator
from tracecup.rng import generator
from tracecup.score import FLOOR, utility_score
from tracecup.study.context import TOKYO_REFERENCES, Context, Team
from tracecup.study.field import field
from tracecup.study.reproduce import study
from tracecup.study.results import (
    FINAL_SHEETS,
    PRELIMINARY,
    Comparison,
    Source,
    StudyResult,
    Table,
)
from tracecup.study.sheetrounds import PublishedRound, published_round
from tracecup.traces import SetTraces, Traces
from tracecup.usefulness import poi_accuracy, release_tm_emd, release_tp_tv_top50

FIELD_NAME = "Valid defences"
MECHANISMS = ("PL(4,1)", "PL(1,1)", "PL(0.1,1)")
METRICS = ("POI accuracy", "TP-TV-Top50", "TM-EMD")
FOOD_PLACES, VALID_TEAMS = 4692, 17
TEAMS, QUICK_TEAMS = 5, 2
TOKYO = (
    "Tokyo: originals are day 1 of the reference traces that the preliminary round published for "
    "five data sets, reference is day 2 of the same users."
)
DEFENCES = (
    "The teams' files are not in our hands; of them the sheets tell only the utility. "
    "Valid defences: tuned to the utility floor or above, "
    "data sets in turn."
)


@study(
    "fig13",
    "Usefulness of valid releases for applications",
    "Figure 13",
    "The 17 teams and PL(4,1), all with a utility above 0.7, keep a POI accuracy with a median of "
    "0.9 or more and nearly the population and transitions of the reference traces; reference "
    "traces themselves are poor for POI recommendation.",
    needs=("tokyo", "built-in"),
)
def run(context: Context) -> StudyResult:
    """Every kind of release on every data set, one point each."""
    tables: dict[str, Table] = {}
    sources: dict[str, Source] = {}
    numbers: dict[str, float] = {}
    sizes: dict[str, int] = {}
    comparisons: list[Comparison] = []
    for stage, teams in _stages(context):
        rows = [
            (kind, name, team.name, *_measured(team, cells))
            for k, team in enumerate(teams)
            for kind, name, cells in _releases(context, team, k, len(teams))
        ]
        tables[stage] = Table.of(("kind", "release", "data set", "s_U", *METRICS), rows)
        sources[stage] = teams[0].source
        medians = {
            (metric, kind): float(np.median(tables[stage].where(kind=kind).column(metric)))
            for metric in METRICS
            for kind in (FIELD_NAME, "PL(4,1)", "Uniform", "Reference")
        }
        numbers |= {f"median {m}, {k} ({stage})": value for (m, k), value in medians.items()}
        food = len(teams[0].city.places.in_category("food"))
        sizes |= {f"data sets ({stage})": len(teams), f"food POIs ({stage})": food}
        sizes |= {f"{what} ({stage})": size for what, size in teams[0].sizes.items()}
        comparisons += _compared(stage, medians, food)
    if context.has("final"):
        tables["teams"], sources["teams"] = _teams(published_round(context, "final")), FINAL_SHEETS
        utilities = tables["teams"].column("s_U")
        numbers["median s_U of the valid teams, final round"] = float(np.median(utilities))
        comparisons += [
            Comparison.equal("valid teams, final round", VALID_TEAMS, float(len(utilities)), 0.0),
            Comparison(
                "lowest s_U of a valid team, final round", FLOOR, min(utilities), FLOOR, 1.0
            ),
        ]
    return StudyResult(
        next(iter(sources.values())),
        tables,
        numbers,
        tuple(comparisons),
        sizes,
        (*([TOKYO] if PRELIMINARY in sources.values() else []), DEFENCES),
        sources,
    )


def _teams(final: PublishedRound) -> Table:
    """What the sheets know of the teams' releases: their utility."""
    rows = [(name, final.utility[name]) for name in final.valid_teams]
    return Table.of(("file", "s_U"), rows)


def _stages(context: Context) -> Iterator[tuple[str, list[Team]]]:
    if context.has("tokyo"):
        yield "tokyo", list(tokyo_days(context))
    if context.has("built-in"):
        teams = QUICK_TEAMS if context.quick else TEAMS
        yield "long", [context.long_team(k) for k in range(1, teams + 1)]


def _compared(
    stage: str, medians: Mapping[tuple[str, str], float], food: int
) -> Iterator[Comparison]:
    if stage == "tokyo":
        yield Comparison.equal("food POIs", FOOD_PLACES, float(food))
    yield Comparison(
        f"median POI accuracy, PL(4,1) ({stage})",
        0.9,
        medians["POI accuracy", "PL(4,1)"],
        0.9,
        1.0,
        "the paper: 0.9 or more",
    )
    yield Comparison(
        f"median POI accuracy, valid releases ({stage})",
        0.9,
        medians["POI accuracy", FIELD_NAME],
        why="the paper: 0.9 or more for the teams' files; several of our stand-ins delete cells, "
        "and a deleted cell receives no POI",
    )
    for metric in METRICS[1:]:
        best, worst = (medians[metric, kind] for kind in ("Reference", "Uniform"))
        for kind, words in ((FIELD_NAME, "valid releases"), ("PL(4,1)", "PL(4,1)")):
            yield Comparison(
                f"median {metric}, {words}, way from Reference (0) to Uniform (1) ({stage})",
                0.0,
                (medians[metric, kind] - best) / (worst - best),
                why="the paper: almost as Reference, in a picture without numbers",
            )


def tokyo_days(context: Context) -> Iterator[Team]:
    """Five data sets of Tokyo, the first published day as original, the second as reference."""
    for label in TOKYO_REFERENCES:
        traces = context.tokyo_reference(label)
        original, reference = traces.take_days(0, 1), traces.take_days(1, 2)
        yield Team(label, context.tokyo, reference, original, PRELIMINARY).take_users(context.users)


def _releases(
    context: Context, team: Team, turn: int, teams: int
) -> Iterator[tuple[str, str, SetTraces]]:
    """(kind, name, cells): the team's part of the field, the mechanisms, and two yardsticks."""
    for one in field(context, team, turn, teams):
        yield FIELD_NAME, one.name, one.cells
    for name in MECHANISMS:
        seed = context.seed_of("fig13", team.name, name)
        yield name, name, parse_obfuscator(name).obfuscate(team.city, team.original, seed)
    random = generator(context.seed_of("fig13", team.name, "uniform"))
    anywhere = random.integers(team.city.n_regions, size=team.original.shape, dtype=np.int32)
    uniform = Traces(anywhere, team.original.users, team.original.clock)
    yield "Uniform", "Uniform", SetTraces.of_traces(uniform)
    yield "Reference", "Reference", SetTraces.of_traces(team.reference)


def _measured(team: Team, cells: SetTraces) -> tuple[float, float, float, float]:
    city, original = team.city, team.original
    return (
        utility_score(city, original, cells).value,
        poi_accuracy(city, original, cells).value,
        release_tp_tv_top50(city, original, cells).value,
        release_tm_emd(city, original, cells).value,
    )
