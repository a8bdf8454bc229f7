"""The facts of a contest from its archive: result tables, rules, and what the maps need.

Reads what the judge computed; only which of several tries counted is asked of the scorer again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tracecup.city import City
from tracecup.contest.archive.folder import ABOUT_FILE, Archive
from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES
from tracecup.contest.correlation import Correlation
from tracecup.contest.entries import BENCHMARK, Entry
from tracecup.contest.judging.answers import Truth
from tracecup.contest.results.compute import SUMMARY_FILE
from tracecup.contest.results.tables import read_table
from tracecup.contest.rules import Rules
from tracecup.contest.sheets import team_of
from tracecup.contest.smallfiles import read_json
from tracecup.errors import InvalidFile, Problem
from tracecup.facts.board import BoardFacts
from tracecup.facts.contest import CityFacts, ContestFacts, Population, TraceExample, UserRisks
from tracecup.facts.tables import Rows, board_facts
from tracecup.methodnames import short_method
from tracecup.score import hospital_share, true_link_bound
from tracecup.traces import Traces

TABLES = ("releases", "cells", "sums", "awards")


def facts_of_archive(
    path: str | os.PathLike[str], names: Mapping[str, str] | None = None
) -> ContestFacts:
    """The facts of a finished contest; `names` gives the teams' names by number ("007").

    The result tables are taken as they are: whether they are right is what `verify` says. The
    population is that of the benchmark's reference traces. The example is a user of middling risk
    in a middling release, left out where the archive holds no secrets (a public export).
    """
    archive = Archive(Path(path))
    board = board_of_archive(archive, names)
    with _tables_of(archive):
        return _facts(archive, board, _by_file(_read(archive, "users")))


def board_of_archive(archive: Archive, names: Mapping[str, str] | None = None) -> BoardFacts:
    """The board of a finished contest, as its result tables tell it."""
    tables = {name: _read(archive, name) for name in TABLES}
    with _tables_of(archive):
        summary = read_json(archive.results / SUMMARY_FILE)
        correlation = Correlation(**summary["correlation"])
        return board_facts(archive.rules, tables, correlation, _names(archive, names or {}))


@contextmanager
def _tables_of(archive: Archive) -> Iterator[None]:
    """What does not fit into facts is no result of a contest."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, InvalidFile):
            raise
        found = f"{type(error).__name__}: {error}"
        raise InvalidFile(
            archive.results, [Problem(0, "", found, "the result tables of a contest")]
        ) from error


def _facts(archive: Archive, board: BoardFacts, users: Mapping[str, Rows]) -> ContestFacts:
    rules, clock, grid = archive.rules, archive.clock, archive.city.grid
    public = archive.reference(BENCHMARK)
    return ContestFacts(
        name=rules.name,
        summary=(
            f"{archive.about.teams} teams, {rules.users} users each, {archive.city.n_regions} "
            f"regions, {clock.reference.days} reference and {clock.original.days} original days of "
            f"{clock.original.slots} events"
        ),
        users=rules.users,
        rules=tuple(_rules(rules)),
        board=board,
        risks={
            one.label: _risks(users.get(one.file, [])) for one in board.releases if one.attacked
        },
        floor=rules.scores.utility_floor,
        true_link_at_floor=_true_link_at_floor(archive, public),
        city=CityFacts(grid.nx, grid.ny, grid.km_x, grid.km_y, tuple(archive.city.hospitals)),
        population=population_of(archive.city, public),
        example=_example(archive, board, users),
        made_with=f"tracecup {archive.about.versions.get('tracecup', '')}, {archive.about.source}",
    )


