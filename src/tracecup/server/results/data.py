"""What the page of results shows: awards, boards, the two matrices, commitments, downloads.

Comes from the published result set and from nothing else; before that there is only when.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ninja import Schema

from tracecup.contest.results.tables import ResultTable
from tracecup.facts.board import AwardFacts
from tracecup.facts.tables import award_facts
from tracecup.server import clock
from tracecup.server.access import Role
from tracecup.server.errors import not_found
from tracecup.server.models import Release, ResultSet, Round, StoredFile
from tracecup.server.models.filekinds import OFFERED
from tracecup.server.results.data_board import Board, board
from tracecup.server.results.divisions import DivisionAwards, division_awards
from tracecup.server.results.naming import BENCHMARK, attacker_names
from tracecup.server.results.service import may_see_scores
from tracecup.server.resultsets import award_rows, overall, published


class CommitmentInfo(Schema):
    """What the judge had fixed before the attacks; `opening` is the file that opens it."""

    team: str
    name: str
    commitment: str
    opening: str | None


class ResultFile(Schema):
    """A file that goes with the results."""

    kind: str
    name: str
    size: int
    sha256: str


class ResultsPage(Schema):
    """Who won, and what did we learn? `board` is None until results are published.

    `season` holds the awards of the whole contest once several rounds have results; `other_rounds`
    are those with results. `divisions` holds the awards among the teams of each division.
    `frozen`: results are out and hidden for a while.
    """

    contest: str
    name: str
    round: str
    now: datetime
    floor: float
    expected_at: datetime | None
    frozen: bool
    other_rounds: list[str]
    releases_published_at: datetime | None
    attack_targets: str
    board: Board | None
    season: list[AwardFacts]
    divisions: list[DivisionAwards]
    commitments: list[CommitmentInfo]
    files: list[ResultFile]


def results_page(role: Role, round: Round) -> ResultsPage:
    """The results of a round, as far as they are public."""
    contest = role.contest
    names = attacker_names(contest)
    found = shown(role, round)
    out = found is not None
    shown_board = board(found, names) if found else None
    season = _season(role, names)
    return ResultsPage(
        contest=contest.slug,
        name=contest.name,
        round=round.name,
        now=clock.contest_now(contest),
        floor=contest.rules.scores.utility_floor,
        expected_at=round.rules.phases.results,
        frozen=round.frozen and round.released_at is not None,
        other_rounds=[
            one.name for one in contest.rounds.all() if one != round and shown(role, one)
        ],
        releases_published_at=round.published_at,
        attack_targets=contest.rules.awards.attack_targets,
        board=shown_board,
        season=season,
        divisions=division_awards(contest, shown_board.awards, season) if shown_board else [],
        commitments=_commitments(round, names, opened=out) if round.published_at else [],
        files=_files(round) if out else [],
    )


def shown(role: Role, round: Round) -> ResultSet | None:
    """The published results of a round, for those who may see scores now."""
    return published(round) if may_see_scores(role, round) else None


def table(role: Role, round: Round, name: str) -> ResultTable:
    """A published table."""
    found = shown(role, round)
    if found is None or name not in found.tables:
        raise not_found("table")
    if name != "awards":
        return ResultTable(found.tables[name])
    rows = award_rows(found)
    return ResultTable({column: [row[column] for row in rows] for column in found.tables[name]})


def _season(role: Role, names: Mapping[str, str]) -> list[AwardFacts]:
    """The awards over all rounds with results; nothing while there are fewer than two."""
    rounds = [one for one in role.contest.rounds.all() if published(one) is not None]
    if len(rounds) < 2 or not all(may_see_scores(role, one) for one in rounds):
        return []
    return [award_facts(key, award, names) for key, award in overall(role.contest).items()]


def _commitments(round: Round, names: Mapping[str, str], *, opened: bool) -> list[CommitmentInfo]:
    """One per team: all its data sets have the same commitment."""
    openings = {}
    if opened:
        files = StoredFile.objects.filter(round=round, kind="opening", audience="all")
        openings = {f"{file.entry_team:03d}": file.name for file in files}
    found: dict[str, CommitmentInfo] = {}
    for one in Release.objects.filter(round=round).exclude(commitment="").select_related("team"):
        team = f"{one.team.number:03d}" if one.team else BENCHMARK
        found[team] = CommitmentInfo(
            team=team,
            name=names.get(team, ""),
            commitment=one.commitment,
            opening=openings.get(team),
        )
    return [found[team] for team in sorted(found)]


def _files(round: Round) -> list[ResultFile]:
    held = StoredFile.objects.filter(round=round, audience="all", kind__in=OFFERED)
    return [
        ResultFile(kind=one.kind, name=one.name, size=one.size, sha256=one.sha256)
        for one in held.order_by("kind", "name")
    ]
