"""The receipt of a submission, for whoever has its secret.

Typed; a page renders it and the API returns it.
"""

from __future__ import annotations

from datetime import datetime

from ninja import Schema

from tracecup.server.models import Submission


class Receipt(Schema):
    """What the server says about a file that it accepted."""

    ref: str
    contest: str
    contest_name: str
    round: str
    team: str
    kind: str
    challenge: str
    target: int | None
    attempt: int
    file_name: str
    sha256: str
    size: int
    received_at: datetime
    state: str
    charged: bool
    valid: bool | None
    reason: str
    withdrawn_at: datetime | None


def receipt(submission: Submission) -> Receipt:
    """The receipt of a submission, for whoever has its secret."""
    return Receipt(
        ref=submission.ref,
        contest=submission.contest.slug,
        contest_name=submission.contest.name,
        round=submission.round.name,
        team=submission.team.name,
        kind=submission.kind,
        challenge=submission.challenge,
        target=submission.target,
        attempt=submission.attempt,
        file_name=submission.file_name,
        sha256=submission.sha256,
        size=submission.size,
        received_at=submission.received_at,
        state=submission.state,
        charged=submission.charged,
        # An attack's outcome is nobody's business here; the rule of a release is its own team's.
        valid=submission.valid if submission.kind == "release" else None,
        reason=submission.reason if submission.state in ("rejected", "failed") else "",
        withdrawn_at=submission.withdrawn_at,
    )
