"""Results of a round: sets of them, one of which is published; and the board while it runs.

Numbers come from `tracecup.contest`; who may see them is decided by one function, here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from tracecup.contest.challenges import AttackKind
from tracecup.contest.entries import Entry
from tracecup.contest.judging.commitment import SCORER
from tracecup.contest.results.from_sheets import SCORES_ONLY, board_tables
from tracecup.contest.standing.scoreboard import AttackBoard, BoardRow, Scoreboard
from tracecup.facts.board import BoardFacts
from tracecup.facts.tables import board_facts
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor, Role
from tracecup.server.entries import entry_of, keep_file, knew_of
from tracecup.server.errors import Refused
from tracecup.server.jobs.queue import enqueue
from tracecup.server.judging.service import enqueue_samples, held_round, record_act, require_over
from tracecup.server.models import Release, ResultSet, Round, StoredFile, Submission
from tracecup.server.results.reporting import enqueue_report
from tracecup.server.resultsets import READY, published, table_rows
from tracecup.server.storage import Blob


def may_see_scores(role: Role, round: Round) -> bool:
    """Whether scores of a round may be shown: to organisers always, to others once they are out.

    Every page, answer of the API, export and message that tells a score asks here. What an
    attacker is told about an answer of its own before that is the feedback policy's business.
    """
    return role.organiser or (round.released_at is not None and not round.frozen)


def compute_result_set(
    round: Round, reason: str, actor: Actor, *, automatic: bool = False
) -> ResultSet:
    """Have all answers scored anew and the results computed, as a new set beside the others.

    The set is there at once, in the state `computing`; a worker makes a draft of it. With
    `automatic` it is published by itself where the round says so and nothing went wrong.
    """
    with transaction.atomic():
        round = held_round(round)
        if round.judged_at is None:
            raise Refused("conflict", _("Before the releases are judged there are no results."))
        before = published(round)
        if before is not None and before.summary.get(SCORES_ONLY):
            raise Refused("conflict", _("Scores only, no files: nothing can be scored again."))
        enqueue_samples(round)
        last = round.result_sets.aggregate(last=Max("number"))["last"] or 0
        made = ResultSet.objects.create(
            round=round,
            number=last + 1,
            state="computing",
            reason=reason,
            scorer=SCORER,
            inputs_sha256="",
            seconds=0.0,
            created_at=clock.now(),
        )
        payload = {"result_set": made.pk, "automatic": automatic}
        key = f"results:{round.pk}:{made.number}"
        enqueue("results", key, payload, contest=round.contest)
        after = {"number": made.number, "automatic": automatic}
        _record(actor, "results.asked", round, after, reason)
    return made


def close_round(round: Round, actor: Actor = SYSTEM) -> None:
    """End the attacks for good and ask for the results."""
    with transaction.atomic():
        round = held_round(round)
        if round.closed_at is not None:
            return
        if round.published_at is None:
            raise Refused("conflict", _("The releases of this round are not published."))
        require_over(round, "attack", actor)
        round.closed_at = clock.contest_now(round.contest)
        round.save(update_fields=["closed_at"])
        record_act(actor, "round.closed", round)
        compute_result_set(round, "", actor, automatic=True)


def publish_result_set(result_set: ResultSet, actor: Actor, why: str = "") -> ResultSet:
    """Make a set of results the published one; the one before is kept beside it."""
    with transaction.atomic():
        round = held_round(result_set.round)
        held: ResultSet = ResultSet.objects.select_for_update().get(pk=result_set.pk)
        held.round = round
        if held.state == "published":
            return held
        if held.state not in READY:
            raise Refused("conflict", _("This set of results is not computed."))
        if round.closed_at is None:
            raise Refused("conflict", _("Results are published when the attacks are over."))
        before = published(round)
        ResultSet.objects.filter(round=round, state="published").update(state="superseded")
        at = clock.contest_now(round.contest)
        held.state, held.published_at = "published", clock.now()
        held.save(update_fields=["state", "published_at"])
        if round.released_at is None:
            round.released_at = at
            round.save(update_fields=["released_at"])
        for name, (sha256, size) in held.files.items():
            blob = Blob(sha256, size)
            keep_file(round, name, blob, kind="results", visible_from=at)
        StoredFile.objects.filter(round=round, kind="opening").update(
            audience="all", visible_from=at
        )
        key = f"archive:{round.pk}:{held.number}"
        enqueue("archive", key, {"result_set": held.pk}, contest=round.contest)
        enqueue_report(held)
        was, now = {"number": before.number if before else None}, {"number": held.number}
        _record(actor, "results.published", round, now, why, was)
    result_set.refresh_from_db()
    return held


def rank_diff(old: ResultSet, new: ResultSet) -> list[dict[str, Any]]:
    """Every place in an award that two sets of results tell differently."""
    before, after = _places(old), _places(new)
    found = []
    for key in sorted({*before, *after}):
        was, now = before.get(key, {}), after.get(key, {})
        told = ("rank", "value", "excluded")
        if any(was.get(name) != now.get(name) for name in told):
            found.append(
                {
                    "award": key[0],
                    "title": (now or was)["title"],
                    "team": key[1],
                    "old_rank": was.get("rank"),
                    "new_rank": now.get("rank"),
                    "old_value": was.get("value"),
                    "new_value": now.get("value"),
                    "excluded": now.get("excluded"),
                }
            )
    return found


def live_board(round: Round, names: Mapping[str, str]) -> BoardFacts:
    """The board of a round as it stands now, without awards; for organisers only.

    Methods and ceilings are not told before there are results. `names` are those of teams and
    of sample attacks.
    """
    rules = round.contest.rules
    releases = list(Release.objects.filter(round=round).select_related("team"))
    rows = [BoardRow.of(entry_of(one), one) for one in releases]
    teams = sorted({row.team for row in rows if not row.benchmark})

    def board_of(kind: AttackKind) -> AttackBoard:
        tries = _tries(round, kind, releases, teams)
        return AttackBoard.of(kind, rows, teams, rules.samples.columns(kind), tries)

    board = Scoreboard.of(board_of)
    reasons = {entry_of(one).release: one.reason for one in releases}
    knew = {
        (release, column): said
        for release, told in knew_of(releases).items()
        for column, said in told.items()
    }
    made = board_tables(rules, board, reasons, knew=knew)
    tables = {name: table.rows() for name, table in made.items()} | {"awards": []}
    return board_facts(rules, tables, board.correlation(rules.awards.attack_targets), names)


def _tries(
    round: Round, kind: AttackKind, releases: list[Release], teams: list[str]
) -> dict[tuple[str, str], list[float]]:
    tries: dict[tuple[str, str], list[float]] = {}
    names = {entry_of(one) for one in releases if one.is_published}
    scored = Submission.objects.filter(round=round, kind=kind, state="scored").values_list(
        "target", "challenge", "team__number", "score"
    )
    for target, challenge, number, score in scored:
        entry, attacker = Entry(target, challenge), Entry(number).number
        if entry in names and attacker in teams:
            tries.setdefault((entry.release, attacker), []).append(score)
    columns = round.contest.rules.samples.columns(kind)
    for one in releases:
        for column in columns:
            if column in one.scores:
                tries[entry_of(one).release, column] = [one.scores[column]["score"]]
    return tries


def _places(result_set: ResultSet) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["award"], row["team"]): row for row in table_rows(result_set, "awards")}


def _record(
    actor: Actor, action: str, round: Round, after: Any, why: str = "", before: Any = None
) -> None:
    subject = f"round:{round.name}"
    log.record(
        actor,
        action,
        contest=round.contest,
        subject=subject,
        before=before,
        after=after,
        why=why or ("" if actor is not SYSTEM else "the set time has come"),
    )
