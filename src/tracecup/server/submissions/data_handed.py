"""What was handed in, as its own team may see it: windows, tries, submissions with feedback.

Parts of the team's pages.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.urls import reverse
from ninja import Schema

from tracecup.server import clock, windows
from tracecup.server.access import Role
from tracecup.server.errors import not_found
from tracecup.server.models import Round, Submission, Team
from tracecup.server.submissions import feedback


class WindowInfo(Schema):
    """When something is allowed; `closes` has extension and grace in it.

    Until `late_until` a first release is taken out of competition; `late`: it is so now.
    """

    action: str
    state: str
    opens: datetime | None
    closes: datetime | None
    extended: bool
    is_open: bool
    late_until: datetime | None
    late: bool


class Tries(Schema):
    """Tries of a team: allowed by the rules and extensions, used, left."""

    allowed: int
    used: int
    left: int


class FeedbackInfo(Schema):
    """What an attacker may know of a score: `shown` is a band or the score."""

    policy: str
    shown: str
    bits: float


class SubmissionInfo(Schema):
    """A file that the team handed in. `utility` is there for releases only."""

    ref: str
    receipt: str
    kind: str
    challenge: str
    target: int | None
    attempt: int
    state: str
    charged: bool
    counts: bool
    file_name: str
    sha256: str
    size: int
    received_at: datetime
    method: str
    consent: bool
    valid: bool | None
    reason: str
    problems: list[dict[str, Any]]
    utility: float | None
    utility_low: float | None
    utility_high: float | None
    feedback: FeedbackInfo | None


def submission_of(role: Role, ref: str) -> Submission:
    """A submission of the asker's own team."""
    team = role.require_team()
    found = Submission.objects.filter(team=team, ref=ref).select_related("round", "team").first()
    if found is None:
        raise not_found("submission")
    submission: Submission = found
    return submission


def window_info(round: Round, action: windows.Action, team: Team | None) -> WindowInfo:
    """When something is allowed for a team."""
    found = windows.window(round, action, clock.contest_now(round.contest), team)
    return WindowInfo(
        action=found.action,
        state=found.state,
        opens=found.opens,
        closes=found.closes,
        extended=found.extended,
        is_open=found.is_open,
        late_until=found.late_until,
        late=found.late,
    )


def submission_info(submission: Submission) -> SubmissionInfo:
    """A submission as its own team may see it."""
    is_release = submission.kind == "release"
    told = is_release or submission.state in ("rejected", "failed")
    return SubmissionInfo(
        ref=submission.ref,
        receipt=reverse("receipt", args=[submission.receipt]),
        kind=submission.kind,
        challenge=submission.challenge,
        target=submission.target,
        attempt=submission.attempt,
        state=submission.state,
        charged=submission.charged,
        counts=submission.chosen,
        file_name=submission.file_name,
        sha256=submission.sha256,
        size=submission.size,
        received_at=submission.received_at,
        method=submission.method,
        consent=submission.consent,
        valid=submission.valid if is_release else None,
        reason=submission.reason if told else "",
        problems=list(submission.problems)[:10],
        utility=submission.score if is_release else None,
        utility_low=submission.low if is_release else None,
        utility_high=submission.high if is_release else None,
        feedback=None if is_release else _feedback(submission),
    )


def _feedback(submission: Submission) -> FeedbackInfo | None:
    if submission.state != "scored" or submission.score is None:
        return None
    round, rules = submission.round, submission.round.contest.rules
    policy = feedback.policy_now(round)
    return FeedbackInfo(
        policy=policy,
        shown=feedback.told(policy, rules.feedback, submission.score) or "",
        bits=feedback.bits(policy, rules, submission.kind),
    )
