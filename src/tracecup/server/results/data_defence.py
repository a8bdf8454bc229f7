"""What a team sees of the attacks on its own releases once results are published.

Its row of both matrices, the risk of each user, and one user's trace in three forms.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from ninja import Schema

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.entries import Entry
from tracecup.contest.results.users import USERS_FILE, read_users
from tracecup.contest.sheets import team_of
from tracecup.facts.tables import named
from tracecup.server.access import Role
from tracecup.server.models import Release, ResultSet, Round, StoredFile, Submission, Team
from tracecup.server.results.data import shown
from tracecup.server.results.data_board import facts_of
from tracecup.server.results.naming import attacker_names
from tracecup.server.resultsets import table_rows, team_names
from tracecup.server.storage import store
from tracecup.server.submissions import feedback
from tracecup.server.submissions.movement import OneUser, one_user

MOST_EXPOSED = 10


class CellInfo(Schema):
    """The score that one attacker left of our release, with its interval."""

    attacker: str
    name: str
    attack: str
    score: float
    low: float | None
    high: float | None


class AttackRow(Schema):
    """All attacks of one kind on our release, the strongest first."""

    kind: str
    cells: list[CellInfo]


class OwnRelease(Schema):
    """One of our releases under attack."""

    challenge: str
    label: str
    utility: float | None
    reid_min: float | None
    reid_by: str
    reid_by_names: str
    trace_min: float | None
    trace_by: str
    trace_by_names: str
    guessing: float | None
    group: float | None
    ceiling: float | None
    true_link: float | None
    rows: list[AttackRow]


class UserRisk(Schema):
    """A user of ours: part of the trace that was found out, and by how many re-identified."""

    user: int
    risk: float | None
    found_by: int
    attacks: int


class Hurting(Schema):
    """An attack on our release as far as the feedback policy lets it be told."""

    release: str
    kind: str
    attacker: str
    attacker_name: str
    shown: str


class DefencePage(Schema):
    """Which attack hurts us? `out` is False until results are published.

    Before that `hurting` holds the sample attacks, as far as the policy lets them be told.
    """

    contest: str
    round: str
    out: bool
    expected_at: datetime | None
    hurting: list[Hurting]
    releases: list[OwnRelease]
    users: list[UserRisk]
    scores: list[float | None]
    user: int
    trace: OneUser | None


def defence_page(role: Role, round: Round, user: int | None = None) -> DefencePage:
    """The attacks on a team's releases; `user` (from 1) chooses whose trace is shown.

    Without it the most exposed user of the first release.
    """
    team = role.require_team()
    found = shown(role, round)
    page = DefencePage(
        contest=role.contest.slug,
        round=round.name,
        out=found is not None,
        expected_at=round.rules.phases.results,
        hurting=[],
        releases=[],
        users=[],
        scores=[],
        user=0,
        trace=None,
    )
    if found is None:
        names = attacker_names(role.contest)
        page.hurting = [
            Hurting(
                release=one.release,
                kind=one.kind,
                attacker=one.attacker,
                attacker_name=named(one.attacker, names),
                shown=one.shown,
            )
            for one in feedback.defence_row(round, team)
        ]
        return page
    page.releases = _own_releases(found, team)
    if not page.releases:
        return page
    first = page.releases[0]
    # A row's challenge is text to the type checker; only those of the rules are ever written.
    risks = _risks(found, Entry(team.number, first.challenge))  # type: ignore[arg-type]  # see above
    page.scores = [None if one.risk is None else 1 - one.risk for one in risks]
    page.users = sorted(risks, key=lambda one: -(one.risk or 0.0))[:MOST_EXPOSED]
    most = len(risks)
    page.user = user if user is not None and 1 <= user <= most else _worst(page.users)
    if page.user:
        page.trace = _trace(round, team, first, page.user)
    return page


def _own_releases(found: ResultSet, team: Team) -> list[OwnRelease]:
    teams = team_names(team.contest)
    board = facts_of(found, attacker_names(team.contest))
    cells = table_rows(found, "cells")
    told = set(OwnRelease.model_fields) - {"label", "rows"}
    return [
        OwnRelease(
            label=one.file,
            rows=[_row(kind, one.file, cells, teams) for kind in ATTACK_KINDS],
            **{name: getattr(one, name) for name in told},
        )
        for one in board.releases
        if one.team == f"{team.number:03d}" and one.attacked
    ]


def _row(kind: str, release: str, cells: list[dict[str, Any]], teams: dict[str, str]) -> AttackRow:
    mine = [cell for cell in cells if cell["kind"] == kind and cell["pubtraces"] == release]
    mine.sort(key=lambda cell: cell["score"])
    return AttackRow(
        kind=kind,
        cells=[
            CellInfo(
                attacker=team_of(cell["attacker"]),
                name=teams.get(team_of(cell["attacker"]), ""),
                attack=cell["attack"] or "",
                score=cell["score"],
                low=cell["low"],
                high=cell["high"],
            )
            for cell in mine
        ],
    )


def _risks(found: ResultSet, entry: Entry) -> list[UserRisk]:
    """The users of one release; the table of all users is a file of the result set."""
    held = found.files.get(USERS_FILE)
    if held is None or not store().has(held[0]):
        return []
    return [
        UserRisk(
            user=row.user,
            risk=None if row.s_t is None else 1 - row.s_t,
            found_by=row.found_by,
            attacks=row.attacks,
        )
        for row in read_users(store().checked(held[0]), entry.release)
    ]


def _worst(users: list[UserRisk]) -> int:
    return users[0].user if users else 0


def _trace(round: Round, team: Team, own: OwnRelease, user: int) -> OneUser | None:
    release = (
        Release.objects.filter(round=round, team=team, challenge=own.challenge)
        .select_related("submission")
        .first()
    )
    if release is None or release.submission is None:
        return None
    handed_in = store().checked(release.submission.sha256)
    return one_user(round, team, own.challenge, handed_in, user - 1, _inferred(round, team, own))


def _inferred(round: Round, team: Team, own: OwnRelease) -> Path | None:
    """The answer of the strongest trace inference on a release."""
    if not own.trace_by:
        return None
    by = own.trace_by.split()[0]
    # A row's challenge is text to the type checker; only those of the rules are ever written.
    entry = Entry(team.number, own.challenge)  # type: ignore[arg-type]  # see above
    sha256: str | None
    if by.isdigit():
        best = Submission.objects.filter(
            round=round,
            team__number=int(by),
            kind="trace",
            challenge=own.challenge,
            target=team.number,
            state="scored",
        ).order_by("score", "id")
        sha256 = best.values_list("sha256", flat=True).first()
    else:
        name = entry.answer("etraces", by)
        files = StoredFile.objects.filter(round=round, name=name)
        sha256 = files.values_list("sha256", flat=True).first()
    return store().checked(sha256) if sha256 and store().has(sha256) else None
