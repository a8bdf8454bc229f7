"""The final round of 2019 beyond the paper: what the whole matrix of its teams says.

From the published sheets alone: no traces, no answers, only every attacker's score on every file.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES, AttackKind
from tracecup.contest.sheets import Sheet, team_of
from tracecup.contest.standing.awards import Award
from tracecup.contest.standing.bootstrap import RankInterval, rank_intervals
from tracecup.rng import generator
from tracecup.study.attackmatrix import (
    Matrix,
    blind,
    expected_minima,
    likeness,
    openings,
    side_by_side,
)
from tracecup.study.context import Context
from tracecup.study.reproduce import study
from tracecup.study.results import FINAL_SHEETS, Comparison, StudyResult, Table
from tracecup.study.sheetrounds import PublishedRound, published_round

DRAWS, QUICK_DRAWS = 4000, 500
# The final round's users per file, and the paper's spread of s_T between teams (Table 2).
USERS, TRACE_SPREAD = 2000, 0.011
SETTLED, HALF, BLIND_SPREAD = 0.01, 0.5, 0.005
# The paper, Appendix on fairness: the three best scores against trace inference.
PAPER_BEST = {1: 0.720, 2: 0.709, 3: 0.637}
SYMBOL = {kind: challenge.score for kind, challenge in CHALLENGES.items()}

NOTES = (
    "Attackers drawn again: as many teams as took part, with replacement; sample attacks stay. "
    "This asks how much a place depends on who happened to attack.",
    "Users drawn again: s_R of each attack as a binomial share of 2000 users; s_T with the paper's "
    "standard deviation without obfuscation, 0.011, which is wider than that of obfuscated files. "
    "Attacks are drawn independently, although they share users: both make the intervals wider "
    "rather than narrower.",
    "Ceiling: the lowest score of attackers whose s_T hardly varies over the files (standard "
    f"deviation at most {BLIND_SPREAD}): they did not need the release. A better guess without the "
    "release may exist, so the true ceiling is not above this one.",
    f"Opened: below {HALF}, that is more than half of the users named, or more than half of the "
    "weighted distance score lost.",
)


@study(
    "teams2019",
    "The teams of the final round",
    "Goes beyond Section 5",
    "The paper shows the minimum of every file. Behind each minimum stand up to 24 attacks.",
    needs=("final",),
)
def run(context: Context) -> StudyResult:
    """Agreement, rank intervals, attackers needed, distance from the ceiling, lone openers."""
    held = published_round(context, "final")
    draws = QUICK_DRAWS if context.quick else DRAWS
    tables: dict[str, Table] = {}
    numbers: dict[str, float] = {}
    for sheet in held.sheets:
        pairs, told = _agreement(sheet)
        tables[f"agreement_{sheet.kind}"] = pairs
        numbers |= told
    tables["settling"], told = _settling(held)
    numbers |= told
    tables["ranks"] = _ranks(held, context.seed_of("teams2019"), draws)
    tables["ceiling"], told = _ceiling(held.trace)
    numbers |= told
    tables["openings"], told = _openings(held)
    numbers |= told
    best = tables["ranks"].where(award="best_anonymization_trace")
    comparisons = [
        Comparison.equal(f"s_T,min at place {place}", value, best.row(rank=place)["value"], 5e-4)
        for place, value in PAPER_BEST.items()
    ]
    return StudyResult(
        FINAL_SHEETS,
        tables,
        numbers,
        tuple(comparisons),
        {
            "files": len(held.reid.files),
            "attackers": len(held.reid.attackers),
            "sample attacks": len(held.reid.samples),
            "draws": draws,
        },
        NOTES,
    )


def active(sheet: Sheet) -> list[int]:
    """The columns that brought at least one score below 1."""
    return [j for j in range(len(sheet.columns)) if (sheet.scores[:, j] < 1).any()]


def _agreement(sheet: Sheet) -> tuple[Table, dict[str, float]]:
    """Every pair of attackers, in an order that puts those alike beside each other."""
    columns = active(sheet)
    names = [sheet.columns[j] for j in columns]
    pairs = likeness(sheet.scores[:, columns])
    order = side_by_side(pairs, len(columns))
    pair_of = {frozenset((one.first, one.second)): one for one in pairs}
    rows = []
    for k, first in enumerate(order):
        for second in order[k + 1 :]:
            one = pair_of[frozenset((first, second))]
            rows.append((names[first], names[second], one.files, one.r, one.same))
    table = Table.of(("attacker", "other", "files", "R", "same score"), rows)
    known = [one.r for one in pairs if not np.isnan(one.r)]
    symbol = SYMBOL[sheet.kind]
    return table, {
        f"median correlation of two attackers, {symbol}": float(np.median(known)),
        f"attackers with a score below 1, {symbol}": float(len(columns)),
    }


def _settling(held: PublishedRound) -> tuple[Table, dict[str, float]]:
    """How far the minimum of k random teams and the sample attacks lies above that of all."""
    excess: dict[AttackKind, NDArray[np.float64]] = {}
    numbers: dict[str, float] = {}
    for sheet in held.sheets:
        teams = [j for j in active(sheet) if j < len(sheet.attackers)]
        minima = expected_minima(sheet.scores[:, teams], sheet.scores[:, len(sheet.attackers) :])
        # Up to the number of attackers that every file has: its own team is missing in its row.
        common = int((~np.isnan(minima)).all(axis=0).sum())
        lowest = np.nanmin(minima, axis=1, keepdims=True)
        excess[sheet.kind] = (minima[:, :common] - lowest).mean(axis=0)
        settled = np.flatnonzero(excess[sheet.kind] < SETTLED)
        needed = float(settled[0]) if len(settled) else float("nan")
        symbol = SYMBOL[sheet.kind]
        numbers[f"teams until the mean minimum is within {SETTLED}, {symbol}"] = needed
        numbers[f"minimum of the sample attacks alone, above that of all, {symbol}"] = float(
            excess[sheet.kind][0]
        )
    longest = min(len(values) for values in excess.values())
    rows = [(k, *(float(excess[kind][k]) for kind in ATTACK_KINDS)) for k in range(longest)]
    return Table.of(("teams", *(SYMBOL[kind] for kind in ATTACK_KINDS)), rows), numbers


def _ranks(held: PublishedRound, seed: int, draws: int) -> Table:
    """Places in the awards, with intervals over attackers, users and files drawn again."""
    rows: list[tuple[object, ...]] = []
    rng = generator(seed)
    for sheet in held.sheets:
        award = held.standings.awards[f"best_anonymization_{sheet.kind}"]
        places = {place.team: place.value for place in award.places}
        files = {
            row.team: sheet.files.index(row.name)
            for row in held.standings.board.releases
            if row.challenge == sheet.kind and row.team in places
        }
        attackers = rank_intervals(places, _other_attackers(sheet, files, rng, draws))
        users = rank_intervals(places, _other_users(sheet, files, rng, draws))
        rows += [_ranked(award, team, attackers[team], users[team]) for team in places]
    for sheet in held.sheets:
        award = held.standings.awards[CHALLENGES[sheet.kind].attack_award]
        sums = {place.team: place.value for place in award.places}
        found = rank_intervals(sums, _other_files(sheet, sums, rng, draws), "lower")
        rows += [_ranked(award, team, found[team], None) for team in sums]
    columns = ("award", "team", "value", "rank", "low", "high", "low users", "high users")
    return Table.of(columns, rows)


def _ranked(
    award: Award, team: str, first: RankInterval, users: RankInterval | None
) -> tuple[object, ...]:
    value = next(place.value for place in award.places if place.team == team)
    more = (users.low, users.high) if users else (None, None)
    return (award.key, team, value, first.rank, first.low, first.high, *more)


def _other_attackers(
    sheet: Sheet, files: Mapping[str, int], rng: np.random.Generator, draws: int
) -> dict[str, NDArray[np.float64]]:
    """Team -> its minimum under attackers drawn with replacement, and the sample attacks."""
    teams = len(sheet.attackers)
    chosen = rng.integers(teams, size=(draws, teams))
    found = {}
    for team, i in files.items():
        scores = np.where(np.isnan(sheet.scores[i]), 1.0, sheet.scores[i])
        samples = scores[teams:].min(initial=1.0)
        found[team] = np.minimum(scores[:teams][chosen].min(axis=1), samples)
    return found


def _other_users(
    sheet: Sheet, files: Mapping[str, int], rng: np.random.Generator, draws: int
) -> dict[str, NDArray[np.float64]]:
    """Team -> its minimum with every score drawn again as if of other users."""
    found = {}
    for team, i in files.items():
        scores = sheet.scores[i][~np.isnan(sheet.scores[i])]
        if sheet.kind == "reid":
            drawn = 1 - rng.binomial(USERS, 1 - scores, size=(draws, len(scores))) / USERS
        else:
            drawn = scores + TRACE_SPREAD * rng.standard_normal((draws, len(scores)))
        found[team] = drawn.min(axis=1)
    return found


def _other_files(
    sheet: Sheet, sums: Mapping[str, float], rng: np.random.Generator, draws: int
) -> dict[str, NDArray[np.float64]]:
    """Attacker -> its sum over files drawn with replacement; own files count 0."""
    counts = rng.multinomial(
        len(sheet.files), np.full(len(sheet.files), 1 / len(sheet.files)), draws
    )
    scores = np.nan_to_num(sheet.scores, nan=0.0)
    column = {team_of(name): j for j, name in enumerate(sheet.attackers)}
    return {team: counts @ scores[:, column[team]] for team in sums}


def _ceiling(sheet: Sheet) -> tuple[Table, dict[str, float]]:
    """Every file's s_T,min beside what attackers reach who did not need the release."""
    unseeing = blind(sheet.scores, BLIND_SPREAD)
    guesses: Matrix = np.where(sheet.scores < 1, sheet.scores, np.nan)[:, unseeing]
    means = np.nanmean(guesses, axis=0)
    best = int(np.argmin(means))
    # The best guesser's score on its own file is not there: its mean stands in.
    ceiling = np.nan_to_num(guesses[:, best], nan=float(means[best]))
    lowest = np.nanmin(sheet.scores, axis=1)
    releases = sheet.board().releases
    rows = [
        (row.name, row.team, "benchmark" if row.benchmark else row.challenge, low, top, top - low)
        for row, low, top in zip(releases, lowest, ceiling, strict=True)
    ]
    rows.sort(key=lambda row: float(row[5]))
    table = Table.of(("file", "team", "challenge", "s_T,min", "ceiling", "below the ceiling"), rows)
    guesser = sheet.columns[unseeing[best]]
    return table, {
        f"ceiling: mean s_T of {guesser}, who did not need the release": float(means[best]),
        "attackers and sample attacks that did not need the release": float(len(unseeing)),
        "files within 0.1 of the ceiling": float(sum(float(row[5]) <= 0.1 for row in rows)),
    }


def _openings(held: PublishedRound) -> tuple[Table, dict[str, float]]:
    """Every file's best and second-best attack, and how many attackers opened it."""
    rows, numbers = [], {}
    for sheet in held.sheets:
        found = openings(sheet.scores, HALF)
        rows += [
            (
                SYMBOL[sheet.kind],
                name,
                one.best,
                sheet.columns[one.by],
                one.second,
                sheet.columns[one.second_by],
                one.second - one.best,
                one.below,
            )
            for name, one in zip(sheet.files, found, strict=True)
        ]
        symbol = SYMBOL[sheet.kind]
        numbers[f"files that one attacker alone opened, {symbol}"] = float(
            sum(one.below == 1 for one in found)
        )
        numbers[f"files that nobody opened, {symbol}"] = float(sum(one.below == 0 for one in found))
    columns = ("score", "file", "lowest", "by", "second", "by second", "gap", "openers")
    return Table.of(columns, rows), numbers
