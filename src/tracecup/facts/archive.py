"""The facts of a contest from its archive: result tables, rules, and what the maps need.

Reads what the judge computed and computes no score itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.contest.archive.folder import ABOUT_FILE, Archive, read_json
from tracecup.contest.correlation import Correlation
from tracecup.contest.entries import BENCHMARK, Entry
from tracecup.contest.results.compute import SUMMARY_FILE
from tracecup.contest.results.tables import ResultTable, Value, read_table
from tracecup.contest.rules import AttackKind, Rules
from tracecup.contest.sheets import team_of
from tracecup.errors import InvalidFile, Problem
from tracecup.report.facts import (
    Attacker,
    Award,
    CityMap,
    ContestFacts,
    Matrix,
    Population,
    Release,
    TraceExample,
)
from tracecup.score import inference_score
from tracecup.traces import Traces

SHORT = {"reid": "IDP", "trace": "TRP"}
Row = dict[str, Value]


def facts_of_archive(
    path: str | os.PathLike[str], names: Mapping[str, str] | None = None
) -> ContestFacts:
    """The facts of a finished contest; `names` gives the teams' names by number ("007").

    The result tables are taken as they are: whether they are right is what `verify` says. The
    population is that of the benchmark's reference traces. The example is a user of middling risk
    in a middling release, left out where the archive holds no secrets (a public export).
    """
    archive = Archive(Path(path))
    tables = {
        name: _read(archive, name) for name in ("releases", "cells", "sums", "awards", "users")
    }
    try:
        return _facts(archive, tables, names or {})
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, InvalidFile):
            raise
        found = f"{type(error).__name__}: {error}"
        raise InvalidFile(
            archive.results, [Problem(0, "", found, "the result tables of a contest")]
        ) from error


def _facts(
    archive: Archive, tables: Mapping[str, list[Row]], names: Mapping[str, str]
) -> ContestFacts:
    rules, clock, grid = archive.rules, archive.clock, archive.city.grid
    labels = _labels(tables["releases"])
    users = _by_file(tables["users"])
    releases = tuple(
        _release(row, labels, users.get(str(row["pubtraces"]), []), tables["awards"], names)
        for row in tables["releases"]
    )
    summary = read_json(archive.results / SUMMARY_FILE)
    ceilings = [_number(row["s_T_ceiling"]) for row in tables["releases"]]
    known = [value for value in ceilings if value is not None]
    return ContestFacts(
        name=rules.name,
        summary=(
            f"{archive.about.teams} teams, {rules.users} users each, {archive.city.n_regions} "
            f"regions, {clock.reference.days} reference and {clock.original.days} original days of "
            f"{clock.original.slots} events"
        ),
        users=rules.users,
        rules=tuple(_rules(rules)),
        releases=releases,
        reid=_matrix("reid", archive, tables, labels, names),
        trace=_matrix("trace", archive, tables, labels, names),
        correlation=Correlation(**summary["correlation"]),
        awards=tuple(_awards(tables["awards"], names)),
        floor=rules.scores.utility_floor,
        city=CityMap(grid.nx, grid.ny, tuple(archive.city.hospitals), grid.km_x, grid.km_y),
        population=population_of(archive.city, archive.reference(BENCHMARK)),
        example=_example(archive, tables, names),
        prior_ceiling=float(np.mean(known)) if known else None,
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


def _read(archive: Archive, name: str) -> list[Row]:
    if not (archive.root / ABOUT_FILE).exists():
        raise InvalidFile(archive.root, [Problem(0, "", "no archive", "the archive of a contest")])
    table: ResultTable = read_table(archive.results / f"{name}.parquet")
    return table.rows()


def _labels(rows: list[Row]) -> dict[str, str]:
    """Published file -> short label: the team's number, with the data set where there are two."""
    teams = [str(row["team"]) for row in rows]
    return {
        str(row["pubtraces"]): (
            str(row["team"])
            if teams.count(str(row["team"])) == 1
            else f"{row['team']} {SHORT[str(row['challenge'])]}"
        )
        for row in rows
    }


