"""What a team decides about its submissions: which release counts, words, consent, withdrawal.

The last valid release counts unless an earlier one is chosen after it came in.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from tracecup.contest.entries import is_published
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Round, Submission, Team
from tracecup.server.submissions import scoring
from tracecup.server.submissions.quotas import action_of, enter, quota
from tracecup.server.web.spreadsheets import harmless
from tracecup.server.windows import require_open

LONGEST_METHOD = 4000
STANDING = ("queued", "scoring", "scored")


def counting(round: Round, team: Team, challenge: str) -> Submission | None:
    """The release of a data set that counts; None where the team has handed nothing in."""
    return _releases(round, team, challenge).filter(chosen=True).first()


def choose(submission: Submission, actor: Actor) -> Submission:
    """Let this release count, until another is chosen or a new valid one comes in."""
    with transaction.atomic():
        found = locked_submission(submission)
        if found.kind != "release" or found.state not in STANDING:
            raise Refused("invalid", _("Only an accepted release can be chosen."))
        if not is_published(bool(found.valid), found.team.hors_concours):
            raise Refused("invalid", _("This release is below the floor; choose a valid one."))
        _require_window(found)
        before = counting(found.round, found.team, found.challenge)
        _mark(found)
        _record(actor, "submission.chosen", found, before={"ref": before.ref if before else None})
    return found


def choose_default(
    round: Round, team: Team, challenge: str, newest: Submission | None = None
) -> None:
    """Mark the release that counts by itself, inside the caller's transaction.

    A new valid release counts from now on; without any mark the last valid one does, and where
    none is valid the last one, so that the judge sees that something was handed in.
    """
    standing = _releases(round, team, challenge)
    marked = standing.filter(chosen=True).first()
    if newest is not None and (newest.valid or marked is None or not marked.valid):
        _mark(newest)
    elif marked is None:
        best = standing.filter(valid=True).last() or standing.last()
        if best is not None:
            _mark(best)


def choose_valid(round: Round, team: Team, challenge: str) -> None:
    """Where the release that counts is below the floor and another is not, the last such counts.

    For floors that change; inside the caller's transaction.
    """
    standing = _releases(round, team, challenge)
    marked, best = standing.filter(chosen=True).first(), standing.filter(valid=True).last()
    if best is not None and (marked is None or not marked.valid):
        _mark(best)


def withdraw(
    submission: Submission, actor: Actor, *, why: str = "", at_any_time: bool = False
) -> Submission:
    """Take a submission back: it counts no more; its try stays used.

    Teams may while the phase is open; organisers pass `at_any_time`, with the reason.
    """
    with transaction.atomic():
        found = locked_submission(submission)
        if found.state == "withdrawn":
            return found
        if found.state not in STANDING:
            raise Refused("invalid", _("Only an accepted submission can be withdrawn."))
        if not at_any_time:
            _require_window(found)
        before = {"state": found.state, "chosen": found.chosen}
        found.state, found.chosen, found.withdrawn_at = "withdrawn", False, clock.now()
        found.save(update_fields=["state", "chosen", "withdrawn_at"])
        if found.kind == "release":
            choose_default(found.round, found.team, found.challenge)
        _record(actor, "submission.withdrawn", found, before=before, why=why)
    return found


def restore(submission: Submission, actor: Actor, *, why: str = "") -> Submission:
    """Undo a withdrawal (organisers): the submission stands again as if nothing had been."""
    with transaction.atomic():
        found = locked_submission(submission)
        if found.state != "withdrawn":
            raise Refused("invalid", _("Only a withdrawn submission can be restored."))
        found.state = "scored" if found.score is not None else "queued"
        found.withdrawn_at = None
        found.save(update_fields=["state", "withdrawn_at"])
        if found.kind == "release":
            choose_default(found.round, found.team, found.challenge)
        elif found.state == "queued":
            scoring.enqueue_scoring(found)
        _record(actor, "submission.restored", found, before={"state": "withdrawn"}, why=why)
        found.refresh_from_db()
    return found


def stand_again(submission: Submission) -> Submission:
    """Let an answer that failed by our fault wait for its score again, for its try.

    The try was given back. Where the team has used it meanwhile this is `Refused`: an answer more
    than the rules allow would count. Inside the caller's transaction.
    """
    found = locked_submission(submission)
    if found.state != "failed":
        return found
    tries = quota(found.round, found.team, found.kind, found.challenge, found.target)
    if not tries.left:
        raise Refused(
            "quota",
            _(
                "The team got this try back and has used it: all {allowed} are used. Give the team "
                "one more try first if this answer is to count as well."
            ).format(allowed=tries.allowed),
            allowed=tries.allowed,
            used=tries.used,
        )
    enter(found, "queued")
    return found


def describe(submission: Submission, method: str, consent: bool, actor: Actor) -> Submission:
    """Say how a submission was made, and whether it may be published; until results are out."""
    with transaction.atomic():
        found = locked_submission(submission)
        if found.state == "rejected":
            raise Refused("invalid", _("A rejected file is not kept and needs no description."))
        if found.round.released_at is not None:
            raise Refused(
                "closed", _("The results of this round are out; this can no longer be changed.")
            )
        # The log outlives people's data: it keeps that something was said, not what.
        before = {"method": len(found.method), "consent": found.consent}
        found.method, found.consent = kept_method(method), consent
        found.save(update_fields=["method", "consent"])
        after = {"method": len(found.method), "consent": found.consent}
        _record(actor, "submission.described", found, before=before, after=after)
    return found


def kept_method(said: str) -> str:
    """A description as it is kept: it will be part of tables that people open as spreadsheets.

    >>> kept_method("=SUM(A1:A9) of noise "), kept_method("noise;=SUM(A1:A9)")
    ('SUM(A1:A9) of noise', "noise;'=SUM(A1:A9)")
    """
    plain = said.replace("\0", "").lstrip("=+-@ \t\r\n").rstrip()
    return harmless(plain)[:LONGEST_METHOD]


def receipt_of(secret: str) -> Submission:
    """The submission of a receipt's secret link."""
    found = (
        Submission.objects.select_related("contest", "round", "team", "round__contest")
        .filter(receipt=secret, contest__deleted_at=None)
        .first()
        if secret
        else None
    )
    if found is None:
        raise not_found("receipt")
    return found


