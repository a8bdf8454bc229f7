"""Figure 10: clusters of visit counts before and after the winning defence.

Users of a cluster move towards their common mean; seen in the plane that shows most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.naming import BLIND
from tracecup.obfuscate import KMeans
from tracecup.study.attacked import LINKING, Attacks, attack
from tracecup.study.context import Context, Team
from tracecup.study.reproduce import study
from tracecup.study.results import FINAL_SHEETS, Comparison, StudyResult, Table
from tracecup.study.sheetrounds import PublishedRound, published_round
from tracecup.traces import SetTraces, visit_counts

SHOWN, CLUSTERS, QUICK_CLUSTERS = 4, 100, 25
HALF_A_DIGIT = 0.0005
ATTACKS = {
    "sample attacks": Attacks.samples("organisers2019"),
    "all attacks": Attacks(LINKING.reid, (*LINKING.trace, *sorted(BLIND))),
}
WINNER = "pubtraces_team009_data02_TRP.csv"
# What the final round's sheets say of the winner's file.
PUBLISHED = {
    "utility": 0.7000005,
    "s_R,min, sample attacks": 0.948,
    "s_T,min, sample attacks": 0.881,
    "s_R,min, all attacks": 0.665,
    "s_T,min, all attacks": 0.720,
}


@study(
    "fig10",
    "Clusters of visit counts and the k-means defence",
    "Figure 10",
    "The best anonymization clusters users by visit counts (k = 100) and moves each user's counts "
    "towards the mean of the cluster, within the utility that has to be kept.",
    needs=("sample", "built-in"),
)
def run(context: Context) -> StudyResult:
    """Counts of the largest clusters, projected to a plane, before and after KMeans(100)."""
    tables: dict[str, Table] = {}
    numbers: dict[str, float] = {}
    comparisons: list[Comparison] = []
    for name, team in context.stages.items():
        tables[name], found = _projected(context, team)
        numbers |= {f"{key} ({name})": value for key, value in found.items()}
        if name == "long":
            why = "Tokyo and the attacks of 20 teams there, the built-in city and ours here"
            comparisons += [
                Comparison(f"winner's file, {what} ({name})", value, found[what], why=why)
                for what, value in PUBLISHED.items()
            ]
    sources = context.sources("{}")
    if context.has("final"):
        tables["final"], in_sheets = _winner(published_round(context, "final"))
        sources["final"] = FINAL_SHEETS
        comparisons += [
            Comparison.equal(
                f"winner's file, {what} (final round)", value, in_sheets[what], HALF_A_DIGIT
            )
            for what, value in PUBLISHED.items()
        ]
    return StudyResult(
        next(iter(sources.values())),
        tables,
        numbers,
        tuple(comparisons),
        context.sizes,
        (
            f"The paper's figure is a sketch with k = 2. Shown are the {SHOWN} largest clusters; "
            "the plane is spanned by the two directions in which their means differ most.",
            "Spread: squared distance of the counts from the mean of the own cluster, summed over "
            "all users. Sample attacks with the organisers' sub-sampling; all attacks are those "
            "of the paper's winner and of tracecup, with all cells.",
        ),
        sources,
    )


def _winner(final: PublishedRound) -> tuple[Table, dict[str, float]]:
    """Every attack on the winner's file, and its minima over samples and over all."""
    rows: list[tuple[str, str, float]] = []
    found = {"utility": final.utility[WINNER]}
    for sheet, score in zip(final.sheets, ("s_R", "s_T"), strict=True):
        scores = dict(zip(sheet.columns, sheet.scores[sheet.files.index(WINNER)], strict=True))
        rows += [(score, name, float(value)) for name, value in scores.items() if value < 1]
        found[f"{score},min, sample attacks"] = float(min(scores[name] for name in sheet.samples))
        found[f"{score},min, all attacks"] = final.minima(sheet.kind)[WINNER]
    return Table.of(("score", "attacker", "value"), rows), found


def _projected(context: Context, team: Team) -> tuple[Table, dict[str, float]]:
    k = QUICK_CLUSTERS if context.quick else CLUSTERS
    seed = context.seed_of("fig10", team.name)
    released, report = KMeans(k).obfuscate_with_report(team.city, team.original, seed)
    before = visit_counts(team.original, team.city.n_regions).astype(np.float64)
    after = visit_counts(released, team.city.n_regions).astype(np.float64)
    largest = np.argsort(-np.bincount(report.labels), kind="stable")[:SHOWN]
    chosen = np.flatnonzero(np.isin(report.labels, largest))
    plane = _plane(np.stack([before[report.labels == c].mean(axis=0) for c in largest]))
    then, now = before[chosen] @ plane, after[chosen] @ plane
    rows = [
        (int(np.flatnonzero(largest == report.labels[user])[0]) + 1, user + 1, *then[i], *now[i])
        for i, user in enumerate(chosen.tolist())
    ]
    numbers = {
        "clusters": float(k),
        "utility": report.utility,
        "spread before": report.spread_before,
        "spread after": report.spread_after,
        "cells changed by the hospital step": float(report.hospital_moves),
        "cells changed by the count step": float(report.count_moves),
        **_scores(team, released, seed),
    }
    columns = ("cluster", "user", "x before", "y before", "x after", "y after")
    return Table.of(columns, rows), numbers


def _scores(team: Team, released: SetTraces, seed: int) -> dict[str, float]:
    """Both minima of the release, against each set of attacks."""
    scores: dict[str, float] = {}
    for words, attacks in ATTACKS.items():
        found = attack(team, released, attacks, seed)
        scores |= {f"s_R,min, {words}": found.s_r, f"s_T,min, {words}": found.s_t}
    return scores


def _plane(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """The two directions (regions, 2) in which the means differ most, signs fixed."""
    _, _, directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
    plane = directions[:2].T
    signs = np.sign(plane[np.abs(plane).argmax(axis=0), [0, 1]])
    return np.asarray(plane * signs)
