"""What the organisers' pages of the judge and of scores show: may we publish, are scores right?

Typed; the pages render it and the API returns it. Everything here is hidden from teams until
results are published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from ninja import Schema

from tracecup.contest.challenges import ATTACK_KINDS
from tracecup.contest.entries import Entry
from tracecup.contest.judging.reasons import Reason
from tracecup.contest.sheets import column_of, team_of
from tracecup.facts.board import AttackerFacts, BoardFacts, KnewFacts, MatrixFacts, MatrixRow
from tracecup.facts.tables import named
from tracecup.server import clock
from tracecup.server.access import Role
from tracecup.server.errors import not_found
from tracecup.server.judging.service import due_at
from tracecup.server.models import Release, ResultSet, Round, Submission, Team
from tracecup.server.organising.data import RoundHead, round_head
from tracecup.server.organising.takeback import why_not
from tracecup.server.results.data_board import facts_of
from tracecup.server.results.naming import BENCHMARK, attacker_names
from tracecup.server.results.service import live_board, rank_diff
from tracecup.server.submissions.choices import counting

NO_PLACE = {"rank": None, "rank_low": None, "rank_high": None, "value": None}
Names = Mapping[str, str]


class VerdictRow(Schema):
    """The release of one data set: as it stands now, or as the judge has decided."""

    label: str
    team: int
    team_name: str
    team_status: str
    challenge: str
    submission: str
    valid: bool
    hors_concours: bool
    reason: str
    utility: float | None
    low: float | None
    high: float | None
    method: str
    commitment: str
    samples_done: int
    samples_all: int


class JudgePage(Schema):
    """What the judge has decided, or would decide if the deadline were now."""

    round: RoundHead
    floor: float
    dry_run: bool
    judge_at: datetime | None
    publish_at: datetime | None
    can_judge: bool
    can_publish: bool
    can_take_back: bool
    valid: int
    invalid: int
    missing: int
    rows: list[VerdictRow]


class ScoreRow(Schema):
    """The scores of all attackers against one release; None where there is none.

    `bound` is what no release can exceed: guessing, or an attacker without the release.
    """

    release: str
    label: str
    name: str
    minimum: float | None
    minimum_by: str
    bound: float | None
    scores: list[float | None]


class ScoreMatrix(Schema):
    """Defenders x attackers for one kind of attack; small is good for the attacker.

    `names` says who the attackers are: names of teams, methods of sample attacks; `knew` what
    sample attacks knew, where they tell it.
    """

    kind: str
    attackers: list[str]
    names: dict[str, str]
    rows: list[ScoreRow]
    knew: list[KnewFacts] = []

    def facts(self) -> MatrixFacts:
        """The matrix as charts take it."""
        labels = [team_of(one) for one in self.attackers]
        people = [self.names[one].removeprefix(team_of(one)).strip() for one in self.attackers]
        return MatrixFacts(
            self.kind,
            tuple(
                AttackerFacts(label, name)
                if label.isdigit()
                else AttackerFacts(label, "", name, sample=True)
                for label, name in zip(labels, people, strict=True)
            ),
            tuple(
                MatrixRow(
                    row.label,
                    row.name,
                    tuple(row.scores),
                    row.minimum,
                    row.minimum_by,
                    row.bound,
                    row.label.startswith(BENCHMARK),
                )
                for row in self.rows
            ),
        )


class ResultSetRow(Schema):
    """A set of results."""

    number: int
    state: str
    reason: str
    scorer: str
    inputs_sha256: str
    seconds: float
    created_at: datetime
    published_at: datetime | None


class AwardRow(Schema):
    """A place in an award."""

    award: str
    title: str
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    team: str
    name: str
    value: float | None
    excluded: str


class RankChange(Schema):
    """A place in an award that two result sets tell differently."""

    award: str
    title: str
    team: str
    name: str
    old_rank: int | None
    new_rank: int | None
    old_value: float | None
    new_value: float | None
    excluded: str | None


class ScoresPage(Schema):
    """Result sets of a round; one is shown with its matrices and awards.

    `live`: there is none yet, and the matrices are those of the answers scored so far.
    """

    round: RoundHead
    live: bool
    queued: int
    scored: int
    failed: int
    sets: list[ResultSetRow]
    shown: ResultSetRow | None
    published: int | None
    awards: list[AwardRow]
    matrices: list[ScoreMatrix]
    diff: list[RankChange]
    computing: bool


def judge_page(role: Role, round: Round | None) -> JudgePage:
    """Validity with utility per team, commitments, and what may be done."""
    role.require_organiser()
    round = _required(round)
    now = clock.contest_now(role.contest)
    judged = round.judged_at is not None
    rows = _decided(round) if judged else dry_run(round)
    judge_at = due_at(round, "release")
    counted = [row for row in rows if row.team]
    return JudgePage(
        round=round_head(round, now),
        floor=role.contest.rules.scores.utility_floor,
        dry_run=not judged,
        judge_at=judge_at,
        publish_at=round.rules.phases.attack,
        can_judge=not judged and judge_at is not None and now >= judge_at,
        can_publish=judged and round.published_at is None,
        can_take_back=round.published_at is not None and not why_not(round),
        valid=sum(row.valid for row in counted),
        invalid=sum(not row.valid and bool(row.submission) for row in counted),
        missing=sum(not row.submission for row in counted),
        rows=rows,
    )


def _why(found: Submission | None, team: Team) -> str:
    """Why a release would be valid or not if the deadline were now."""
    if team.status != "active":
        return team.status
    return found.reason if found is not None else str(Reason.of("nothing"))


def dry_run(round: Round) -> list[VerdictRow]:
    """What the judge would decide if the deadline were now; nothing is written."""
    rows = []
    for team in round.contest.teams.filter(deleted_at=None).order_by("number"):
        for challenge in round.contest.rules.challenges_played:
            found = counting(round, team, challenge)
            rows.append(
                VerdictRow(
                    label=Entry(team.number, challenge).label,
                    team=team.number,
                    team_name=team.name,
                    team_status=team.status,
                    challenge=challenge,
                    submission=found.ref if found else "",
                    valid=bool(found and found.valid) and team.status == "active",
                    hors_concours=team.hors_concours,
                    reason=_why(found, team),
                    utility=found.score if found else None,
                    low=found.low if found else None,
                    high=found.high if found else None,
                    method=found.method if found else "",
                    commitment="",
                    samples_done=0,
                    samples_all=0,
                )
            )
    return rows


def scores_page(role: Role, round: Round | None, number: int | None = None) -> ScoresPage:
    """Result sets; the one of a number, else the newest, with what differs from the published."""
    role.require_organiser()
    round = _required(round)
    sets = list(round.result_sets.order_by("-number"))
    shown = next((one for one in sets if one.number == number), None) if number else None
    if number and shown is None:
        raise not_found("result set")
    ready = [one for one in sets if one.state not in ("computing", "failed")]
    shown = shown or (ready[0] if ready else None)
    published = next((one for one in sets if one.state == "published"), None)
    answers = Submission.objects.filter(round=round, kind__in=ATTACK_KINDS)
    names = attacker_names(role.contest)
    board = facts_of(shown, names) if shown else None
    live = board is None and round.judged_at is not None
    facts = live_board(round, names) if live else board
    return ScoresPage(
        round=round_head(round, clock.contest_now(role.contest)),
        live=live,
        queued=answers.filter(state__in=("queued", "scoring")).count(),
        scored=answers.filter(state="scored").count(),
        failed=answers.filter(state="failed").count(),
        sets=[result_set_row(one) for one in sets],
        shown=result_set_row(shown) if shown else None,
        published=published.number if published else None,
        awards=_awards(board) if board else [],
        matrices=[_matrix(one, facts, names, live=live) for one in facts.matrices] if facts else [],
        diff=_diff(published, shown, names),
        computing=any(one.state == "computing" for one in sets),
    )


def result_set_of(round: Round, number: int) -> ResultSet:
    """A result set of a round by its number."""
    found = round.result_sets.filter(number=number).first()
    if found is None:
        raise not_found("result set")
    return found


def result_set_row(one: ResultSet) -> ResultSetRow:
    """A result set in the list."""
    return ResultSetRow(**{name: getattr(one, name) for name in ResultSetRow.model_fields})


def _decided(round: Round) -> list[VerdictRow]:
    rows = []
    samples = round.contest.rules.samples
    wanted = sum(len(samples.columns(kind)) for kind in ATTACK_KINDS)
    for one in Release.objects.filter(round=round).select_related("team", "submission"):
        team = one.team
        rows.append(
            VerdictRow(
                label=one.label,
                team=team.number if team else 0,
                team_name=team.name if team else "",
                team_status=team.status if team else "active",
                challenge=one.challenge,
                submission=one.submission.ref if one.submission else "",
                valid=one.valid,
                hors_concours=one.hors_concours,
                reason=one.reason,
                utility=one.utility,
                low=one.utility_low,
                high=one.utility_high,
                method=one.method,
                commitment=one.commitment,
                samples_done=len(one.scores),
                samples_all=wanted if one.is_published else 0,
            )
        )
    return rows


def _matrix(matrix: MatrixFacts, board: BoardFacts, names: Names, *, live: bool) -> ScoreMatrix:
    """The scores of all attackers as long as they attack, then of those who attacked anything."""
    told = [
        k
        for k in range(len(matrix.attackers))
        if live or any(row.values[k] is not None for row in matrix.rows)
    ]
    attackers = [column_of(matrix.attackers[k].label) for k in told]
    return ScoreMatrix(
        kind=matrix.kind,
        attackers=attackers,
        names={one: named(one, names) for one in attackers},
        rows=[
            ScoreRow(
                release=release.file,
                label=release.label,
                name=release.name,
                minimum=row.minimum,
                minimum_by=row.by,
                bound=row.bound,
                scores=[row.values[k] for k in told],
            )
            for release, row in zip(board.releases, matrix.rows, strict=True)
        ],
        knew=list(matrix.knew),
    )


def _awards(board: BoardFacts) -> list[AwardRow]:
    """Places of all awards, then those who are not eligible."""
    return [
        AwardRow(award=award.key, title=award.title, **told)
        for award in board.awards
        for told in (
            *({**asdict(one), "excluded": ""} for one in award.places),
            *(
                {**NO_PLACE, "team": one.team, "name": one.name, "excluded": one.reason}
                for one in award.excluded
            ),
        )
    ]


def _diff(published: ResultSet | None, shown: ResultSet | None, names: Names) -> list[RankChange]:
    """What the shown set changes against the published one."""
    if published is None or shown is None or published.pk == shown.pk:
        return []
    changes = []
    for row in rank_diff(published, shown):
        team = team_of(str(row["team"]))
        changes.append(RankChange(**{**row, "team": team, "name": names.get(team, "")}))
    return changes


def _required(round: Round | None) -> Round:
    if round is None:
        raise not_found("round")
    return round