def locked(round: Round, team: Team) -> tuple[Round, Team]:
    """Round and team as they are now, locked against the judge and against other submissions.

    SQLite has one writer and needs no lock of rows. The contest is read by a query of its own
    after that: one joined to the lock would be as it was before the wait for it.
    """
    fresh = Round.objects.select_for_update(no_key=True).get(pk=round.pk)
    return fresh, Team.objects.select_for_update(no_key=True).get(pk=team.pk)


def locked_submission(submission: Submission) -> Submission:
    """A submission as it is now, locked with its round and its team."""
    round, team = locked(submission.round, submission.team)
    found: Submission = Submission.objects.select_for_update(no_key=True).get(pk=submission.pk)
    found.round, found.team = round, team
    return found


def has_release(round: Round, team: Team, challenge: str) -> bool:
    """Whether a team has handed in a release that can count."""
    return _releases(round, team, challenge).exists()


def _releases(round: Round, team: Team, challenge: str) -> QuerySet[Submission]:
    return Submission.objects.filter(
        round=round, team=team, kind="release", challenge=challenge, state__in=STANDING
    ).order_by("id")


def _mark(submission: Submission) -> None:
    same = _releases(submission.round, submission.team, submission.challenge)
    same.exclude(pk=submission.pk).filter(chosen=True).update(chosen=False)
    submission.chosen = True
    submission.save(update_fields=["chosen"])


def _require_window(submission: Submission) -> None:
    round, team = submission.round, submission.team
    now = clock.contest_now(round.contest)
    found = require_open(round, action_of(submission.kind), now, team)
    if found.late:  # open for first releases only
        raise Refused(
            "closed",
            _("This phase is over: a file counts if it was fully received before the end."),
            closed=found.closes.isoformat() if found.closes else None,
        )


def _record(
    actor: Actor,
    action: str,
    submission: Submission,
    *,
    before: object = None,
    after: object = None,
    why: str = "",
) -> None:
    log.record(
        actor,
        action,
        contest=submission.contest,
        subject=f"submission:{submission.ref}",
        before=before,
        after=after,
        why=why,
    )
