"""Releases by another floor: their verdicts, reasons and which one counts follow it at once.

Until the judge begins a verdict is a forecast, and a forecast by rules that no longer hold is none.
"""

from __future__ import annotations

from tracecup.contest.judging.reasons import Reason
from tracecup.score.utility import is_valid
from tracecup.server.models import Contest, Submission
from tracecup.server.submissions.choices import STANDING, choose_valid


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
