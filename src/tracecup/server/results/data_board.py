"""A set of results as a board: awards with ties, releases, both matrices, the correlation.

Typed; comes from the tables of the set and from nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ninja import Schema

from tracecup.contest.rules import ATTACK_KINDS
from tracecup.contest.sheets import team_of
from tracecup.contest.standing.awards import Award
from tracecup.server.models import ResultSet
from tracecup.server.results.naming import all_named

OVERALL = "overall"
Rows = list[dict[str, Any]]


class PlaceInfo(Schema):
    """A place in an award; `rank_low` to `rank_high` is its interval over resampled users."""

    rank: int
    rank_low: int | None
    rank_high: int | None
    team: str
    name: str
    value: float


class OutInfo(Schema):
    """A team that is not eligible, and why."""

    team: str
    name: str
    reason: str


class AwardInfo(Schema):
    """An award with all its places; several winners are a tie."""

    key: str
    title: str
    better: str
    winners: list[str]
    tie: bool
    value: float | None
    places: list[PlaceInfo]
    excluded: list[OutInfo]


class ReleaseRow(Schema):
    """A release with its lowest scores. `status`: team, benchmark, hors concours, invalid.

    `place` and `total` are its team's in the overall award: the sum of both minima.
    """

    file: str
    label: str
    team: str
    name: str
    challenge: str
    status: str
    valid: bool
    reason: str
    method: str
    utility: float | None
    utility_low: float | None
    utility_high: float | None
    reid_min: float | None
    reid_by: str
    reid_by_names: str
    trace_min: float | None
    trace_by: str
    trace_by_names: str
    ceiling: float | None
    expected_error_km: float | None
    place: int | None
    total: float | None


class AttackerInfo(Schema):
    """A column of a matrix: a team, or a sample attack of the organisers."""

    label: str
    name: str
    attack: str
    sample: bool
    sum: float | None
    not_attacked: int | None


class MatrixRow(Schema):
    """The scores of one release against every attacker; None is its own or no answer."""

    label: str
    name: str
    values: list[float | None]
    minimum: float | None


class MatrixInfo(Schema):
    """All scores of one kind of attack."""

    kind: str
    attackers: list[AttackerInfo]
    rows: list[MatrixRow]


class CorrelationInfo(Schema):
    """The correlation of the two minima over valid releases and the benchmark."""

    value: float | None
    low: float | None
    high: float | None
    pairs: int
    confidence: float
    reason: str


class Board(Schema):
    """The published results of a round."""

    number: int
    scorer: str
    inputs_sha256: str
    computed_at: datetime
    published_at: datetime | None
    reason: str
    awards: list[AwardInfo]
    releases: list[ReleaseRow]
    matrices: list[MatrixInfo]
    correlation: CorrelationInfo
    tables: list[str]


def board(found: ResultSet, names: Mapping[str, str]) -> Board:
    """A result set as a board; methods are in it only where the team agreed.

    `names` are those of teams and of sample attacks.
    """
    tables = {name: rows_of(table) for name, table in found.tables.items()}
    awards = _awards(tables["awards"], names)
    releases = _releases(tables["releases"], names, awards)
    return Board(
        number=found.number,
        scorer=found.scorer,
        inputs_sha256=found.inputs_sha256,
        computed_at=found.created_at,
        published_at=found.published_at,
        reason=found.reason,
        awards=awards,
        releases=releases,
        matrices=[_matrix(kind, found, tables, releases, names) for kind in ATTACK_KINDS],
        correlation=CorrelationInfo(**found.summary["correlation"]),
        tables=sorted(found.tables),
    )


def rows_of(table: Mapping[str, list[Any]]) -> Rows:
    """A table of columns as rows."""
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def labels_of(releases: Mapping[str, str]) -> dict[str, str]:
    """Short names of releases: the team's number, with the data set where a team has two.

    >>> labels_of({"pubtraces_team001_data02_TRP.csv": "001"})
    {'pubtraces_team001_data02_TRP.csv': '001'}
    """
    several = {team for team, count in Counter(releases.values()).items() if count > 1}
    return {
        file: f"{team} {file.removesuffix('.csv')[-3:]}" if team in several else team
        for file, team in releases.items()
    }


def _releases(rows: Rows, names: Mapping[str, str], awards: list[AwardInfo]) -> list[ReleaseRow]:
    overall = [award for award in awards if award.key == OVERALL]
    places = {place.team: place for award in overall for place in award.places}
    labels = labels_of({row["pubtraces"]: row["team"] for row in rows})
    return [
        ReleaseRow(
            file=row["pubtraces"],
            label=labels[row["pubtraces"]],
            team=row["team"],
            name=names.get(row["team"], ""),
            challenge=row["challenge"],
            status=_status(row),
            valid=bool(row["valid"]),
            reason=row["reason"] or "",
            method=row["method"] or "",
            utility=row["utility"],
            utility_low=row["utility_low"],
            utility_high=row["utility_high"],
            reid_min=row["s_R_min"],
            reid_by=row["s_R_by"] or "",
            reid_by_names=all_named(row["s_R_by"] or "", names),
            trace_min=row["s_T_min"],
            trace_by=row["s_T_by"] or "",
            trace_by_names=all_named(row["s_T_by"] or "", names),
            ceiling=row["s_T_ceiling"],
            expected_error_km=row["expected_error_km"],
            place=places[row["team"]].rank if row["team"] in places else None,
            total=places[row["team"]].value if row["team"] in places else None,
        )
        for row in rows
    ]


def _status(row: Mapping[str, Any]) -> str:
    if row["hors_concours"]:
        return "hors concours"
    if not row["valid"]:
        return "invalid"
    return "benchmark" if row["role"] == "benchmark" else "team"


def _awards(rows: Rows, names: Mapping[str, str]) -> list[AwardInfo]:
    found: dict[str, AwardInfo] = {}
    for row in rows:
        award = found.setdefault(
            row["award"],
            AwardInfo(
                key=row["award"],
                title=row["title"],
                better=row["better"],
                winners=[],
                tie=False,
                value=None,
                places=[],
                excluded=[],
            ),
        )
        team = team_of(str(row["team"]))
        name = names.get(team, team)
        if row["rank"] is None:
            award.excluded.append(OutInfo(team=team, name=name, reason=row["excluded"] or ""))
            continue
        award.places.append(
            PlaceInfo(
                rank=row["rank"],
                rank_low=row["rank_low"],
                rank_high=row["rank_high"],
                team=team,
                name=name,
                value=row["value"],
            )
        )
        if row["rank"] == 1:
            award.winners.append(name)
            award.tie, award.value = len(award.winners) > 1, row["value"]
    return list(found.values())


def _matrix(
    kind: str,
    found: ResultSet,
    tables: Mapping[str, Rows],
    releases: list[ReleaseRow],
    names: Mapping[str, str],
) -> MatrixInfo:
    cells = [row for row in tables["cells"] if row["kind"] == kind]
    score = {(row["pubtraces"], team_of(row["attacker"])): row["score"] for row in cells}
    attack = {team_of(row["attacker"]): row["attack"] or "" for row in cells}
    sums = {team_of(row["attacker"]): row for row in tables["sums"] if row["kind"] == kind}
    samples = sorted({one for one in attack if not one.isdigit()})
    columns = [*sorted(one for one in sums if one.isdigit()), *samples]
    least = f"{kind}_min"
    return MatrixInfo(
        kind=kind,
        attackers=[
            AttackerInfo(
                label=one,
                name="" if one in samples else names.get(one, ""),
                attack=attack.get(one, "") if one in samples else "",
                sample=one in samples,
                sum=None if one in samples else sums[one]["sum"],
                not_attacked=None if one in samples else sums[one]["not_attacked"],
            )
            for one in columns
        ],
        rows=[
            MatrixRow(
                label=release.label,
                name=release.name,
                values=[score.get((release.file, one)) for one in columns],
                minimum=getattr(release, least),
            )
            for release in releases
        ],
    )


def award_info(key: str, award: Award, names: Mapping[str, str]) -> AwardInfo:
    """An award over several rounds; without intervals of ranks."""
    return AwardInfo(
        key=key,
        title=award.title,
        better=award.better,
        winners=[names.get(team, team) for team in award.winners],
        tie=award.tied,
        value=award.places[0].value if award.places else None,
        places=[
            PlaceInfo(
                rank=place.rank,
                rank_low=None,
                rank_high=None,
                team=place.team,
                name=names.get(place.team, place.team),
                value=place.value,
            )
            for place in award.places
        ],
        excluded=[
            OutInfo(team=team, name=names.get(team, team), reason=reason)
            for team, reason in award.excluded.items()
        ],
    )
