"""What everybody sees of releases while a contest runs, where its rules allow it.

One query for all teams; which release counts is decided in `submissions`.
"""

from __future__ import annotations

from collections import defaultdict

from ninja import Schema

from tracecup.server.models import Contest, Round, Submission


class PublicRelease(Schema):
    """A valid release that counts now; `utility` where the rules tell it."""

    challenge: str
    utility: float | None


def board_shown(contest: Contest, round: Round | None) -> str:
    """What of the releases is public: `none`, `valid` or `utility`.

    Nothing where boards are frozen, and nothing beside the results, which tell more.
    """
    if round is None or round.frozen or round.released_at is not None:
        return "none"
    return str(contest.rules.feedback.board)


def valid_releases(contest: Contest, round: Round | None) -> dict[int, list[PublicRelease]]:
    """The valid releases that count, by the number of their team."""
    shown = board_shown(contest, round)
    found: dict[int, list[PublicRelease]] = defaultdict(list)
    if shown == "none":
        return found
    counting = Submission.objects.filter(round=round, kind="release", chosen=True, valid=True)
    for number, challenge, score in counting.order_by("challenge").values_list(
        "team__number", "challenge", "score"
    ):
        told = score if shown == "utility" else None
        found[number].append(PublicRelease(challenge=challenge, utility=told))
    return found
