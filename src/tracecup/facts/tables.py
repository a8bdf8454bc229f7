"""The board of a round from the tables of its results, and from nothing else.

The tables are the judge's own, so their columns are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracecup.attack.naming import is_blind
from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES
from tracecup.contest.correlation import Correlation
from tracecup.contest.results.compute import KNEW_COLUMN
from tracecup.contest.rules import Rules, ScoreRules
from tracecup.contest.sheets import team_of
from tracecup.contest.standing.awards import Award
from tracecup.errors import TraceCupError
from tracecup.facts.board import (
    AttackerFacts,
    AwardFacts,
    BoardFacts,
    ExcludedFacts,
    KnewFacts,
    MatrixFacts,
    MatrixRow,
    PlaceFacts,
    ReleaseFacts,
)
from tracecup.obfuscate import parse_obfuscator
from tracecup.score import group_bound, guessing_bound, true_link_bound

OVERALL = "overall"

Rows = Sequence[Mapping[str, Any]]
"""A table of results row by row."""
Names = Mapping[str, str]


def board_facts(
    rules: Rules, tables: Mapping[str, Rows], correlation: Correlation, names: Names
) -> BoardFacts:
    """The board from the tables `releases`, `cells`, `sums` and `awards` of a set of results.

    `names` are those of teams by their numbers ("007") and of sample attacks by their columns
    ("T1"); who is not in it has no name.
    """
    awards = _awards(tables["awards"], names)
    releases = _releases(rules, tables, names, awards)
    matrices = (_matrix(kind, tables, releases, names) for kind in ATTACK_KINDS)
    return BoardFacts(awards, releases, tuple(matrices), correlation)


def award_facts(key: str, award: Award, names: Names) -> AwardFacts:
    """An award over several rounds; without intervals of ranks."""
    places = [
        PlaceFacts(one.rank, None, None, one.team, names.get(one.team, one.team), one.value)
        for one in award.places
    ]
    out = [
        ExcludedFacts(team, names.get(team, team), reason)
        for team, reason in award.excluded.items()
    ]
    return _award(key, award.title, award.better, places, out)


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


def named(team: str, names: Names) -> str:
    """A column of a board for people: its number, and its name where it has one.

    >>> named("team003", {"003": "Blue"}), named("I1", {"I1": "Random-R"}), named("004", {})
    ('003 Blue', 'I1 Random-R', '004')
    """
    label = team_of(team)
    return f"{label} {names[label]}" if names.get(label) else label


def all_named(columns: str, names: Names) -> str:
    """Several columns, as `s_R_by` tells them: all attackers who reached a minimum.

    >>> all_named("team003 I1", {"003": "Blue"})
    '003 Blue, I1'
    """
    return ", ".join(named(column, names) for column in columns.split())


def _releases(
    rules: Rules, tables: Mapping[str, Rows], names: Names, awards: tuple[AwardFacts, ...]
) -> tuple[ReleaseFacts, ...]:
    rows, unseeing = tables["releases"], _blind_samples(tables["cells"])
    places = {one.team: one for award in awards if award.key == OVERALL for one in award.places}
    labels = labels_of({row["pubtraces"]: row["team"] for row in rows})
    return tuple(
        ReleaseFacts(
            label=labels[row["pubtraces"]],
            name=names.get(row["team"], ""),
            status=_status(row),
            file=row["pubtraces"],
            team=row["team"],
            challenge=row["challenge"],
            valid=bool(row["valid"]),
            reason=row["reason"] or "",
            method=row["method"] or "",
            utility=row["utility"],
            utility_low=row["utility_low"],
            utility_high=row["utility_high"],
            **_minima(row, names),
            guessing=guessing_bound(rules.users),
            group=group_of_method(row["method"] or "", rules.users),
            ceiling=_ceiling(row, unseeing),
            true_link=_true_link(rules.scores, row["utility"]),
            expected_error_km=row["expected_error_km"],
            place=places[row["team"]].rank if row["team"] in places else None,
            total=places[row["team"]].value if row["team"] in places else None,
        )
        for row in rows
    )


def _ceiling(row: Mapping[str, Any], unseeing: Mapping[str, float]) -> float | None:
    """The lowest s_T of those who never saw the release; None until results tell it."""
    told: float | None = row["s_T_ceiling"]
    return None if told is None else min(told, unseeing.get(row["pubtraces"], told))


def _blind_samples(cells: Rows) -> dict[str, float]:
    """The lowest s_T of every release by sample attacks that never look at it.

    A sample attack may have a better prior than the attack whose score is `s_T_ceiling`.
    """
    found: dict[str, float] = {}
    for row in cells:
        if team_of(row["attacker"]).isdigit() or not is_blind(row["attack"] or ""):
            continue
        if row["kind"] == "trace" and row["score"] is not None:
            file = row["pubtraces"]
            found[file] = min(row["score"], found.get(file, row["score"]))
    return found


def _minima(row: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """The lowest score of each kind of attack, and who reached it."""
    found: dict[str, Any] = {}
    for kind, challenge in CHALLENGES.items():
        found[f"{kind}_min"] = row[challenge.minimum]
        found[f"{kind}_by"] = row[challenge.strongest] or ""
        found[f"{kind}_by_names"] = all_named(row[challenge.strongest] or "", names)
    return found


def group_of_method(method: str, users: int) -> float | None:
    """The bound of groups among so many users, as far as the name of a method tells it.

    >>> group_of_method("MDAV(4)", 20), group_of_method("PL(4,1)", 20)
    (0.75, None)
    """
    try:
        crowds = parse_obfuscator(method).crowds(users)
    except TraceCupError:
        return None  # teams may call their method as they like
    return None if crowds is None else group_bound(crowds)


def _true_link(scores: ScoreRules, utility: float | None) -> float | None:
    if utility is None:
        return None
    return true_link_bound(
        utility, utility_reach_km=scores.lambda_u, inference_reach_km=scores.lambda_t
    )


def _status(row: Mapping[str, Any]) -> str:
    if row["hors_concours"]:
        return "hors concours"
    if not row["valid"]:
        return "invalid"
    return "benchmark" if row["role"] == "benchmark" else "team"


def _awards(rows: Rows, names: Names) -> tuple[AwardFacts, ...]:
    found = []
    for key in dict.fromkeys(row["award"] for row in rows):
        mine = [(team_of(str(row["team"])), row) for row in rows if row["award"] == key]
        places = [
            PlaceFacts(
                row["rank"], row["rank_low"], row["rank_high"], team, names.get(team, team),
                row["value"],
            )
            for team, row in mine
            if row["rank"] is not None
        ]  # fmt: skip
        out = [
            ExcludedFacts(team, names.get(team, team), row["excluded"] or "")
            for team, row in mine
            if row["rank"] is None
        ]
        _team, first = mine[0]
        found.append(_award(key, first["title"], first["better"], places, out))
    return tuple(found)


def _award(
    key: str, title: str, better: str, places: list[PlaceFacts], out: list[ExcludedFacts]
) -> AwardFacts:
    first = [one for one in places if one.rank == 1]
    return AwardFacts(
        key,
        title,
        better,
        winners=tuple(one.name for one in first),
        tie=len(first) > 1,
        value=first[0].value if first else None,
        places=tuple(places),
        excluded=tuple(out),
    )


def _matrix(
    kind: str, tables: Mapping[str, Rows], releases: tuple[ReleaseFacts, ...], names: Names
) -> MatrixFacts:
    cells = [row for row in tables["cells"] if row["kind"] == kind]
    score = {(row["pubtraces"], team_of(row["attacker"])): row["score"] for row in cells}
    attack = {team_of(row["attacker"]): row["attack"] or "" for row in cells}
    sums = {team_of(row["attacker"]): row for row in tables["sums"] if row["kind"] == kind}
    columns = list(dict.fromkeys([*sums, *attack]))
    nothing = {"sum": None, "not_attacked": None}
    attackers = [
        AttackerFacts(
            one,
            names.get(one, ""),
            attack.get(one, ""),
            sum=sums.get(one, nothing)["sum"],
            not_attacked=sums.get(one, nothing)["not_attacked"],
        )
        for one in sorted(filter(str.isdigit, columns))
    ]
    attackers += [
        AttackerFacts(one, "", attack.get(one) or names.get(one, ""), sample=True)
        for one in columns
        if not one.isdigit()
    ]
    return MatrixFacts(
        kind,
        tuple(attackers),
        tuple(
            MatrixRow(
                release.label,
                release.name,
                tuple(score.get((release.file, one.label)) for one in attackers),
                getattr(release, f"{kind}_min"),
                getattr(release, f"{kind}_by_names"),
                {"reid": release.bounds.reid, "trace": release.ceiling}.get(kind),
                release.benchmark,
            )
            for release in releases
        ),
        tuple(_knew(cells, releases)),
    )


def _knew(cells: Rows, releases: tuple[ReleaseFacts, ...]) -> Iterator[KnewFacts]:
    """What sample attacks knew, release by release; results from before do not tell it."""
    for release in releases:
        for row in cells:
            if row["pubtraces"] == release.file and row.get(KNEW_COLUMN):
                by = team_of(row["attacker"])
                told = (row["attack"] or "", row["score"], row[KNEW_COLUMN])
                yield KnewFacts(release.label, by, *told)