def population_of(city: City, traces: Traces) -> Population:
    """Mean number of people per region and hour, over days and over the slots of the hour.

    Shape (hours, regions); unobserved events count nowhere. O(m l + hours * regions).
    """
    clock = traces.clock
    hour_of_slot = [minute // 60 for minute in clock.minutes]
    hours = sorted(set(hour_of_slot))
    counts = np.zeros((len(hours), city.n_regions))
    slot_of = clock.slot_of
    for k, hour in enumerate(hours):
        slots = [s for s, h in enumerate(hour_of_slot) if h == hour]
        seen = traces.regions[:, np.isin(slot_of, slots)].ravel()
        counts[k] = np.bincount(seen[seen >= 0], minlength=city.n_regions)
        counts[k] /= clock.days * len(slots)
    return Population(tuple(f"{hour % 24:02d}:00" for hour in hours), counts)


def _read(archive: Archive, name: str) -> Rows:
    if not (archive.root / ABOUT_FILE).exists():
        raise InvalidFile(archive.root, [Problem(0, "", "no archive", "the archive of a contest")])
    return read_table(archive.results / f"{name}.parquet").rows()


def _names(archive: Archive, given: Mapping[str, str]) -> dict[str, str]:
    """Names of all teams and methods of the sample attacks."""
    teams = {*archive.attackers, *(entry.number for entry in archive.entries)}
    names = {number: f"Team {number}" for number in teams - {BENCHMARK.number}}
    for kind in ATTACK_KINDS:
        names |= archive.sample_attacks(kind)
    return {**names, **given}


def _risks(users: Rows) -> UserRisks:
    scores = [user["s_T"] for user in users]
    tried = np.array([user["attacks"] for user in users], dtype=np.float64)
    found = np.array([user["found_by"] for user in users], dtype=np.float64)
    known = bool(scores) and None not in scores
    return UserRisks(
        trace=np.clip(1 - np.array(scores, dtype=np.float64), 0, 1) if known else None,
        reid=np.asarray(found / tried) if len(tried) and tried.all() else None,
    )


def _true_link_at_floor(archive: Archive, public: Traces) -> float:
    """The hospital version of the true-link bound, for a release that is just valid.

    Hospitals have the share of the events that they have in public reference traces.
    """
    scores = archive.rules.scores
    return true_link_bound(
        scores.utility_floor,
        hospital_share=hospital_share(archive.city, public),
        hospital_weight=scores.hospital_weight,
        utility_reach_km=scores.lambda_u,
        inference_reach_km=scores.lambda_t,
    )


def _by_file(rows: Rows) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["pubtraces"], []).append(row)
    return found


def _rules(rules: Rules) -> list[tuple[str, str]]:
    scores, samples = rules.scores, rules.samples
    targets = {
        "all": "all releases",
        "trace-inference": "the releases of the trace-inference challenge and the benchmark",
    }[rules.awards.attack_targets]
    return [
        ("Challenges", ", ".join(CHALLENGES[kind].title for kind in rules.challenges_played)),
        ("Users of each team", str(rules.users)),
        ("Utility floor", f"{scores.utility_floor:g}"),
        ("No utility from a distance of", f"{scores.lambda_u:g} km"),
        ("A guess is a full miss from", f"{scores.lambda_t:g} km"),
        ("Weight of hospital regions", f"{scores.hospital_weight:g}"),
        *(
            (f"Sample {one.title}s", ", ".join(samples.columns(kind).values()))
            for kind, one in CHALLENGES.items()
        ),
        ("Answers per target and attack", f"{rules.limits.attack_tries}, the stronger one counts"),
        ("Attackers' sums run over", targets),
        ("Feedback during the attacks", rules.feedback.policy),
    ]


def _example(archive: Archive, board: BoardFacts, users: Mapping[str, Rows]) -> TraceExample | None:
    """A user of middling risk in a middling release: the median s_T,min of the valid teams."""
    choices = [one for one in board.releases if one.status == "team" and one.trace_by]
    if not choices:
        return None
    release = sorted(choices, key=lambda one: one.trace_min or 0.0)[len(choices) // 2]
    entry = next(e for e in archive.entries if e.release == release.file)
    if not archive.secret_file(entry, "orgtraces").exists():
        return None
    attacker = team_of(release.trace_by.split()[0])
    original, inferred = archive.original(entry), _strongest(archive, entry, attacker)
    scores = [user["s_T"] for user in users.get(release.file, [])]
    if inferred is None or len(scores) != original.n_users:
        return None
    at = _middle_user(scores)
    clock = original.clock
    cells = archive.obfuscated(entry)
    column = next(one for one in board.trace.attackers if one.label == attacker)
    by = "the sample attack" if column.sample else column.name
    return TraceExample(
        user=str(int(original.users[at])),
        defender=f"{release.name} with {short_method(release.method)}",
        attacker=f"{by} with {column.attack}",
        days=clock.days,
        slots=tuple(f"{m // 60 % 24:02d}:{m % 60:02d}" for m in clock.minutes),
        original=tuple(original.regions[at].tolist()),
        obfuscated=tuple(tuple(cells.cell(at, j).tolist()) for j in range(cells.times)),
        inferred=tuple(inferred.regions[at].tolist()),
    )


def _strongest(archive: Archive, entry: Entry, attacker: str) -> Traces | None:
    """The try of an attacker that counted."""
    tries = [
        archive.judge.read_inferred(path)
        for path in archive.answer_files(entry, "etraces", attacker)
    ]
    if len(tries) < 2:
        return tries[0] if tries else None
    truth, score_answer = Truth(archive.original(entry)), archive.judge.scorer.score_answer
    return min(tries, key=lambda one: score_answer(truth, "trace", one)["trace"].value)


def _middle_user(scores: list[float | None]) -> int:
    """The user (position) whose score is nearest to the median; the first of several."""
    values = np.array([1.0 if score is None else score for score in scores])
    return int(np.abs(values - np.median(values)).argmin())