def _team_name(number: str, names: Mapping[str, str]) -> str:
    if number in names:
        return names[number]
    return "Benchmark" if number == BENCHMARK.number else f"Team {number}"


def _by_file(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(row["pubtraces"]), []).append(row)
    return found


def _release(
    row: Row,
    labels: Mapping[str, str],
    users: list[Row],
    awards: list[Row],
    names: Mapping[str, str],
) -> Release:
    file, team = str(row["pubtraces"]), str(row["team"])
    attacked = bool(row["valid"]) or bool(row["hors_concours"])
    return Release(
        label=labels[file],
        name=_team_name(team, names),
        obfuscation=_method(row["method"]),
        benchmark=row["role"] == "benchmark",
        valid=bool(row["valid"]),
        hors_concours=bool(row["hors_concours"]),
        utility=_number(row["utility"]),
        expected_error_km=_number(row["expected_error_km"]),
        ranks=_ranks(row, awards),
        trace_risk=_trace_risk(users) if attacked else None,
        reid_risk=_reid_risk(users) if attacked else None,
    )


def _trace_risk(users: list[Row]) -> NDArray[np.float64] | None:
    scores = [_number(user["s_T"]) for user in users]
    if not scores or any(score is None for score in scores):
        return None
    return np.clip(1 - np.array(scores, dtype=np.float64), 0, 1)


def _reid_risk(users: list[Row]) -> NDArray[np.float64] | None:
    found = np.array([_number(user["found_by"]) for user in users], dtype=np.float64)
    tried = np.array([_number(user["attacks"]) for user in users], dtype=np.float64)
    if not len(users) or not tried.all():
        return None
    return np.asarray(found / tried)


def _ranks(row: Row, awards: list[Row]) -> tuple[int, int] | None:
    """The interval of the release's rank in best anonymization of its own challenge."""
    if row["role"] == "benchmark":
        return None
    key = f"best_anonymization_{row['challenge']}"
    for place in awards:
        if place["award"] == key and team_of(str(place["team"])) == row["team"]:
            low, high = _number(place["rank_low"]), _number(place["rank_high"])
            return None if low is None or high is None else (int(low), int(high))
    return None


def _matrix(
    kind: AttackKind,
    archive: Archive,
    tables: Mapping[str, list[Row]],
    labels: Mapping[str, str],
    names: Mapping[str, str],
) -> Matrix:
    cells = [row for row in tables["cells"] if row["kind"] == kind]
    score = {
        (str(row["pubtraces"]), team_of(str(row["attacker"]))): float(row["score"] or 0.0)
        for row in cells
    }
    method = {team_of(str(row["attacker"])): str(row["attack"] or "") for row in cells}
    sums = {
        team_of(str(row["attacker"])): _number(row["sum"])
        for row in tables["sums"]
        if row["kind"] == kind
    }
    samples = archive.sample_attacks(kind)
    attackers = [
        Attacker(number, _team_name(number, names), method.get(number, ""))
        for number in archive.attackers
    ]
    attackers += [
        Attacker(column, "Sample attack", name, sample=True) for column, name in samples.items()
    ]
    lowest = "s_R_min" if kind == "reid" else "s_T_min"
    return Matrix(
        attackers=tuple(attackers),
        values=tuple(
            tuple(score.get((file, attacker.label)) for attacker in attackers) for file in labels
        ),
        minima=tuple(_number(row[lowest]) for row in tables["releases"]),
        sums=tuple(None if a.sample else sums.get(a.label) for a in attackers),
    )


def _awards(rows: list[Row], names: Mapping[str, str]) -> list[Award]:
    said = {"higher": "highest", "lower": "lowest"}
    found: dict[str, Award] = {}
    for row in rows:
        key, title = str(row["award"]), str(row["title"])
        measure = f"{said[str(row['better'])]} {_measure(key)}"
        award = found.setdefault(key, Award(title, (), None, measure))
        if row["rank"] == 1:
            winner = _team_name(team_of(str(row["team"])), names)
            found[key] = Award(title, (*award.winners, winner), _number(row["value"]), measure)
    return list(found.values())


