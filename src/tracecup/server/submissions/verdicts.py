"""Releases by other rules of utility: verdicts, reasons and which one counts follow them at once.

Until the judge begins a verdict is a forecast, and a forecast by rules that no longer hold is none.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from tracecup.contest.judging.reasons import Reason
from tracecup.score.utility import is_valid
from tracecup.server.jobs.queue import enqueue
from tracecup.server.models import Contest, Submission
from tracecup.server.storage import store
from tracecup.server.submissions.checking import check
from tracecup.server.submissions.choices import STANDING, choose_valid, locked_submission

RECHECK = "recheck"


def follow_floor(contest: Contest) -> int:
    """Judge all known utilities of open rounds by the rules of now; how many verdicts changed.

    Inside the transaction that changes the rules.
    """
    floor = contest.rules.scores.utility_floor
    changed = 0
    rows = Submission.objects.filter(
        contest=contest, kind="release", round__judging_at=None, score__isnull=False
    )
    for one in rows.select_related("round", "team"):
        valid = is_valid(one.score, floor)
        code = "reaches-floor" if valid else "below-floor"
        reason = str(Reason.of(code, value=f"{one.score:.6f}", floor=f"{floor:g}"))
        changed += valid != one.valid
        Submission.objects.filter(pk=one.pk).update(valid=valid, reason=reason)
    for round in contest.rounds.filter(judging_at=None):
        held = rows.filter(round=round, state__in=STANDING).values_list("team", "challenge")
        for team, challenge in set(held):
            choose_valid(round, contest.teams.get(pk=team), challenge)
    return changed


def follow_measure(contest: Contest) -> int:
    """Have the utility of all releases of open rounds computed by another measure; how many.

    Each is a job; inside the transaction that changes the rules.
    """
    found = Submission.objects.filter(
        contest=contest, kind="release", round__judging_at=None, state__in=STANDING
    )
    for number in found.values_list("pk", flat=True):
        told = {"submission": number}
        enqueue(RECHECK, f"{RECHECK}:{number}:{contest.rules_version}", told, contest=contest)
    return found.count()


def recheck(payload: dict[str, Any]) -> dict[str, Any]:
    """The job `recheck`: the utility of one release by the rules of now, unless it is judged."""
    rows = Submission.objects.select_related("round__contest", "team")
    found = rows.filter(pk=payload["submission"], round__judging_at=None).first()
    if found is None:
        return {"utility": None}
    path = store().checked(found.sha256)
    seen = check(found.round, found.team, "release", found.challenge, path)
    with transaction.atomic():
        held = locked_submission(found)
        if not seen.ok or held.round.judging_at is not None:
            return {"utility": None}
        Submission.objects.filter(pk=held.pk).update(
            score=seen.utility, low=seen.low, high=seen.high, valid=seen.valid, reason=seen.reason
        )
        choose_valid(held.round, held.team, held.challenge)
    return {"utility": seen.utility}
