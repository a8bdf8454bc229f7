"""Beyond the paper: how much more a service has to send for the same POI accuracy.

The paper fixes r2 = 2 km and says that a larger one costs more communication.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracecup.obfuscate import parse_obfuscator
from tracecup.score import utility_score
from tracecup.study.context import Context, Team
from tracecup.study.fig13 import tokyo_days
from tracecup.study.results import Comparison, StudyResult, Table
from tracecup.traces import SetTraces
from tracecup.usefulness import poi_accuracy, poi_cost

NEAR_KM, PAPER_KM = 1.0, 2.0
RADII = (1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0)
RELEASES = (
    "None",
    "PL(4,1)",
    "PL(1,1)",
    "PL(0.1,1)",
    "MRLH(1,1,0)",
    "MRLH(0,0,0.3)",
    "KMeans(100)",
)
COLUMNS = ("release", "s_U", "r2 (km)", "POI accuracy", "places sent", "cost")
WANTED = 0.9


def radius(context: Context) -> StudyResult:
    """Accuracy and cost of every release at every radius r2, r1 = 1 km."""
    teams = dict(_teams(context))
    tables = {
        f"poi_{stage}": Table.of(COLUMNS, list(_rows(context, team)))
        for stage, team in teams.items()
    }
    numbers, comparisons = {}, []
    for stage in teams:
        table = tables[f"poi_{stage}"]
        for name in RELEASES:
            enough = [
                row for row in table.where(release=name).records() if row["POI accuracy"] >= WANTED
            ]
            if enough:
                numbers[f"cost of an accuracy of 0.9, {name} ({stage})"] = enough[0]["cost"]
        at = table.where(release="PL(4,1)").row(**{"r2 (km)": PAPER_KM})
        comparisons.append(
            Comparison(
                f"POI accuracy of PL(4,1) at r2 = 2 km ({stage})",
                WANTED,
                at["POI accuracy"],
                WANTED,
                1.0,
                "the paper: 0.9 or more",
            )
        )
    return StudyResult(
        next(iter(teams.values())).source,
        tables,
        numbers,
        tuple(comparisons),
        {f"{what} ({stage})": n for stage, team in teams.items() for what, n in team.sizes.items()},
        (
            "Cost: places sent for a location, as a multiple of those within r1 = 1 km of the "
            "original, which is what a service that knows the location would send. A generalised "
            "cell receives the union over its members, a deleted one nothing: no radius brings "
            "its places back.",
        ),
        {f"poi_{stage}": team.source for stage, team in teams.items()},
    )


def _teams(context: Context) -> Iterator[tuple[str, Team]]:
    if context.has("tokyo"):
        yield "tokyo", next(tokyo_days(context))
    yield "long", context.stages["long"]


def _rows(context: Context, team: Team) -> Iterator[tuple[str | float, ...]]:
    plain = SetTraces.of_traces(team.original)
    least = poi_cost(team.city, team.original, plain, near_km=NEAR_KM, received_km=NEAR_KM).value
    for name in RELEASES:
        seed = context.seed_of("beyond3", "poi", team.name, name)
        cells = parse_obfuscator(name).obfuscate(team.city, team.original, seed)
        utility = utility_score(team.city, team.original, cells).value
        for km in RADII[::2] if context.quick else RADII:
            share, sent = (
                measure(team.city, team.original, cells, near_km=NEAR_KM, received_km=km).value
                for measure in (poi_accuracy, poi_cost)
            )
            yield name, utility, km, share, sent, sent / least