def _measure(key: str) -> str:
    return {
        "best_anonymization_trace": "s_T,min",
        "best_anonymization_reid": "s_R,min",
        "best_reidentification": "sum of s_R",
        "best_trace_inference": "sum of s_T",
        "overall": "sum of both minima",
    }.get(key, "score")


def _rules(rules: Rules) -> list[tuple[str, str]]:
    scores, challenges = rules.scores, ", ".join(
        {"trace": "trace inference", "reid": "re-identification"}[k]
        for k in rules.challenges_played
    )  # fmt: skip
    targets = {
        "all": "all releases",
        "trace-inference": "the releases of the trace-inference challenge and the benchmark",
    }[rules.awards.attack_targets]
    return [
        ("Challenges", challenges),
        ("Users of each team", str(rules.users)),
        ("Utility floor", f"{scores.utility_floor:g}"),
        ("No utility from a distance of", f"{scores.lambda_u:g} km"),
        ("A guess is a full miss from", f"{scores.lambda_t:g} km"),
        ("Weight of hospital regions", f"{scores.hospital_weight:g}"),
        ("Sample re-identifications", ", ".join(rules.samples.reid)),
        ("Sample trace inferences", ", ".join(rules.samples.trace)),
        ("Answers per target and attack", f"{rules.limits.attack_tries}, the stronger one counts"),
        ("Attackers' sums run over", targets),
        ("Feedback during the attacks", rules.feedback.policy),
    ]


def _example(
    archive: Archive, tables: Mapping[str, list[Row]], names: Mapping[str, str]
) -> TraceExample | None:
    """A user of middling risk in a middling release: the median s_T,min of the valid teams."""
    choices = [
        row
        for row in tables["releases"]
        if row["valid"] and not row["hors_concours"] and row["role"] == "team" and row["s_T_by"]
    ]
    if not choices:
        return None
    row = sorted(choices, key=lambda r: float(r["s_T_min"] or 0.0))[len(choices) // 2]
    entry = next(e for e in archive.entries if e.release == row["pubtraces"])
    if not archive.secret_file(entry, "orgtraces").exists():
        return None
    attacker = str(row["s_T_by"]).split()[0]
    original, inferred = archive.original(entry), _strongest(archive, entry, attacker)
    users = _by_file(tables["users"]).get(str(row["pubtraces"]), [])
    if inferred is None or len(users) != original.n_users:
        return None
    at = _middle_user([_number(user["s_T"]) for user in users])
    clock = original.clock
    cells = archive.obfuscated(entry)
    attack = next(
        str(cell["attack"] or "")
        for cell in tables["cells"]
        if cell["kind"] == "trace" and team_of(str(cell["attacker"])) == attacker
    )
    by = _team_name(attacker, names) if attacker.isdigit() else "the sample attack"
    return TraceExample(
        user=str(int(original.users[at])),
        defender=f"{_team_name(str(row['team']), names)} with {_method(row['method'])}",
        attacker=f"{by} with {attack}",
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
    original, rules = archive.original(entry), archive.rules.scores
    return min(
        tries,
        key=lambda inferred: (
            inference_score(
                archive.city,
                original,
                inferred,
                hospital_weight=rules.hospital_weight,
                reach_km=rules.lambda_t,
            ).value
        ),
    )


def _middle_user(scores: list[float | None]) -> int:
    """The user (position) whose score is nearest to the median; the first of several."""
    values = np.array([1.0 if score is None else score for score in scores])
    return int(np.abs(values - np.median(values)).argmin())


def _method(name: Value) -> str:
    """A method's name with its tuned numbers cut to what people compare.

    >>> _method("MRLH(1,1,0.14370915963680297)")
    'MRLH(1,1,0.1437)'
    """
    return re.sub(r"\d+\.\d{5,}", lambda found: f"{float(found[0]):.4g}", str(name or ""))


def _number(value: Value) -> float | None:
    return None if value is None else float(value)
